// Variables on the stack and globals, left by as many bytes as the second argument says, at a fixed place or at one that depends on it.
#include <stdlib.h>
#include <string.h>

struct part {
  int before;
  char name[4];
  int after[3];
};

char text[8];
int numbers[4];
static char beside[64];

static void fill(char *p, int n) {
  for (int i = 0; i < n; i++)
    p[i] = 1;
}

static int stack(int n) {
  char low[8], name[4], high[8];
  fill(low, 8);
  fill(high, 8);
  fill(name, n);
  return low[0] + high[0];
}

static int index_of(int i) {
  int table[6];
  char more[4];
  memset(table, 0, sizeof table);
  memset(more, 0, sizeof more);
  table[i] = 4;
  return table[0] + more[1];
}

static int member(int i) {
  struct part parts[3];
  memset(parts, 0, sizeof parts);
  parts[1].name[i] = 2;
  parts[i].after[1] = 3;
  return parts[1].after[0] + parts[1].before;
}

static int copied(int n) {
  char to[5], from[32];
  memset(from, 1, sizeof from);
  memcpy(to, from, n);
  return to[4];
}

static int nested(int depth, int n) {
  char here[6];
  fill(here, depth ? 6 : n);
  return depth ? nested(depth - 1, n) + here[5] : here[0];
}

static int given(struct part part, int n) {
  fill((char *)&part, n);
  return part.before;
}

static char *returned(int n) {
  char here[8], *p = here + n;
  here[0] = 0;
  return p;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 99;
  int n = argv[2][0] - 'a';
  struct part part;
  memset(&part, 0, sizeof part);
  switch (argv[1][0]) {
  case 's':
    return stack(n);
  case 'i':
    return index_of(n);
  case 'm':
    return member(n);
  case 'c':
    return copied(n);
  case 'n':
    return nested(3, n);
  case 'v':
    return given(part, n);
  case 'g':
    fill(text, n);
    return beside[n];
  case 'G':
    numbers[n] = 3;
    return numbers[0];
  case 'r':
    return *returned(n);
  case 'f':
    free(text + n);
    return 0;
  case 'F':
    free(&part);
    return 0;
  default:
    return 98;
  }
}
