// Sieve of Eratosthenes up to 2,000,000: stores, loads and compares in tight loops.
int printf(const char *, ...);
static unsigned char composite[2000001];
int main(void) {
  int n = 2000000, count = 0;
  for (int i = 2; i <= n; i++) {
    if (composite[i]) continue;
    count++;
    for (long j = (long)i * i; j <= n; j += i) composite[j] = 1;
  }
  printf("%d\n", count);
  return 0;
}
