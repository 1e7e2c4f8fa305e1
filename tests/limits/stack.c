//@ frontend: bitcode, executables have the stack of the machine
//@ args: --sym-stdin 1
//@ paths: 2
//@ exit: 3
// The stacks of threads are where their variables are. But the variables lie apart there, so the ledger has a row and the run is not complete.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static int lies_in_own(char *variable) {
  pthread_attr_t attributes;
  void *lowest;
  size_t size;
  if (pthread_getattr_np(pthread_self(), &attributes) || pthread_attr_getstack(&attributes, &lowest, &size)) return 0;
  return variable >= (char *)lowest && variable < (char *)lowest + size;
}

static void *run(void *result) {
  char variable;
  *(int *)result = lies_in_own(&variable);
  return 0;
}

int main(void) {
  char byte;
  read(0, &byte, 1);
  int of_other = 0;
  if (byte == 't') {
    pthread_t other;
    pthread_create(&other, 0, run, &of_other);
    pthread_join(other, 0);
    return of_other ? 2 : 3;
  }
  return lies_in_own(&byte) ? 0 : 1;
}
