//@ frontend: bitcode, since what ran before `main` has written the stack that its variables are on
//@ args: --sym-arg 2
//@ options: --uninit report
/* A flag is set on all ways but one. */
int main(int argc, char **argv) {
#ifdef FIXED
  int verbose = 0;
#else
  int verbose;
#endif
  switch (argv[1][0]) {
  case 'v': verbose = 1; break;
  case 'q': verbose = 0; break;
  case 'n': return 2;
  }
  if (verbose) return 1;  //~ FAULT uninitialised-read: a branch depends on byte 0 of `verbose` (4 bytes), which was never written
  return 0;
}
