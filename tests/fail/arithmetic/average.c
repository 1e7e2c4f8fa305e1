//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
// An average of no numbers.
int main(int argc, char **argv) {
  int sum = 0, count = 0;
  for (const char *p = argv[1]; *p; p++) {
    if (*p < '0' || *p > '9') continue;
    sum += *p - '0';
    count++;
  }
#ifdef FIXED
  if (count == 0) return 1;
#endif
  return sum / count > 4;  //~ FAULT division-by-zero
}
