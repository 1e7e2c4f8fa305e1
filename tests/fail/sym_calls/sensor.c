//@ frontend: bitcode, `level` is defined nowhere
//@ args: --sym-calls sensor,level,state
// Functions of the program, one of them static, and one that is defined elsewhere, of several types.
static short sensor(void) { return 3; }
double level(void);
unsigned char state(void) { return 1; }
int main(void) {
  int table[3] = {1, 2, 3};
  unsigned char now = state();
  if (now > 2) return 7;
  short at = sensor();
#ifdef FIXED
  if (at < 0 || now == 2) return 1;
#endif
  if (at > 2) return 6;
  if (level() == 2.5 && at == 1) return table[now] / (now - 2);  //~ FAULT division-by-zero
  return table[at];  //~ FAULT out-of-bounds-read: offset -
}
