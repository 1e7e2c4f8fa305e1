//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
int main(int argc, char **argv) {
#ifdef FIXED
  char text[] = "constant", buffer[4] = "abc";
#else
  char *text = "constant", buffer[4] = "abc";
#endif
  char *p = argv[1][0] == 'r' ? text : buffer;
  p[1] = 'x';  //~ FAULT read-only-write
  return 0;
}
