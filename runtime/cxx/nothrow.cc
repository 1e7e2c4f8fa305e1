/* `new` that gives null where no memory is left. Apart from `support.cc`, since it needs exceptions: the handler may throw. */
#pragma clang section text=".text.library"
#include <stddef.h>

namespace std {
enum class align_val_t : size_t {};
struct nothrow_t;
typedef void (*new_handler)();
new_handler get_new_handler() noexcept;
}

void *wryneck_new_bytes(size_t size, size_t alignment) noexcept;

static void *allocate(size_t size, size_t alignment = 0) {
  if (!std::get_new_handler())
    return wryneck_new_bytes(size, alignment);
  try {
    return alignment ? operator new(size, (std::align_val_t)alignment) : operator new(size);
  } catch (...) {
    return nullptr;
  }
}

#define WEAK __attribute__((weak))
typedef std::align_val_t Align;
typedef const std::nothrow_t &Quiet;
WEAK void *operator new(size_t size, Quiet) noexcept { return allocate(size); }
WEAK void *operator new[](size_t size, Quiet) noexcept { return allocate(size); }
WEAK void *operator new(size_t size, Align alignment, Quiet) noexcept { return allocate(size, (size_t)alignment); }
WEAK void *operator new[](size_t size, Align alignment, Quiet) noexcept { return allocate(size, (size_t)alignment); }
