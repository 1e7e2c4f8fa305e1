//@ frontend: bitcode x86_64
//@ args: --sym-stdin 9
// A slot is the remainder of a stamp by a step, both signed.
#include <stdint.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  struct { int64_t stamp; int8_t step; } __attribute__((packed)) in;
  if (read(0, &in, sizeof in) != sizeof in) return 2;
  if (in.stamp > INT64_MIN + 16) return 1;
#ifdef FIXED
  if (in.step <= 0) return 1;
#else
  if (in.step == 0) return 1;
#endif
  if (in.step != -1 && in.step != 16) return 1;
  return in.stamp % in.step == 0;  //~ FAULT division-overflow
}
