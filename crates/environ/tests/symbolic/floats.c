/* Integers become floating-point numbers, and a choice of two is multiplied. */
int __VERIFIER_nondet_int(void);
void __VERIFIER_assume(int);

int main(void)
{
	int x = __VERIFIER_nondet_int();
	__VERIFIER_assume(x >= -2 & x < 3);
	double d = x, sign = x < 0 ? -1.0 : 1.0;
	float f = (unsigned)(x + 2);
	return d * 10 * sign + f * 50;
}
