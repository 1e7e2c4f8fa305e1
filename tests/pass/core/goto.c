//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 3
int main(int argc, char **argv) {
  int n = 0;
again:
  if (argv[1][0] == 'a') goto out;
  if (argv[1][0] == 'b' && n++ < 3) goto again;
  return n;
out:
  return 40;
}
