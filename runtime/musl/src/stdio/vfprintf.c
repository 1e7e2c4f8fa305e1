/* A number to be printed is concretised: its digits tell its value, so a path for each value is all that musl's conversion would
 * make, whose decisions about symbolic digits take the solver long. Its sign, infinities and NaN are decided before. */
#include <math.h>
#include <stdint.h>
#include <concretise.h>

static long double concretise(long double y)
{
	union { long double number; struct { uint64_t mantissa; uint16_t exponent; } bits; } of = { y };
	of.bits.exponent = __wryneck_concretise(of.bits.exponent);
	of.bits.mantissa = __wryneck_concretise(of.bits.mantissa);
	return of.number;
}

#define frexpl(y, exponent) frexpl(concretise(y), exponent)
#include <../stdio/vfprintf.c>
