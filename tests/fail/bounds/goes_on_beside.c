//@ frontend: bitcode, machine code places `a` in its frame in other ways
//@ options: --keep-going 1
//@ args: --sym-stdin 1
//@ paths: 4
//@ replay: no, natively a path goes its own way behind the first fault
/* Where an offset may be in bounds and out of bounds, the path goes on with both. */
#include <assert.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  unsigned char in[1], a[4];
  if (read(0, in, 1) != 1) return 222;
  memset(a, 1, 4);
  unsigned i = in[0] & 7;
  a[i] = 9;          //~ FAULT out-of-bounds-write: of `a`
  assert(i != 6);    //~ FAULT assertion-failed: behind another fault
  return 10 + a[0];
}
