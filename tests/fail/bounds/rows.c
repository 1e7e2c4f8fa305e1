//@ frontend: bitcode, since gcc adds the index to the frame pointer before the distance of the array, and clang -O2 gives the access no line
//@ args: --sym-stdin 3
// The last row of a board has a neighbour below.
#include <unistd.h>
enum { SIZE = 4 };
int main(void) {
  char board[SIZE][SIZE] = {"ab", "c", "d", "ef"};
  unsigned char move[3];
  if (read(0, move, 3) != 3) return 2;
  unsigned y = move[0] & 3, x = move[1] & 3;
  if (move[2] != 'v') return board[y][x];
#ifdef FIXED
  if (y == SIZE - 1) return 1;
#endif
  return board[y + 1][x];  //~ FAULT out-of-bounds-read: read of 1 byte
}
