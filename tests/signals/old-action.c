// What `sigaction` says of the action before.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void handler(int number) { (void)number; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  struct sigaction action = {.sa_handler = handler, .sa_flags = c & 1 ? SA_RESTART : SA_NODEFER}, old;
  sigaddset(&action.sa_mask, SIGTERM);
  if (c & 2) sigaction(SIGHUP, &action, 0);
  if (c & 4) raise(SIGHUP);
  sigaction(SIGHUP, 0, &old);
  printf("%d %d %d %d\n", old.sa_handler == handler, (old.sa_flags & SA_RESTART) != 0, (old.sa_flags & SA_NODEFER) != 0,
         sigismember(&old.sa_mask, SIGTERM));
  return 0;
}
