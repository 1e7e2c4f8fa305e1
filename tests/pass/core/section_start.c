//@ frontend: bitcode x86_64
//@ args: --sym-stdin 1
//@ paths: 7
// At -O0 `places` is the first variable of its section. The address in the text, which has no variable of its own, is an address of the
// section, not one of `places`.
#include <unistd.h>
static const unsigned char places[8] = {35, 43, 48, 49, 57, 20, 32, 55};
int main(void) {
  unsigned char byte;
  if (read(0, &byte, 1) != 1) return 1;
  const char *text = "012345678901234567890123456789012345678901234567890123456789";
  return text[places[byte & 7]];
}
