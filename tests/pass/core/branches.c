//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
//@ paths: 5
int main(int argc, char **argv) {
  int r = 0;
  if (argv[1][0] == 'a') r += 1;
  if (argv[1][0] && argv[1][1] == 'b') r += 2;
  return r;
}
