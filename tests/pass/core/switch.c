//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 4
// Two cases share a way out; the default is one path.
int main(int argc, char **argv) {
  switch (argv[1][0]) {
  case 'a':
  case 'e': return 1;
  case 'x': return 2;
  case 'z': return 3;
  default: return 0;
  }
}
