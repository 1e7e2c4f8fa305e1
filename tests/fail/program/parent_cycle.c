//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// The root of a tree is found by way of its parents, which make a circle.
#include <unistd.h>
static unsigned char parent[3];
static int depth(int node, int steps) {  //~ ONLY x86_64 -O0 FAULT stack-overflow
  volatile int trail[32];
  trail[0] = node;
#ifdef FIXED
  if (steps > 3) return -1;
#endif
  for (int up = 0; up < 3; up++)
    if (parent[node] == up && up != node) return depth(up, steps + 1) + 0 * trail[0];  //~ FAULT stack-overflow  //~ NOT x86_64 -O0: the stack is used up by a write of the function called
  return steps;
}
int main(void) {
  if (read(0, parent, 3) != 3) return 2;
  return depth(2, 0) > 1;
}
