// Memory: block operations, variable-length arrays, globals of every linkage, thread-locals, pointers and integers.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int common[5];
static int internal = 3;
const int constant = 4;
_Thread_local int tls = 5;
static _Thread_local int tls_zero;
__attribute__((weak)) int weak_data = 6;
extern __attribute__((weak)) int missing;
extern int missing_function(void) __attribute__((weak));
__attribute__((weak)) int weak_function(void) { return 7; }
static int target(void) { return internal++; }
extern int alias_of_target(void) __attribute__((alias("target_external")));
int target_external(void) { return 8 + target(); }
extern int cell_alias __attribute__((alias("cell")));
int cell = 9;
static char text[] = "initialised";
static char *pointer_into = text + 4;
static int constructed;
__attribute__((constructor)) static void construct(void) { constructed = 11; }
__attribute__((constructor(200))) static void construct_first(void) { constructed = 10; }

__attribute__((noinline)) static int vla(int n) {
  int sum = 0;
  for (int k = 1; k <= n; k++) {
    int a[k], b[k][2];
    for (int i = 0; i < k; i++) a[i] = i * k, b[i][1] = a[i] + 1;
    sum += a[k - 1] + b[k - 1][1];
  }
  return sum;
}
__attribute__((noinline)) static void fill(char *p, int c, unsigned long n) { memset(p, c, n); }
__attribute__((noinline)) static void move(char *to, const char *from, unsigned long n) { memmove(to, from, n); }
static int lives(int n) {
  int r = 0;
  for (int i = 0; i < n; i++) {
    int block[8];
    memset(block, 0, sizeof block);
    block[i & 7] = i;
    { char other[16]; fill(other, i, 16); r += other[3]; }
    r += block[i & 7] + block[(i + 1) & 7];
  }
  return r;
}
struct node { int value; struct node *next; };
static struct node third = {3, 0}, second = {2, &third}, first = {1, &second};

int main(int argc, char **argv) {
  (void)argv;
  common[argc] = 2, tls += argc, tls_zero -= argc;
  printf("%d %d %d %d %d %d %d\n", common[argc], internal, constant, tls, tls_zero, weak_data, weak_function());
  printf("%d %d %d %d %s %d\n", &missing == 0, missing_function == 0, alias_of_target(), cell_alias + cell, pointer_into, constructed);
  printf("%d %d\n", vla(6 * argc), lives(20));
  char buffer[40];
  fill(buffer, 'x', sizeof buffer), move(buffer + 3, "overlapping", 11), move(buffer + 5, buffer + 3, 11);
  buffer[20] = 0;
  printf("%s\n", buffer);
  for (struct node *n = &first; n; n = n->next) printf("%d ", n->value);
  int *heap = malloc(sizeof(int) * 10);
  for (int i = 0; i < 10; i++) heap[i] = i * i;
  uintptr_t address = (uintptr_t)(heap + 7);
  printf("%d %d %d %d\n", *(int *)address, *(int *)(address - 8), (int)((int *)address - heap), (int)(heap + 9 > heap + argc));
  free(heap);
  short grid[3][4][5];
  for (int i = 0; i < 60; i++) (&grid[0][0][0])[i] = (short)(i * 3);
  printf("%d %d\n", grid[argc][2][3], (int)(&grid[2][0][0] - &grid[argc][0][0]));
  char *walk = text + strlen(text);
  int letters = 0;
  while (walk-- > text) letters = letters * 3 + *walk;
  printf("%d %u\n", letters, (unsigned)((address & 3) + ((uintptr_t)&tls & 3)));
  return internal;
}
