// A document is parsed with a handler for each kind of thing in it.
//@ seed: <?xml version="1.0"?><a b="c">d</a>
#include <stdint.h>
#include <stdlib.h>

#include "expat.h"

static void XMLCALL start(void *data, const XML_Char *name, const XML_Char **attributes) {
  (void)data, (void)name, (void)attributes;
}

static void XMLCALL end(void *data, const XML_Char *name) { (void)data, (void)name; }

static void XMLCALL text(void *data, const XML_Char *bytes, int length) { (void)data, (void)bytes, (void)length; }

static void XMLCALL comment(void *data, const XML_Char *bytes) { (void)data, (void)bytes; }

static void XMLCALL instruction(void *data, const XML_Char *target, const XML_Char *bytes) {
  (void)data, (void)target, (void)bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  XML_Parser parser = XML_ParserCreate(0);
  if (!parser) return 0;
  // Without a salt of its own the parser asks for the time.
  XML_SetHashSalt(parser, 1);
  XML_SetElementHandler(parser, start, end);
  XML_SetCharacterDataHandler(parser, text);
  XML_SetCommentHandler(parser, comment);
  XML_SetProcessingInstructionHandler(parser, instruction);
  XML_Parse(parser, (const char *)data, (int)size, 1);
  XML_ParserFree(parser);
  return 0;
}
