//@ frontend: bitcode, since long jumps of machine code are jumps
//@ args: --sym-arg 1
//@ exit: 1
//@ replay: no, what a jump to no landing does natively is left to chance
// A landing is gone when its function has returned; a buffer must have been filled.
#include <setjmp.h>
static jmp_buf place;
static void returns(void) {
  if (setjmp(place)) return;
}
int main(int argc, char **argv) {
  jmp_buf empty;
  if (argv[1][0] == 'r') {
    returns();
    longjmp(place, 1); //~ FAULT bad-call-target: to a function that has returned
  }
  if (argv[1][0] == 'e') longjmp(empty, 1); //~ FAULT bad-call-target: that `setjmp` has not filled
  return 0;
}
