/* musl's internal names for the allocator. The allocator itself (malloc, calloc, realloc, free, aligned_alloc,
 * malloc_usable_size) is the engine's, which knows objects. */
#include <errno.h>
#include <stdlib.h>

void *__libc_malloc(size_t n) { return malloc(n); }
void *__libc_calloc(size_t m, size_t n) { return calloc(m, n); }
void *__libc_realloc(void *p, size_t n) { return realloc(p, n); }
void __libc_free(void *p) { free(p); }

/* The engine's allocator and intrinsics come here for errno, which is C's. */
void *__wryneck_out_of_memory(void) { errno = ENOMEM; return 0; }
int __wryneck_errno(void) { return errno; }
