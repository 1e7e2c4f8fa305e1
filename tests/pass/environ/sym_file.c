//@ frontend: bitcode x86_64
//@ args: --sym-file conf.ini:3 --sym-file ./data:0-2 --sym-file seen:1:stat
//@ paths: 15
// Files with symbolic content, a symbolic size and symbolic metadata.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static int size(const char *path) {
  struct stat s;
  return stat(path, &s) ? -1 : (int)s.st_size;
}
int main(void) {
  char b[8] = "";
  int fd = open("conf.ini", O_RDWR);
  if (fd < 0 || read(fd, b, sizeof b) != 3) return 90;
  int data = size("data");
  if (data < 0 || data > 2 || size("nothing") != -1) return 91;
  if (b[0] == '[') return 10 + data;
  struct stat s;
  if (stat("seen", &s) || (s.st_mode & 0600) != 0600) return 92;
  if (s.st_mode & 04000) return 20 + data;
  if (s.st_mtime < 1000000) return 30 + data;
  if (s.st_mtime < s.st_atime && data == 2) return 40;
  chmod("seen", 0640);
  if (stat("seen", &s) || (s.st_mode & 07777) != 0640) return 93;
  return 50 + data;
}
