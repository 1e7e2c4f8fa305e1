//@ frontend: bitcode x86_64
//@ exit: 3
//@ options: --rule open-close
/* The C library opens the file of users and keeps it open, which is not the program's to close. */
#include <pwd.h>
int main(int argc, char **argv) {
  return getpwent() == 0;
}
