// How deep calls may go, by the addresses of frames, as interpreters count. A byte is read.
#include <unistd.h>

static char *top;
static volatile char *volatile kept;

__attribute__((noinline)) static int deeper(int left) {
  if (top - static_cast<char *>(__builtin_frame_address(0)) > 1 << 16) return 3;
  volatile char room[1024];
  kept = room;
  room[0] = left ? deeper(left - 1) : 4;
  return room[0];
}

int main() {
  unsigned char byte = 0;
  if (read(0, &byte, 1) != 1) return 1;
  top = static_cast<char *>(__builtin_frame_address(0));
  return deeper(byte > 150 ? 200 : 10);
}
