/* Texts are quoted into buffers that a table of pointers names, as gnulib's quotearg.c does it. Nothing of that matters for the file. */
#include <stdio.h>
#include <stdlib.h>

struct slot {
  size_t size;
  char *val;
};
/* Apart from what lies before it: a pointer to its beginning may be one to the end of that. */
static _Alignas(16) char first[4];
static struct slot slots0[2] = {{sizeof first, first}, {0, 0}};
static struct slot *slots = slots0;

static void *same(void *p) { return p; }

static size_t quote(char *to, size_t room, const char *text) {
  size_t len = 0;
  for (; *text; text++) {
    if (*text == '"') {
      if (len < room) to[len] = '\\';
      len++;
    }
    if (len < room) to[len] = *text;
    len++;
  }
  if (len < room) to[len] = 0;
  return len;
}

static char *quoted(int n, const char *text) {
  struct slot *sv = slots;
  size_t size = sv[n].size;
  char *val = sv[n].val;
  size_t len = quote(val, size, text);
  if (size <= len) {
    sv[n].size = size = len + 1;
    if (val != first) free(val);
    sv[n].val = val = same(malloc(size));
    quote(val, size, text);
  }
  return val;
}

int main(int count, char **words) {
  for (int i = 1; i < count; i++) puts(quoted(i & 1, words[i]));
  FILE *file = fopen(words[0], "r");
  if (file && count != 3) fclose(file);
  if (file && count == 3 && (WRONG == 0 || slots0[1].size < 4)) fclose(file);
  return 0;
}
