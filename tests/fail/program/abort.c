//@ args: --sym-arg 1
#include <stdlib.h>
int main(int argc, char **argv) {
  if (argv[1][0] == '!') abort();  //~ FAULT abort
  return 0;
}
