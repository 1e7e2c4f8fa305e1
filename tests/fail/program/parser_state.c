//@ frontend: bitcode x86_64
//@ args: --sym-stdin 5
// A state machine for quoted fields states what it believes at the end of a line.
#include <assert.h>
#include <unistd.h>
enum state { START, PLAIN, QUOTED, CLOSED };
static enum state step(enum state s, char c) {
  switch (s) {
  case START: return c == '"' ? QUOTED : c == ',' ? START : PLAIN;
  case PLAIN: return c == ',' ? START : PLAIN;
  case QUOTED: return c == '"' ? CLOSED : QUOTED;
  case CLOSED: return c == '"' ? QUOTED : c == ',' ? START : PLAIN;
  }
  return START;
}
int main(void) {
  char line[5];
  if (read(0, line, sizeof line) != sizeof line) return 2;
  enum state s = START;
  for (int i = 0; i < 5 && line[i] != '\n'; i++) s = step(s, line[i]);
#ifdef FIXED
  if (s == QUOTED) return 1;
#endif
  assert(s != QUOTED);  //~ FAULT assertion-failed: s != QUOTED
  return 0;
}
