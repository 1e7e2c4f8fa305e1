//@ frontend: bitcode x86_64
//@ args: --sym-arg 2 --sym-arg 3
// Two parts of a path are joined; the slash between them is not counted.
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  const char *dir = argv[1], *file = argv[2];
  if (!file[0]) return 1;
  unsigned size = strlen(dir) + strlen(file) + 1;
#ifdef FIXED
  size++;
#endif
  char *path = malloc(size);
  if (!path) return 3;
  strcpy(path, dir);
  if (dir[0] == '.' && file[0] != '/') strcat(path, "/");
  strcat(path, file);  //~ FAULT out-of-bounds-write
  int status = path[0] == '/';
  free(path);
  return status;
}
