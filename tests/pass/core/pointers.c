//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
//@ paths: 5
struct node { struct node *next; int value; };
static int sum(const struct node *n) {
  int s = 0;
  for (; n; n = n->next) s += n->value;
  return s;
}
int main(int argc, char **argv) {
  struct node c = {0, 4}, b = {&c, 2}, a = {&b, 1};
  if (argv[1][0] == 'x') a.next = &c;
  struct node *first = argv[1][0] && argv[1][1] == 'y' ? &b : &a;
  return sum(first);
}
