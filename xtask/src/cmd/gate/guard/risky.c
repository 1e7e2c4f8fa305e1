// A program that crashes for some inputs and worlds and prints the branches it took otherwise. Faults are such that the CPU notices them.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char trace[256];
static int length;
static int at(int branch) {
  if (length < 255) trace[length++] = 'A' + branch % 50;
  return 1;
}
static void crash(void) {
  volatile int *nowhere = 0;
  *nowhere = 1;
}

static int deep(int n) {
  volatile char room[400];
  room[n % 400] = n;
  return n ? deep(n - 1) + room[n % 400] : 0;
}

int main(int argc, char **argv) {
  int a = 0, b = 0, number = 0;
  const char *file = 0;
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    if (!strcmp(word, "-a")) a = at(0);
    else if (!strcmp(word, "-b")) b = at(1);
    else if (word[0] == '-' && word[1] == 'f') { at(2); file = word + 2; }
    else if (word[0] >= '0' && word[0] <= '9') { at(3); number = atoi(word); }
    else if (!strcmp(word, "-R")) { at(16); number += deep(100000); }
    else if (word[0] == '=') {
      at(4);
      // A far index: a read that leaves every mapping.
      if (word[1] == 'z' && word[2] > 'm') { volatile char *far = (volatile char *)0x10 + word[2]; (void)*far; }
    } else at(5);
  }
  if (a && b) crash();
  if (number) {
    at(6);
    volatile int divisor = number - 7;
    number = 100 / divisor;
    if (number < 0) at(7);
  }
  const char *mode = getenv("MODE");
  if (mode) {
    at(8);
    if (mode[0] == 'c') crash();
    if (mode[0] == 'd' && strlen(mode) == 3) { at(9); if (mode[2] == '!') crash(); }
  }
  if (file) {
    struct stat about;
    if (stat(file, &about)) at(10);
    else {
      at(11);
      if (about.st_size == 13) crash();
      if (S_ISDIR(about.st_mode)) at(12);
      int fd = open(file, O_RDONLY);
      char c = 0;
      if (fd >= 0 && read(fd, &c, 1) == 1) { at(13); if (c == 'X') crash(); }
      if (fd >= 0) close(fd);
    }
    char here[512];
    if (getcwd(here, sizeof here) && strstr(here, "/bad")) crash();
  }
  struct stat in;
  if (a && fstat(0, &in) == 0 && S_ISREG(in.st_mode)) {
    at(14);
    char c[4] = "";
    long n = read(0, c, 3);
    if (n == 3) { at(15); if (c[2] == 'k') crash(); }
  }
  if (b && umask(022) == 077) crash();
  printf("%.*s\n", length, trace);
  return number & 3;
}
