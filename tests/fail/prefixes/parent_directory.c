//@ frontend: bitcode x86_64
//@ args: --sym-arg 8
//@ options: --emit new
// `..` takes back the directory before it, also where there is none.
#include <stdlib.h>
#include <string.h>
static void simplify(const char *in, char *out) {
  char *to = out;
  while (*in) {
    if (in[0] == '.' && in[1] == '.' && (in[2] == '/' || !in[2])) {
      in += in[2] ? 3 : 2;
#ifdef FIXED
      if (to == out) continue;
#endif
      to--;
      while (to > out && to[-1] != '/') to--;
      continue;
    }
    while (*in && *in != '/') *to++ = *in++;
    if (*in == '/') *to++ = *in++;
  }
  *to = '\0';  //~ FAULT out-of-bounds-write: write of 1 byte
}
int main(int argc, char **argv) {
  char *path = malloc(16);
  if (!path) return 3;
  if (argv[1][0] == '.' || argv[1][0] == '/') return 1;
  simplify(argv[1], path);
  int status = path[0] == '\0';
  free(path);
  return status;
}
