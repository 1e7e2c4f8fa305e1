//@ frontend: bitcode x86_64
//@ options: --entry-bytes 5
// A fuzz harness for chunks of (kind, length, bytes): the last chunk may be cut off behind its kind.
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t at = 0;
  unsigned sum = 0;
  while (at < size) {
    if (data[at] != 'c') return 0;
#ifdef FIXED
    if (at + 1 >= size) return 0;
#endif
    uint8_t length = data[at + 1];  //~ FAULT out-of-bounds-read: read of 1 byte
    if (length > size - at - 1) return 0;
    sum += length;
    at += 2 + length;
  }
  return 0;
}
