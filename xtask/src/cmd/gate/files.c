/* Makes the system calls that its argument lists, one a word list up to `;`, and prints what each gives. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char *words[16];
static char home[4096];
static char buffer[1 << 16];
/* Of a file, `fd` is it; `fixed`: a part was replaced. */
static struct map { char *at; long len, offset; int writable, shared, fixed, fd; } maps[4];
static int count_links;

static const char *w(int i) { return words[i] ? words[i] : ""; }
static long n(int i) { return strtol(w(i), 0, 0); }

/* `@` is the empty path, `^` a name that is too long, a leading `~` the first working directory. */
static const char *path(int i)
{
	static char full[2][8192];
	const char *p = w(i);
	if (*p == '@') return "";
	if (*p == '^') {
		memset(full[i & 1], 'n', 300);
		full[i & 1][300] = 0;
		return full[i & 1];
	}
	if (*p != '~') return p;
	snprintf(full[i & 1], sizeof full[0], "%s%s", home, p + 1);
	return full[i & 1];
}

static void say(long result)
{
	int e = errno;
	for (int i = 0; words[i]; i++) printf("%s ", words[i]);
	if (result == -1) printf("= -1 errno %d\n", e);
	else printf("= %ld\n", result);
}

static void dump(const char *p, long len)
{
	if (len <= 0) return;
	printf(" bytes %ld:", len);
	for (long i = 0; i < len;) {
		long run = 1;
		while (i + run < len && p[i + run] == p[i]) run++;
		printf(" %02x", (unsigned char)p[i]);
		if (run > 1) printf("*%ld", run);
		i += run;
	}
	printf("\n");
}

static void describe(long result, struct stat *s)
{
	say(result);
	if (result) return;
	printf(" mode %o user %d group %d", s->st_mode, s->st_uid, s->st_gid);
	if (!S_ISDIR(s->st_mode)) printf(" size %ld", (long)s->st_size);
	if (!S_ISDIR(s->st_mode) || count_links) printf(" links %ld", (long)s->st_nlink);
	printf("\n");
}

static void shown(const char *where)
{
	size_t len = strlen(home);
	if (!strncmp(where, home, len)) printf(" ~%s\n", where + len);
	else printf(" %s\n", where);
}

/* Nothing above the first working directory is touched. */
static void stay(void)
{
	char where[4096];
	if (getcwd(where, sizeof where) && strncmp(where, home, strlen(home))) chdir(home);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }

static void list(const char *where)
{
	DIR *d = opendir(where);
	say(d ? 0 : -1);
	if (!d) return;
	char *names[64];
	int count = 0;
	struct dirent *e;
	errno = 0;
	while (count < 64 && (e = readdir(d))) {
		char name[300];
		snprintf(name, sizeof name, "%s:%d", e->d_name, e->d_type);
		names[count++] = strdup(name);
	}
	qsort(names, count, sizeof *names, by_name);
	for (int i = 0; i < count; i++) printf(" %s", names[i]), free(names[i]);
	printf(" errno %d\n", errno);
	closedir(d);
}

static void times(int at, const char *p, int flags)
{
	struct timespec t[2] = {{n(2), n(3)}, {n(4), n(5)}};
	struct stat s;
	long result = utimensat(at, p, t, flags);
	say(result);
	if (!result && !fstatat(at, p, &s, flags))
		printf(" %ld.%ld %ld.%ld\n", t[0].tv_nsec < 1000000000 ? (long)s.st_atim.tv_sec : 0, t[0].tv_nsec < 1000000000 ? s.st_atim.tv_nsec : 0,
		       t[1].tv_nsec < 1000000000 ? (long)s.st_mtim.tv_sec : 0, t[1].tv_nsec < 1000000000 ? s.st_mtim.tv_nsec : 0);
}

/* How much of a mapping may be touched: beyond its last page, a file's is a bus error. */
static long reach(struct map *m, int write)
{
	struct stat s;
	if (m->fd < 0) return m->len;
	if (fstat(m->fd, &s) || s.st_size < m->offset) return 0;
	long there = s.st_size - m->offset;
	if (!write) there = (there + 4095) / 4096 * 4096;
	return there < m->len ? there : m->len;
}

