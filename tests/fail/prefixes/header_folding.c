//@ frontend: bitcode x86_64
//@ args: --sym-stdin 16
//@ options: --emit new
// Continued lines of a header are joined by one blank, whose place is not counted.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *value(const char *at, const char *end, char *to, unsigned size) {
  unsigned n = 0;
  while (at < end) {
    if (*at == '\n') {
      at++;
      if (at == end || *at != ' ') break;
      while (at < end && *at == ' ') at++;
#ifdef FIXED
      if (n + 1 >= size) return NULL;
#endif
      to[n++] = ' ';  //~ FAULT out-of-bounds-write: write of 1 byte at offset 8
      continue;
    }
    if (n + 1 >= size) return NULL;
    to[n++] = *at++;
  }
  to[n] = '\0';  //~ FAULT out-of-bounds-write: write of 1 byte at offset 8
  return at;
}
int main(void) {
  char text[16], *subject = malloc(8);
  if (!subject || read(0, text, sizeof text) != sizeof text) return 2;
  int bad = memcmp(text, "To: ", 4) != 0 || !value(text + 4, text + sizeof text, subject, 8);
  free(subject);
  return bad;
}
