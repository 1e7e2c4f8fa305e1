/* Included before the wrappers of system calls that read more variable arguments than their caller need have passed
 * (`fcntl(fd, F_GETFD)`): a missing argument reads as 0 instead of from beyond the argument area. */
#include <stdarg.h>
#include <stddef.h>

/* Bytes from `p` to the end of the object that holds it; 0 if no object does. Answered by the engine. */
size_t __wryneck_room(const void *p);

/* The x86-64 ABI's va_list. All that these wrappers read is a word each. */
struct va_cursor {
	unsigned general, floating;
	void *overflow, *registers;
};

/* `general` of a list that has no word in registers. */
#define NO_REGISTER 48

/* Whether one more argument was passed. */
static inline int has_argument(const struct va_cursor *list)
{
	return list->general < NO_REGISTER || __wryneck_room(list->overflow) >= sizeof(long);
}

#undef va_arg
#define va_arg(ap, type) (has_argument((struct va_cursor *)(ap)) ? __builtin_va_arg(ap, type) : (type)0)
