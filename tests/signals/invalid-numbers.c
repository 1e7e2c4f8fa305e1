// Signals that there are not, and processes that there are not.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void handler(int number) { (void)number; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  static const int numbers[] = {0, 65, -1, 1000};
  int number = numbers[c & 3];
  void (*before)(int) = signal(number, handler);
  printf("%d %d\n", before == SIG_ERR, errno == EINVAL);
  if (number) {
    errno = 0;
    int result = kill(getpid(), number);
    printf("%d %d\n", result, errno == EINVAL);
  }
  errno = 0;
  int result = kill(999999999, 0);
  printf("%d %d\n", result, errno == ESRCH);
  return 0;
}
