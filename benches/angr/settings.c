// input: argument 5
// Parses settings, `NAME=VALUE` apart by commas, where names are letters and values are digits.
int main(int argc, char **argv) {
  const char *p = argv[1];
  int count = 0;
  for (;;) {
    int name = 0, value = 0;
    while (*p >= 'a' && *p <= 'z') name++, p++;
    if (name == 0) return 1;
    if (*p != '=') return 2;
    p++;
    while (*p >= '0' && *p <= '9') value++, p++;
    if (value == 0) return 3;
    count++;
    if (*p == 0) return 10 + count;
    if (*p != ',') return 4;
    p++;
  }
}
