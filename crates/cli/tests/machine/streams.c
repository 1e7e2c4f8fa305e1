#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#ifdef ERRNO
#include <errno.h>
#endif

int main(int argc, char **argv) {
  static char copy[16];
  int n = 0, file = open("file", O_RDONLY);
  for (char *p = argv[1]; *p; p++) {
    if (*p == '\\') copy[n++] = '\\';
    copy[n++] = *p;
  }
  printf("%d: %s\n", n, copy);
  fputs(copy, stderr);
#ifdef ERRNO
  if (n > 3) errno = ERANGE;
  fprintf(stderr, "%d\n", errno);
#endif
  if (file >= 0) close(file);
  return fclose(stdout) || fclose(stderr);
}
