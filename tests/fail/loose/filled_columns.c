//@ frontend: bitcode x86_64
//@ args: --sym-arg 6
// A line is cut at colons into a table of columns; the third is used though the line may have two.
#include <string.h>
struct row { char *column[3]; };
static void cut(struct row *row, char *line) {
  for (int i = 0; i < 3; i++) {
    row->column[i] = line;
    line = strchr(line, ':');
    if (!line) return;
    *line++ = '\0';
  }
}
int main(int argc, char **argv) {
  struct row row = {{0}};
  cut(&row, argv[1]);
#ifdef FIXED
  if (!row.column[2]) return 1;
#endif
  return row.column[2][0] == '0';  //~ FAULT null-dereference: read of 1 byte
}
