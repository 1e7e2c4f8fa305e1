/* Runs a case of `fetchsms` natively on many random inputs. Its input ends right before a page that nobody may touch, and so does the buffer that
   is said to overflow; what a run touches there ends it. Prints how many runs there were, and how many of them read on behind the input, and
   wrote behind the buffer. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096
int case_main(void);
/* What the parser tells apart, and two others. */
static const char letters[] = {'\r', '+', 'C', ',', '5', 'x', 0, '\r'};
static char *pages[2];
static unsigned long state = 1;
static sigjmp_buf again;
static volatile int touched;

static unsigned long next(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state >> 20;
}

static char *before_page(int which, long size) { return pages[which] + PAGE - size; }

char *witness_input(long size) {
  char *input = before_page(0, size);
  for (long i = 0; i < size; i++) input[i] = letters[next() % sizeof letters];
  return input;
}

char *witness_buffer(long size) { return before_page(1, size); }

/* Of the suite's functions that no case calls. */
void assert(int holds) { (void)holds; }

int nondet_int(void) { return (int)(next() % 3) - 1; }

static void ended(int signal, siginfo_t *info, void *context) {
  char *at = info->si_addr;
  (void)signal, (void)context;
  for (int which = 0; which < 2; which++)
    if (at >= pages[which] + PAGE && at < pages[which] + 2 * PAGE) touched = which, siglongjmp(again, 1);
  _Exit(3);
}

int main(int count, char **words) {
  static unsigned long runs, ends[2];
  unsigned long wanted = count > 1 ? strtoul(words[1], 0, 10) : 1000;
  struct sigaction action = {.sa_sigaction = ended, .sa_flags = SA_SIGINFO | SA_NODEFER};
  for (int which = 0; which < 2; which++) {
    pages[which] = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages[which] == MAP_FAILED || mprotect(pages[which] + PAGE, PAGE, PROT_NONE)) return 2;
  }
  sigaction(SIGSEGV, &action, 0);
  if (sigsetjmp(again, 0)) ends[touched]++;
  while (runs < wanted) runs++, case_main();
  printf("%lu %lu %lu\n", runs, ends[0], ends[1]);
  return 0;
}
