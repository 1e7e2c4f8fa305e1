//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
//@ paths: 16
// A parser that leaves nested calls by `longjmp`, as error handling in C does; a value of 0 becomes 1, and a buffer may be copied.
#include <setjmp.h>
#include <string.h>
static jmp_buf top, spare;
static void parse(const char **at, int level) {
  char local[16];
  memset(local, level, sizeof local);
  while (**at) {
    switch (*(*at)++) {
    case '(': parse(at, level + 1); break;
    case ')':
      if (level == 0) longjmp(top, 2);
      return;
    case '!': longjmp(top, 0);
    case '?': memcpy(spare, top, sizeof top); longjmp(spare, 4 + local[9]);
    }
  }
  if (level) longjmp(top, 3);
}
int main(int argc, char **argv) {
  volatile int tries = 0;
  const char *at = argv[1];
  int thrown = setjmp(top);
  tries++;
  if (thrown) return 10 * tries + thrown;
  parse(&at, 0);
  return 0;
}
