//@ frontend: bitcode x86_64
//@ args: --sym-stdin 2
// Settings are changed in a table that is constant.
#include <unistd.h>
struct setting { char letter; int value; };
#ifdef FIXED
static struct setting settings[] = {{'w', 80}, {'h', 25}};
#else
static const struct setting settings[] = {{'w', 80}, {'h', 25}};
#endif
static int set(char letter, int value) {
  for (int i = 0; i < 2; i++) {
    struct setting *s = (struct setting *)&settings[i];
    if (s->letter != letter) continue;
    s->value = value;  //~ FAULT read-only-write: write of 4 bytes
    return 0;
  }
  return 1;
}
int main(void) {
  char in[2];
  if (read(0, in, 2) != 2) return 2;
  return set(in[0], in[1]);
}
