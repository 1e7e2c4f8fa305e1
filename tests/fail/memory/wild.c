//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
int main(int argc, char **argv) {
#ifndef FIXED
  if (argv[1][0] == 'w') return *(volatile char *)0x123456789000;  //~ FAULT wild-pointer
#endif
  return 0;
}
