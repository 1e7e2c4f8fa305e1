// The handler writes to a pipe, and the program reads what signals there were.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static int p[2];
static void handler(int number) {
  char byte = number;
  write(p[1], &byte, 1);
}
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  if (pipe(p)) return 1;
  static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1};
  for (int i = 0; i < 4; i++) signal(numbers[i], handler);
  for (int i = 0; i < 4; i++)
    if (c >> i & 1) raise(numbers[i]);
  close(p[1]);
  char all[8];
  long n = read(p[0], all, sizeof all);
  for (long i = 0; i < n; i++) printf("%d\n", all[i]);
  return n;
}
