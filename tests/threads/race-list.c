//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// A list grows under the mutex and is walked without it.
#include <pthread.h>
#include <stdlib.h>
struct node { struct node *next; int value; };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct node first = {0, 1}, *head = &first;
static struct node more[2];
static void *grow(void *p) {
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&m);
    more[i].value = i;
    more[i].next = head;
    head = &more[i];  //~ FAULT data-race: at `head`
    pthread_mutex_unlock(&m);
  }
  return p;
}
int main(void) {
  pthread_t t;
  int sum = 0;
  pthread_create(&t, 0, grow, 0);
#ifdef FIXED
  pthread_mutex_lock(&m);
#endif
  for (struct node *n = head; n; n = n->next) sum += n->value;
#ifdef FIXED
  pthread_mutex_unlock(&m);
#endif
  pthread_join(t, 0);
  return sum > 2;
}
