// What programs do with variables without leaving them: variable arguments, structures by value, ends of arrays, arrays of a size
// computed, recursion, long jumps, scopes that share memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdarg.h>
#include <setjmp.h>
#include <alloca.h>
#include <stddef.h>
struct big { char name[40]; int n[20]; double d; };
struct in { int a; char tail[8]; int after; };
struct flex { int n; char data[]; };
static struct flex fx = { 5, "hello" };
static int table[8], after_table[8];
static int *end_of_table = table + 8;
static char letters[16] = "abcdefghijklmno";
static jmp_buf env;
static int sum(int n, ...) { va_list ap; va_start(ap, n); int s = 0; for (int i = 0; i < n; i++) s += va_arg(ap, int); va_end(ap); return s; }
static double dsum(int n, ...) { va_list ap; va_start(ap, n); double s = 0; for (int i = 0; i < n; i++) s += va_arg(ap, double); va_end(ap); return s; }
static void vsay(char *out, size_t n, const char *f, ...) { va_list ap, aq; va_start(ap, f); va_copy(aq, ap); vsnprintf(out, n, f, ap); va_end(ap); vsnprintf(out, n, f, aq); va_end(aq); }
static int byval(struct big b, struct in i) { for (int k = 0; k < 20; k++) b.n[k] += k; return b.n[19] + b.name[39] + i.after + (int)b.d; }
static struct big make(int k) { struct big b; memset(&b, 0, sizeof b); for (int i = 0; i < 20; i++) b.n[i] = k * i; strcpy(b.name, "made"); b.d = k; return b; }
static int vla(int n) { int a[n]; char c[n * 2]; for (int i = 0; i < n; i++) { a[i] = i; c[2 * i] = c[2 * i + 1] = i; } int s = 0; for (int i = 0; i < n; i++) s += a[i] + c[2 * i]; return s; }
static int al(int n) { char *p = alloca(n); memset(p, 3, n); int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
static int rec(int n, int *up) { int here[3] = { n, n + 1, n + 2 }; if (n == 0) return up ? up[2] : 0; int r = rec(n - 1, here); return r + here[1] + (up ? up[0] : 0); }
static int jump(int d) { char b[16]; memset(b, d, sizeof b); if (d == 0) longjmp(env, b[15] + 7); return jump(d - 1) + b[3]; }
static int member(struct in *p) { char *c = (char *)p; int s = 0; for (size_t i = 0; i < sizeof *p; i++) { c[i] = i; s += c[i]; } struct in *q = (struct in *)(p->tail - offsetof(struct in, tail)); return s + q->a + p->tail[7]; }
static char *number(char *buf, size_t n, unsigned v) { char *p = buf + n; *--p = 0; do *--p = '0' + v % 10; while (v /= 10); return p; }
static int scopes(int k) { int s = 0; { char a[64]; memset(a, k, 64); s += a[63]; } { int b[20]; for (int i = 0; i < 20; i++) b[i] = i; s += b[19]; } { double c[12]; for (int i = 0; i < 12; i++) c[i] = i; s += c[11]; } return s; }
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int twod(int m[3][4]) { int s = 0; for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) s += m[i][j] * (i + j); return s; }
typedef struct node { struct node *next; int v; } node;
static int lists(void) { node n[5]; for (int i = 0; i < 5; i++) { n[i].v = i; n[i].next = i < 4 ? &n[i + 1] : 0; } int s = 0; for (node *p = n; p; p = p->next) s = s * 3 + p->v; return s; }
static int unions(void) { union { long l[2]; char c[16]; struct { short a, b; int c; } s; } u; memset(&u, 1, 16); u.s.c = 7; return u.c[15] + u.l[1] % 100 + u.s.a; }
static void swap(char *a, char *b, size_t n) { while (n--) { char t = *a; *a++ = *b; *b++ = t; } }
static long aligned_str(void) { char s[13] = "hello world!"; return strlen(s) + strlen(s + 3) + (strchr(s, 'w') - s) + strcmp(s, "hello world!") + strncmp(s + 6, "world", 5) + (long)(strrchr(s, 'l') - s) + strspn(s, "hel") + strcspn(s, "!"); }
static int switchy(int k) { static int st[4] = { 1, 2, 3, 4 }; int loc[4]; int *w = k & 1 ? st : loc; for (int i = 0; i < 4; i++) loc[i] = 10 * i; int s = 0; for (int *p = w; p < w + 4; p++) s += *p; for (int *p = w + 4; p-- > w;) s += *p; return s; }
int main(int argc, char **argv) {
  char buf[100], num[24]; struct big b = make(3); struct in i3[3]; memset(i3, 0, sizeof i3);
  printf("%d %g\n", sum(9, 1, 2, 3, 4, 5, 6, 7, 8, 9), dsum(10, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.));
  vsay(buf, sizeof buf, "%s-%d-%c-%5.2f-%lx", "str", 42, 'x', 3.25, 0xabcdL); puts(buf);
  printf("%d %d\n", byval(b, i3[1]), byval(make(2), i3[2]));
  printf("%d %d %d\n", vla(7), al(33), rec(9, 0));
  int j = setjmp(env); if (!j) jump(5); printf("%d\n", j);
  int s = 0; for (struct in *p = i3; p != i3 + 3; p++) s += member(p); for (struct in *p = &i3[3]; p-- > i3;) s += p->tail[2]; printf("%d\n", s);
  printf("%s %s\n", number(num, sizeof num, 12345), number(num, sizeof num, 4294967295u));
  printf("%d\n", scopes(3));
  for (int *p = table; p != end_of_table; p++) *p = p - table; for (int k = 8; k-- > 0;) after_table[k] = table[k] * 2; int *e = &table[8]; while (e > table) s += *--e; printf("%d %d\n", s, after_table[7]);
  int arr[10]; for (int k = 0; k < 10; k++) arr[k] = (k * 7) % 10; qsort(arr, 10, sizeof *arr, cmp); for (int k = 0; k < 10; k++) printf("%d ", arr[k]); int key = 4; printf("%ld\n", (long)((int *)bsearch(&key, arr, 10, sizeof *arr, cmp) - arr));
  int m[3][4]; for (int k = 0; k < 12; k++) m[k / 4][k % 4] = k; printf("%d %d\n", twod(m), (*m)[0]);
  printf("%d %d %ld\n", lists(), unions(), aligned_str());
  char x[8] = "abcdefg", y[8] = "1234567"; swap(x, y, 8); printf("%s %s %d\n", x, y, switchy(1) + switchy(2));
  for (int k = 0; k < fx.n; k++) putchar(fx.data[k]); putchar('\n');
  int a1, a2; sscanf("12 34 word", "%d %d %s", &a1, &a2, buf); printf("%d %d %s\n", a1, a2, buf);
  char *endp; printf("%ld %s\n", strtol("77rest", &endp, 10), endp); printf("%c%c\n", letters[argc + 3], *(letters + 15 - argc));
  memmove(buf + 1, buf, 5); buf[6] = 0; puts(buf); char *d = strdup(buf); printf("%s %zu\n", d, strlen(d)); free(d);
  struct big copy = b, *cp = &copy; *cp = make(5); printf("%d %s\n", memcmp(&copy, &b, sizeof b) != 0, cp->name);
  long double ld[3] = { 1, 2, 3 }; printf("%Lg\n", ld[0] + ld[2]); _Complex double z[2] = { 1, 2 }; printf("%g\n", __real__(z[0] + z[1]));
  return 0; }
