//@ inputs: 8
// Timers that end sleeps and waits, and such that do not: ignored, blocked, of a later time, that come again.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/time.h>
#include <time.h>
static volatile sig_atomic_t rang;
static void handler(int n) { rang++; }
// Whole seconds from one time to another, whatever fractions they have.
static int passed(struct timeval *from, struct timeval *to) {
  long us = (to->tv_sec - from->tv_sec) * 1000000L + to->tv_usec - from->tv_usec;
  return (us + 100000) / 1000000;
}
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  switch (c & 7) {
  case 0: signal(SIGALRM, handler); alarm(1); printf("%d", poll(0, 0, 3000)); printf(" %d\n", errno == EINTR); break;
  // Half a second from where what is left would be another number.
  case 1: signal(SIGALRM, handler); setitimer(ITIMER_REAL, &(struct itimerval) {{0, 0}, {2, 500000}}, 0); printf("%u", sleep(1)); printf(" %u", sleep(1)); printf(" %u", sleep(5)); printf(" %d\n", (int)rang); break;
  case 2: signal(SIGALRM, SIG_IGN); alarm(1); printf("%u\n", sleep(3)); break;
  case 3: { sigset_t s; sigemptyset(&s); sigaddset(&s, SIGALRM); sigprocmask(SIG_BLOCK, &s, 0); signal(SIGALRM, handler); alarm(1); printf("%u", sleep(2)); sigprocmask(SIG_UNBLOCK, &s, 0); printf(" %d\n", (int)rang); break; }
  case 4: alarm(2); sleep(1); printf("before\n"); fflush(stdout); sleep(4); printf("never\n"); break;
  case 5: { signal(SIGALRM, handler); struct itimerval t = {{0, 300000}, {0, 300000}}; setitimer(ITIMER_REAL, &t, 0); int n = 0; for (int i = 0; i < 3; i++) n += sleep(1) > 0; printf("%d\n", n); break; }
  case 6: { signal(SIGALRM, handler); alarm(1); struct timespec t = {2, 0}, l = {0, 0}; printf("%d", clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &l)); printf(" %d\n", l.tv_nsec > 900000000 || l.tv_sec == 1); break; }
  case 7: { signal(SIGALRM, handler); struct timeval a, b, d; gettimeofday(&a, 0); alarm(3); sleep(1); gettimeofday(&b, 0); sleep(9); gettimeofday(&d, 0); printf("%d %d %d\n", passed(&a, &b), passed(&a, &d), (int)rang); }
  }
  return rang;
}
