/* Numbers as programs mostly write them are converted without a branch on their digits: few digits make an integer that a
 * floating-point number holds exactly, as it does a small power of ten, so that one multiplication or division rounds as the
 * standard asks (W. D. Clinger, How to read floating point numbers accurately, PLDI 1990). All other numbers are left to musl,
 * whose sources decide by the value of each digit. */
#define __floatscan __floatscan_any
#include <floatscan.c>
#undef __floatscan
#include <concretise.h>

hidden long double __floatscan(FILE *, int, int);

/* By precision: how many digits a mantissa holds whatever they are, and which powers of ten. */
static const struct { int digits, power; } exact[] = { { 7, 10 }, { 15, 22 }, { 19, 27 } };

static const long double powers[] = {
	1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L, 1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L,
	1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L
};

/* 5 ^ (28 i) for i from -12, cut after 128 bits: as a number of 128 bits and a power of two. */
static const struct { uint64_t high, low; int power; } fives[] = {
	{ 0xe3e27a444d8d98b7U, 0xfd1b1b2308169b25U, -908 },
	{ 0xe61acf033d1a45dfU, 0x6fb92487298e33bdU, -843 },
	{ 0xe858ad248f5c22c9U, 0xd1b3400f8f9cff68U, -778 },
	{ 0xea9c227723ee8bcbU, 0x465e15a979c1cadcU, -713 },
	{ 0xece53cec4a314ebdU, 0xa4f8bf5635246428U, -648 },
	{ 0xef340a98172aace4U, 0x86fb897116c87c34U, -583 },
	{ 0xf18899b1bc3f8ca1U, 0xdc44e6c3cb279ac1U, -518 },
	{ 0xf3e2f893dec3f126U, 0x5a89dba3c3efccfaU, -453 },
	{ 0xf64335bcf065d37dU, 0x4d4617b5ff4a16d5U, -388 },
	{ 0xf8a95fcf88747d94U, 0x75a44c6397ce912aU, -323 },
	{ 0xfb158592be068d2eU, 0xeed6e2f0f0d56712U, -258 },
	{ 0xfd87b5f28300ca0dU, 0x8bca9d6e188853fcU, -193 },
	{ 0x8000000000000000U, 0x0000000000000000U, -127 },
	{ 0x813f3978f8940984U, 0x4000000000000000U, -62 },
	{ 0x82818f1281ed449fU, 0xbff8f10e7a8921a4U, 3 },
	{ 0x83c7088e1aab65dbU, 0x792667c6da79e0faU, 68 },
	{ 0x850fadc09923329eU, 0x03e2cf6bc604ddb0U, 133 },
	{ 0x865b86925b9bc5c2U, 0x0b8a2392ba45a9b2U, 198 },
	{ 0x87aa9aff79042286U, 0x90fb44d2f05d0842U, 263 },
	{ 0x88fcf317f22241e2U, 0x441fece3bdf81f03U, 328 },
	{ 0x8a5296ffe33cc92fU, 0x82bd6b70d99aaa6fU, 393 },
	{ 0x8bab8eefb6409c1aU, 0x1ad089b6c2f7548eU, 458 },
	{ 0x8d07e33455637eb2U, 0xdb0b487b6423e1e8U, 523 },
	{ 0x8e679c2f5e44ff8fU, 0x570f09eaa7ea7648U, 588 },
};

/* 5 ^ i for i below 28. */
static uint64_t five(int i)
{
	uint64_t value = 1;
	while (i--) value *= 5;
	return value;
}

/* 2 ^ exponent, which is not subnormal. */
static double two(int exponent)
{
	union { uint64_t bits; double number; } of = { (uint64_t)(1023 + exponent) << 52 };
	return of.number;
}

/* The double nearest to `digits * 10 ^ exponent`, for few digits that are not all 0, and exponents from LEAST to MOST: below is nothing
 * but 0, above nothing but infinity. Of the product with the power's first 128 bits 78 are enough for all digits. They are rounded once:
 * by the sum of two doubles, or as an integer where the result is subnormal. */
enum { FEW = 4, LEAST = -329, MOST = 308 };

static double scaled(uint64_t digits, int exponent)
{
	int step = (exponent + 12 * 28) / 28, power = exponent + fives[step].power + 128;
	uint64_t rest = five((exponent + 12 * 28) % 28);
	unsigned __int128 low = (unsigned __int128)fives[step].low * rest, high = (unsigned __int128)fives[step].high * rest + (low >> 64);
	/* Of 192 bits the first 128 that are not zeros. */
	for (; !(high >> 127); power--) {
		high = high << 1 | (uint64_t)low >> 63;
		low <<= 1;
	}
	unsigned __int128 product = digits * (high >> 64) + (digits * (unsigned __int128)(uint64_t)high >> 64);
	/* Only powers that 128 bits hold exactly have products halfway between two numbers. */
	if (exponent < 0 || exponent > 27) product |= 1;
	/* The unit of subnormal numbers is 2 ^ -1074, their end 2 ^ -1022. musl does not call it a loss where one is rounded up to a power of two. */
	int below = -1074 - power;
	if (below >= 26 || below > 11 && product < (unsigned __int128)1 << (below + 52)) {
		union { uint64_t bits; double number; } of = { product + ((unsigned __int128)1 << (below - 1)) >> below };
		int is_power = !(of.bits & (of.bits - 1)) & (unsigned __int128)of.bits << below > product;
		if (!is_power) errno = ERANGE;
		return of.number;
	}
	double number = (double)(int64_t)(product >> 40) * 0x1p40 + (double)(int64_t)(product & 0xffffffffff);
	/* In two steps, since one factor may be too small or too large. */
	return number * two(power / 2) * two(power - power / 2);
}

