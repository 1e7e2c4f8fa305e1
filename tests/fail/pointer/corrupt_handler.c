//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// A plug-in gives an offset that becomes the address of its entry.
#include <stdint.h>
#include <unistd.h>
static int entry(void) { return 0; }
int main(void) {
  unsigned char in[3];
  if (read(0, in, 3) != 3 || in[0] != 0x7f) return 2;
  uintptr_t offset = in[1] & 1;
#ifdef FIXED
  if (offset != 0) return 1;
#endif
  int (*call)(void) = (int (*)(void))((uintptr_t)entry & -(uintptr_t)!offset | offset << 47);
  return in[2] ? call() : 1;  //~ FAULT bad-call-target
}
