// A text of JSON values is parsed, and each is printed again.
//@ seed: {"a":[1,true,null,"b"]}
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "jv.h"

// Of `util.c`, which has the program's input too.
const void *_jq_memmem(const void *text, size_t size, const void *part, size_t length) {
  return memmem(text, size, part, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct jv_parser *parser = jv_parser_new(0);
  jv_parser_set_buf(parser, (const char *)data, (int)size, 0);
  for (;;) {
    jv value = jv_parser_next(parser);
    if (!jv_is_valid(value)) {
      jv_free(value);
      break;
    }
    jv_free(jv_dump_string(value, JV_PRINT_PRETTY | JV_PRINT_SORTED));
  }
  jv_parser_free(parser);
  return 0;
}
