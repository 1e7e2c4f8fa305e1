//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// A node with one child is cut out of a tree, its parent still holds it.
#include <stdlib.h>
#include <unistd.h>
struct node { unsigned char key; struct node *child[2]; };
static struct node *root;
static void insert(unsigned char key) {
  struct node **at = &root;
  while (*at) at = &(*at)->child[key > (*at)->key];  //~ FAULT use-after-free
  *at = calloc(1, sizeof **at);
  if (!*at) exit(3);
  (*at)->key = key;
}
static void remove_least(void) {
  struct node **at = &root;
  if (!root) return;
  while ((*at)->child[0]) at = &(*at)->child[0];
  struct node *gone = *at;
#ifdef FIXED
  *at = gone->child[1];
#else
  if (gone->child[1]) *at = gone->child[1];
#endif
  free(gone);
}
int main(void) {
  unsigned char in[3];
  if (read(0, in, 3) != 3) return 2;
  insert(50);
  insert(in[0]);
  if (in[1] == 'r') remove_least();
  insert(in[2]);
  return 0;
}
