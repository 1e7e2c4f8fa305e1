//@ frontend: bitcode x86_64
//@ args: --sym-stdin 12
// The last field of a record is filled beyond the record.
#include <string.h>
#include <unistd.h>
struct user { int id; char name[8]; };
static struct user guest;
static struct user admin = {1, "root"};
static void rename_user(struct user *u, const char *text, unsigned length) {
#ifdef FIXED
  if (length > sizeof u->name) length = sizeof u->name;
#endif
  for (unsigned i = 0; i < length; i++)
    u->name[i] = text[i];  //~ FAULT out-of-bounds-write: offset 12 of `guest`
}
int main(void) {
  char line[12];
  if (read(0, line, sizeof line) != sizeof line) return 2;
  unsigned length = 0;
  while (length < sizeof line && line[length] != '\n') length++;
  rename_user(&guest, line, length);
  return admin.id != 1;
}
