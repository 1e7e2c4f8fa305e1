//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// A job is put into two queues, and both own it.
#include <stdlib.h>
#include <unistd.h>
struct queue { void *job[3]; int count; };
static struct queue ready, urgent;
static void drain(struct queue *q) {
  while (q->count > 0) free(q->job[--q->count]);  //~ FAULT double-free
}
int main(void) {
  unsigned char in[3];
  if (read(0, in, 3) != 3) return 2;
  for (int i = 0; i < 3; i++) {
    void *job = malloc(4);
    if (!job) return 3;
    if (in[i] & 0x80) urgent.job[urgent.count++] = job;
#ifdef FIXED
    else
#else
    if (in[i] < 0xf0)
#endif
      ready.job[ready.count++] = job;
  }
  drain(&ready);
  drain(&urgent);
  return 0;
}
