//@ frontend: bitcode, since musl's `sigsetjmp` moves its return address, which executables report as overwritten
//@ args: --sym-arg 1
//@ paths: 4
// `siglongjmp` restores the signal mask if `sigsetjmp` saved it; landings of an array of buffers are told apart.
#include <setjmp.h>
#include <signal.h>
static int blocked(void) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, 0, &now);
  return sigismember(&now, SIGUSR1);
}
int main(int argc, char **argv) {
  sigset_t set;
  sigjmp_buf place;
  jmp_buf each[3];
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  switch (argv[1][0]) {
  case 's':
    if (sigsetjmp(place, 1)) return 50 + blocked();
    sigprocmask(SIG_BLOCK, &set, 0);
    siglongjmp(place, 7);
  case 'u':
    if (sigsetjmp(place, 0)) return 60 + blocked();
    sigprocmask(SIG_BLOCK, &set, 0);
    siglongjmp(place, 7);
  case 'e':
    for (volatile int i = 0;; i++) {
      if (i == 3) longjmp(each[1], 4);
      int thrown = setjmp(each[i]);
      if (thrown) return 70 + thrown + i;
    }
  }
  return 0;
}
