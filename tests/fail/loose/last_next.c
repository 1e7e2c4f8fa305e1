//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
//@ options: --uninit report
// Nodes are put behind the last one; nobody sets the next of the last.
#include <stdlib.h>
#include <unistd.h>
struct node { char value; struct node *next; };
static struct node *first, *last;
static void append(char value) {
  struct node *n = malloc(sizeof *n);
  if (!n) exit(3);
  n->value = value;
#ifdef FIXED
  n->next = NULL;
#endif
  if (last) last->next = n;
  else first = n;
  last = n;
}
int main(void) {
  char in[4];
  if (read(0, in, 4) != 4) return 2;
  for (int i = 0; i < 4 && in[i] != '.'; i++) append(in[i]);
  if (!first) return 1;
  for (struct node *n = first; n; n = n->next)  //~ FAULT uninitialised-read: a branch depends on
    if (n->value == 'x') return 0;
  return 1;
}
