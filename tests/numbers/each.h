// `classify` on the argument; natively on each line of standard input, a line of hexadecimal bytes: a line for each with what it printed and its result.
#include <stdio.h>
#include <string.h>

static int classify(const char *text);

#ifdef NATIVE
int main(void) {
  char line[256], text[128];
  while (fgets(line, sizeof line, stdin)) {
    unsigned byte;
    size_t length = 0;
    while (sscanf(line + 2 * length, "%2x", &byte) == 1)
      text[length++] = byte;
    text[length] = 0;
    int result = classify(text);
    printf("%d\n", result);
  }
  return 0;
}
#else
int main(int argc, char **argv) {
  return argc > 1 ? classify(argv[1]) : 0;
}
#endif
