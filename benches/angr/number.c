// input: argument 4
// Reads a number as `strtol` does with base 0: sign, then decimal, octal or hexadecimal digits.
int main(int argc, char **argv) {
  const char *p = argv[1];
  int negative = 0, base = 10, digits = 0;
  long value = 0;
  while (*p == ' ' || *p == '\t') p++;
  if (*p == '-') negative = 1, p++;
  else if (*p == '+') p++;
  if (*p == '0') {
    base = 8;
    if (p[1] == 'x' || p[1] == 'X') base = 16, p += 2;
  }
  for (;; p++, digits++) {
    int digit;
    if (*p >= '0' && *p <= '9') digit = *p - '0';
    else if (*p >= 'a' && *p <= 'f') digit = *p - 'a' + 10;
    else if (*p >= 'A' && *p <= 'F') digit = *p - 'A' + 10;
    else break;
    if (digit >= base) break;
    value = base * value + digit;
  }
  if (digits == 0) return 1;
  if (*p) return 2;
  return (negative ? -value : value) == 77 ? 42 : 0;
}
