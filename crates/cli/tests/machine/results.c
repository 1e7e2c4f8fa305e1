// Calls whose results nobody looks at, and calls whose results somebody does, one by the letter given.
#include <stdlib.h>
#include <unistd.h>

static int volatile shared;

__attribute__((noinline)) static void nothing(void) {
  write(1, "a", 1);  // ignored
}

__attribute__((noinline)) static int then_another(void) {
  chdir("/");  // ignored
  return chdir("/");
}

__attribute__((noinline)) static int on_one_way(char c) {
  if (c) write(1, "a", 1);  // ignored
  else if (write(1, "b", 1) < 0) return 1;
  return 0;
}

__attribute__((noinline)) static int kept_and_forgotten(void) {
  int result = chdir("/");  // ignored
  shared = 1;
  result = 3;
  return result;
}

__attribute__((noinline)) static int in_a_loop(int n) {
  int sum = shared;
  for (int i = 0; i < n; i++) {
    long got = write(1, "a", 1);  // ignored
    sum += i;
  }
  return sum;
}

__attribute__((noinline)) static int from_variable_to_variable(void) {
  int result = chdir("/");  // ignored
  int same = result;
  shared = 2;
  return shared;
}

__attribute__((noinline)) static int before_arguments(void) {
  fsync(1);  // ignored
  return access("/", F_OK) + shared;
}

__attribute__((noinline)) static int stored(void) {
  shared = chdir("/");
  return 0;
}

__attribute__((noinline)) static int compared_later(char c) {
  int result = chdir("/");
  if (c == 'X') return 2;
  return result ? 1 : 0;
}

__attribute__((noinline)) static int returned(void) { return chdir("/"); }

__attribute__((noinline)) static int passed_on(void) {
  exit(chdir("/"));
}

__attribute__((noinline)) static int by_address(int *where) {
  *where = chdir("/");
  return 0;
}

int main(int argc, char **argv) {
  int there = 0;
  switch (argv[1][0]) {
  case 'a': nothing(); return 0;
  case 'b': return then_another();
  case 'c': return on_one_way(argv[1][0]);
  case 'd': return kept_and_forgotten();
  case 'e': return in_a_loop(argc);
  case 'f': return from_variable_to_variable();
  case 'g': return before_arguments();
  case 'h': return stored();
  case 'i': return compared_later(argv[1][0]);
  case 'j': return returned();
  case 'k': return passed_on();
  case 'l': return by_address(&there) + there;
  case 'm': fsync(1);  // ignored
    return 0;
  default: return 0;
  }
}
