// `sigprocmask` in each of its ways, its old mask, and a way that is none.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void say(const char *what, const sigset_t *set) {
  printf("%s %d %d\n", what, sigismember(set, SIGINT), sigismember(set, SIGTERM));
}
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  sigset_t one, two, old;
  sigemptyset(&one);
  sigaddset(&one, SIGINT);
  sigemptyset(&two);
  sigaddset(&two, SIGTERM);
  sigprocmask(SIG_BLOCK, &one, &old);
  say("first", &old);
  int ways[] = {SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK, 77};
  int result = sigprocmask(ways[c & 3], c & 4 ? &one : &two, &old);
  printf("%d %d\n", result, result < 0 && errno == EINVAL);
  sigprocmask(0, 0, &old);
  say("now", &old);
  return 0;
}
