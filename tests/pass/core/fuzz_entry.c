//@ frontend: bitcode x86_64
//@ options: --entry-bytes 3
#include <stddef.h>
#include <stdint.h>
// Every read is inside `size`.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int n = 0;
  for (size_t i = 0; i < size; i++) n += data[i] == 'f';
  return n == 3 ? 0 : 0;
}
