//@ frontend: bitcode x86_64
//@ options: --max-memory 200M
//@ exit: 3
//@ replay: no, the path is not run to its end
// A path that fills memory without end is stopped by the limit, long before it has run many instructions.
#include <stdlib.h>
#include <string.h>
static void *volatile kept;
int main(void) {
  for (;;) {
    // Memory that nothing keeps is never asked for in optimised code.
    kept = malloc(1 << 20);
    memset(kept, 1, 1 << 20);
  }
}
