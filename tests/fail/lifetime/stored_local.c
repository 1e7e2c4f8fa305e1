//@ frontend: bitcode x86_64
//@ args: --sym-stdin 2
// A parser keeps the address of a default that lived in the function that set it.
#include <unistd.h>
struct option { const int *width; };
static struct option options;
static void set(struct option *o, int letter) {
  static const int wide = 132;
#ifdef FIXED
  static const int usual = 80;
#else
  const int usual = 80;
#endif
  if (letter == 'w') o->width = &wide;
  else if (letter == 'd') o->width = &usual;
}
int main(void) {
  unsigned char in[2];
  if (read(0, in, 2) != 2) return 2;
  set(&options, in[0]);
  if (!options.width || in[1] != 'p') return 1;
  return *options.width > 100;  //~ FAULT use-after-return
}