/* What comes next: a byte, the end of the number's field, or nothing that can be told without reading on. */
enum { END = -1, UNKNOWN = -2 };

static int peek(FILE *f, const unsigned char *p)
{
	if (p != f->shend) return *p;
	/* The width of a conversion ends here, or the string of `sscanf`. */
	if (f->shend != f->rend) return END;
	if (f->rend && f->rend == f->cookie && !*f->rend) return END;
	return UNKNOWN;
}

/* The text of a number: its digits as an integer, how many there are, and the power of its base that they are to be multiplied with. */
struct text {
	uint64_t digits;
	int hex, count, exponent;
	const unsigned char *end;
};

/* Reads a number at `p`, without a sign. Gives whether it is one that is scanned here. */
static int scan_text(FILE *f, const unsigned char *p, int most, int pok, struct text *text)
{
	int point = 0, fraction = 0, exponent = 0, c;

	*text = (struct text){ 0 };
	for (;; p++) {
		c = peek(f, p);
		if (c - '0' < 10U | text->hex & (c | 32) - 'a' < 6U) {
			if (++text->count > most - 2 * text->hex) return 0;
			/* Letters are behind 64, and their low bits count from 1. */
			text->digits = (text->hex ? 16 : 10) * text->digits + (c & 15) + (text->hex ? 9 * (c >> 6) : 0);
			fraction += point;
		} else if (c == '.' && !point) {
			point = 1;
		} else if (!text->hex && text->count == 1 && !point && (c | 32) == 'x' && !text->digits) {
			text->hex = 1;
			text->count = 0;
		} else {
			break;
		}
	}
	if (c == UNKNOWN || !text->count) return 0;
	text->end = p;
	if ((c | 32) == (text->hex ? 'p' : 'e')) {
		c = peek(f, ++p);
		int below = c == '-', written = 0;
		if (c == '+' | c == '-') c = peek(f, ++p);
		for (; c - '0' < 10U; c = peek(f, ++p)) {
			if (++written > 4) return 0;
			exponent = 10 * exponent + (c & 15);
		}
		if (c == UNKNOWN || !written && !pok) return 0;
		if (written) text->end = p;
		if (below) exponent = -exponent;
	}
	text->exponent = exponent - (text->hex ? 4 * fraction : fraction);
	return 1;
}

/* `y * factor`, or `y / factor`, as the precision rounds it. */
static long double product(int prec, uint64_t y, long double factor, int divided)
{
	switch (prec) {
	case 0: return divided ? (float)y / (float)factor : (float)y * (float)factor;
	case 1: return divided ? (double)y / (double)factor : (double)y * (double)factor;
	default: return divided ? (long double)y / factor : (long double)y * factor;
	}
}

/* The value of a short number, if one operation gives it. */
static int convert(const struct text *text, int prec, long double *result)
{
	int exponent = text->exponent;

	if (text->hex) {
		/* All precisions hold these powers of two, and the product is exact. */
		if (exponent < -100 | exponent > 100) return 0;
		*result = product(prec, text->digits, two(__wryneck_concretise(exponent)), 0);
		return 1;
	}
	if (exponent >= -exact[prec].power & exponent <= exact[prec].power) {
		exponent = __wryneck_concretise(exponent);
		*result = product(prec, text->digits, powers[exponent < 0 ? -exponent : exponent], exponent < 0);
		return 1;
	}
	if (prec != 1 || text->count > FEW) return 0;
	if (!text->digits) {
		*result = 0;
		return 1;
	}
	if (exponent < LEAST | exponent > MOST) {
		errno = ERANGE;
		*result = exponent < LEAST ? 0 : INFINITY;
		return 1;
	}
	exponent = __wryneck_concretise(exponent);
	*result = scaled(text->digits, exponent);
	if (exponent > 300 && *result == INFINITY) errno = ERANGE;
	return 1;
}

/* As [`__floatscan`], but without reading more into the buffer. Nothing is consumed if the number is musl's to convert. */
static int scan_short(FILE *f, int prec, int pok, long double *result)
{
	const unsigned char *p = f->rpos;
	struct text text;
	int c;

	for (; (c = peek(f, p)) == ' ' | c - '\t' < 5U; p++);
	int negative = c == '-';
	if (c == '+' | c == '-') p++;
	if (!scan_text(f, p, exact[prec].digits, pok, &text) || !convert(&text, prec, result)) return 0;
	if (negative) *result = -*result;
	f->rpos = (unsigned char *)text.end;
	return 1;
}

long double __floatscan(FILE *f, int prec, int pok)
{
	long double result;
	if (prec >= 0 && prec <= 2 && scan_short(f, prec, pok, &result)) return result;
	return __floatscan_any(f, prec, pok);
}
