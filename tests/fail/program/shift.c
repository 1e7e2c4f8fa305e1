//@ args: --sym-arg 1
int main(int argc, char **argv) {
  unsigned char by = argv[1][0];
#ifdef FIXED
  by &= 31;
#endif
  return (1u << by) == 16;  //~ FAULT shift-too-far
}
