//@ frontend: bitcode x86_64
//@ args: --sym-calls random,lrand48,mrand48,drand48,erand48,rand_r
// Random numbers lie where their functions say, up to the ends.
#include <stdlib.h>
int main(void) {
  static const int points[4] = {1, 2, 3, 4};
  long least = mrand48();
  if (least < -2147483648L || least > 2147483647L) abort();
  long most = random(), other = lrand48();
  if (most < 0 || most > 2147483647L || other < 0 || other > 2147483647L) abort();
  unsigned short state[3] = {0};
  double part = drand48(), tail = erand48(state);
  if (!(part >= 0 && part < 1) || !(tail >= 0 && tail < 1)) abort();
  unsigned seed = 1;
  if (rand_r(&seed) < 0) abort();
  int at = (int)(part * 4);
#ifdef FIXED
  return points[at] == 4;
#else
  return points[at + (most == 2147483647L && least == -2147483648L)] == 4;  //~ FAULT out-of-bounds-read: offset 16 of  //~ NOT x86_64 -O2: in optimised code no address tells its variable
#endif
}
