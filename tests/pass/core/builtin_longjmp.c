//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 6
// The compiler's own jumps, out of nested calls and more than once.
static void *out[5];
static __attribute__((noinline)) void leave(int level) {
  if (level == 0) __builtin_longjmp(out, 1);
  leave(level - 1);
}
int main(int argc, char **argv) {
  volatile int times = 0;
  int digit = argv[1][0];
  if (digit < '0' || digit > '3') return 9;
  if (__builtin_setjmp(out)) {
    times++;
    if (times > digit - '0') return times;
  }
  leave(digit - '0');
  return 8;
}
