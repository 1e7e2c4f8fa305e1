/* Included before the wrappers of system calls that read more variable arguments than their caller need have passed
 * (`fcntl(fd, F_GETFD)`): a missing argument reads as 0 instead of from beyond the argument area. */
#include <stdarg.h>
#include <stddef.h>

/* Bytes from `p` to the end of the object that holds it; 0 if no object does. Answered by the engine. */
size_t __wryneck_room(const void *p);

/* The x86-64 ABI's va_list; the engine passes every variable argument in the overflow area. */
struct va_cursor {
	unsigned general, floating;
	void *overflow, *registers;
};

#undef va_arg
#define va_arg(ap, type) \
	(__wryneck_room(((struct va_cursor *)(ap))->overflow) >= sizeof(type) ? __builtin_va_arg(ap, type) : (type)0)
