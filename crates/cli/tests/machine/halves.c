// A comparison reads sixteen bytes in two halves, as string functions do. Both pointers depend on input, and behind each text lies memory
// that was given back.
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>
static int same(const char *one, const char *other) {
  __m128d a = _mm_setzero_pd(), b = _mm_setzero_pd();
  a = _mm_loadl_pd(a, (const double *)one);
  a = _mm_loadh_pd(a, (const double *)(one + 8));
  b = _mm_loadl_pd(b, (const double *)other);
  b = _mm_loadh_pd(b, (const double *)(other + 8));
  unsigned equal = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_castpd_si128(a), _mm_castpd_si128(b)));
#ifdef FIXED
  equal |= 0xff00;
#endif
  if (equal == 0xffff) return 1;
  return 0;
}
int main(int argc, char **argv) {
  char *pieces[6];
  for (int i = 0; i < 6; i++) {
    pieces[i] = malloc(8);
    if (!pieces[i]) return 3;
    memcpy(pieces[i], "hello..", 8);
  }
  free(pieces[0]), free(pieces[2]), free(pieces[4]), free(pieces[5]);
  unsigned char at = argv[1][0];
  const char *one = pieces[at & 1 ? 1 : 3];
  int answer = same(one + (at >> 1 & 1), pieces[1]);
  free(pieces[1]), free(pieces[3]);
  return answer;
}
