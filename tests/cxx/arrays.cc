// Functions that the program itself lists for its start and its end. A byte is read.
#include <unistd.h>

static int state = 1;
static void early() { state = state * 2 + 1; }
static void first() { state = state * 3; }
static void last() { _exit(state & 64 ? 33 : state & 31); }
typedef void (*Function)();

__attribute__((section(".init_array"), used)) static Function begins = early;
__attribute__((section(".init_array.00200"), used)) static Function begins_first = first;
__attribute__((section(".fini_array"), used)) static Function ends = last;

int main() {
  unsigned char byte = 0;
  if (read(0, &byte, 1) != 1) return 1;
  if (byte == 'x') state += 64;
  return 2;
}
