/* The thread pointer: there is one thread, and its descriptor is a variable (src/env/__init_tls.c). */
struct __pthread;
extern hidden struct __pthread __wryneck_thread;

static inline uintptr_t __get_tp(void) { return (uintptr_t)&__wryneck_thread; }

#define MC_PC gregs[REG_RIP]
