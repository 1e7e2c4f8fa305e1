// input: stdin 6
// Walks through a maze by the keys w, a, s, d: who runs into a wall loses.
#include <unistd.h>

static const char *const maze[] = {
  "+-----+",
  "|@|   |",
  "| | | |",
  "|   |#|",
  "+-----+",
};

int main(void) {
  char moves[6];
  int x = 1, y = 1, got = read(0, moves, sizeof moves);
  for (int i = 0; i < got; i++) {
    if (moves[i] == 'w') y--;
    else if (moves[i] == 's') y++;
    else if (moves[i] == 'a') x--;
    else if (moves[i] == 'd') x++;
    else return 1;
    if (maze[y][x] == '#') return 42;
    if (maze[y][x] != ' ' && maze[y][x] != '@') return 2;
  }
  return 0;
}
