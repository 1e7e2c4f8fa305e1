//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
int main(int argc, char **argv) {
  unsigned char by = argv[1][0];
#ifdef FIXED
  by &= 31;
#endif
  return (1u << by) == 16;  //~ FAULT shift-too-far  //~ NOT x86_64 -O0: shifts of the CPU take their count modulo the width
}
