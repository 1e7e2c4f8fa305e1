// What a stream has not written yet is written by both.
#include <stdlib.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  setvbuf(stdout, malloc(256), _IOFBF, 256);
  printf("once ");
  if (c > 200) fflush(stdout);
  if (fork() == 0) {
    printf("child\n");
    exit(0);
  }
  wait(NULL);
  printf("parent\n");
  return 0;
}
