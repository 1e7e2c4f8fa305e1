//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// The n-th node is asked of a list that is shorter.
struct node { int value; const struct node *next; };
static const struct node third = {30, 0}, second = {20, &third}, first = {10, &second};
static int nth(int n) {
  const struct node *at = &first;
  while (n-- > 0) {
#ifdef FIXED
    if (!at->next) return -1;
#endif
    at = at->next;
  }
  return at->value;  //~ FAULT null-dereference: read of 4 bytes  //~ NOT x86_64 -O2: the function is in place of its call, which has the instruction
}
int main(int argc, char **argv) {
  if (argv[1][0] != '-' || argv[1][1] < '0' || argv[1][1] > '3') return 1;
  return nth(argv[1][1] - '0') == 20;  //~ ONLY x86_64 -O2 FAULT null-dereference
}
