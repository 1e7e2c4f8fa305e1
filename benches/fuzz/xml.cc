// A document is parsed and printed again.
//@ seed: <?xml version="1.0"?><a b="c">d</a>
#include <cstddef>
#include <cstdint>

#include "tinyxml2.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tinyxml2::XMLDocument document;
  if (document.Parse(reinterpret_cast<const char *>(data), size) != tinyxml2::XML_SUCCESS) return 0;
  tinyxml2::XMLPrinter printer;
  document.Print(&printer);
  return 0;
}
