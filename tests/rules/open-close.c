//@ rule: open-close
/* Streams that are left open or closed twice, and such as are not. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define FILE_NAME "/etc/passwd"

int never_closed(void) {
  FILE *in = fopen(FILE_NAME, "r");  //~ VIOLATION open-close: stream from `fopen` is never closed
  return in == 0;
}

int left_open_on_an_error(char c) {
  FILE *in = fopen(FILE_NAME, "r");  //~ VIOLATION open-close: is never closed
  if (!in) return 1;
  if (c == 'e') return 2;
  fclose(in);
  return 0;
}

int left_open_by_exit(char c) {
  FILE *in = fopen(FILE_NAME, "r");  //~ VIOLATION open-close: is never closed
  if (!in) return 1;
  if (c == 'e') exit(3);
  fclose(in);
  return 0;
}

int one_of_two(char c) {
  FILE *a = fopen(FILE_NAME, "r");
  FILE *b = fopen(FILE_NAME, "r");  //~ VIOLATION open-close: is never closed
  if (a) fclose(a);
  if (c < 5 && b) fclose(b);
  return 0;
}

int one_of_a_loop(unsigned char n) {
  FILE *all[3] = {0};
  if (n > 3) return 1;
  for (int i = 0; i < n; i++) all[i] = fopen(FILE_NAME, "r");  //~ VIOLATION open-close: is never closed
  for (int i = 0; i + 1 < n; i++)
    if (all[i]) fclose(all[i]);
  return 0;
}

int by_fdopen(char c) {
  int fd = open(FILE_NAME, O_RDONLY);
  FILE *in = fdopen(fd, "r");  //~ VIOLATION open-close: stream from `fdopen` is never closed
  if (!in) return 1;
  if (c) fclose(in);
  else close(fd);
  return 0;
}

int temporary(char c) {
  FILE *f = tmpfile();  //~ VIOLATION open-close: stream from `tmpfile` is never closed
  if (f && c != 'k') fclose(f);
  return 0;
}

int in_memory(char c) {
  char text[4] = "abc";
  FILE *f = fmemopen(text, 4, "r");  //~ VIOLATION open-close: stream from `fmemopen` is never closed
  if (f && c != 'k') fclose(f);
  return 0;
}

int twice(char c) {
  FILE *in = fopen(FILE_NAME, "r");
  if (!in) return 1;
  fclose(in);
  if (c == 'a') fclose(in);  //~ VIOLATION open-close: stream is closed again //~ FAULT use-after-free
  return 0;
}

int the_other_way_round(char c) {
  FILE *in = fopen(FILE_NAME, "r");
  if (!in) return 1;
  if (c == 'a') pclose(in);  //~ VIOLATION open-close: is closed by `pclose`, but is no process
  fclose(in);  //~ FAULT use-after-free
  return 0;
}

int twice_in_two_ways(char c) {
  FILE *in = fopen(FILE_NAME, "r");
  if (!in) return 1;
  fclose(in);
  if (c == 'a') pclose(in);  //~ VIOLATION open-close: stream is closed again //~ FAULT use-after-free
  return 0;
}

int reopened_when_closed(char c) {
  FILE *in = fopen(FILE_NAME, "r");
  if (!in) return 1;
  fclose(in);
  if (c == 'a') freopen(FILE_NAME, "r", in);  //~ VIOLATION open-close: is opened again after it was closed //~ FAULT use-after-free
  return 0;
}

int closed(void) {
  FILE *in = fopen(FILE_NAME, "r");
  if (in) fclose(in);
  return 0;
}

int closed_on_each_way(char c) {
  FILE *in = fopen(FILE_NAME, "r");
  if (!in) return 1;
  if (c == 'e') goto out;
  if (fgetc(in) == c) goto out;
  fgetc(in);
out:
  fclose(in);
  return 0;
}

static FILE *kept;
static void at_exit(void) {
  if (kept) fclose(kept);
}
int closed_by_an_exit_handler(char c) {
  atexit(at_exit);
  kept = fopen(FILE_NAME, "r");
  if (c == 'e') exit(1);
  return 0;
}

int the_same_condition_in_other_words(char c, char d) {
  char name[3] = {c, d, 0};
  FILE *in = strcmp(name, "-") ? fopen(FILE_NAME, "r") : stdin;
  if (!in) return 1;
  fgetc(in);
  if (name[0] != '-' || name[1] != 0) fclose(in);
  return 0;
}

int standard_streams_are_nobodys(char c) {
  FILE *out = c ? stdout : fopen("/dev/null", "w");
  if (!out) return 1;
  fputc('x', out);
  if (out != stdout) fclose(out);
  return 0;
}

int of_a_loop(unsigned char n) {
  FILE *all[3] = {0};
  if (n > 3) return 1;
  for (int i = 0; i < n; i++) all[i] = fopen(FILE_NAME, "r");
  for (int i = 0; i < n; i++)
    if (all[i]) fclose(all[i]);
  return 0;
}

int reopened(char c) {
  FILE *in = fopen(FILE_NAME, "r");
  if (!in) return 1;
  // Where freopen fails, it has closed the stream.
  FILE *again = freopen(c ? FILE_NAME : "/none/such", "r", in);
  if (again) fclose(again);
  return 0;
}

int not_opened_is_not_closed(char c) {
  FILE *in = fopen(c ? "/none/such" : FILE_NAME, "r");
  if (in) fclose(in);
  return 0;
}

int opened_again_and_closed_again(void) {
  for (int i = 0; i < 3; i++) {
    FILE *in = fopen(FILE_NAME, "r");
    if (in) fclose(in);
  }
  return 0;
}

int the_stream_of_a_descriptor(void) {
  FILE *in = fdopen(open(FILE_NAME, O_RDONLY), "r");
  if (in) fclose(in);
  return 0;
}
