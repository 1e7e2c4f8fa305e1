/* `new` that gives null where no memory is left. Apart from `support.cc`, since it needs exceptions: the handler may throw. */
#pragma clang section text=".text.library"
#include "new.h"

static void *allocate(size_t size, size_t alignment = 0) {
  if (!std::get_new_handler())
    return wryneck_new_bytes(size, alignment);
  try {
    return alignment ? operator new(size, (Align)alignment) : operator new(size);
  } catch (...) {
    return nullptr;
  }
}

WEAK void *operator new(size_t size, Quiet) noexcept { return made(allocate(size), false); }
WEAK void *operator new[](size_t size, Quiet) noexcept { return made(allocate(size), true); }
WEAK void *operator new(size_t size, Align alignment, Quiet) noexcept { return made(allocate(size, (size_t)alignment), false); }
WEAK void *operator new[](size_t size, Align alignment, Quiet) noexcept { return made(allocate(size, (size_t)alignment), true); }
