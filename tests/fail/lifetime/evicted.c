//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
// A cache of two entries remembers the one used last, also when it has been thrown out.
#include <stdlib.h>
#include <unistd.h>
struct entry { int key, uses; };
static struct entry *slots[2], *last;
static struct entry *look_up(int key) {
  if (last && last->key == key) return last;  //~ FAULT use-after-free: read of 4 bytes at offset 0
  int slot = key & 1;
  if (!slots[slot] || slots[slot]->key != key) {
#ifdef FIXED
    if (last == slots[slot]) last = NULL;
#endif
    free(slots[slot]);
    slots[slot] = calloc(1, sizeof **slots);
    if (!slots[slot]) exit(3);
    slots[slot]->key = key;
  }
  return slots[slot];
}
int main(void) {
  unsigned char in[4];
  if (read(0, in, 4) != 4) return 2;
  for (int i = 0; i < 4; i++) {
    if (in[i] < '0' || in[i] > '3') return 1;
    struct entry *e = look_up(in[i] - '0');
    if (e->uses++) last = e;
  }
  return 0;
}
