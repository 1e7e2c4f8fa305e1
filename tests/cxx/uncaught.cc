// What nobody catches: of several types, thrown at several places, one of them in the library.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>
struct Noisy { ~Noisy() { printf("-\n"); } };
static int at(const std::vector<int> &all, unsigned n) { return all.at(n); }
static void thrown(unsigned char c) {
  Noisy n;
  if (c == 'i') throw 42;
  if (c == 'l') throw std::length_error("long");
  try {
    if (c == 'c') throw 1.5;
  } catch (double d) {
    printf("caught %g\n", d);
  }
}
int main() {
  unsigned char c = 0;
  setvbuf(stdout, 0, _IONBF, 0);
  if (read(0, &c, 1) != 1) return 9;
  if (c < 8) return at(std::vector<int>(3), c & 7);
  thrown(c);
  return 0;
}
