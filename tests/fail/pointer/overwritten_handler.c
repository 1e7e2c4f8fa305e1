//@ frontend: bitcode x86_64
//@ args: --sym-stdin 16
// A name that is copied without its bound overwrites the handler behind it: one finding, wherever the input lets the call go.
#include <string.h>
#include <unistd.h>
struct session { char name[8]; int (*handler)(int); };
static int answer(int n) { return n; }
int main(void) {
  char in[16];
  struct session s = {.handler = answer};
  if (read(0, in, sizeof in) != sizeof in) return 2;
#ifdef FIXED
  memcpy(s.name, in, sizeof s.name);
#else
  memcpy(&s, in, sizeof in);
#endif
  return s.handler(3);  //~ FAULT bad-call-target: jump to an address made of input
}
