/* The intrinsics of KLEE, so that programs written for it run as they stand. Declarations in our words; `wryneck.h` has
 * the ones that new programs should use. */
#ifndef WRYNECK_KLEE_H
#define WRYNECK_KLEE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* An assertion that `NDEBUG` does not switch off. */
#define klee_assert(condition) ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WRYNECK_KLEE_NORETURN __attribute__((noreturn))
#else
#define WRYNECK_KLEE_NORETURN
#endif

/* Inputs. */
void klee_make_symbolic(void *addr, size_t nbytes, const char *name);
int klee_int(const char *name);
int klee_range(int begin, int end, const char *name); /* begin <= result < end */
uintptr_t klee_choose(uintptr_t n);                   /* 0 <= result < n */

/* The path. */
void klee_assume(uintptr_t condition);
void klee_prefer_cex(void *object, uintptr_t condition);       /* a wish for the test, not a constraint */
void klee_posix_prefer_cex(void *object, uintptr_t condition);
void klee_set_forking(unsigned enable);
void klee_open_merge(void);
void klee_close_merge(void);
WRYNECK_KLEE_NORETURN void klee_silent_exit(int status);
WRYNECK_KLEE_NORETURN void klee_abort(void);
WRYNECK_KLEE_NORETURN void klee_report_error(const char *file, int line, const char *message, const char *suffix);

/* Questions. */
unsigned klee_is_symbolic(uintptr_t n);
unsigned klee_is_replay(void);
int klee_get_errno(void);
size_t klee_get_obj_size(void *ptr);
float klee_get_valuef(float expr);
double klee_get_valued(double expr);
long klee_get_valuel(long expr);
long long klee_get_valuell(long long expr);
int32_t klee_get_value_i32(int32_t expr);
int64_t klee_get_value_i64(int64_t expr);

/* Memory. */
void klee_define_fixed_object(void *addr, size_t nbytes);
void klee_mark_global(void *object);
void klee_check_memory_access(const void *address, size_t size);

/* Messages and the rest. */
void klee_warning(const char *message);
void klee_warning_once(const char *message);
void klee_print_expr(const char *msg, ...);
void klee_print_range(const char *name, int arg);
void klee_stack_trace(void);
void klee_alias_function(const char *fn_name, const char *new_fn_name);

enum KleeRoundingMode {
	KLEE_FP_RNE, /* to nearest, ties to even */
	KLEE_FP_RNA, /* to nearest, ties away from zero */
	KLEE_FP_RU,
	KLEE_FP_RD,
	KLEE_FP_RZ,
	KLEE_FP_UNKNOWN
};
void klee_set_rounding_mode(enum KleeRoundingMode mode);

#ifdef __cplusplus
}
#endif

#endif
