//@ frontend: bitcode x86_64
//@ args: --sym-file /etc/passwd:2:stat
// A file of the system's: symbolic to the program, and in a replay, but nowhere else.
#include <stdio.h>
#include <sys/stat.h>
int main(void) {
  char b[8] = "";
  struct stat s;
  FILE *f = fopen("/etc/passwd", "r");
  if (!f || fread(b, 1, sizeof b, f) != 2) return 90;
  fclose(f);
  if (stat("/etc/passwd", &s) || s.st_size != 2) return 91;
  if (s.st_mtime == 1234567) return 10;
  return b[0] == '#' ? 20 : 30;
}
