//@ frontend: bitcode x86_64
//@ args: --sym-arg 8
// Short texts live in the record, long ones on the heap; the limit is not the same in both places.
#include <stdlib.h>
#include <string.h>
struct text { unsigned length; char *data, small[8]; };
static void set(struct text *t, const char *value) {
  t->length = strlen(value);
  t->data = t->length < sizeof t->small ? t->small : malloc(t->length + 1);
  if (!t->data) exit(3);
  strcpy(t->data, value);
}
static void clear(struct text *t) {
#ifdef FIXED
  if (t->length >= sizeof t->small) free(t->data);
#else
  if (t->length >= sizeof t->small - 1) free(t->data);  //~ FAULT invalid-free
#endif
}
int main(int argc, char **argv) {
  struct text t;
  set(&t, argv[1]);
  clear(&t);
  return 0;
}
