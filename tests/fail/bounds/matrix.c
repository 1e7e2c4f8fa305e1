//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// Row and column of a matrix are taken for one another.
enum { ROWS = 3, COLUMNS = 5 };
static int cells[ROWS][COLUMNS];
static int *cell(unsigned row, unsigned column) { return &cells[0][0] + row * COLUMNS + column; }
int main(int argc, char **argv) {
  unsigned row = argv[1][0] - 'a', column = argv[1][0] ? argv[1][1] - '1' : 9u;
  if (row >= ROWS || column >= COLUMNS) return 1;
#ifdef FIXED
  *cell(row, column) = 1;
#else
  *cell(column, row) = 1;  //~ FAULT out-of-bounds-write: write of 4 bytes  //~ NOT x86_64 -O2: in optimised code no address tells its variable
#endif
  return cells[0][0];
}
