// A program without a libc: reads 4 bytes, looks two up in a table, goes by one through a jump table, copies with `rep movsb`,
// divides, and says what it found. The tests know all it can say.
typedef unsigned char byte;

static long call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

static void say(const char *text) {
  long length = 0;
  while (text[length]) length++;
  call(1, 1, (long)text, length);
}

__attribute__((noreturn)) static void leave(long code) {
  call(60, code, 0, 0);
  __builtin_unreachable();
}

static const byte weight[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

__attribute__((noinline)) static long kind(byte c) {
  switch (c) {
  case 'a': say("apple "); return 1;
  case 'b': say("bear "); return 7;
  case 'c': return 20;
  case 'd': say("dog "); return 3;
  case 'e': say("eel "); return 4;
  case 'f': return 5;
  default: return 0;
  }
}

__attribute__((noinline)) static unsigned sum(const byte *in) {
  unsigned total = 0;
  for (int i = 0; i < 2; i++) total += weight[in[i] & 15] * (i + 1);
  return total;
}

void _start(void) {
  byte in[4], copy[4];
  if (call(0, 0, (long)in, 4) != 4) {
    say("short\n");
    leave(9);
  }
  byte *to = copy;
  const byte *from = in;
  long count = 4;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
  long found = kind(copy[2]);
  unsigned total = sum(copy);
  say(total > 20 ? "heavy" : total / 3 == 4 ? "middling" : "light");
  if ((signed char)copy[3] < -100) {
    say(" cold");
    found += 40;
  }
  byte last[2] = {copy[3] < 10 ? '0' + copy[3] : '?', '\n'};
  call(1, 1, (long)last, 2);
  leave(found);
}
