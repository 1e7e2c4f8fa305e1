// SIGCHLD with a handler.
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include "input.h"
static volatile int came, code;
static void handler(int number, siginfo_t *info, void *context) { came++; code = info->si_status; }
int main(void) {
  unsigned char c = input();
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGCHLD, &action, NULL);
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, &old);
  if (fork() == 0) _exit(c & 15);
  while (!came) sigsuspend(&old);
  int status;
  wait(&status);
  printf("%d %d %d\n", came, code, WEXITSTATUS(status));
  return 0;
}
