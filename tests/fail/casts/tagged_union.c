//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
// A value is a number or a text. What is read from a message is a number, whatever its tag says.
#include <stdint.h>
#include <string.h>
#include <unistd.h>
struct message { uint8_t tag, pad; uint16_t number; };
struct value { uint8_t tag; union { uintptr_t number; const char *text; } of; };
static void read_value(struct value *v, const unsigned char *in) {
  const struct message *m = (const struct message *)in;
  v->tag = m->tag;
  v->of.number = 0x40000000000 + m->number * 4096ul;
#ifdef FIXED
  if (v->tag == 's') v->of.text = "text";
#endif
}
static int is_empty(const struct value *v) {
  switch (v->tag) {
  case 'n': return v->of.number == 0;
  case 's': return v->of.text[0] == '\0';  //~ FAULT wild-pointer: read of 1 byte
  default: return -1;
  }
}
int main(void) {
  _Alignas(struct message) unsigned char in[4];
  struct value v;
  if (read(0, in, 4) != 4) return 2;
  read_value(&v, in);
  return is_empty(&v) != 0;
}
