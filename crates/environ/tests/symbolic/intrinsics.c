#include <stddef.h>
#include <wryneck.h>
#include <klee/klee.h>

int __VERIFIER_nondet_int(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int), __VERIFIER_assert(int), reach_error(void);

static int ours(void)
{
	int x;
	wryneck_make_symbolic(&x, sizeof x, "x");
	wryneck_assume(x > 3);
	if (!wryneck_is_symbolic(x) || wryneck_is_symbolic(3) || wryneck_is_replay()) return 90;
	if (wryneck_room(&x) != 4 || wryneck_room((char *)&x + 1) != 3) return 91;
	if (wryneck_choose_range(-2, 5, "r") > 5) return 92;
	if (wryneck_concretise(wryneck_choose_range(7, 7, "s")) != 7) return 93;
	if (x == 4) wryneck_report("kind", "message");
	if (x == 5) wryneck_drop();
	return x < 4 ? 94 : 1;
}

static int klees(void)
{
	int n = klee_range(3, 9, "n");
	if (n < 3 || n >= 9) return 95;
	if (klee_get_value_i32(n) != 3 || klee_choose(4) > 3) return 96;
	klee_warning("careful");
	klee_assume(n < 8);
	if (n == 8) return 97;
	char b[10];
	if (klee_get_obj_size(b + 3) != 10) return 98;
	return 2;
}

static int verifiers(void)
{
	int n = __VERIFIER_nondet_int();
	if (__VERIFIER_nondet_bool() > 1) return 99;
	__VERIFIER_assume(n == 1 || n == 2);
	__VERIFIER_assert(n == 1);
	if (n == 2) return 100;
	return 3;
}

static int error(void)
{
	if (klee_int("e") == 5) reach_error();
	return 4;
}

int main(void)
{
	switch (klee_range(0, 5, "which")) {
	case 0: return ours();
	case 1: return klees();
	case 2: return verifiers();
	case 3: return error();
	default: return 5;
	}
}
