//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// A window is taken out of a ring of windows by both its neighbours; the first one opened has none before it.
#include <stdlib.h>
#include <unistd.h>
struct window { char id; struct window *before, *after; };
static struct window *front;
static void open_window(char id) {
  struct window *w = calloc(1, sizeof *w);
  if (!w) exit(3);
  w->id = id;
  w->after = front;
  if (front) front->before = w;
  front = w;
}
static int close_window(char id) {
  for (struct window *w = front; w; w = w->after) {
    if (w->id != id) continue;
    if (w->after) w->after->before = w->before;
#ifdef FIXED
    if (!w->before) front = w->after;
    else
#endif
      w->before->after = w->after;  //~ FAULT null-dereference: write of 8 bytes
    free(w);
    return 0;
  }
  return 1;
}
int main(void) {
  char in[3];
  if (read(0, in, 3) != 3) return 2;
  open_window(in[0]);
  open_window(in[1]);
  return close_window(in[2]);
}
