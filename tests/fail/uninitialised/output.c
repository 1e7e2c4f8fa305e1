//@ frontend: bitcode, since what ran before `main` has written the stack that its variables are on
//@ args: --sym-arg 1
//@ options: --uninit report
/* A record is written whole, though only a part of it was set. */
#include <string.h>
#include <unistd.h>
struct record { char name[4]; int size; };
int main(int argc, char **argv) {
  struct record r, copy;
#ifdef FIXED
  memset(&r, 0, sizeof r);
#endif
  memcpy(r.name, "rec", 4);
  if (argv[1][0] != 's') r.size = argv[1][0];
  copy = r;
  return write(1, &copy, sizeof copy) != sizeof copy;  //~ FAULT uninitialised-read: output depends on byte 4 of `r` (8 bytes)
}
