// input: stdin 5
// Sorts bytes by insertion.
#include <unistd.h>

int main(void) {
  unsigned char a[5];
  int n = read(0, a, sizeof a);
  for (int i = 1; i < n; i++) {
    unsigned char x = a[i];
    int j = i;
    for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
    a[j] = x;
  }
  write(1, a, n);
  return 0;
}
