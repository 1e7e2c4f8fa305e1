//@ frontend: bitcode, since long jumps of machine code are jumps
//@ exit: 3
//@ replay: no, the path is not run to its end
// Jumping back over frames is not supported; the call of `longjmp` ends the path, named.
#include <setjmp.h>
static jmp_buf back;
int main(int argc, char **argv) {
  if (setjmp(back)) return 3;
  longjmp(back, 1);
}
