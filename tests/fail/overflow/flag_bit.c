//@ frontend: bitcode, machine code does not say which results may wrap
//@ options: --overflow signed
//@ args: --sym-stdin 1
// A set of 32 members as a signed number.
#include <unistd.h>
int main(void) {
  unsigned char member;
  if (read(0, &member, 1) != 1 || member > 31) return 2;
#ifdef FIXED
  unsigned set = 1u << member;
#else
  int set = 1 << member;  //~ FAULT signed-overflow: 1 << 31 overflows `int`
#endif
  return set == 4;
}
