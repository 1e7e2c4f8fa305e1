//@ frontend: bitcode x86_64
//@ args: --sym-stdin 6
// An echo service believes the length that the message states.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int answer(const unsigned char *message, unsigned size) {
  unsigned char reply[16];
  unsigned length = message[1];
  if (message[0] != 'E' || length > sizeof reply) return 1;
#ifdef FIXED
  if (length > size - 2) return 1;
#endif
  memcpy(reply, message + 2, length);  //~ FAULT out-of-bounds-read: read of
  return reply[0] == '!';
}
int main(void) {
  unsigned char *message = malloc(6);
  if (!message || read(0, message, 6) != 6) return 2;
  int status = answer(message, 6);
  free(message);
  return status;
}
