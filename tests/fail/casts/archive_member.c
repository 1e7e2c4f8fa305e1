//@ frontend: bitcode x86_64
//@ args: --sym-stdin 19
// Members of an archive begin at even offsets. Behind a member of odd size the next is read without looking at the end again.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
struct member { char name[4], size[2], end[2]; };
static int number(const char *digits) {
  if (digits[0] < '0' || digits[0] > '9' || digits[1] < '0' || digits[1] > '9') return -1;
  return (digits[0] - '0') * 10 + digits[1] - '0';
}
static int find(const char *archive, unsigned size) {
  unsigned at = 0;
  while (at + sizeof(struct member) <= size) {
    const struct member *m = (const struct member *)(archive + at);
    int length = number(m->size);
    if (m->end[1] != '\n' || length < 0 || length > (int)(size - at - sizeof *m)) return -1;
    if (m->name[0] == '/') return at;
    at += sizeof *m + length;
    if (length % 2) {
#ifdef FIXED
      if (at == size) return -1;
#endif
      if (archive[at] != '\n') return -1;  //~ FAULT out-of-bounds-read: read of 1 byte at offset 19
      at++;
    }
  }
  return -1;
}
int main(void) {
  char *archive = malloc(19);
  if (!archive || read(0, archive, 19) != 19) return 2;
  int at = find(archive, 19);
  free(archive);
  return at < 0;
}
