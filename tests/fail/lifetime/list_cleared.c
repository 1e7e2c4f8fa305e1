//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// A list is freed by a loop that reads the link of a node after the node.
#include <stdlib.h>
#include <unistd.h>
struct node { struct node *next; int value; };
static struct node *head;
static void push(int value) {
  struct node *n = malloc(sizeof *n);
  if (!n) exit(3);
  *n = (struct node){head, value};
  head = n;
}
static void clear(void) {
#ifdef FIXED
  for (struct node *n = head, *next; n; n = next) {
    next = n->next;
    free(n);
  }
#else
  for (struct node *n = head; n; n = n->next)  //~ FAULT use-after-free: read of 8 bytes at offset 0
    free(n);
#endif
  head = NULL;
}
int main(void) {
  unsigned char in[3];
  if (read(0, in, 3) != 3) return 2;
  for (int i = 0; i < 3; i++) {
    if (in[i] == 'a') push(i);
    if (in[i] == 'c') clear();
  }
  return 0;
}
