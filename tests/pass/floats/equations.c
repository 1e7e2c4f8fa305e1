//@ frontend: bitcode x86_64
//@ args: --sym-stdin 8
//@ paths: 6
// Equations between numbers that input gives bit by bit: solved, not guessed.
#include <unistd.h>

int main(void) {
  float x, y;
  if (read(0, &x, 4) != 4 || read(0, &y, 4) != 4)
    return 9;
  if (x * x == 2.25f)
    return 1;
  if (x == 3.0f && y * 3.0f == x + 0.375f)
    return 2;
  if (x != x)
    return 3;
  return x - x != 0 ? 4 : 0;
}
