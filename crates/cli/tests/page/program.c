#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int never(int x) { return x + 1; }
static int parse(const char *text) {
  if (text[0] == '<')
    return 10 / (text[1] - '0');
  if (text[0] == 'b')
    return 2;
  return 0;
}
int main(int argc, char **argv) {
  char line[3] = {0};
  char name[4] = {0};
  int which;
  read(0, line, 2);
  klee_make_symbolic(&which, sizeof which, "</td><img src=x onerror=boom()>\"'");
  if (argc > 9) return never(argc); // </script ><script>boom()</script><img src=x onerror="boom()">
  if (strchr(argv[1], '&'))
    name[strlen(argv[1]) + 1] = 'x';
  if (which > 1000)
    abort();
#line 7 "<img src=x onerror=boom()>\"'.h"
  return parse(line);
}
