//@ frontend: bitcode x86_64
//@ options: --entry-bytes 4
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
#ifdef FIXED
  if (size < 3) return 0;
#endif
  if (size > 1 && data[0] == 'F' && data[1] == 'U') return data[2] == 'Z';  //~ FAULT out-of-bounds-read
  return 0;
}
