//@ rule: open-close
//@ cc: -O2
/* Streams that handlers of `exit` close, registered on some paths only; optimised, so that the ways part before what they share. */
#include <stdio.h>
#include <stdlib.h>
#define FILE_NAME "/etc/passwd"

static FILE *in;

static void close_it(void) {
  fclose(in);
}

__attribute__((noinline, noreturn)) static void die(int status) {
  if (status > 1) fclose(in);
  exit(status);
}

int left_open_before_the_handler(char c) {
  in = fopen(FILE_NAME, "r");  //~ VIOLATION open-close: is never closed
  if (!in) return 1;
  if (c == 'e') die(0);
  atexit(close_it);
  return 0;
}

int left_open_without_the_handler(char c) {
  in = fopen(FILE_NAME, "r");  //~ VIOLATION open-close: is never closed
  if (!in) return 1;
  if (c != 'e') atexit(close_it);
  if (c == 'e') die(0);
  return 0;
}

int closed_by_either(char c) {
  in = fopen(FILE_NAME, "r");
  if (!in) return 1;
  if (c == 'e') die(2);
  atexit(close_it);
  return 0;
}
