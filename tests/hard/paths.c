// Many short paths.
int main(int argc, char **argv) {
  volatile int n = 0;
  for (char *p = argv[1]; *p; p++) n += *p == 'x' ? 1 : *p == 'y' ? 2 : 0;
  return n;
}
