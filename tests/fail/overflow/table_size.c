//@ frontend: bitcode, machine code does not say which results may wrap
//@ options: --overflow unsigned
//@ args: --sym-stdin 4
// Room for a table whose number of rows comes from its header.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  uint32_t rows;
  if (read(0, &rows, sizeof rows) != sizeof rows) return 2;
#ifdef FIXED
  if (rows > UINT32_MAX / 12) return 1;
#endif
  uint32_t size = rows * 12;  //~ FAULT unsigned-overflow: * 12 overflows `uint32_t`
  return size > 4096;
}
