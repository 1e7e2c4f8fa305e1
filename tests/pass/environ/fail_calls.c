//@ frontend: bitcode x86_64
//@ options: --fail-calls 1
// Each call that could fail does on some path: the exit status says which, and that it was handled as on the real system.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  char *p = malloc(8);
  if (!p) return errno == ENOMEM ? 10 : 90;
  int fd = open("made", O_CREAT | O_RDWR, 0600);
  if (fd < 0) return errno == EMFILE ? 20 : 91;
  long n = write(fd, "hello", 5);
  if (n < 0) return errno == ENOSPC ? 30 : errno == EIO ? 31 : errno == EINTR ? 32 : 92;
  if (n == 1) return lseek(fd, 0, SEEK_CUR) == 1 ? 33 : 93;
  if (n != 5 || lseek(fd, 0, SEEK_SET)) return 94;
  n = read(fd, p, 5);
  if (n < 0) return errno == EIO ? 40 : errno == EINTR ? 41 : 95;
  if (n == 1) return p[0] == 'h' && read(fd, p, 8) == 4 && !memcmp(p, "ello", 4) ? 42 : 96;
  if (read(-1, p, 1) != -1 || errno != EBADF) return 97;
  if (close(fd)) return errno == EIO && close(fd) == -1 && errno == EBADF ? 50 : 98;
  p = realloc(p, 100);
  if (!p) return 60;
  if (unlink("made")) return errno == EIO ? 70 : 99;
  free(p);
  return 0;
}
