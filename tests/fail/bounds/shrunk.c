//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// A buffer is made smaller, its old size is still believed.
#include <stdlib.h>
#include <unistd.h>
struct buffer { unsigned char *data; unsigned size; };
static int shrink(struct buffer *b, unsigned size) {
  unsigned char *data = realloc(b->data, size);
  if (!data) return 0;
  b->data = data;
#ifdef FIXED
  b->size = size;
#endif
  return 1;
}
int main(void) {
  struct buffer b = {calloc(16, 1), 16};
  unsigned char in[3];
  if (!b.data || read(0, in, 3) != 3) return 2;
  if (in[0] == 's' && !shrink(&b, 8)) return 3;
  if (in[1] < b.size) b.data[in[1]] = in[2];  //~ FAULT out-of-bounds-write: write of 1 byte
  free(b.data);
  return 0;
}
