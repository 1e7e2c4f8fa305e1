//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
// A check of a hardened build traps: the checksum of a frame is right, its length is not.
#include <unistd.h>
int main(void) {
  unsigned char frame[4];
  if (read(0, frame, sizeof frame) != sizeof frame) return 2;
  if ((unsigned char)(frame[0] + frame[1] + frame[2] + frame[3]) != 0xff) return 1;
  unsigned length = frame[0] >> 4;
#ifdef FIXED
  if (length > 3) return 1;
#endif
  if (length > 3) __builtin_trap();  //~ FAULT trap
  return frame[length] == 0;
}
