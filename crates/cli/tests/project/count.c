#include <stdio.h>
#include "words.h"

int main(int argc, char **argv) {
  int n = argc > 1 ? words(argv[1]) : 0;
  printf("%d\n", n);
  return n;
}
