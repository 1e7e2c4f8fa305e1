/* What the compiler calls behind a C++ program's back (Itanium C++ ABI, sections 2.9, 3.2.6 and 3.3.2), but
 * for types and exceptions, which `exception.cc` has. */
#pragma clang section text=".text.library"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

namespace std {
enum class align_val_t : size_t {};
struct nothrow_t;
struct nothrow_t { explicit nothrow_t() = default; };
extern const nothrow_t nothrow;
[[noreturn]] __attribute__((weak)) void __throw_bad_alloc();
const nothrow_t nothrow;
}

namespace {
[[noreturn]] void die(const char *why) {
  fprintf(stderr, "%s\n", why);
  abort();
}

/* `library.cc` throws; without it nothing knows what. */
[[noreturn]] void no_memory() {
  if (std::__throw_bad_alloc)
    std::__throw_bad_alloc();
  die("operator new: out of memory");
}

void *allocate(size_t size) {
  void *memory = malloc(size ? size : 1);
  if (!memory)
    no_memory();
  return memory;
}

void *allocate(size_t size, std::align_val_t alignment) {
  void *memory = aligned_alloc((size_t)alignment, size ? size : 1);
  if (!memory)
    no_memory();
  return memory;
}
}

#define WEAK __attribute__((weak))

WEAK void *operator new(size_t size) { return allocate(size); }
WEAK void *operator new[](size_t size) { return allocate(size); }
WEAK void *operator new(size_t size, std::align_val_t alignment) { return allocate(size, alignment); }
WEAK void *operator new[](size_t size, std::align_val_t alignment) { return allocate(size, alignment); }
WEAK void *operator new(size_t size, const std::nothrow_t &) noexcept { return malloc(size ? size : 1); }
WEAK void *operator new[](size_t size, const std::nothrow_t &) noexcept { return malloc(size ? size : 1); }
WEAK void operator delete(void *memory) noexcept { free(memory); }
WEAK void operator delete[](void *memory) noexcept { free(memory); }
WEAK void operator delete(void *memory, size_t) noexcept { free(memory); }
WEAK void operator delete[](void *memory, size_t) noexcept { free(memory); }
WEAK void operator delete(void *memory, std::align_val_t) noexcept { free(memory); }
WEAK void operator delete[](void *memory, std::align_val_t) noexcept { free(memory); }
WEAK void operator delete(void *memory, size_t, std::align_val_t) noexcept { free(memory); }
WEAK void operator delete[](void *memory, size_t, std::align_val_t) noexcept { free(memory); }

extern "C" {
void __cxa_pure_virtual(void) { die("pure virtual function called"); }
void __cxa_deleted_virtual(void) { die("deleted virtual function called"); }

/* Guards of static locals: programs have one thread. Their first byte says that the value is there. */
int __cxa_guard_acquire(char *guard) { return !*guard; }
void __cxa_guard_release(char *guard) { *guard = 1; }
void __cxa_guard_abort(char *) {}
}
