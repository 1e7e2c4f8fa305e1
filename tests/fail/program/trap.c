//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
int main(int argc, char **argv) {
#ifndef FIXED
  if (argv[1][0] == 't') __builtin_trap();  //~ FAULT trap
#endif
  return 0;
}
