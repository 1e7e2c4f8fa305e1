// Results of calls that are input: functions of the program and of the library, called by name, by pointer and in tail position.
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) int sensor(int which) { return which * 3; }
__attribute__((noinline)) double level(void) { return 0.5; }
static __attribute__((noinline)) short inner(void) { return 9; }
__attribute__((noinline)) void nothing(void) {}
__attribute__((noinline)) char *pointer(void) { return 0; }
__attribute__((noinline)) int tail(int which) { return sensor(which + 1); }
int (*volatile number)(void) = rand;
int main(void) {
  nothing();
  if (pointer()) return 1;
  int first = number(), second = tail(2);
  double now = level();
  if (first < 0) return 2;
  if (first % 7 == 3 && second == 12345) return 3;
  if (now > 3.25 && now < 3.5) return 4;
  if (inner() == -7) return 5;
  struct timespec at;
  if (time(0) == 1000000007 && clock_gettime(CLOCK_MONOTONIC, &at) == 0) return at.tv_nsec >= 1000000000 ? 6 : 7;
  return rand() == 5 ? 8 : 0;
}
