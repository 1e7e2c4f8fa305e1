#include "say.h"

struct stat { unsigned long dev, ino, nlink; unsigned mode, rest[29]; };

/* Names in a directory, sorted: the kernel's order is its own. */
static void list(const char *path)
{
	char buffer[2048], *names[64];
	int count = 0;
	long fd = sys(OPEN, path, DIRECTORY), n = sys(GETDENTS, fd, buffer, sizeof buffer);
	if (fd < 0) { say(path, fd); return; }
	for (long at = 0; at < n; at += *(unsigned short *)(buffer + at + 16)) {
		char *name = buffer + at + 18;
		name[0] += '0'; /* the kind, before the name */
		int i = count++;
		for (; i > 0; i--) {
			char *a = names[i - 1] + 1, *b = name + 1;
			while (*a && *a == *b) a++, b++;
			if (*a <= *b) break;
			names[i] = names[i - 1];
		}
		names[i] = name;
	}
	text(path), text(":");
	for (int i = 0; i < count; i++) text(" "), text(names[i]);
	text("\n");
	say("again", sys(GETDENTS, fd, buffer, sizeof buffer));
	sys(CLOSE, fd);
}

int main(void)
{
	struct stat s;
	char b[512];
	sys(UMASK, 022);
	list(".");
	list("dir");
	list("none");
	list("file");
	show(MKDIR, "dir", 0755);
	show(MKDIR, "file", 0755);
	show(MKDIR, "none/below", 0755);
	show(MKDIR, "file/below", 0755);
	show(MKDIR, "made", 0777);
	show(STAT, "made", &s);
	say("mode", s.mode);
	list("made");
	show(MKDIR, "made/deep/", 0700);
	sys(CLOSE, show(OPEN, "made/f", CREATE | WRONLY, 0600));
	list("made");
	list(".");
	show(RMDIR, "made");
	show(RMDIR, "made/deep");
	show(RMDIR, "made/f");
	show(RMDIR, "none");
	show(UNLINK, "made/f");
	show(RMDIR, "made");
	list(".");
	show(STAT, "made/f", &s);
	show(UNLINK, "dir/inner");
	list("dir");
	show(RMDIR, "dir");
	list(".");
	show(MKDIR, "dir", 0700);
	list("dir");
	show(STAT, "dir/inner", &s);
	show(CHDIR, "dir");
	show(STAT, "../file", &s);
	show(STAT, "file", &s);
	show(MKDIR, "sub", 0700);
	show(CHDIR, "sub");
	show(CHDIR, "none");
	show(CHDIR, "../../file");
	long n = sys(GETCWD, b, sizeof b);
	bytes("the end of the working directory", b + n - 9, 8);
	show(GETCWD, b, 3);
	long fd = sys(OPEN, "..", DIRECTORY);
	show(FCHDIR, fd);
	show(FCHDIR, 77);
	list(".");
	show(OPENAT, fd, "sub", DIRECTORY);
	show(OPENAT, 77, "sub", DIRECTORY);
	show(MKDIRAT, fd, "at", 0700);
	show(UNLINKAT, fd, "at", 0);
	show(UNLINKAT, fd, "at", 0x200);
	show(READ, fd, b, 1);
	show(GETDENTS, fd, b, 8);
	show(GETDENTS, 0, b, 80);
	return 0;
}
