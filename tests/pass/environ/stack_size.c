//@ frontend: bitcode, executables have the stack of the machine
//@ paths: 1
// The size of a stack is told, and so is the address that the program itself has given.
#define _GNU_SOURCE
#include <pthread.h>
static char given[1 << 16];
int main(void) {
  pthread_attr_t attributes;
  size_t size, own;
  void *lowest;
  if (pthread_getattr_np(pthread_self(), &attributes) || pthread_attr_getstacksize(&attributes, &size) || size < 1 << 16) return 1;
  if (pthread_attr_init(&attributes) || pthread_attr_setstack(&attributes, given, sizeof given)) return 2;
  if (pthread_attr_getstack(&attributes, &lowest, &own) || lowest != given || own != sizeof given) return 3;
  return 7;
}
