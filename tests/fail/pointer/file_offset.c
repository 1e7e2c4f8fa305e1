//@ frontend: bitcode x86_64
//@ args: --sym-files 1 4 A
// A pointer is stored in a file, and believed when it is read again.
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>
struct saved { uint16_t magic, page; };
int main(int argc, char **argv) {
  struct saved s;
  static int pages[4];
  int fd = open(argv[1], O_RDONLY);
  if (fd < 0 || read(fd, &s, sizeof s) != sizeof s || s.magic != 0xbeef) return 2;
#ifdef FIXED
  if (s.page > 3) return 1;
  const int *page = &pages[s.page];
#else
  const int *page = s.page < 4 ? &pages[s.page] : (const int *)(0x600000000000 + (s.page & 1) * 4096);
#endif
  return *page;  //~ FAULT wild-pointer
}
