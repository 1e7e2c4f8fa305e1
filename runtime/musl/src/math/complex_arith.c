/* Complex multiplication and division as the compiler calls them: C11 annex G.5.1, infinities recovered from NaNs. */
#define COMPLEX_ARITH(real, suffix, copysign_, isinf_, isnan_, fmax_, fabs_, logb_, scalbn_) \
	real _Complex __mul##suffix(real a, real b, real c, real d); \
	real _Complex __div##suffix(real a, real b, real c, real d); \
	static real _Complex pair_##suffix(real re, real im) \
	{ \
		real _Complex z; \
		((real *)&z)[0] = re; \
		((real *)&z)[1] = im; \
		return z; \
	} \
	static real unit_##suffix(real x) { return copysign_(isinf_(x) ? 1 : 0, x); } \
	static real zero_if_nan_##suffix(real x) { return isnan_(x) ? copysign_(0, x) : x; } \
	real _Complex __mul##suffix(real a, real b, real c, real d) \
	{ \
		real ac = a * c, bd = b * d, ad = a * d, bc = b * c; \
		real re = ac - bd, im = ad + bc; \
		if (!(isnan_(re) && isnan_(im))) return pair_##suffix(re, im); \
		int recover = 0; \
		if (isinf_(a) || isinf_(b)) { \
			a = unit_##suffix(a), b = unit_##suffix(b); \
			c = zero_if_nan_##suffix(c), d = zero_if_nan_##suffix(d); \
			recover = 1; \
		} \
		if (isinf_(c) || isinf_(d)) { \
			c = unit_##suffix(c), d = unit_##suffix(d); \
			a = zero_if_nan_##suffix(a), b = zero_if_nan_##suffix(b); \
			recover = 1; \
		} \
		if (!recover && (isinf_(ac) || isinf_(bd) || isinf_(ad) || isinf_(bc))) { \
			a = zero_if_nan_##suffix(a), b = zero_if_nan_##suffix(b); \
			c = zero_if_nan_##suffix(c), d = zero_if_nan_##suffix(d); \
			recover = 1; \
		} \
		if (!recover) return pair_##suffix(re, im); \
		real inf = __builtin_inf(); \
		return pair_##suffix(inf * (a * c - b * d), inf * (a * d + b * c)); \
	} \
	real _Complex __div##suffix(real a, real b, real c, real d) \
	{ \
		int scale = 0; \
		real log_norm = logb_(fmax_(fabs_(c), fabs_(d))); \
		if (log_norm - log_norm == 0) { \
			scale = (int)log_norm; \
			c = scalbn_(c, -scale), d = scalbn_(d, -scale); \
		} \
		real norm = c * c + d * d; \
		real re = scalbn_((a * c + b * d) / norm, -scale); \
		real im = scalbn_((b * c - a * d) / norm, -scale); \
		if (!(isnan_(re) && isnan_(im))) return pair_##suffix(re, im); \
		real inf = __builtin_inf(); \
		if (norm == 0 && (!isnan_(a) || !isnan_(b))) { \
			return pair_##suffix(copysign_(inf, c) * a, copysign_(inf, c) * b); \
		} \
		if ((isinf_(a) || isinf_(b)) && c - c == 0 && d - d == 0) { \
			a = unit_##suffix(a), b = unit_##suffix(b); \
			return pair_##suffix(inf * (a * c + b * d), inf * (b * c - a * d)); \
		} \
		if (log_norm == inf && a - a == 0 && b - b == 0) { \
			c = unit_##suffix(c), d = unit_##suffix(d); \
			return pair_##suffix(0 * (a * c + b * d), 0 * (b * c - a * d)); \
		} \
		return pair_##suffix(re, im); \
	}

#include <math.h>

COMPLEX_ARITH(float, sc3, copysignf, isinf, isnan, fmaxf, fabsf, logbf, scalbnf)
COMPLEX_ARITH(double, dc3, copysign, isinf, isnan, fmax, fabs, logb, scalbn)
COMPLEX_ARITH(long double, xc3, copysignl, isinf, isnan, fmaxl, fabsl, logbl, scalbnl)
