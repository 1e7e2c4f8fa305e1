#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
/* m[1] checks errors, m[2] is recursive. Condition c[i] goes with m[i] and flag[i]. */
static pthread_mutex_t m[3] = {PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t c[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t s;
static pthread_barrier_t b;
static pthread_key_t key;
static sem_t e[2];
static mtx_t x;
static cnd_t y;
static pthread_t t[6];
static atomic_int a, flag[2];
static int n[3];
static _Thread_local int own;
static int in;
/* Both ends of a pipe, of two sockets, and a counter. */
static int q[2], w[2], v;
static sigset_t blocked;
static _Thread_local int self;
#ifdef APART /* An output for each thread, which orders no accesses. */
static _Atomic char out[4][100];
static _Thread_local int said;
#define ROOM 98
#else
static _Atomic char out[1][200];
static atomic_int said;
#define ROOM 198
#define self 0
#endif
static void say(int what, int value) {
  int i = said;
  said += 2;
  if (i > ROOM - 2) return;
  out[self][i] = what, out[self][i + 1] = '0' + (value & 31);
}
static void print(void) {
  for (unsigned i = 0; i < sizeof out / sizeof *out; i++) {
    for (int j = 0; j < ROOM && out[i][j]; j++) putchar(out[i][j]);
    putchar('\n');
  }
}
static const struct timespec *later(int ms) {
  static _Thread_local struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  now.tv_nsec += ms * 1000000L;
  if (now.tv_nsec >= 1000000000) now.tv_nsec -= 1000000000, now.tv_sec++;
  return &now;
}
static void get(int fd, int count) {
  char text[8] = {'-'};
  int got = read(fd, text, count);
  say(text[0], got);
}
static void ready(int fd, int ms) {
  struct pollfd all[2] = {{fd, POLLIN, 0}, {v, POLLIN, 0}};
  int count = poll(all, 2, ms);
  say('f', count), say('F', all[0].revents | all[1].revents << 2);
}
static void lost(void *value) { say('D', (int)(long)value); }
static void cleaned(void *value) { say('C', (int)(long)value); }
static void begin(int argc, char **argv, int semaphores, int threads) {
  pthread_mutexattr_t kind;
  in = argc > 1 ? argv[1][0] : 0;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&m[1], &kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&m[2], &kind);
  pthread_spin_init(&s, 0);
  pthread_barrier_init(&b, 0, threads);
  pthread_key_create(&key, lost);
  sem_init(&e[0], 0, semaphores & 3);
  sem_init(&e[1], 0, semaphores >> 2);
  mtx_init(&x, mtx_timed);
  cnd_init(&y);
  pipe(q), v = eventfd(0, 0);
  socketpair(AF_UNIX, SOCK_STREAM, 0, w);
  sigemptyset(&blocked), sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, 0);
  atexit(print);
}
