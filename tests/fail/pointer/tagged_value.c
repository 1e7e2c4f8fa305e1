//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// A value is a number or a function, and the tag is not asked.
#include <unistd.h>
struct value { char tag; union { long number; int (*call)(void); } u; };
static int answer(void) { return 42; }
static struct value parse(const char *in) {
  struct value v = {.tag = in[0]};
  if (in[0] == 'n') v.u.number = 0x100000L + (in[1] & 3) * 16;
  else v.u.call = answer;
  return v;
}
int main(void) {
  char in[3];
  if (read(0, in, 3) != 3) return 2;
  struct value v = parse(in);
  if (in[2] != '(') return 0;
#ifdef FIXED
  if (v.tag == 'n') return 1;
#endif
  return v.u.call() == 42;  //~ FAULT bad-call-target
}
