/* Complex multiplication and division as the compiler calls them: C11 annex G.5.1, infinities recovered from NaNs. */
#define MOST(real) _Generic((real)0, double: __DBL_MAX__, long double: __LDBL_MAX__)
#define LEAST(real) _Generic((real)0, double: __DBL_MIN__, long double: __LDBL_MIN__)
#define TINY(real) _Generic((real)0, double: __DBL_EPSILON__, long double: __LDBL_EPSILON__)
#define COMPLEX_ARITH(real, suffix, copysign_, isinf_, isnan_) \
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
		real re, im; \
		quotient_##suffix(a, b, c, d, &re, &im); \
		if (!(isnan_(re) && isnan_(im))) return pair_##suffix(re, im); \
		real inf = __builtin_inf(); \
		if (c == 0 && d == 0 && (!isnan_(a) || !isnan_(b))) { \
			return pair_##suffix(copysign_(inf, c) * a, copysign_(inf, c) * b); \
		} \
		if ((isinf_(a) || isinf_(b)) && c - c == 0 && d - d == 0) { \
			a = unit_##suffix(a), b = unit_##suffix(b); \
			return pair_##suffix(inf * (a * c + b * d), inf * (b * c - a * d)); \
		} \
		if ((isinf_(c) || isinf_(d)) && a - a == 0 && b - b == 0) { \
			c = unit_##suffix(c), d = unit_##suffix(d); \
			return pair_##suffix(0 * (a * c + b * d), 0 * (b * c - a * d)); \
		} \
		return pair_##suffix(re, im); \
	}

/* The quotient of finite numbers, scaled so that what is between its operands and its result stays in range (Baudin and Smith, "A robust complex division in
 * Scilab", 2012). */
#define QUOTIENT(real, suffix, fmax_, fabs_) \
	/* (a + b * r) * t, where r = d / c and t = 1 / (c + d * r). A quotient r that has lost digits is not used. */ \
	static real part_##suffix(real a, real b, real c, real d, real r, real t) \
	{ \
		if (fabs_(r) <= LEAST(real)) return (a + d * (b / c)) * t; \
		real br = b * r; \
		return br != 0 ? (a + br) * t : a * t + (b * t) * r; \
	} \
	static void quotient_##suffix(real a, real b, real c, real d, real *re, real *im) \
	{ \
		const real most = MOST(real) / 2, big = 2 / (TINY(real) * TINY(real)), least = LEAST(real) * 2 / TINY(real); \
		real above = fmax_(fabs_(a), fabs_(b)), below = fmax_(fabs_(c), fabs_(d)), scale = 1; \
		if (above >= most) a /= 2, b /= 2, scale *= 2; \
		if (below >= most) c /= 2, d /= 2, scale /= 2; \
		if (above <= least) a *= big, b *= big, scale /= big; \
		if (below <= least) c *= big, d *= big, scale *= big; \
		if ((fabs_(a) <= least || fabs_(b) <= least) && fmax_(above, below) < most / big / big) a *= big, b *= big, c *= big, d *= big; \
		if (fabs_(d) <= fabs_(c)) { \
			real r = d / c, t = 1 / (c + d * r); \
			*re = part_##suffix(a, b, c, d, r, t) * scale; \
			*im = part_##suffix(b, -a, c, d, r, t) * scale; \
		} else { \
			real r = c / d, t = 1 / (d + c * r); \
			*re = part_##suffix(b, a, d, c, r, t) * scale; \
			*im = -part_##suffix(a, -b, d, c, r, t) * scale; \
		} \
	}

#include <math.h>

/* In twice the width everything stays in range. */
static void quotient_sc3(double a, double b, double c, double d, float *re, float *im)
{
	double norm = c * c + d * d;
	*re = (a * c + b * d) / norm;
	*im = (b * c - a * d) / norm;
}

QUOTIENT(double, dc3, fmax, fabs)
QUOTIENT(long double, xc3, fmaxl, fabsl)

COMPLEX_ARITH(float, sc3, copysignf, isinf, isnan)
COMPLEX_ARITH(double, dc3, copysign, isinf, isnan)
COMPLEX_ARITH(long double, xc3, copysignl, isinf, isnan)
