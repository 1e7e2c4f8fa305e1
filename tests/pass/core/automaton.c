//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
//@ paths: 12
// A scanner as tables. The index of the second byte depends on two bytes by way of the table, so its nine values are a path each. After three of
// them, the third byte decides whether the word is one.
enum { START, NAME, NUMBER, ERROR };
static const unsigned char class_of[256] = {['a'] = 1, ['b'] = 1, ['c'] = 1, ['0'] = 2, ['1'] = 2, ['2'] = 2};
static const unsigned char next[] = {ERROR, NAME, NUMBER, ERROR, NAME, NAME, ERROR, ERROR, NUMBER, ERROR, ERROR, ERROR};
int main(int argc, char **argv) {
  unsigned char state = START;
  for (int i = 0; i < 3; i++) state = next[state * 3 + class_of[(unsigned char)argv[1][i]]];
  return state != ERROR;
}
