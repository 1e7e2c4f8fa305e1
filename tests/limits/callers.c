//@ frontend: bitcode, executables have addresses of code and frames of the machine
//@ args: --sym-stdin 1
//@ cc: -fno-omit-frame-pointer
//@ paths: 2
//@ exit: 3
// Addresses that functions return to tell calls apart, and frames of callers are what they say of themselves. As no code lies there, the run is not complete.
#include <unistd.h>
#define APART __attribute__((noinline))

APART static void *called_from(void) { return __builtin_return_address(0); }

static void *of_caller, *frame_of_caller;

APART static void note_caller(void) {
  of_caller = __builtin_return_address(1);
  frame_of_caller = __builtin_frame_address(1);
}

APART static int is_noted(void) {
  note_caller();
  return of_caller == __builtin_return_address(0) && frame_of_caller == __builtin_frame_address(0);
}

int main(void) {
  unsigned char byte;
  void *from[3], *before = 0;
  read(0, &byte, 1);
  for (int i = 0; i < 2; i++) from[i] = called_from();
  from[2] = called_from();
  if (!from[0]) return 2;
  if (from[0] != from[1] || from[0] == from[2]) return 3;
  if (!is_noted() || !is_noted()) return 4;
  for (int i = 0; i < byte % 2 + 1; i++) before = from[i * 2];
  return before == from[0] ? 5 : 6;
}
