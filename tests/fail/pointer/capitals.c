//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// Capitals are made in place, in a default that is a literal.
#include <ctype.h>
static char *capitals(char *text) {
  for (char *p = text; *p; p++) *p = toupper((unsigned char)*p);  //~ FAULT read-only-write: write of 1 byte
  return text;
}
int main(int argc, char **argv) {
#ifdef FIXED
  static char usual[] = "utf-8";
#else
  char *usual = "utf-8";
#endif
  char *charset = argv[1][0] == '-' && argv[1][1] == '\0' ? usual : argv[1];
  return capitals(charset)[0] == 'X';
}
