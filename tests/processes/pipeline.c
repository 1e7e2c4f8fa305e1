// Three children behind one another, as a shell makes them.
#include <ctype.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "input.h"
static void letters(char c, int out) {
  char text[4] = {c, 'a', (char)(c + 1), '-'};
  for (int i = 0; i < 4; i++)
    if (isalpha((unsigned char)text[i])) write(out, text + i, 1);
}
static void upper(int in, int out) {
  char c;
  while (read(in, &c, 1) == 1) {
    c = toupper((unsigned char)c);
    write(out, &c, 1);
  }
}
static int count(int in) {
  char c;
  int n = 0;
  while (read(in, &c, 1) == 1) n += c == 'A';
  return n;
}
int main(void) {
  unsigned char c = input();
  int a[2], b[2], status, last = 0;
  if (pipe(a) || pipe(b)) return 100;
  pid_t first = fork();
  if (first == 0) {
    close(a[0]); close(b[0]); close(b[1]);
    letters(c, a[1]);
    _exit(0);
  }
  pid_t second = fork();
  if (second == 0) {
    close(a[1]); close(b[0]);
    upper(a[0], b[1]);
    _exit(0);
  }
  close(a[0]); close(a[1]);
  pid_t third = fork();
  if (third == 0) {
    close(b[1]);
    exit(count(b[0]));
  }
  close(b[0]); close(b[1]);
  for (int i = 0; i < 3; i++)
    if (wait(&status) == third) last = WEXITSTATUS(status);
  printf("%d\n", last);
  return last;
}
