//@ args: --sym-arg 1
int main(int argc, char **argv) {
  unsigned char by = argv[1][0];
  return (1u << by) == 16;  //~ FAULT shift-too-far
}
