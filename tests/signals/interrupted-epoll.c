//@ inputs: 8
// `epoll_wait` that a timer interrupts fails with EINTR, also with `SA_RESTART`; `epoll_pwait` waits with its own mask.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <unistd.h>
static volatile sig_atomic_t signals;
static void handler(int number) { signals++; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  int p[2], e = epoll_create1(0);
  if (pipe(p) || e < 0) return 1;
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, 0);
  struct epoll_event one = {EPOLLIN, {.u64 = 7}}, got = {0, {.u64 = 9}};
  epoll_ctl(e, EPOLL_CTL_ADD, p[0], &one);
  struct itimerval timer = {{0, 0}, {0, 50000}};
  if (c & 1) setitimer(ITIMER_REAL, &timer, 0);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGALRM);
  int time = c & 2 ? 10 : 100;
  int n = c & 4 ? epoll_pwait(e, &got, 1, time, &mask) : epoll_wait(e, &got, 1, time);
  printf("%d %d %d %d\n", n, n < 0 && errno == EINTR, (int)got.data.u64, (int)signals);
  return 5;
}
