/* The main thread's descriptor. Thread-local variables are ordinary variables here, so no program headers are read and no
 * block of them is copied: only the fields that single-threaded code looks at are set. */
#include <string.h>
#include "pthread_impl.h"
#include "libc.h"
#include "syscall.h"

struct __pthread __wryneck_thread;
volatile int __thread_list_lock;

void __init_tls(size_t *auxv)
{
	pthread_t self = &__wryneck_thread;
	self->self = self->next = self->prev = self;
	self->detach_state = DT_JOINABLE;
	self->tid = __syscall(SYS_set_tid_address, &__thread_list_lock);
	self->locale = &libc.global_locale;
	self->robust_list.head = &self->robust_list.head;
}
