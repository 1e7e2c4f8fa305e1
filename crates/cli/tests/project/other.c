#include "words.h"

int missing(void);
/* The linker leaves this member out, or `missing` would be missed. */
int other(void) { return missing(); }
