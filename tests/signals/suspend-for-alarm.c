//@ inputs: 2
// The usual wait without a race: block, look, `sigsuspend`.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t rang;
static void handler(int number) { rang = 1; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGALRM);
  signal(SIGALRM, handler);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  if (c & 1) raise(SIGALRM);
  else alarm(1);
  int turns = 0;
  while (!rang) sigsuspend(&before), turns++;
  sigprocmask(SIG_SETMASK, &before, 0);
  printf("%d\n", turns);
  return 0;
}
