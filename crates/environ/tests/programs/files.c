#include "say.h"

struct stat { unsigned long dev, ino, nlink; unsigned mode, uid, gid, pad; unsigned long rdev; long size, blksize, blocks, times[6], unused[3]; };
struct statx { unsigned mask, blksize; unsigned long attributes; unsigned nlink, uid, gid; unsigned short mode, pad; unsigned long ino, size, blocks, rest[26]; };

static void looked(const char *what, struct stat *s, long result)
{
	say(what, result);
	if (result) return;
	say(" mode", s->mode);
	if ((s->mode & 0170000) == 0100000) say(" size", s->size), say(" links", s->nlink);
}

int main(void)
{
	struct stat s;
	struct statx x;
	char b[64];
	long n, fd;
	sys(UMASK, 022);
	looked("stat file", &s, sys(STAT, "file", &s));
	looked("stat ./dir/../file", &s, sys(STAT, "./dir/../file", &s));
	looked("stat link", &s, sys(STAT, "link", &s));
	looked("lstat link", &s, sys(LSTAT, "link", &s));
	looked("stat dir", &s, sys(STAT, "dir", &s));
	looked("stat dir/", &s, sys(STAT, "dir/", &s));
	looked("stat file/", &s, sys(STAT, "file/", &s));
	looked("stat none", &s, sys(STAT, "none", &s));
	looked("stat empty", &s, sys(STAT, "", &s));
	looked("stat file/below", &s, sys(STAT, "file/below", &s));
	looked("stat null", &s, sys(STAT, 0, &s));
	looked("fstat stdin", &s, sys(FSTAT, 0, &s));
	looked("fstat stdout", &s, sys(FSTAT, 1, &s));
	looked("fstat bad", &s, sys(FSTAT, 55, &s));
	looked("newfstatat", &s, sys(NEWFSTATAT, -100, "dir/inner", &s, 0));
	looked("newfstatat nofollow", &s, sys(NEWFSTATAT, -100, "link", &s, 0x100));
	looked("newfstatat empty", &s, sys(NEWFSTATAT, 0, "", &s, 0x1000));
	looked("newfstatat badfd", &s, sys(NEWFSTATAT, 55, "file", &s, 0));
	say("statx", sys(STATX, -100, "file", 0, 0x7ff, &x));
	say(" mode", x.mode), say(" size", x.size), say(" links", x.nlink);

	fd = show(OPEN, "file", RDONLY);
	n = sys(READ, fd, b, 8);
	bytes("read", b, n);
	show(WRITE, fd, "x", 1);
	show(FTRUNCATE, fd, 3);
	show(OPEN, "none", RDONLY);
	show(OPEN, "file", CREATE | EXCL | RDWR, 0600);
	show(OPEN, "dir", WRONLY);
	show(OPEN, "dir", CREATE);
	show(OPEN, "file", DIRECTORY);
	show(OPEN, "link", NOFOLLOW);
	show(OPEN, "none/below", CREATE, 0600);
	show(OPEN, "file/below", CREATE, 0600);
	show(OPEN, "new/", CREATE, 0600);
	show(OPEN, 0, 0);
	fd = show(OPEN, "new", CREATE | RDWR, 0666);
	looked("fstat new", &s, sys(FSTAT, fd, &s));
	show(WRITE, fd, "0123456789", 10);
	show(LSEEK, fd, 20, 0);
	show(WRITE, fd, "end", 3);
	looked("fstat new", &s, sys(FSTAT, fd, &s));
	show(PWRITE, fd, "XY", 2, 2);
	show(LSEEK, fd, 0, 1);
	show(LSEEK, fd, 0, 0);
	n = sys(READ, fd, b, 64);
	say("all of it", n);
	for (long i = 0; i < n; i++) if (!b[i]) b[i] = '.';
	bytes("new", b, n);
	show(FTRUNCATE, fd, 5);
	show(FTRUNCATE, fd, -1);
	show(LSEEK, fd, 0, 2);
	show(FTRUNCATE, fd, 7);
	n = sys(PREAD, fd, b, 64, 0);
	say("after truncation", n), say("last", b[6]);
	long other = show(OPEN, "new", WRONLY | APPEND);
	show(READ, other, b, 1);
	show(WRITE, other, "app", 3);
	looked("stat new", &s, sys(STAT, "new", &s));
	say("status flags", sys(FCNTL, other, 3) & (3 | APPEND));
	show(FCNTL, other, 4, NONBLOCK);
	say("status flags", sys(FCNTL, other, 3) & (3 | APPEND | NONBLOCK));
	show(OPEN, "new", WRONLY | TRUNC);
	looked("stat new", &s, sys(STAT, "new", &s));

	show(RENAME, "new", "newer");
	show(OPEN, "new", RDONLY);
	looked("stat newer", &s, sys(STAT, "newer", &s));
	show(RENAME, "none", "x");
	show(RENAME, "newer", "dir");
	show(RENAME, "dir", "newer");
	show(RENAME, "newer", "newer");
	show(RENAME, "newer", "dir/moved");
	looked("stat dir/moved", &s, sys(STAT, "dir/moved", &s));
	show(UNLINK, "dir/moved");
	show(UNLINK, "dir/moved");
	show(UNLINK, "dir");
	show(UNLINKAT, -100, "dir", 0x200);
	looked("fstat unlinked", &s, sys(FSTAT, fd, &s));

	show(ACCESS, "file", 0);
	show(ACCESS, "file", 4);
	show(ACCESS, "file", 1);
	show(ACCESS, "none", 0);
	show(ACCESS, "file", 8);
	show(FACCESSAT, -100, "dir", 7);
	show(READLINK, "link", b, 64);
	bytes("link", b, 4);
	show(READLINK, "link", b, 2);
	show(READLINK, "file", b, 64);
	show(READLINK, "link", b, 0);
	show(READLINK, "none", b, 64);
	show(CHMOD, "file", 0604);
	looked("stat file", &s, sys(STAT, "file", &s));
	show(CHMOD, "none", 0604);
	show(TRUNCATE, "file", 4);
	looked("stat file", &s, sys(STAT, "file", &s));
	show(TRUNCATE, "dir", 4);
	show(TRUNCATE, "none", 4);
	fd = show(OPEN, "/dev/null", RDWR);
	show(READ, fd, b, 9);
	show(WRITE, fd, b, 9);
	fd = show(OPEN, "/dev/zero", RDONLY);
	b[3] = 9;
	show(READ, fd, b, 9);
	say("zero", b[3]);
	show(CREAT, "made", 0777);
	looked("stat made", &s, sys(STAT, "made", &s));
	show(UMASK, 077);
	show(UMASK, 022);
	show(UNLINK, "made");
	show(UNLINK, "file");
	show(OPEN, "link", RDONLY);
	return 0;
}
