//@ rule: locks
/* Taking a lock twice would hang, natively too; here the path ends so. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

int never_released(void) {
  pthread_mutex_lock(&a);  //~ VIOLATION locks: lock from `pthread_mutex_lock` is never released
  return 0;
}

int held_on_an_error(char c) {
  pthread_mutex_lock(&a);  //~ VIOLATION locks: lock from `pthread_mutex_lock` is never released
  if (c == 'e') return 1;
  pthread_mutex_unlock(&a);
  return 0;
}

int one_of_two(char c) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);  //~ VIOLATION locks: lock from `pthread_mutex_lock` is never released
  if (c) pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  return 0;
}

int released_unheld(char c) {
  if (c == 'a') pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a);  //~ VIOLATION locks: lock is released but not held  //~ FAULT unheld-lock: unlock of the mutex `a`
  return 0;
}

int the_other_is_released(char c) {
  pthread_mutex_lock(&a);
  pthread_mutex_unlock(c == 'a' ? &b : &a);  //~ VIOLATION locks: lock is released but not held  //~ FAULT unheld-lock: unlock of the mutex `b`
  if (c == 'a') pthread_mutex_unlock(&a);
  return 0;
}

int released_twice(char c) {
  pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a);
  if (c == 'a') pthread_mutex_unlock(&a);  //~ VIOLATION locks: lock is released but not held  //~ FAULT unheld-lock: unlock of the mutex `a`
  return 0;
}

int tried_and_forgotten(char c) {
  if (pthread_mutex_trylock(&a)) return 1;  //~ VIOLATION locks: lock from `pthread_mutex_trylock` is never released
  if (c) pthread_mutex_unlock(&a);
  return 0;
}

int spinning(char c) {
  pthread_spinlock_t spin;
  pthread_spin_init(&spin, 0);
  pthread_spin_lock(&spin);  //~ VIOLATION locks: lock from `pthread_spin_lock` is never released
  if (c) pthread_spin_unlock(&spin);
  return 0;
}

int for_writing(char c) {
  pthread_rwlock_wrlock(&rw);  //~ VIOLATION locks: lock from `pthread_rwlock_wrlock` is never released
  if (c) pthread_rwlock_unlock(&rw);
  return 0;
}

int for_reading_twice(char c) {
  pthread_rwlock_rdlock(&rw);  //~ VIOLATION locks: lock from `pthread_rwlock_rdlock` is never released
  pthread_rwlock_rdlock(&rw);
  pthread_rwlock_unlock(&rw);
  if (c) pthread_rwlock_unlock(&rw);
  return 0;
}

int destroyed_while_held(char c) {
  pthread_mutex_lock(&a);
  if (c == 'a') pthread_mutex_destroy(&a);  //~ VIOLATION locks: lock is destroyed while it is held
  pthread_mutex_unlock(&a);
  return 0;
}

int used_when_destroyed(char c) {
  pthread_mutex_destroy(&a);
  if (c == 'a') pthread_mutex_lock(&a);  //~ VIOLATION locks: lock is used after it was destroyed
  return 0;
}

int released(void) {
  pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a);
  return 0;
}

int released_on_each_way(char c) {
  int result = 1;
  pthread_mutex_lock(&a);
  if (c == 'e') goto out;
  if (c == 'f') {
    pthread_mutex_unlock(&a);
    return 2;
  }
  result = 0;
out:
  pthread_mutex_unlock(&a);
  return result;
}

int several_locks(char c) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  if (c) {
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
  } else {
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
  }
  return 0;
}

int the_same_condition_in_other_words(unsigned char c) {
  if (c & 1) pthread_mutex_lock(&a);
  if (c % 2 == 1) pthread_mutex_unlock(&a);
  else pthread_mutex_trylock(&b) || pthread_mutex_unlock(&b);
  return 0;
}

int again_and_again(unsigned char n) {
  for (int i = 0; i < n && i < 3; i++) {
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
  }
  pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  return 0;
}

int tried(char c) {
  if (pthread_mutex_trylock(&a) == 0) pthread_mutex_unlock(&a);
  return 0;
}

int shared(char c) {
  pthread_rwlock_rdlock(&rw);
  pthread_rwlock_rdlock(&rw);
  pthread_rwlock_unlock(&rw);
  pthread_rwlock_unlock(&rw);
  pthread_rwlock_wrlock(&rw);
  pthread_rwlock_unlock(&rw);
  return 0;
}

int on_the_heap(char c) {
  pthread_mutex_t *m = malloc(sizeof *m);
  pthread_mutex_init(m, 0);
  pthread_mutex_lock(m);
  pthread_mutex_unlock(m);
  pthread_mutex_destroy(m);
  pthread_mutex_init(m, 0);
  free(m);
  return 0;
}

int recursive_ones_are_left_out(char c) {
  pthread_mutexattr_t often;
  pthread_mutexattr_init(&often);
  pthread_mutexattr_settype(&often, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&b, &often);
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&b);
  pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a);
  return 0;
}
