/* What `support.cc` and `nothrow.cc` share: the types of the forms of `new`, and where their memory comes from. */
#pragma once
#include <stddef.h>

namespace std {
enum class align_val_t : size_t {};
struct nothrow_t { explicit nothrow_t() = default; };
extern const nothrow_t nothrow;
typedef void (*new_handler)();
new_handler get_new_handler() noexcept;
new_handler set_new_handler(new_handler next) noexcept;
}

/* Null if there are none. 0: as `malloc` aligns. */
void *wryneck_new_bytes(size_t size, size_t alignment) noexcept;

typedef std::align_val_t Align;
typedef const std::nothrow_t &Quiet;
#define WEAK __attribute__((weak))
