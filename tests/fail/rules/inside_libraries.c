//@ frontend: bitcode x86_64
//@ options: --rule open-close --rules-in-libraries
/* The C library opens the file of users and keeps it open. */
#include <pwd.h>
int main(int argc, char **argv) {
  getpwent();  //~ VIOLATION open-close: is never closed
#ifdef FIXED
  endpwent();
#endif
  return 0;
}
