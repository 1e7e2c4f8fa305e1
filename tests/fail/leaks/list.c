//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
//@ options: --leaks
/* Dropping the head of a list loses all of it; another list is still reachable from a global variable. */
#include <stdlib.h>
#include <unistd.h>
struct node { struct node *next; char value; };
static struct node *kept;
static struct node *push(struct node *list, char value) {
  struct node *n = malloc(sizeof *n);  //~ FAULT memory-leak: 16 bytes in 1 object allocated here are lost at exit
  n->next = list;
  n->value = value;
  return n;
}
static void clear(struct node *list) {
  while (list) {
    struct node *next = list->next;
    free(list);
    list = next;
  }
}
int main(void) {
  char in[3];
  struct node *list = NULL;
  if (read(0, in, 3) != 3) return 1;
  for (int i = 0; i < 3; i++) {
    if (in[i] == 'k') kept = push(kept, in[i]);
    else list = push(list, in[i]);
  }
#ifndef FIXED
  if (in[0] == 'x') { list = NULL; return 3; }
#endif
  clear(list);
  return 0;
}
