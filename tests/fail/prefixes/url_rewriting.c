//@ frontend: bitcode x86_64
//@ args: --sym-arg 12
// A rule puts the name behind `/u/` into a new path twice; the length is checked as if it were there once.
#include <stdlib.h>
#include <string.h>
static const char rule[] = "/home/$/www/$";
static int rewrite(const char *url, char *to, unsigned size) {
  if (strncmp(url, "/u/", 3) != 0) return -1;
  const char *name = url + 3;
  unsigned length = 0, n = 0;
  while (name[length] && name[length] != '/') length++;
#ifdef FIXED
  if (sizeof rule - 2 + 2 * length > size) return -1;
#else
  if (sizeof rule - 1 + length > size) return -1;
#endif
  for (const char *r = rule; *r; r++) {
    if (*r != '$') {
      to[n++] = *r;
      continue;
    }
    for (unsigned i = 0; i < length; i++) to[n++] = name[i];  //~ FAULT out-of-bounds-write: write of 1 byte at offset 24
  }
  to[n] = '\0';
  return n;
}
int main(int argc, char **argv) {
  char *path = malloc(24);
  if (!path) return 3;
  int n = rewrite(argv[1], path, 24);
  free(path);
  return n < 0;
}
