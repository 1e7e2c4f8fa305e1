//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
//@ paths: 3
// Calls nothing but `strcmp`, whose model leaves symbolic bytes to the C library's own code.
#include <string.h>
int main(int argc, char **argv) { return strcmp(argv[1], "ab") == 0; }
