// A program that takes long to compile and to lower: half a million additions in one function.
#define A x = x * 3 + v;
#define B A A A A A A A A A A
#define C B B B B B B B B B B
#define D C C C C C C C C C C
#define E D D D D D D D D D D
#define F E E E E E
int main(int argc, char **argv) {
  unsigned v = (unsigned char)argv[1][0], x = 0;
  F F F F F F F F F F
  return x == 5;
}
