/* Calls of the C library that may leave something behind for later ones. `program READER C`: sets files, streams and variables up, makes the call that
   the byte C names, if it names one, then the call READER, and shows what that gave by which function it calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

void gave0(void) {}
void gave1(void) {}
void gave2(void) {}
void gave3(void) {}

static FILE *both, *in, *out, *other;
static int fd, same, sparse, p[2], number, watch, count;
static struct epoll_event event = {EPOLLIN, {.u64 = 5}}, got;
static char text[64] = "12 text", copy[64], *line;
static size_t room;
static struct stat st;
static eventfd_t value;
static sigset_t set, old;
static struct sigaction act;
static wchar_t wide[8];
static mbstate_t state;
static char *map;
static struct timespec ts;
static char *end;

static void on_signal(int n) {}

#define WRITERS(W) \
  W(fputc, fputc('q', both)) W(putc_stdout, putchar('q')) W(fputs, fputs("qq", both)) W(fwrite, fwrite("qqq", 1, 3, both)) \
  W(fprintf, fprintf(both, "%d", number)) W(fprintf_out, fprintf(out, "%s", text)) W(printf, printf("%s", text)) W(puts, puts(text)) \
  W(fputc_in, fputc('q', in)) W(fputwc, fputwc(L'q', out)) W(fputwc_wrong, fputwc(0xd800, out)) W(putwchar, putwchar(0xd800)) \
  W(dprintf, dprintf(fd, "q")) W(perror, perror("q")) W(fputs_err, fputs("q", stderr)) W(vfprintf_other, fprintf(other, "q")) \
  W(fgetc, fgetc(both)) W(fgetc_in, fgetc(in)) W(getline, getline(&line, &room, in)) W(fgets, fgets(copy, 8, in)) W(fread, fread(copy, 1, 3, in)) \
  W(fscanf, fscanf(in, "%3s", copy)) W(ungetc, ungetc('u', in)) W(getchar, getchar()) W(fgetwc, fgetwc(in)) \
  W(fflush, fflush(both)) W(fflush_all, fflush(0)) W(fclose_in, fclose(in)) W(fclose_both, fclose(both)) W(fopen, fopen("data", "r")) \
  W(fopen_new, fopen("data", "w")) W(fdopen, fdopen(fd, "r")) W(freopen, freopen("data", "r", in)) W(tmpfile, tmpfile()) W(clearerr, clearerr(in)) \
  W(fseek, fseek(both, 1, SEEK_SET)) W(rewind, rewind(in)) W(fseek_end, fseek(in, 0, SEEK_END)) W(setvbuf, setvbuf(out, 0, _IONBF, 0)) \
  W(fpurge, __fpurge(both)) W(fwide, fwide(out, 1)) \
  W(memcpy, memcpy(copy, text, 4)) W(memset, memset(text, '1', 2)) W(strcpy, strcpy(text, "9")) W(sprintf, sprintf(text, "%d", 7)) \
  W(snprintf, snprintf(text, 3, "%d", 777)) W(sscanf, sscanf("5", "%d", &number)) W(strtol, strtol("99999999999999999999", &end, 10)) \
  W(mbrlen, mbrlen("\xc3", 1, &state)) W(mbrlen_own, mbrlen("\xc3", 1, 0)) W(poll, poll(0, 0, 9)) \
  W(epoll_add, epoll_ctl(watch, EPOLL_CTL_ADD, count, &event)) W(epoll_mod, (event.events = EPOLLOUT, epoll_ctl(watch, EPOLL_CTL_MOD, p[0], &event))) \
  W(epoll_del, epoll_ctl(watch, EPOLL_CTL_DEL, p[0], 0)) W(epoll_wait, epoll_wait(watch, &got, 1, 9)) W(epoll_create, epoll_create1(0)) \
  W(eventfd, eventfd(3, 0)) W(eventfd_write, eventfd_write(count, 2)) W(eventfd_read, eventfd_read(count, &value)) W(close_epoll, close(watch)) \
  W(mbrtowc, mbrtowc(wide, "\xc3", 1, &state)) W(mbrtowc_own, mbrtowc(wide, "\xc3", 1, 0)) W(wcrtomb, wcrtomb(copy, 0xe4, &state)) \
  W(setlocale, setlocale(LC_ALL, "C.UTF-8")) W(umask, umask(077)) W(sigaction, (act.sa_handler = on_signal, sigaction(SIGUSR1, &act, 0))) \
  W(signal, signal(SIGUSR2, SIG_IGN)) W(sigprocmask, sigprocmask(SIG_BLOCK, &set, 0)) W(sigaddset, sigaddset(&set, SIGUSR2)) \
  W(time, time(0)) W(clock_gettime, clock_gettime(CLOCK_REALTIME, &ts)) W(nanosleep, (ts.tv_nsec = 9000, nanosleep(&ts, 0))) \
  W(open, open("data", O_RDONLY)) W(open_new, open("new", O_RDWR | O_CREAT, 0600)) W(open_empty, open("data", O_RDWR | O_TRUNC)) \
  W(creat, creat("data", 0600)) W(close, close(fd)) W(close_same, close(same)) W(close_pipe, close(p[1])) W(close_sparse, close(sparse)) \
  W(close_bad, close(-1)) W(read, read(fd, copy, 2)) W(read_pipe, read(p[0], copy, 1)) W(pread, pread(fd, copy, 2, 0)) W(write, write(fd, "qq", 2)) \
  W(write_pipe, write(p[1], "qq", 2)) W(write_out, write(1, "qq", 2)) W(pwrite, pwrite(fd, "qq", 2, 9)) W(lseek, lseek(fd, 1, SEEK_SET)) \
  W(lseek_same, lseek(same, 2, SEEK_SET)) W(dup, dup(fd)) W(dup2, dup2(fd, sparse)) W(dup3, dup3(p[0], fd, 0)) W(fcntl_dup, fcntl(fd, F_DUPFD, 20)) \
  W(fcntl_append, fcntl(fd, F_SETFL, O_APPEND)) W(fcntl_cloexec, fcntl(fd, F_SETFD, FD_CLOEXEC)) W(pipe, pipe(p)) W(ftruncate, ftruncate(fd, 3)) \
  W(truncate, truncate("data", 1)) W(chmod, chmod("data", 0400)) W(fchmod, fchmod(fd, 0400)) W(rename, rename("data", "moved")) \
  W(link, link("data", "linked")) W(symlink, symlink("data", "new")) W(unlink, unlink("data")) W(mkdir, mkdir("new", 0700)) W(rmdir, rmdir("empty")) \
  W(chdir, chdir("empty")) W(fchdir, fchdir(fd)) W(readlink, readlink("pointer", copy, 4)) W(stat, stat("data", &st)) W(fstat, fstat(p[0], &st)) \
  W(access, access("missing", 0)) W(writev, writev(fd, &(struct iovec){"qq", 2}, 1)) W(readv, readv(fd, &(struct iovec){copy, 2}, 1)) \
  W(map_write, map[0] = 'M') W(munmap, munmap(map, 4096)) W(putenv, setenv("WHERE", "here", 1)) W(errno, errno = ERANGE) W(free, (free(line), line = 0)) \
  W(strtok, strtok(text, " ")) W(rand, rand()) W(getcwd, getcwd(copy, 64)) W(posix_memalign, posix_memalign((void **)&line, 16, 16)) \
  W(utimensat, utimensat(AT_FDCWD, "data", 0, 0)) W(flock, fcntl(fd, F_SETPIPE_SZ, 0)) W(uname, uname((struct utsname *)malloc(sizeof(struct utsname))))

#define READERS(R) \
  R(errno, errno) R(ferror_both, ferror(both)) R(ferror_in, ferror(in)) R(feof_in, feof(in)) R(ferror_out, ferror(out)) R(ferror_stdout, ferror(stdout)) \
  R(getc_both, (rewind(both), getc(both))) R(getc_here, getc(both)) R(getc_in, getc(in)) R(getc_other, getc(other)) R(getc_rest, (fseek(in, 5, SEEK_SET), getc(in))) \
  R(ftell_both, ftell(both)) R(ftell_in, ftell(in)) R(ftell_out, ftell(out)) R(fclose_in, fclose(in)) R(fclose_both, fclose(both)) R(fclose_out, fclose(out)) \
  R(fflush_both, fflush(both)) R(fflush_stdout, fflush(stdout)) R(fputc_in, fputc('x', in)) R(fputc_out, fputc('x', out)) R(fputs_both, fputs("x", both)) \
  R(fprintf_out, fprintf(out, "%s", text)) R(pending_both, __fpending(both)) R(pending_out, __fpending(out)) R(reading, __freading(both)) \
  R(writing, __fwriting(both)) R(fwide_out, fwide(out, 0)) R(fileno_in, fileno(in)) R(fileno_both, fileno(both)) R(fbufsize, __fbufsize(out)) \
  R(lbf, __flbf(out)) R(fread_in, fread(copy, 1, 5, in) * 31 + copy[0]) R(fgets_in, fgets(copy, 9, in) ? copy[0] : -1) \
  R(getline_in, getline(&line, &room, in)) R(fscanf_in, fscanf(in, "%8s", copy) + copy[0]) R(ungetc_in, ungetc('x', in)) R(fopen_data, fopen("data", "r") != 0) \
  R(fopen_new, fopen("new", "r") != 0) R(freopen, freopen("data", "r", other) != 0) R(open_data, open("data", O_RDONLY)) R(open_excl, open("new", O_RDWR | O_CREAT | O_EXCL, 0666)) \
  R(open_write, open("data", O_RDWR) >= 0) R(close_fd, close(fd)) R(close_sparse, close(sparse)) R(read_fd, read(fd, copy, 3) * 31 + copy[0]) \
  R(read_same, read(same, copy, 3) * 31 + copy[0]) R(read_pipe, (fcntl(p[0], F_SETFL, O_NONBLOCK), read(p[0], copy, 3))) R(pread_fd, pread(fd, copy, 9, 0) * 31 + copy[1]) \
  R(write_fd, write(fd, "x", 1)) R(write_pipe, write(p[1], "x", 1)) R(lseek_fd, lseek(fd, 0, SEEK_CUR)) R(lseek_end, lseek(same, 0, SEEK_END)) R(dup_fd, dup(fd)) \
  R(fcntl_flags, fcntl(fd, F_GETFL)) R(fcntl_fd, fcntl(fd, F_GETFD)) R(fcntl_20, fcntl(20, F_GETFD)) R(fstat_size, fstat(fd, &st) ? -1 : st.st_size) \
  R(fstat_mode, fstat(fd, &st) ? -1 : st.st_mode) R(stat_size, stat("data", &st) ? -1 : st.st_size) R(stat_mode, stat("data", &st) ? -1 : st.st_mode) \
  R(stat_links, stat("data", &st) ? -1 : st.st_nlink) R(lstat_new, lstat("new", &st)) R(stat_mtime, stat("data", &st) ? -1 : st.st_mtim.tv_nsec + st.st_mtime) \
  R(access_new, access("new", F_OK)) R(access_moved, access("moved", F_OK)) R(readlink, readlink("pointer", copy, 9)) R(rename, rename("moved", "data")) \
  R(unlink, unlink("data")) R(mkdir, mkdir("new", 0777)) R(rmdir, rmdir("empty")) R(getcwd, getcwd(copy, 64) ? strlen(copy) : -1) R(chdir, chdir("empty")) \
  R(umask, umask(0)) R(mode_made, (fd = open("fresh", O_RDWR | O_CREAT, 0666), fstat(fd, &st), st.st_mode)) R(epoll, epoll_wait(watch, &got, 1, 5) + got.events * 7) R(epoll_data, got.data.u32) R(epoll_ctl, epoll_ctl(watch, EPOLL_CTL_ADD, count, &event)) \
  R(eventfd, (eventfd_read(count, &value), value)) R(eventfd_value, value) R(eventfd_new, eventfd(0, 0)) R(epoll_new, epoll_create(1)) \
  R(poll_pipe, poll(&(struct pollfd){p[0], POLLIN, 0}, 1, 0)) \
  R(sigaction_usr1, (sigaction(SIGUSR1, 0, &act), act.sa_handler != SIG_DFL)) R(sigaction_usr2, (sigaction(SIGUSR2, 0, &act), act.sa_handler != SIG_DFL)) \
  R(sigmask, (sigprocmask(SIG_BLOCK, 0, &old), sigismember(&old, SIGUSR1))) R(sigismember, sigismember(&set, SIGUSR2)) R(cur_max, MB_CUR_MAX) \
  R(mbrlen, mbrlen("\xa4", 1, &state)) R(mbrlen_own, mbrlen("\xa4", 1, 0)) \
  R(mbrtowc, mbrtowc(wide, "\xa4", 1, &state)) R(mbrtowc_own, mbrtowc(wide, "\xa4", 1, 0)) R(mbrtowc_new, mbrtowc(wide, "\xc3\xa4", 2, &state)) \
  R(wcrtomb, wcrtomb(copy, 0xe4, &state)) R(codeset, nl_langinfo(CODESET)[0]) R(fputwc, fputwc(0xe4, other)) R(clock, time(0)) \
  R(clock_ns, (clock_gettime(CLOCK_REALTIME, &ts), ts.tv_nsec)) R(atoi, atoi(text)) R(strlen, strlen(text)) R(strchr, strchr(text, 't') != 0) R(number, number) \
  R(copy, copy[0]) R(memcmp, memcmp(text, copy, 4)) R(sprintf, sprintf(copy, "%d%s", number, text)) R(sscanf, sscanf(text, "%d", &number) + number) \
  R(getenv, getenv("WHERE") != 0) R(mapped, map[0]) R(line, line != 0) R(stat_other, stat("linked", &st)) R(st, st.st_mode) R(strtok, strtok(0, " ") != 0) \
  R(rand, rand()) R(errno_after, (errno = 0, close(sparse), errno)) R(end, end != 0) R(pipe, pipe(p) ? -1 : p[0])

#define NAME(name, code) #name,
static const char *const writers[] = {WRITERS(NAME)}, *const readers[] = {READERS(NAME)};
#define NUMBER(name, code) w_##name,
enum { WRITERS(NUMBER) };
#define NUMBER_R(name, code) r_##name,
enum { READERS(NUMBER_R) };

static void show(unsigned long gave) {
  switch ((gave * 0x9e3779b97f4a7c15ul >> 62)) {
    case 0: gave0(); break;
    case 1: gave1(); break;
    case 2: gave2(); break;
    default: gave3();
  }
}

static void set_up(void) {
  int made = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
  write(made, "some text\nand more of it\n", 25);
  close(made);
  mkdir("empty", 0700);
  symlink("data", "pointer");
  unlink("new");
  unlink("moved");
  unlink("linked");
  unlink("fresh");
  both = fopen("both", "w+");
  fputs("both ways", both);
  rewind(both);
  in = fopen("data", "r");
  out = fopen("out", "w");
  other = fopen("other", "w+");
  fd = open("data", O_RDWR);
  same = dup(fd);
  sparse = fcntl(fd, F_DUPFD, 12);
  pipe(p);
  write(p[1], "p", 1);
  watch = epoll_create1(0);
  epoll_ctl(watch, EPOLL_CTL_ADD, p[0], &event);
  count = eventfd(1, EFD_NONBLOCK);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  map = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  copy[0] = '1';
}

int main(int argc, char **argv) {
  if (argc < 3) {
    for (unsigned i = 0; i < sizeof readers / sizeof *readers; i++) puts(readers[i]);
    puts("");
    for (unsigned i = 0; i < sizeof writers / sizeof *writers; i++) puts(writers[i]);
    return 0;
  }
  set_up();
  int writer = (unsigned char)argv[2][0] - 1, reader = atoi(argv[1]);
  if (argc > 3 && writer >= 0 && writer != atoi(argv[3])) return 1;
  /* A branch of its own for each, so that each is looked at by itself. */
#define CASE(name, code) if (writer == w_##name) (void)(code);
  WRITERS(CASE)
  unsigned long gave = 0;
#define CASE_R(name, code) case r_##name: gave = (code); break;
  switch (reader) { READERS(CASE_R) }
  show(gave);
  return 0;
}
