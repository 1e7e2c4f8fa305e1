// Optimised code that fills buffers on its stack, by as many bytes as the second argument says.
#include <stdlib.h>

__attribute__((noinline)) static int leaf(int n) {
  volatile char room[16];
  for (int i = 0; i < n; i++)
    room[i] = 1;
  return room[n & 15];
}

__attribute__((noinline)) static void fill(char *to, int n) {
  for (int i = 0; i < n; i++)
    *(volatile char *)to++ = 2;
}

__attribute__((noinline)) static int calling(int n, int kept) {
  char room[16];
  fill(room, n);
  fill(room, 1);
  return room[0] + kept;
}

int main(int argc, char **argv) {
  if (argc < 3) return 99;
  int n = atoi(argv[2]);
  return argv[1][0] == 'l' ? leaf(n) : calling(n, argc);
}
