// A search reads sixteen bytes at a time, as string functions do; without FIXED it forgets where the text ends.
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>
static int has(const char *text, unsigned length, char wanted) {
  __m128i block = _mm_loadu_si128((const __m128i *)text);
  unsigned found = _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8(wanted)));
#ifdef FIXED
  found &= (1u << length) - 1;
#endif
  if (found) return 1;
  return 0;
}
int main(int argc, char **argv) {
  char *text = malloc(6);
  if (!text) return 3;
  memcpy(text, "hello", 6);
  int answer = has(text, 6, argv[1][0]);
  free(text);
  return answer;
}
