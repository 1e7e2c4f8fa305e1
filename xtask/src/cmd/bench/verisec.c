/* What the suite's programs leave open: inputs, assertions, and in executables a start without a C library. */
int __VERIFIER_nondet_int(void);
void wryneck_report(const char *kind, const char *message);

int nondet_int(void) { return __VERIFIER_nondet_int(); }
int NONDET(void) { return __VERIFIER_nondet_int(); }

void assert(int holds) {
  if (!holds) wryneck_report("assertion", "an assertion of the suite does not hold");
}

#ifdef EXECUTABLE
/* The tool knows these by name; the bodies are never run. */
int __VERIFIER_nondet_int(void) { return 0; }
void wryneck_report(const char *kind, const char *message) { (void)kind, (void)message; }

/* Compilers call it for loops. */
void *memset(void *to, int byte, unsigned long count) {
  volatile char *at = to;
  while (count-- > 0) *at++ = (char)byte;
  return to;
}

__attribute__((naked, noreturn)) void _start(void) {
  __asm__("call main\n\tmov %eax, %edi\n\tmov $231, %eax\n\tsyscall\n\thlt");
}
#endif
