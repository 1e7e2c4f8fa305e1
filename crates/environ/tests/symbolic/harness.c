#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 0 && data[0] == '!') return data[1];
	return 0;
}

unsigned scale(unsigned by, const unsigned *value)
{
	return *value / by;
}
