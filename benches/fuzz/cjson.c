// A text is parsed and printed again.
//@ seed: {"a":[1,true,null,"b"]}
#include <stdint.h>
#include <stdlib.h>

#include "cJSON.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cJSON *value = cJSON_ParseWithLength((const char *)data, size);
  if (!value) return 0;
  cJSON_free(cJSON_Print(value));
  cJSON_free(cJSON_PrintUnformatted(value));
  cJSON_Delete(value);
  return 0;
}