static void map(struct map *m)
{
	int file = !(n(4) & MAP_ANONYMOUS), shared = n(4) & MAP_SHARED;
	for (int i = 0; i < 4; i++)
		if (file && shared && maps[i].at && maps[i].shared && maps[i].fd >= 0) return;
	if (m->at) return;
	char *p = mmap(0, n(2), n(3), n(4), n(5), n(6));
	say(p == MAP_FAILED ? -1 : 0);
	if (p == MAP_FAILED) return;
	*m = (struct map){p, n(2), n(6), n(3) & PROT_WRITE, shared, 0, file ? fcntl(n(5), F_DUPFD, 100) : -1};
	dump(p, reach(m, 0));
	if (!file || shared) return;
	/* Whether a private page shows later writes to the file is undefined until it is written. */
	if (m->writable) for (long i = 0; i < reach(m, 0); i += 4096) ((volatile char *)p)[i] = p[i];
	m->len = m->writable ? reach(m, 0) : 0;
	close(m->fd);
	m->fd = -1;
}

static void one(void)
{
	const char *op = w(0);
	struct stat s;
	long r;
	errno = 0;
	if (!strcmp(op, "open")) say(open(path(1), n(2), n(3)));
	else if (!strcmp(op, "openat")) say(openat(n(1), path(2), n(3), n(4)));
	else if (!strcmp(op, "creat")) say(creat(path(1), n(2)));
	else if (!strcmp(op, "close")) say(close(n(1)));
	else if (!strcmp(op, "read")) { memset(buffer, '?', n(2)); say(r = read(n(1), buffer, n(2))); dump(buffer, r); }
	else if (!strcmp(op, "pread")) { say(r = pread(n(1), buffer, n(2), n(3))); dump(buffer, r); }
	else if (!strcmp(op, "readv")) {
		struct iovec v[2] = {{buffer, n(2)}, {buffer + n(2), n(3)}};
		say(r = readv(n(1), v, 2));
		dump(buffer, r);
	}
	else if (!strcmp(op, "write")) { for (long i = 0; i < n(2); i++) buffer[i] = w(3)[0] + i % 7; say(write(n(1), buffer, n(2))); }
	else if (!strcmp(op, "pwrite")) { memset(buffer, w(3)[0], n(2)); say(pwrite(n(1), buffer, n(2), n(4))); }
	else if (!strcmp(op, "writev")) {
		struct iovec v[2] = {{"one", 3}, {"second", n(2)}};
		say(writev(n(1), v, 2));
	}
	else if (!strcmp(op, "lseek")) say(lseek(n(1), n(2), n(3)));
	else if (!strcmp(op, "holes")) {
		int fd = open(path(1), O_CREAT | O_TRUNC | O_RDWR, 0600);
		if (fd >= 0) {
			memset(buffer, 'h', n(2));
			printf(" %ld", (long)write(fd, buffer, n(2)));
			errno = 0;
			printf(" %ld", (long)lseek(fd, n(3), SEEK_DATA));
			printf(" %ld", (long)lseek(fd, n(3), SEEK_HOLE));
			close(fd);
		}
		say(fd);
	}
	else if (!strcmp(op, "truncate")) say(truncate(path(1), n(2)));
	else if (!strcmp(op, "ftruncate")) say(ftruncate(n(1), n(2)));
	else if (!strcmp(op, "fallocate")) say(syscall(SYS_fallocate, n(1), n(2), n(3), n(4)));
	else if (!strcmp(op, "stat")) { r = stat(path(1), &s); describe(r, &s); }
	else if (!strcmp(op, "lstat")) { r = lstat(path(1), &s); describe(r, &s); }
	else if (!strcmp(op, "fstat")) { r = fstat(n(1), &s); describe(r, &s); }
	else if (!strcmp(op, "fstatat")) { r = fstatat(n(1), path(2), &s, n(3)); describe(r, &s); }
	else if (!strcmp(op, "link")) say(link(path(1), path(2)));
	else if (!strcmp(op, "linkat")) say(linkat(n(1), path(2), n(3), path(4), n(5)));
	else if (!strcmp(op, "symlink")) say(symlink(w(1)[0] == '@' ? "" : w(1), path(2)));
	else if (!strcmp(op, "readlink")) { say(r = readlink(path(1), buffer, n(2))); dump(buffer, r); }
	else if (!strcmp(op, "rename")) say(rename(path(1), path(2)));
	else if (!strcmp(op, "renameat2")) say(syscall(SYS_renameat2, n(1), path(2), n(3), path(4), n(5)));
	else if (!strcmp(op, "unlink")) say(unlink(path(1)));
	else if (!strcmp(op, "unlinkat")) say(unlinkat(n(1), path(2), n(3)));
	else if (!strcmp(op, "mkdir")) say(mkdir(path(1), n(2)));
	else if (!strcmp(op, "mkdirat")) say(mkdirat(n(1), path(2), n(3)));
	else if (!strcmp(op, "rmdir")) say(rmdir(path(1)));
	else if (!strcmp(op, "chdir")) say(chdir(path(1))), stay();
	else if (!strcmp(op, "fchdir")) say(fchdir(n(1))), stay();
	else if (!strcmp(op, "getcwd")) { r = getcwd(buffer, sizeof buffer) ? 0 : -1; say(r); if (!r) shown(buffer); }
	else if (!strcmp(op, "list")) list(path(1));
	else if (!strcmp(op, "dup")) say(dup(n(1)));
	else if (!strcmp(op, "dup2")) say(dup2(n(1), n(2)));
	else if (!strcmp(op, "dup3")) say(dup3(n(1), n(2), n(3)));
	else if (!strcmp(op, "pipe")) { int p[2] = {0, 0}; r = pipe2(p, n(1)); say(r); printf(" %d %d\n", p[0], p[1]); }
	else if (!strcmp(op, "fcntl")) say(fcntl(n(1), n(2), n(3)));
	else if (!strcmp(op, "fsync")) say(fsync(n(1)));
	else if (!strcmp(op, "fdatasync")) say(fdatasync(n(1)));
	else if (!strcmp(op, "flock")) say(flock(n(1), n(2)));
	else if (!strcmp(op, "preadv")) {
		struct iovec v[2] = {{buffer, 3}, {buffer + 3, n(2)}};
		say(r = preadv(n(1), v, 2, n(3)));
		dump(buffer, r);
	}
	else if (!strcmp(op, "pwritev")) {
		struct iovec v[2] = {{"one", 3}, {"second", n(2)}};
		say(pwritev(n(1), v, 2, n(3)));
	}
	else if (!strcmp(op, "poll")) {
		struct pollfd p[3] = {{n(1), n(4), 99}, {n(2), n(4), 99}, {n(3), n(5), 99}};
		say(poll(p, 3, 0));
		printf(" %x %x %x\n", p[0].revents, p[1].revents, p[2].revents);
	}
	else if (!strcmp(op, "epoll")) say(epoll_create1(n(1)));
	else if (!strcmp(op, "eventfd")) say(eventfd(n(1), n(2)));
	else if (!strcmp(op, "pair")) { int p[2] = {0, 0}; r = socketpair(AF_UNIX, SOCK_STREAM | n(1), 0, p); say(r); printf(" %d %d\n", p[0], p[1]); }
	else if (!strcmp(op, "shutdown")) say(shutdown(n(1), n(2)));
	else if (!strcmp(op, "watch")) {
		struct epoll_event e = {n(4), {.u64 = n(5)}};
		say(epoll_ctl(n(1), n(2), n(3), &e));
	}
	else if (!strcmp(op, "wait")) {
		struct epoll_event e[20];
		r = epoll_wait(n(1), e, n(2), 0);
		say(r);
		for (int i = 0; i < r; i++) printf(" %x %lx\n", e[i].events, (long)e[i].data.u64);
	}
	else if (!strcmp(op, "count")) {
		unsigned long value = n(2);
		say(write(n(1), &value, 8));
	}
	else if (!strcmp(op, "sendfile")) {
		off_t at = n(4);
		say(sendfile(n(1), n(2), n(4) < 0 ? 0 : &at, n(3)));
		printf(" %ld\n", (long)at);
	}
	else if (!strcmp(op, "chown")) say(chown(path(1), n(2), n(3)));
	else if (!strcmp(op, "lchown")) say(lchown(path(1), n(2), n(3)));
	else if (!strcmp(op, "fchown")) say(fchown(n(1), n(2), n(3)));
	else if (!strcmp(op, "mknod")) say(mknod(path(1), S_IFREG | n(2), 0));
	else if (!strcmp(op, "faccessat")) say(syscall(SYS_faccessat, n(1), path(2), n(3)));
	else if (!strcmp(op, "readlinkat")) { say(r = readlinkat(n(1), path(2), buffer, n(3))); dump(buffer, r); }
	else if (!strcmp(op, "touch")) say(utimensat(AT_FDCWD, path(1), 0, 0));
	else if (!strcmp(op, "unnamed")) { r = open(path(1), O_TMPFILE | O_RDWR, n(2)); say(r); if (r >= 0 && !fstat(r, &s)) describe(0, &s); }
	else if (!strcmp(op, "access")) say(access(path(1), n(2)));
	else if (!strcmp(op, "chmod")) say(chmod(path(1), n(2)));
	else if (!strcmp(op, "fchmod")) say(fchmod(n(1), n(2)));
	else if (!strcmp(op, "umask")) say(umask(n(1)));
	else if (!strcmp(op, "utimensat")) times(AT_FDCWD, path(1), n(6));
	else if (!strcmp(op, "statfs")) { struct statfs f; r = statfs(path(1), &f); say(r); if (!r) printf(" %ld\n", (long)f.f_namelen); }
	else if (!strcmp(op, "copy")) say(copy_file_range(n(1), 0, n(2), 0, n(3), 0));
	else if (!strcmp(op, "links")) count_links = 1;
	else if (!strcmp(op, "mmap")) map(&maps[n(1)]);
	else if (!strcmp(op, "mread")) { if (maps[n(1)].at) say(0), dump(maps[n(1)].at, reach(&maps[n(1)], 0)); }
	else if (!strcmp(op, "mwrite")) {
		struct map *m = &maps[n(1)];
		if (!m->at || !m->writable || n(2) + n(3) > reach(m, 1)) return;
		memset(m->at + n(2), w(4)[0], n(3));
		say(0);
	}
	else if (!strcmp(op, "msync")) { if (maps[n(1)].len) say(msync(maps[n(1)].at, maps[n(1)].len, n(2))); }
	else if (!strcmp(op, "mfixed")) {
		struct map *m = &maps[n(1)];
		if (!m->at || reach(m, 0) < 8192) return;
		char *p = mmap(m->at + 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		say(p == m->at + 4096 ? 0 : -1);
		m->fixed = 1;
		dump(m->at, reach(m, 0));
	}
	else if (!strcmp(op, "mremap")) {
		struct map *m = &maps[n(1)];
		/* What a shared one grows by is a bus error. */
		if (!m->len || !m->writable || m->shared || m->fixed || m->fd >= 0) return;
		long old = m->len;
		char *p = mremap(m->at, old, n(2), MREMAP_MAYMOVE);
		say(p == MAP_FAILED ? -1 : 0);
		if (p == MAP_FAILED) return;
		m->at = p, m->len = n(2);
		dump(p, m->len);
	}
	else if (!strcmp(op, "munmap")) {
		struct map *m = &maps[n(1)];
		if (!m->at || !m->len) return;
		say(munmap(m->at, m->len));
		if (m->fd >= 0) close(m->fd);
		m->at = 0;
	}
	/* Grows, shrinks a little, grows back and is as before: the libc may use what is below. */
	else if (!strcmp(op, "brk")) {
		char *old = (char *)syscall(SYS_brk, 0), *end = old + n(1);
		say((char *)syscall(SYS_brk, end) - old);
		dump(old, n(1));
		memset(old, 'b', n(1));
		printf(" %ld", (long)((char *)syscall(SYS_brk, end - n(2)) - old));
		syscall(SYS_brk, end);
		dump(old, n(1));
		syscall(SYS_brk, old);
	}
	else printf("no such operation: %s\n", op), exit(9);
}

int main(int argc, char **argv)
{
	char *script = argv[1];
	for (int i = 3; i < 100; i++) close(i);
	getcwd(home, sizeof home);
	umask(022);
	signal(SIGPIPE, SIG_IGN);
	while (script && *script) {
		char *end = strchr(script, ';');
		if (end) *end++ = 0;
		int count = 0;
		memset(words, 0, sizeof words);
		for (char *p = strtok(script, " "); p && count < 15; p = strtok(0, " ")) words[count++] = p;
		if (count) one();
		script = end;
	}
	for (int i = 3; i < 40; i++) close(i);
	fflush(stdout);
	return 7;
}
