/* What the compiler calls behind a C++ program's back (Itanium C++ ABI, sections 2.9, 3.2.6 and 3.3.2), but
 * for types and exceptions, which `exception.cc` has. */
#pragma clang section text=".text.library"
#include "new.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace std {
WEAK const nothrow_t nothrow;
[[noreturn]] WEAK void __throw_bad_alloc();
static new_handler handler;
new_handler get_new_handler() noexcept { return __atomic_load_n(&handler, __ATOMIC_SEQ_CST); }
new_handler set_new_handler(new_handler next) noexcept { return __atomic_exchange_n(&handler, next, __ATOMIC_SEQ_CST); }
}

/* `aligned_alloc` takes multiples of the alignment. */
void *wryneck_new_bytes(size_t size, size_t alignment) noexcept {
  if (!alignment)
    return malloc(size ? size : 1);
  size_t whole = (size + alignment - 1) / alignment * alignment;
  return whole < size ? nullptr : aligned_alloc(alignment, whole ? whole : alignment);
}

namespace {
[[noreturn]] void die(const char *why) {
  fprintf(stderr, "%s\n", why);
  abort();
}

/* The handler makes room, throws, or ends the program. */
void *allocate(size_t size, size_t alignment = 0) {
  for (;;) {
    if (void *memory = wryneck_new_bytes(size, alignment))
      return memory;
    if (std::new_handler handler = std::get_new_handler())
      handler();
    else if (std::__throw_bad_alloc)
      std::__throw_bad_alloc();
    else
      die("operator new: out of memory");
  }
}

void erase(void *memory, bool is_array) {
  __wryneck_deleted(memory, is_array);
  free(memory);
}
}

extern "C" WEAK void __wryneck_made_by_new(void *, int) noexcept {}
extern "C" WEAK void __wryneck_deleted(void *, int) noexcept {}

WEAK void *operator new(size_t size) { return made(allocate(size), false); }
WEAK void *operator new[](size_t size) { return made(allocate(size), true); }
WEAK void *operator new(size_t size, Align alignment) { return made(allocate(size, (size_t)alignment), false); }
WEAK void *operator new[](size_t size, Align alignment) { return made(allocate(size, (size_t)alignment), true); }
WEAK void operator delete(void *memory) noexcept { erase(memory, false); }
WEAK void operator delete[](void *memory) noexcept { erase(memory, true); }
WEAK void operator delete(void *memory, Quiet) noexcept { erase(memory, false); }
WEAK void operator delete[](void *memory, Quiet) noexcept { erase(memory, true); }
WEAK void operator delete(void *memory, size_t) noexcept { erase(memory, false); }
WEAK void operator delete[](void *memory, size_t) noexcept { erase(memory, true); }
WEAK void operator delete(void *memory, Align) noexcept { erase(memory, false); }
WEAK void operator delete[](void *memory, Align) noexcept { erase(memory, true); }
WEAK void operator delete(void *memory, Align, Quiet) noexcept { erase(memory, false); }
WEAK void operator delete[](void *memory, Align, Quiet) noexcept { erase(memory, true); }
WEAK void operator delete(void *memory, size_t, Align) noexcept { erase(memory, false); }
WEAK void operator delete[](void *memory, size_t, Align) noexcept { erase(memory, true); }

extern "C" {
void __cxa_pure_virtual(void) { die("pure virtual function called"); }
void __cxa_deleted_virtual(void) { die("deleted virtual function called"); }

/* Guards of static locals, of eight bytes: the value is there; a thread makes it; six bytes that tell which. Thread sanitizers have guards of their own. */
static thread_local char me;
static size_t owner(const char *guard) {
  size_t word;
  memcpy(&word, guard, sizeof word);
  return word >> 16;
}
WEAK int __cxa_guard_acquire(char *guard) {
  while (!__atomic_load_n(guard, __ATOMIC_ACQUIRE)) {
    if (!__atomic_exchange_n(guard + 1, 1, __ATOMIC_ACQ_REL)) {
      size_t word = (size_t)&me << 16 | 0x100;
      memcpy(guard + 2, (char *)&word + 2, 6);
      return 1;
    }
    if (owner(guard) == ((size_t)&me & 0xffffffffffff))
      die("a static variable is initialised while its own initialisation runs");
    sched_yield();
  }
  return 0;
}
WEAK void __cxa_guard_release(char *guard) { __atomic_store_n(guard, 1, __ATOMIC_RELEASE); }
WEAK void __cxa_guard_abort(char *guard) { __atomic_store_n(guard + 1, 0, __ATOMIC_RELEASE); }
}
