//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// Progress in per cent: the range begins where it ends.
#include <unistd.h>
struct range { unsigned char from, to, at; };
int main(void) {
  struct range r;
  if (read(0, &r, sizeof r) != sizeof r) return 2;
  if (r.from > r.to || r.at < r.from || r.at > r.to) return 1;
#ifdef FIXED
  if (r.from == r.to) return 0;
#endif
  return 100 * (r.at - r.from) / (r.to - r.from) > 50;  //~ FAULT division-by-zero
}
