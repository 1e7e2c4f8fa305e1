//@ frontend: bitcode x86_64
//@ args: --sym-stdin 16
// Attributes are aligned to four bytes. The last one's padding may not be there, and what is left then becomes very much.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
struct attribute { uint16_t length, type; };
static int find(const uint8_t *message, uint32_t left, unsigned wanted) {
  const struct attribute *a = (const struct attribute *)message;
  while (left >= sizeof *a) {
    if (a->length < sizeof *a || a->length > left) return -1;  //~ FAULT out-of-bounds-read: read of 2 bytes
    if (a->type == wanted) return a->length;
    uint32_t step = (a->length + 3) & ~3u;
#ifdef FIXED
    if (step > left) return -1;
#endif
    left -= step;
    a = (const struct attribute *)((const uint8_t *)a + step);
  }
  return -1;
}
int main(void) {
  uint8_t in[16], *message;
  if (read(0, in, 16) != 16 || in[0] < 4 || in[0] > 15) return 2;
  uint32_t size = in[0];
  message = malloc(size);
  if (!message) return 3;
  for (uint32_t i = 0; i < size; i++) message[i] = in[i + 1];
  int length = find(message, size, 3);
  free(message);
  return length < 0;
}
