//@ frontend: bitcode x86_64
//@ args: --sym-stdin 2
// A listener removes itself while it is called.
#include <stdlib.h>
#include <unistd.h>
struct listener { void (*call)(struct listener *, int event); struct listener *next; };
static struct listener *listeners;
static void once(struct listener *self, int event) {
  if (event != 'x') return;
  for (struct listener **at = &listeners; *at; at = &(*at)->next) {
    if (*at != self) continue;
    *at = self->next;
    free(self);
    return;
  }
}
static void notify(int event) {
  for (struct listener *l = listeners, *next; l; l = next) {
#ifdef FIXED
    next = l->next;
    l->call(l, event);
#else
    l->call(l, event);
    next = l->next;  //~ FAULT use-after-free: read of 8 bytes at offset 8
#endif
  }
}
int main(void) {
  unsigned char in[2];
  if (read(0, in, 2) != 2) return 2;
  listeners = malloc(sizeof *listeners);
  if (!listeners) return 3;
  *listeners = (struct listener){once, NULL};
  notify(in[0]);
  notify(in[1]);
  return 0;
}
