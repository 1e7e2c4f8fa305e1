//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
// A table of pointers indexed by input: a hash table whose buckets are heap objects, an automaton, and functions.
#include <stdlib.h>
#include <string.h>
struct item { struct item *next; char key; };
struct state { struct state *to[2]; int accepts; };
static struct item *table[7];
static struct state automaton[3];
static int twice(int n) { return 2 * n; }
static int same(int n) { return n; }
static int (*const functions[])(int) = {twice, same, 0};
int main(int argc, char **argv) {
  unsigned char in = argv[1][0];
  for (int i = 0; i < 4; i++) {
    struct item *p = calloc(1, sizeof *p);
    p->key = 'a' + i;
    p->next = table[(i + 3) * 5 % 7];
    table[i * 5 % 7] = p;
  }
  for (int i = 0; i < 3; i++) for (int j = 0; j < 2; j++) automaton[i].to[j] = &automaton[(i + j + 1) % 3];
  automaton[2].accepts = 1;
  struct state *s = automaton;
  for (int bit = 0; bit < 6; bit++) s = s->to[in >> bit & 1];
  struct item *p = table[in % 7];
  if (s->accepts) return p ? p->next ? p->next->key : p->key : 1;
  return functions[in % 3] ? functions[in % 3](in & 15) : 50;
}
