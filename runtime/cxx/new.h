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

/* Tells the engine, and natively the address sanitizer (`host_libc.c`), that `new` or `new[]` has made an object, and that `delete` or `delete[]` is about
 * to free it. Only what is here is told of: a program's own operators may take memory from where they like. Here, they do nothing. */
extern "C" void __wryneck_made_by_new(void *memory, int is_array) noexcept;
extern "C" void __wryneck_deleted(void *memory, int is_array) noexcept;

static inline void *made(void *memory, bool is_array) noexcept {
  if (memory)
    __wryneck_made_by_new(memory, is_array);
  return memory;
}

typedef std::align_val_t Align;
typedef const std::nothrow_t &Quiet;
#define WEAK __attribute__((weak))
