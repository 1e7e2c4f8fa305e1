// A stream is decompressed, with zlib's header or gzip's.
//@ seed-hex: 789c4b4c4a0600024d0127
#include <stdint.h>

#include "zlib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Bytef out[1024];
  z_stream stream = {.next_in = (Bytef *)data, .avail_in = (uInt)size};
  // Either header, and the largest window.
  if (inflateInit2(&stream, 32 + MAX_WBITS) != Z_OK) return 0;
  int done;
  do {
    stream.next_out = out;
    stream.avail_out = sizeof out;
    done = inflate(&stream, Z_NO_FLUSH);
  } while (done == Z_OK && (stream.avail_in || !stream.avail_out));
  inflateEnd(&stream);
  return 0;
}
