// The events of a text are given to the emitter.
//@ seed: a: [b, "c"]
#include <stdint.h>
#include <stdlib.h>

#include "yaml.h"

static int swallow(void *data, unsigned char *text, size_t size) {
  (void)data, (void)text, (void)size;
  return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  yaml_parser_t parser;
  yaml_emitter_t emitter;
  if (!yaml_parser_initialize(&parser)) return 0;
  if (!yaml_emitter_initialize(&emitter)) {
    yaml_parser_delete(&parser);
    return 0;
  }
  yaml_parser_set_input_string(&parser, data, size);
  yaml_emitter_set_output(&emitter, swallow, 0);
  for (int done = 0; !done;) {
    yaml_event_t event;
    if (!yaml_parser_parse(&parser, &event)) break;
    done = event.type == YAML_STREAM_END_EVENT;
    // The emitter takes the event over.
    if (!yaml_emitter_emit(&emitter, &event)) break;
  }
  yaml_emitter_delete(&emitter);
  yaml_parser_delete(&parser);
  return 0;
}
