//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
// A sum of two sizes is believed to be no less than either.
#include <assert.h>
#include <stdint.h>
#include <unistd.h>
int main(void) {
  uint16_t part[2];
  if (read(0, part, sizeof part) != sizeof part) return 2;
#ifdef FIXED
  uint32_t sum = part[0] + part[1];
#else
  uint16_t sum = part[0] + part[1];
#endif
  if (part[0] < 0x8000 || part[1] % 256 != 7) return 1;
  assert(sum >= part[0]);  //~ FAULT assertion-failed: sum >= part[0]
  return 0;
}
