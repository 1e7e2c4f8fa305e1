//@ frontend: bitcode x86_64
//@ args: --sym-calls time,clock_gettime
// What divides by the hour of the day fails at midnight, and the nanoseconds may be none.
#include <time.h>
int main(void) {
  time_t now;
  if (time(&now) != now) return 9;
  long hour = now / 3600 % 24;
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0 || exact.tv_nsec > 999999999) return 8;
#ifdef FIXED
  if (hour == 0 || exact.tv_nsec == 0) return 1;
#endif
  if (exact.tv_sec & 1) return 100 / hour > 5;  //~ FAULT division-by-zero
  return 100 / exact.tv_nsec > 5;               //~ FAULT division-by-zero
}
