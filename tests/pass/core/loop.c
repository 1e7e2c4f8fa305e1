//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
//@ paths: 5
// Each length of the argument is a path.
int main(int argc, char **argv) {
  int n = 0;
  while (argv[1][n]) n++;
  return n;
}
