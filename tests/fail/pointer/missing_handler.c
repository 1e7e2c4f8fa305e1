//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
// A table of handlers has a gap.
static int help(void) { return 0; }
static int quit(void) { return 1; }
static int (*const handlers['t' - 'g' + 1])(void) = {['h' - 'g'] = help, ['q' - 'g'] = quit};
int main(int argc, char **argv) {
  unsigned command = argv[1][0] - 'g';
  if (command > 't' - 'g') return 2;
#ifdef FIXED
  if (!handlers[command]) return 2;
#endif
  return handlers[command]();  //~ FAULT bad-call-target: call of the null pointer
}
