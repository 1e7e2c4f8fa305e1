// A stream on a broken pipe: the signal comes when the stream is flushed.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void handler(int number) { fprintf(stderr, "signal\n"); write(1, "signal\n", 7); }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  int p[2];
  if (pipe(p)) return 1;
  FILE *stream = fdopen(p[1], "w");
  signal(SIGPIPE, c & 1 ? handler : SIG_IGN);
  fputs("text", stream);
  if (c & 2) close(p[0]);
  int result = fflush(stream);
  int broken = result && errno == EPIPE;
  char line[32];
  int n = snprintf(line, sizeof line, "%d %d\n", result, broken);
  write(1, line, n);
  return 0;
}
