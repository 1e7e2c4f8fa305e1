//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
// An array of variable length counts from 1.
static int sum(int n) {
  int squares[n], total = 0;
#ifdef FIXED
  for (int i = 0; i < n; i++) squares[i] = i * i;
#else
  for (int i = 1; i <= n; i++) squares[i] = i * i;  //~ FAULT out-of-bounds-write: write of 4 bytes  //~ NOT x86_64: what is allocated on the stack at run time has no bounds in machine code
#endif
  for (int i = 1; i < n; i++) total += squares[i];
  return total;
}
int main(int argc, char **argv) {
  int n = argv[1][0] - '0';
  if (n < 4 || n > 6) return 1;
  return sum(n);
}
