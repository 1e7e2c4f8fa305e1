//@ frontend: bitcode x86_64
//@ args: --sym-stdin 6
// A ring buffer whose write position wraps one slot late.
#include <unistd.h>
enum { SLOTS = 4 };
#ifdef FIXED
enum { LAST = SLOTS - 1 };
#else
enum { LAST = SLOTS };
#endif
static unsigned char ring[SLOTS];
static unsigned head, tail;
static void put(unsigned char c) {
  ring[head] = c;  //~ FAULT out-of-bounds-write: write of 1 byte at offset 4 of `ring`
  head = head == LAST ? 0 : head + 1;
}
static int get(void) {
  if (head == tail) return -1;
  int c = ring[tail];
  tail = tail == LAST ? 0 : tail + 1;
  return c;
}
int main(void) {
  unsigned char in[6];
  if (read(0, in, sizeof in) != sizeof in) return 2;
  for (unsigned i = 0; i < sizeof in; i++) {
    if (in[i] == '-') get();
    else put(in[i]);
  }
  return 0;
}
