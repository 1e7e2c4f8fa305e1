/* What a program may say to wryneck. Under `wryneck run` the engine answers these calls; in a native replay `replay.c` does,
 * from a test. Names of inputs appear in tests and messages; each call makes a fresh input, also under a name used before. */
#ifndef WRYNECK_H
#define WRYNECK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WRYNECK_NORETURN __attribute__((noreturn))
#else
#define WRYNECK_NORETURN
#endif

/* Makes the `size` bytes at `address`, all of one object, a fresh unconstrained input. */
void wryneck_make_symbolic(void *address, size_t size, const char *name);

/* A fresh input between `low` and `high`, both included. Ends the path if there is none. */
int64_t wryneck_choose_range(int64_t low, int64_t high, const char *name);

/* Goes on only where `condition` is not 0; a path on which it cannot be is dropped without a finding. */
void wryneck_assume(int condition);

/* One value that `value` can have here, the smallest unsigned; from here on it has only that one. */
uint64_t wryneck_concretise(uint64_t value);

/* 1 if `value` depends on an input, else 0. Always 0 in a native replay. */
int wryneck_is_symbolic(uint64_t value);

/* 1 in a native replay, 0 under the engine. */
int wryneck_is_replay(void);

/* Bytes from `address` to the end of the object that holds it, 0 if none does. A native replay cannot know: SIZE_MAX. */
size_t wryneck_room(const void *address);

/* Ends the path with a finding of kind `kind` (a word or two, such as "broken-invariant") and a message for people. */
WRYNECK_NORETURN void wryneck_report(const char *kind, const char *message);

/* Ends the path: no finding, no test. */
WRYNECK_NORETURN void wryneck_drop(void);

#ifdef __cplusplus
}
#endif

#endif
