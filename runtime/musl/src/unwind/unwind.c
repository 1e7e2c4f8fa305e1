/* Unwinding of bitcode (Itanium C++ ABI, level I; https://itanium-cxx-abi.github.io/cxx-abi/abi-eh.html), in place of libgcc's.
 *
 * The front end writes what a landing pad catches as a table (`crates/ir/src/pad.rs`), the engine knows which calls have one and goes there.
 * So there is no personality and no context of registers: tables of C++ and of Rust are alike, and whether a type is caught is asked of
 * whoever throws. As natively, an exception that nobody catches unwinds nothing. */
#include <stdint.h>
#include <stdlib.h>

struct _Unwind_Exception {
	uint64_t class;
	void (*cleanup)(int, struct _Unwind_Exception *);
	uint64_t unused;
	/* Whether the exception's language catches it as one of this type: the thrower says who is asked. Where it does, it notes the address of the
	 * object as one of that type. */
	int (*catches)(const void *type, struct _Unwind_Exception *);
} __attribute__((aligned(16)));

typedef int (*_Unwind_Trace_Fn)(void *, void *);
typedef int (*_Unwind_Stop_Fn)(int, int, uint64_t, struct _Unwind_Exception *, void *, void *);

enum { FOREIGN_EXCEPTION_CAUGHT = 1, END_OF_STACK = 5 };
#define NO_FRAME UINT64_MAX

uint64_t __wryneck_pad_below(uint64_t height, const uint64_t **table);
_Noreturn void __wryneck_land(uint64_t frame);
void __wryneck_panic(uint64_t catcher);
_Noreturn void __wryneck_terminate(const char *type);

/* What a landing pad reads first; another thread may throw before it does. */
_Thread_local struct {
	struct _Unwind_Exception *exception;
	int selector;
} __wryneck_landed;

static int catches(uint64_t type, struct _Unwind_Exception *exception)
{
	return !type || (exception->catches && exception->catches((const void *)type, exception));
}

/* The selector by which a pad takes the exception, 0 if it does not. */
static int taken(const uint64_t *table, struct _Unwind_Exception *exception)
{
	const uint64_t *at = table + 2;
	for (uint64_t clauses = table[1]; clauses; clauses--) {
		int selector = (int)*at++;
		uint64_t operand = *at++;
		if (selector > 0 && catches(operand, exception)) return selector;
		if (selector < 0) {
			int listed = 0;
			for (uint64_t i = 0; i < operand; i++) listed |= catches(*at++, exception);
			if (!listed) return selector;
		}
	}
	return 0;
}

/* The class of Rust's exceptions: "MOZ\0RUST", in older versions read from its end. */
static int is_panic(struct _Unwind_Exception *exception)
{
	return exception->class == 0x54535552005a4f4d || exception->class == 0x4d4f5a0052555354;
}

/* Goes to the first pad that takes the exception or cleans up, if some pad takes it. */
static void unwind(struct _Unwind_Exception *exception, int is_raised)
{
	const uint64_t *table;
	uint64_t frame = NO_FRAME, first = NO_FRAME;
	int selector = 0;
	while (!selector && (frame = __wryneck_pad_below(frame, &table)) != NO_FRAME) {
		selector = taken(table, exception);
		if (first == NO_FRAME && (selector || table[0])) first = frame;
	}
	if (!selector) return;
	/* Rust's library catches what the program does not, so the catcher tells which panic ends it. */
	if (is_raised && is_panic(exception)) __wryneck_panic(frame);
	__wryneck_landed.exception = exception;
	__wryneck_landed.selector = first == frame ? selector : 0;
	__wryneck_land(first);
}

int _Unwind_RaiseException(struct _Unwind_Exception *exception)
{
	unwind(exception, 1);
	return END_OF_STACK;
}

int _Unwind_Resume_or_Rethrow(struct _Unwind_Exception *exception) { return _Unwind_RaiseException(exception); }

_Noreturn void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	unwind(exception, 0);
	abort();
}

void _Unwind_DeleteException(struct _Unwind_Exception *exception)
{
	if (exception->cleanup) exception->cleanup(FOREIGN_EXCEPTION_CAUGHT, exception);
}

/* What `std::terminate` does if the program has not said: the name of the type of the exception on hand, or null. */
_Noreturn void __wryneck_uncaught(const char *type) { __wryneck_terminate(type); }

/* Call stacks have no addresses: a trace is empty. */
int _Unwind_Backtrace(_Unwind_Trace_Fn trace, void *argument) { return END_OF_STACK; }
uint64_t _Unwind_GetIP(void *context) { return 0; }
uint64_t _Unwind_GetIPInfo(void *context, int *before) { *before = 0; return 0; }
uint64_t _Unwind_GetCFA(void *context) { return 0; }
void *_Unwind_FindEnclosingFunction(void *address) { return 0; }
