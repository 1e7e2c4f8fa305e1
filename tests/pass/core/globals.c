//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 2
// Initialisers with addresses, zero-initialised data, constructors.
static int value = 5;
static int *const where = &value;
static char room[1000];
static const char *words[] = {"zero", "one", room + 3};
__attribute__((constructor)) static void before(void) { value = 6; }
int main(int argc, char **argv) {
  if (argv[1][0] == words[1][0]) *where = 7;
  return value + room[999] + (words[2] == &room[3] ? 0 : 100);
}
