/* System calls by number, and their results on standard output. No libc: the engine and the kernel answer alone. */
#define CALL(n, a, b, c, d, e, f, ...) __wryneck_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define sys(...) CALL(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define show(...) say(#__VA_ARGS__, sys(__VA_ARGS__))

long __wryneck_syscall(long n, long a, long b, long c, long d, long e, long f);

enum {
	READ, WRITE, OPEN, CLOSE, STAT, FSTAT, LSTAT, POLL, LSEEK, MMAP, MPROTECT, MUNMAP, BRK, SIGACTION, SIGPROCMASK, IOCTL = 16,
	PREAD, PWRITE, READV, WRITEV, ACCESS, PIPE, SELECT, MINCORE = 27, DUP = 32, DUP2, NANOSLEEP = 35, KILL = 62, UNAME, FCNTL = 72, FSYNC = 74,
	TRUNCATE = 76, FTRUNCATE, GETCWD = 79, CHDIR, FCHDIR, RENAME, MKDIR, RMDIR, CREAT, UNLINK = 87, READLINK = 89, CHMOD, FCHMOD,
	UMASK = 95, GETTIMEOFDAY, GETRLIMIT, GETRUSAGE, GETUID = 102, SETUID = 105, SETRESUID = 117, GETRESUID, GETPRIORITY = 140, GETPARAM = 143, GETSCHEDULER = 145, PRIORITY_MAX, PRIORITY_MIN,
	MLOCK = 149, MUNLOCK, PRCTL = 157, GETXATTR = 191, LGETXATTR, FGETXATTR, LISTXATTR, GETDENTS = 217, CLOCK_GETTIME = 228, OPENAT = 257, MKDIRAT, NEWFSTATAT = 262, UNLINKAT,
	RENAMEAT, READLINKAT = 267, FACCESSAT = 269, DUP3 = 292, PIPE2, GETRANDOM = 318, MEMFD, STATX = 332, CLOSE_RANGE = 436,
};

enum { RDONLY, WRONLY, RDWR, CREATE = 0100, EXCL = 0200, TRUNC = 01000, APPEND = 02000, NONBLOCK = 04000, DIRECTORY = 0200000, NOFOLLOW = 0400000, CLOEXEC = 02000000 };

static void text(const char *s)
{
	long n = 0;
	while (s[n]) n++;
	sys(WRITE, 1, s, n);
}

static long say(const char *what, long value)
{
	char digits[24], *p = digits + sizeof digits;
	unsigned long u = value < 0 ? -(unsigned long)value : value;
	*--p = 0;
	do *--p = '0' + u % 10; while (u /= 10);
	if (value < 0) *--p = '-';
	text(what);
	text(" = ");
	text(p);
	text("\n");
	return value;
}

static void bytes(const char *what, const char *s, long n)
{
	text(what);
	text(": ");
	if (n > 0) sys(WRITE, 1, s, n);
	text("\n");
}
