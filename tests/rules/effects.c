//@ rule: assertion
//@ cc: -D_GNU_SOURCE -Wno-format-security
/* What calls of the C library and of the system leave behind for later ones. Each pair of programs differs in that: in one of them an assertion
   hangs on what a call did on one way only, so the branch matters though nothing else connects the two. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

int pipe_written(char c) {
  int p[2];
  char b;
  if (pipe(p)) return 1;
  if (c == 'x') write(p[1], "Z", 1);
  close(p[1]);
  assert(read(p[0], &b, 1) != 1);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int other_pipe_written(char c) {
  int p[2], q[2];
  char b;
  if (pipe(p) || pipe(q)) return 1;
  if (c == 'x') write(q[1], "Z", 1);
  close(p[1]);
  assert(read(p[0], &b, 1) != 1);
  return 0;
}

int stream_in_memory(char c) {
  char *text;
  size_t n;
  FILE *f = open_memstream(&text, &n);
  if (!f) return 1;
  if (c == 'x') fputs("q", f);
  fclose(f);
  assert(n == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int other_stream_in_memory(char c) {
  char *text, *other;
  size_t n, m;
  FILE *f = open_memstream(&text, &n), *g = open_memstream(&other, &m);
  if (!f || !g) return 1;
  if (c == 'x') fputs("q", g);
  fclose(f);
  assert(n == 0);
  fclose(g);
  return 0;
}

int text_of_a_stream(char c) {
  char *text;
  size_t n;
  FILE *f = open_memstream(&text, &n);
  if (!f) return 1;
  putc(c == 'x' ? 'b' : 'a', f);
  fflush(f);
  assert(text[0] == 'a');  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int buffer_of_a_stream(char c) {
  static char buffer[64];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  if (c == 'x') fputs("secret", stdout);
  int found = 0;
  for (int i = 0; i < 64; i++) found |= buffer[i] == 's';
  assert(!found);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int buffer_of_the_library(char c) {
  static char buffer[64];
  if (c == 'x') fputs("secret", stdout);
  int found = 0;
  for (int i = 0; i < 64; i++) found |= buffer[i] == 's';
  assert(!found);
  return 0;
}

int stream_on_a_buffer(char c) {
  char buffer[16] = "";
  FILE *f = fmemopen(buffer, sizeof buffer, "w");
  if (!f) return 1;
  if (c == 'x') fputs("q", f);
  fclose(f);
  assert(buffer[0] != 'q');  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int stream_from_a_buffer(char c) {
  char buffer[4] = "abc";
  FILE *f = fmemopen(buffer, 3, "r");
  if (!f) return 1;
  if (c == 'x') buffer[0] = 'z';
  assert(getc(f) == 'a');  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int beside_a_stream_from_a_buffer(char c) {
  char buffer[4] = "abc", other[4] = "def";
  FILE *f = fmemopen(buffer, 3, "r");
  if (!f) return 1;
  if (c == 'x') other[0] = 'z';
  assert(getc(f) == 'a');
  return other[0];
}

static int written;
static ssize_t count_written(void *cookie, const char *text, size_t n) {
  written += n;
  return n;
}

int stream_of_the_program(char c) {
  cookie_io_functions_t io = {.write = count_written};
  FILE *f = fopencookie(0, "w", io);
  if (!f) return 1;
  if (c == 'x') fputs("q", f);
  fflush(f);
  assert(written == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int unused_stream_of_the_program(char c) {
  cookie_io_functions_t io = {.write = count_written};
  FILE *f = fopencookie(0, "w", io);
  if (!f) return 1;
  if (c == 'x') putchar('q');
  fflush(f);
  assert(written == 0);
  return 0;
}

int sought_after_writing(char c) {
  int fd = open("sought", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return 1;
  if (c == 'x') write(fd, "ab", 2);
  assert(lseek(fd, 0, SEEK_CUR) == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int sought_after_printing(char c) {
  int fd = open("sought", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return 1;
  if (c == 'x') printf("ab");
  assert(lseek(fd, 0, SEEK_CUR) == 0);
  return 0;
}

int size_after_writing(char c) {
  struct stat st;
  int fd = open("sized", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return 1;
  if (c == 'x') write(fd, "ab", 2);
  assert(fstat(fd, &st) || st.st_size == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int size_by_name(char c) {
  struct stat st;
  FILE *f = fopen("sized", "w");
  if (!f) return 1;
  if (c == 'x') fputs("ab", f);
  fclose(f);
  assert(stat("sized", &st) || st.st_size == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int read_back(char c) {
  FILE *f = fopen("again", "w+");
  if (!f) return 1;
  if (c == 'x') fputs("ab", f);
  rewind(f);
  assert(getc(f) == EOF);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int temporary_read_back(char c) {
  FILE *f = tmpfile();
  if (!f) return 1;
  if (c == 'x') fputs("ab", f);
  rewind(f);
  assert(getc(f) == EOF);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int output_is_not_read_back(char c) {
  FILE *f = tmpfile();
  if (!f) return 1;
  if (c == 'x') printf("ab");
  rewind(f);
  assert(getc(f) == EOF);
  return 0;
}

int written_by_another_descriptor(char c) {
  char b;
  int fd = open("two", O_RDWR | O_CREAT | O_TRUNC, 0600), other = dup(fd);
  if (fd < 0 || other < 0) return 1;
  write(fd, "ab", 2);
  if (c == 'x') lseek(other, 0, SEEK_SET);
  assert(read(fd, &b, 1) == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int two_streams_on_one_descriptor(char c) {
  int fd = open("/etc/passwd", O_RDONLY);
  FILE *f = fdopen(fd, "r"), *g = fdopen(fd, "r");
  if (!f || !g) return 1;
  setvbuf(f, 0, _IONBF, 0);
  setvbuf(g, 0, _IONBF, 0);
  int first = c == 'x' ? getc(g) : 'r';
  assert(getc(f) == 'r');  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return first;
}

int next_descriptor(char c) {
  int first = open("/etc/passwd", O_RDONLY);
  if (c == 'x') close(first);
  int next = open("/etc/passwd", O_RDONLY);
  assert(next != first);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int next_descriptor_but_one(char c) {
  int first = open("/etc/passwd", O_RDONLY), last;
  if (c == 'x') open("/etc/passwd", O_RDONLY);
  last = open("/etc/passwd", O_RDONLY);
  assert(last == first + 1);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int number_of_a_stream(char c) {
  FILE *f = fopen("/etc/passwd", "r"), *g;
  if (!f) return 1;
  if (c == 'x') fclose(f);
  g = fopen("/etc/passwd", "r");
  if (!g) return 1;
  assert(fileno(g) == 4);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int not_open_yet(char c) {
  char b;
  if (c == 'x') open("/etc/passwd", O_RDONLY);
  assert(read(3, &b, 1) < 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int closed_nothing(char c) {
  int fd = open("/etc/passwd", O_RDONLY);
  if (fd < 0) return 1;
  int which = fd;
  if (c == 'x') which = -1;
  assert(close(which) == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int closed_before(char c) {
  int fd = open("/etc/passwd", O_RDONLY);
  if (fd < 0) return 1;
  if (c == 'x') close(fd);
  assert(close(fd) == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int closed_once(char c) {
  int fd = open("/etc/passwd", O_RDONLY), other = open("/etc/passwd", O_RDONLY);
  if (fd < 0 || other < 0) return 1;
  if (c == 'x') putchar('x');
  assert(close(fd) == 0);
  return 0;
}

int written_to_be_read(char c) {
  FILE *f = fopen("/etc/passwd", "r");
  if (!f) return 1;
  if (c == 'x') fputc('q', f);
  assert(!ferror(f));  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int written_to_be_written(char c) {
  FILE *f = fopen("/etc/passwd", "r");
  if (!f) return 1;
  if (c == 'x') fputc('q', stdout);
  assert(!ferror(f));
  return 0;
}

int stream_without_its_descriptor(char c) {
  FILE *f = fopen("without", "w");
  if (!f) return 1;
  if (c == 'x') close(fileno(f));
  assert(fclose(f) == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int flushed_without_its_descriptor(char c) {
  FILE *f = fopen("without", "w");
  if (!f) return 1;
  fputc('q', f);
  if (c == 'x') close(fileno(f));
  assert(fflush(f) == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int printed_to_nowhere(char c) {
  if (c == 'x') close(1);
  printf("text");
  assert(fflush(stdout) == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int printed_to_a_file(char c) {
  struct stat st;
  int fd = open("printed", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return 1;
  if (c == 'x') dup2(fd, 1);
  printf("text");
  fflush(stdout);
  assert(fstat(fd, &st) || st.st_size == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int printed_to_a_file_on_one_way(char c) {
  struct stat st;
  int fd = open("printed", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return 1;
  dup2(fd, 1);
  if (c == 'x') printf("text");
  fflush(stdout);
  assert(fstat(fd, &st) || st.st_size == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int mapped_and_shared(char c) {
  int fd = open("/etc/passwd", O_RDONLY);
  char *at = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  if (fd < 0 || at == MAP_FAILED) return 1;
  if (c == 'x') lseek(fd, 1, SEEK_SET);
  assert(at[0] == 'r');
  return 0;
}

int truncated(char c) {
  struct stat st;
  int fd = open("truncated", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return 1;
  if (c == 'x') ftruncate(fd, 7);
  assert(fstat(fd, &st) || st.st_size == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int appended(char c) {
  char b;
  int fd = open("appended", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || write(fd, "ab", 2) != 2) return 1;
  lseek(fd, 0, SEEK_SET);
  if (c == 'x') fcntl(fd, F_SETFL, O_APPEND);
  write(fd, "c", 1);
  lseek(fd, 0, SEEK_SET);
  assert(read(fd, &b, 1) == 1 && b == 'c');  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int size_of_a_character(char c) {
  setlocale(LC_ALL, "C");
  if (c == 'x') setlocale(LC_ALL, "C.UTF-8");
  assert(MB_CUR_MAX == 1);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int character_of_the_locale(char c) {
  wchar_t w;
  setlocale(LC_ALL, "C");
  if (c == 'x') setlocale(LC_ALL, "C.UTF-8");
  assert(mbtowc(&w, "\xc3\xa4", 2) != 2);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int locale_of_another_kind(char c) {
  setlocale(LC_ALL, "C");
  if (c == 'x') putchar('x');
  assert(MB_CUR_MAX == 1);
  return 0;
}

int count_of_what_was_printed(char c) {
  int n = 0;
  if (c == 'x') printf("abc%n", &n);
  assert(n == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int count_in_a_string(char c) {
  int n = 0;
  char text[16];
  if (c == 'x') snprintf(text, 16, "abc%n", &n);
  assert(n == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int count_of_a_format_made(char c) {
  int n = 0;
  char format[8] = "ab%";
  strcat(format, "n");
  if (c == 'x') printf(format, &n);
  assert(n == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int no_count_of_what_was_printed(char c) {
  int n = 0;
  if (c == 'x') printf("abc%p", (void *)&n);
  assert(n == 0);
  return 0;
}

int text_of_a_scan(char c) {
  char *text = 0;
  if (sscanf("ab", "%ms", &text) != 1) return 1;
  char *same = text;
  if (c == 'x') text[0] = 'z';
  assert(same[0] == 'a');  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

static void handler_a(int n) {}
static void handler_b(int n) {}

int handler_before(char c) {
  struct sigaction act = {.sa_handler = handler_a}, old;
  sigaction(SIGUSR1, &act, 0);
  act.sa_handler = handler_b;
  if (c == 'x') sigaction(SIGUSR1, &act, 0);
  sigaction(SIGUSR1, 0, &old);
  assert(old.sa_handler == handler_a);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

static int handled;
static void handle(int n) {
  handled = 1;
}

int handler_found(char c) {
  struct sigaction act = {.sa_handler = handle}, old;
  sigaction(SIGUSR1, &act, 0);
  sigaction(SIGUSR1, 0, &old);
  if (c == 'x') old.sa_handler(1);
  assert(!handled);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int handler_of_another_signal(char c) {
  struct sigaction act = {.sa_handler = handler_a}, old;
  sigaction(SIGUSR1, &act, 0);
  if (c == 'x') putchar('x');
  sigaction(SIGUSR1, 0, &old);
  assert(old.sa_handler == handler_a);
  return 0;
}

int blocked(char c) {
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  if (c == 'x') sigprocmask(SIG_BLOCK, &set, 0);
  sigprocmask(SIG_SETMASK, 0, &old);
  assert(!sigismember(&old, SIGUSR1));  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int renamed(char c) {
  int fd = open("old", O_RDWR | O_CREAT, 0600);
  if (fd < 0) return 1;
  unlink("new");
  if (c == 'x') rename("old", "new");
  assert(access("new", F_OK) < 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int elsewhere(char c) {
  if (mkdir("inside", 0700) && errno != EEXIST) return 1;
  close(open("inside/here", O_RDWR | O_CREAT, 0600));
  if (c == 'x') chdir("inside");
  assert(access("here", F_OK) < 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int masked(char c) {
  struct stat st;
  umask(0);
  if (c == 'x') umask(077);
  int fd = open("masked", O_RDWR | O_CREAT | O_EXCL, 0666);
  assert(fd < 0 || fstat(fd, &st) || (st.st_mode & 077) != 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int put_back(char c) {
  FILE *f = fopen("/etc/passwd", "r");
  if (!f) return 1;
  if (c == 'x') ungetc('Q', f);
  assert(getc(f) != 'Q');  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int end_of_a_file(char c) {
  FILE *f = fopen("/dev/null", "r");
  if (!f) return 1;
  if (c == 'x') getc(f);
  assert(!feof(f));  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int where_a_stream_is(char c) {
  FILE *f = fopen("where", "w+");
  if (!f) return 1;
  if (c == 'x') fputs("ab", f);
  assert(ftell(f) == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int waiting_to_be_read(char c) {
  int p[2];
  struct pollfd poll_on;
  if (pipe(p)) return 1;
  if (c == 'x') close(p[0]);
  poll_on = (struct pollfd){.fd = p[0], .events = POLLIN};
  assert(poll(&poll_on, 1, 0) <= 0 || !(poll_on.revents & POLLNVAL));  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int width_of_a_stream(char c) {
  FILE *f = fopen("wide", "w");
  if (!f) return 1;
  if (c == 'x') fputwc(L'a', f);
  assert(fwide(f, 0) <= 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int bytes_of_no_character(char c) {
  setlocale(LC_ALL, "C.UTF-8");
  wchar_t w = c == 'x' ? 0xd800 : 'a';
  assert(fputwc(w, stdout) != WEOF);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int error_of_output(char c) {
  FILE *f = fopen("/etc/passwd", "r");
  if (!f) return 1;
  errno = 0;
  if (c == 'x') fputc('q', f);
  assert(errno == 0);
  return 0;
}

int error_of_a_close(char c) {
  errno = 0;
  if (c == 'x') close(-1);
  assert(errno == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int characters_read_partly(char c) {
  mbstate_t state = {0};
  wchar_t w;
  setlocale(LC_ALL, "C.UTF-8");
  if (c == 'x') mbrtowc(&w, "\xc3", 1, 0);
  assert(mbrtowc(&w, "a", 1, 0) == 1);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return state.__opaque1;
}

int shape_of_memory(char c) {
  char *line = 0;
  size_t n = 0;
  FILE *f = fopen("/etc/passwd", "r");
  if (!f) return 1;
  if (c == 'x') getline(&line, &n, f);
  assert(!line);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int scattered(char c) {
  char a = 0;
  struct iovec to = {&a, 1};
  int fd = open("/etc/passwd", O_RDONLY);
  if (fd < 0) return 1;
  if (c == 'x') readv(fd, &to, 1);
  assert(a == 0);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int variable_of_the_environment(char c) {
  unsetenv("WHERE");
  if (c == 'x') setenv("WHERE", "here", 1);
  assert(!getenv("WHERE"));  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int state_of_strtok(char c) {
  char text[] = "a b", other[] = "c d";
  strtok(text, " ");
  if (c == 'x') strtok(other, " ");
  assert(*strtok(0, " ") == 'b');  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int state_of_rand(char c) {
  srand(1);
  int first = rand();
  srand(1);
  if (c == 'x') rand();
  assert(rand() == first);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int broken_down_time(char c) {
  time_t first = 0, second = 86400 * 400;
  struct tm *tm = gmtime(&first);
  if (c == 'x') gmtime(&second);
  assert(tm->tm_year == 70);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

static int compared;
static int compare(const void *a, const void *b) {
  compared++;
  return *(const char *)a - *(const char *)b;
}

int sorted(char c) {
  char text[] = "ba";
  if (c == 'x') qsort(text, 2, 1, compare);
  assert(!compared);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

static int registered;
static void check_registered(void);

int called_at_exit(char c) {
  atexit(check_registered);
  if (c == 'x') registered = 1;
  return 0;
}
static void check_registered(void) {
  assert(!registered);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
}
