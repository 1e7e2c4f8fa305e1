//@ frontend: bitcode x86_64
//@ options: --keep-going 2
//@ args: --sym-arg 1
//@ replay: no, natively a path goes its own way behind the first fault
/* Behind an access out of bounds the path goes on, twice here: what is read there is input, what is written there is lost. */
#include <assert.h>
int main(int argc, char **argv) {
  char name[4] = "abc", copy[4] = "xyz";
  volatile int last = 4;
  name[last] = 'w';                //~ FAULT out-of-bounds-write: offset 4  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  assert(copy[0] == 'x' && name[3] == 0);
  char read = name[last];          //~ FAULT out-of-bounds-read: behind another fault  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  if (read == 'r') return 1;
  if (argv[1][0] != 'c') return 2;
  return copy[last];               //~ FAULT out-of-bounds-read: behind another fault  //~ NOT x86_64 -O2: in optimised code no address tells its variable
}  //~ ONLY x86_64 -O2 FAULT overwritten-return-address
