//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// Bytes of one word are different places; bits of one byte are not.
#include <pthread.h>
static struct {
  char a, b;
} bytes;
static struct {
  unsigned a : 4, b : 4;
} bits;
static void *run(void *p) {
  bytes.a = 1;
#ifndef FIXED
  bits.a = 1;  //~ FAULT data-race: read of 1 byte at `bits`
#endif
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  bytes.b = 1;
  bits.b = 1;
  pthread_join(t, 0);
  return bytes.a + bytes.b != 2;
}
