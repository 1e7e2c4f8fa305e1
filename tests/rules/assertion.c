//@ rule: assertion
/* Assertions that can fail, and such as cannot. A failing one ends its path, which is a fault too. An assertion that holds is no event; the clean
 * programs have one of another kind, on paths that are assumed away. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <wryneck.h>

int plain(int x) {
  assert(x != 7);  //~ VIOLATION assertion: assertion fails //~ FAULT assertion-failed
  return 0;
}

int off_by_one(unsigned char n) {
  if (n > 10) return 1;
  assert(n < 10);  //~ VIOLATION assertion: assertion fails //~ FAULT assertion-failed
  return 0;
}

int in_a_loop(unsigned char n) {
  int sum = 0;
  for (int i = 0; i < n && i < 4; i++) {
    sum += i;
    assert(sum < 6);  //~ VIOLATION assertion: assertion fails //~ FAULT assertion-failed
  }
  return sum;
}

int of_two(char c) {
  assert(c != 'a');  //~ VIOLATION assertion: assertion fails //~ FAULT assertion-failed
  assert(c != 'b');  //~ VIOLATION assertion: assertion fails //~ FAULT assertion-failed
  return 0;
}

int of_a_string(char a, char b) {
  char text[3] = {a, b, 0};
  assert(strlen(text) == 2);  //~ VIOLATION assertion: assertion fails //~ FAULT assertion-failed
  return 0;
}

int overflow(unsigned char a, unsigned char b) {
  unsigned char sum = a + b;
  assert(sum >= a);  //~ VIOLATION assertion: assertion fails //~ FAULT assertion-failed
  return 0;
}

int sorted(unsigned char a, unsigned char b, unsigned char c) {
  unsigned char t;
  if (a > b) t = a, a = b, b = t;
  if (b > c) t = b, b = c, c = t;
  assert(a <= b);  //~ VIOLATION assertion: assertion fails //~ FAULT assertion-failed
  return 0;
}

int through_a_pointer(int x) {
  int y = 1, *p = x == 3 ? &y : &x;
  *p = 2;
  assert(y == 1);  //~ VIOLATION assertion: assertion fails //~ FAULT assertion-failed
  return 0;
}

int square(int x) {
  if (x < 0 || x > 1000) return 1;
  assert(x * x >= 0);
  return 0;
}

int sorted_well(unsigned char a, unsigned char b, unsigned char c) {
  unsigned char t;
  if (a > b) t = a, a = b, b = t;
  if (b > c) t = b, b = c, c = t;
  if (a > b) t = a, a = b, b = t;
  assert(a <= b && b <= c);
  return 0;
}

int guarded(int x) {
  if (x == 7) return 1;
  assert(x != 7);
  return 0;
}

int bounded_loop(unsigned char n) {
  int sum = 0;
  for (int i = 0; i < n && i < 4; i++) sum += i;
  assert(sum <= 6);
  return 0;
}

int string_of_two(char a, char b) {
  char text[3] = {a, b, 0};
  assert(strlen(text) <= 2);
  return 0;
}

int odd_and_even(unsigned char x) {
  assert((x & 1) == x % 2);
  return 0;
}

int two_objects(int x) {
  int y = 1, *p = &x;
  *p = 2;
  assert(y == 1);
  return 0;
}

int symmetric(unsigned char a, unsigned char b) {
  assert((a ^ b) == (b ^ a));
  return 0;
}
