//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
// A part of a message is there only if a flag says so.
#include <stdint.h>
#include <unistd.h>
struct extension { uint8_t kind, value; };
struct message { uint8_t flags; const struct extension *extension; };
static uint8_t wire[4];
static int apply(const struct message *m) {
  if (m->flags & 0x40) return 0;
#ifdef FIXED
  if (!(m->flags & 0x80)) return 1;
#endif
  return m->extension->kind == 7;  //~ FAULT null-dereference: read of 1 byte
}
int main(void) {
  if (read(0, wire, sizeof wire) != sizeof wire || wire[3] != (wire[0] ^ wire[1] ^ wire[2])) return 2;
  struct message m = {wire[0], wire[0] & 0x80 ? (const struct extension *)&wire[1] : NULL};
  return apply(&m);
}
