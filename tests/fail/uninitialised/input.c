//@ frontend: bitcode, since what ran before `main` has written the stack that its variables are on
//@ options: --uninit symbolic
//@ replay: no, memory never written has other values natively
//@ paths: 4
/* Memory never written is input: a byte read twice is the same, what is written is not input. */
#include <assert.h>
#include <stdlib.h>
struct item { char first, second; };
int main(void) {
  char text[3];
  struct item *item = malloc(sizeof *item);
  text[2] = 'z';
  item->first = 1;
  if (text[0] != text[0] || text[2] != 'z' || item->first != 1) abort();
  struct item copy = *item;
  if (text[1] == 'x') return 1;
  if (copy.second != item->second) abort();
  if (copy.second == 'y') return 2;
  assert(text[0] < 'a');  //~ FAULT assertion-failed: text[0] < 'a'
  return 0;
}
