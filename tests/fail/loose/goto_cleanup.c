//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
//@ options: --uninit report
// The way out by `goto` asks for a cache that was not set when the header is bad.
#include <stdlib.h>
#include <unistd.h>
struct reader { char *line; int *cache; };
static int start(struct reader *r, const char *header) {
  int status = 1;
#ifdef FIXED
  r->cache = NULL;
#endif
  r->line = malloc(8);
  if (!r->line || header[0] != 'R' || header[1] != '1') goto out;
  r->cache = malloc(sizeof *r->cache);
  if (!r->cache) goto out;
  *r->cache = header[2];
  status = 0;
out:
  if (r->cache) *r->cache = 0;  //~ FAULT uninitialised-read: a branch depends on
  free(r->cache);
  free(r->line);
  return status;
}
int main(void) {
  char header[3];
  struct reader *r = malloc(sizeof *r);
  if (!r || read(0, header, 3) != 3) return 2;
  int status = start(r, header);
  free(r);
  return status;
}
