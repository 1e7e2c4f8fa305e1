//@ frontend: bitcode x86_64
//@ args: --sym-stdin 10
// The starts of lines are noted in a table. A line that is continued is noted twice, which steps over the number that ends it.
#include <unistd.h>
static unsigned char starts[6];
static int note(const char *text, int size) {
  unsigned count = 0;
  for (int i = 0; i < size; i++) {
#ifdef FIXED
    if (count >= sizeof starts - 1) return -1;
#else
    if (count == sizeof starts - 1) return -1;
#endif
    switch (text[i]) {
    case '\\':
      if (++i == size || text[i] != '\n') return -1;
      starts[count++] = i + 1;  //~ FAULT out-of-bounds-write: write of 1 byte at offset 6
      starts[count++] = i + 1;
      break;
    case '\n': starts[count++] = i + 1; break;  //~ FAULT out-of-bounds-write: write of 1 byte at offset 6
    default: return count;
    }
  }
  return count;
}
int main(void) {
  char text[10];
  if (read(0, text, sizeof text) != sizeof text) return 2;
  return note(text, sizeof text) < 0;
}
