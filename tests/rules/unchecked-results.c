//@ rule: unchecked-results
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int global;

int ignored(void) {
  write(1, "a", 1);  //~ VIOLATION unchecked-results: result of `write` is looked at by nobody
  return 0;
}

int thrown_away(void) {
  (void)write(1, "a", 1);  //~ VIOLATION unchecked-results: result of `write` is looked at by nobody
  return 0;
}

int on_one_way(char c) {
  if (c == 'a') write(1, "a", 1);  //~ VIOLATION unchecked-results: result of `write` is looked at by nobody
  else if (write(1, "b", 1) < 0) return 1;
  return 0;
}

int kept_and_forgotten(void) {
  int result = chdir("/");  //~ VIOLATION unchecked-results: result of `chdir` is looked at by nobody
  return 0;
}

int overwritten(void) {
  int result = chdir("/");  //~ VIOLATION unchecked-results: result of `chdir` is looked at by nobody
  result = chdir("/etc");
  return result;
}

int handed_from_variable_to_variable(void) {
  int result = chdir("/");  //~ VIOLATION unchecked-results: result of `chdir` is looked at by nobody
  int same = result;
  result = 3;
  return result;
}

int of_rename(void) {
  rename("none", "such");  //~ VIOLATION unchecked-results: result of `rename` is looked at by nobody
  return 0;
}

int of_fread(void) {
  char block[4] = {0};
  fread(block, 1, 4, stdin);  //~ VIOLATION unchecked-results: result of `fread` is looked at by nobody
  return block[0];
}

int in_a_loop(unsigned char n) {
  long sum = 0;
  for (int i = 0; i < n && i < 3; i++) {
    long got = write(1, "a", 1);  //~ VIOLATION unchecked-results: result of `write` is looked at by nobody
    sum += i;
  }
  return sum;
}

int of_fsync(char c) {
  if (c) fsync(1);  //~ VIOLATION unchecked-results: result of `fsync` is looked at by nobody
  return 0;
}

int compared(void) { return write(1, "a", 1) < 0 ? 1 : 0; }

int compared_later(char c) {
  int result = chdir("/");
  if (c == 'a') return 2;
  if (result) return 1;
  return 0;
}

int returned(void) { return chdir("/"); }

int passed_on(void) {
  printf("%d", chdir("/"));
  return 0;
}

int left_in_a_global(void) {
  global = chdir("/");
  return 0;
}

int summed(unsigned char n) {
  long sum = 0;
  for (int i = 0; i < n && i < 3; i++) sum += write(1, "a", 1);
  if (chdir("/")) return 1;
  return sum;
}

int chosen(char c) {
  int result = c ? chdir("/") : chdir("/etc");
  return result != 0;
}

int others_need_no_look(void) {
  printf("a");
  fflush(stdout);
  close(0);
  return chdir("/");
}

static int tell(int *where) { return *where; }
int shown_to_another_function(void) {
  int result = chdir("/");
  return tell(&result);
}
