// waitid, which may leave the child.
#include <string.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  siginfo_t info;
  pid_t child = fork();
  if (child == 0) _exit(c & 7);
  memset(&info, 0, sizeof info);
  int done = waitid(P_PID, child, &info, WEXITED | WNOWAIT);
  printf("%d %d %d %d\n", done, info.si_pid == child, info.si_code == CLD_EXITED, info.si_status);
  memset(&info, 0, sizeof info);
  done = waitid(P_ALL, 0, &info, WEXITED);
  printf("%d %d\n", done, info.si_status);
  printf("%d\n", waitid(P_ALL, 0, &info, WEXITED));
  return 0;
}
