// input: argument 5
// Tests the checksum of a card's number (Luhn): every second digit is doubled.
int main(int argc, char **argv) {
  int sum = 0, n = 0;
  for (const char *p = argv[1]; *p; p++, n++) {
    if (*p < '0' || *p > '9') return 2;
    int digit = *p - '0';
    if (n % 2) {
      digit *= 2;
      if (digit > 9) digit -= 9;
    }
    sum += digit;
  }
  if (n < 2) return 3;
  return sum % 10 != 0;
}
