/* Names that programs compiled for musl call, and that the host's C library has under another name. A sanitizer build links this. */
__asm__(
    ".globl sigsetjmp\n"
    ".type sigsetjmp, @function\n"
    "sigsetjmp:\n"
    "  jmp __sigsetjmp@PLT\n");

#if __has_feature(address_sanitizer)
/* What the C++ library (`cxx/new.h`) tells of its objects. One that `new[]` made and `delete` frees, or the other way round, is first freed at another
 * address, which the sanitizer reports and ends the program for. */
#include <stdint.h>
#include <stdlib.h>

enum { KNOWN = 1 << 16, TRIES = 16 };
static struct { void *object; int is_array; } known[KNOWN];

static int place_of(void *object, void *wanted) {
  for (unsigned i = 0; i < TRIES; i++) {
    unsigned at = (unsigned)((uintptr_t)object >> 4) * 2654435761u + i;
    if (known[at % KNOWN].object == wanted)
      return at % KNOWN;
  }
  return -1;
}

/* An address that was freed by `free` may have an old entry. What finds no place is not watched. */
void __wryneck_made_by_new(void *object, int is_array) {
  int at = place_of(object, object);
  if (at < 0)
    at = place_of(object, 0);
  if (at >= 0) {
    known[at].object = object;
    known[at].is_array = is_array;
  }
}

void __wryneck_deleted(void *object, int is_array) {
  int at = object ? place_of(object, object) : -1;
  if (at < 0)
    return;
  known[at].object = 0;
  if (known[at].is_array != is_array)
    free((char *)object + 1);
}
#endif
