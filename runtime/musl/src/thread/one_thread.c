/* What only a second thread would need. `pthread_create` fails before it gets here (libc.can_do_threads stays 0). */
#include "pthread_impl.h"
#include "libc.h"

void *__copy_tls(unsigned char *mem) { return mem; }

void __unmapself(void *base, size_t size) { a_crash(); }

int pthread_cancel(pthread_t thread) { return ENOSYS; }
