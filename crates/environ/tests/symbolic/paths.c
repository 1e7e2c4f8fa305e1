/* Makes one call on the path its first argument is, as its second says, and shows what that gave and what there is then. In
   between, the path becomes each string of letters of the third on a path of execution of its own; other strings end with 77. */
#include "../programs/say.h"

enum { LINK = 86, SYMLINK = 88, PATH = 010000000 };

struct stat { unsigned long dev, ino, nlink; unsigned mode, rest[29]; };

static void which(const char *what, long result, unsigned long ino)
{
	static const char *known[] = { ".", "..", "/", "A", "d", "d/A", 0 };
	text(what);
	for (int i = 0; result == 0 && known[i]; i++) {
		struct stat s;
		if (sys(LSTAT, known[i], &s) == 0 && s.ino == ino) text(": "), text(known[i]);
	}
	say("", result);
}

static void look(const char *name)
{
	struct stat s;
	long fd;
	s.ino = 0, which("stat", sys(STAT, name, &s), s.ino);
	s.ino = 0, which("lstat", sys(LSTAT, name, &s), s.ino);
	say("open", (fd = sys(OPEN, name, RDONLY)) < 0 ? fd : 0);
	if (fd >= 0) sys(CLOSE, fd);
	say("open to write", (fd = sys(OPEN, name, RDWR)) < 0 ? fd : 0);
	if (fd >= 0) sys(CLOSE, fd);
	char b[8];
	show(ACCESS, name, 0);
	show(READLINK, name, b, 8);
}

static void spell(const char *name, const char *alphabet)
{
	text("path: ");
	for (; *name; name++) {
		int i = 0;
		while (alphabet[i] && *name != alphabet[i]) i++;
		if (!alphabet[i]) sys(231, 77);
		sys(WRITE, 1, alphabet + i, 1);
	}
	text("\n");
}

static void list(const char *path)
{
	char buffer[2048], *names[64];
	int count = 0;
	long fd = sys(OPEN, path, DIRECTORY), n = sys(GETDENTS, fd, buffer, sizeof buffer);
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
	sys(CLOSE, fd);
	text(path), text(":");
	for (int i = 0; i < count; i++) text(" "), text(names[i]);
	text("\n");
}

static long change(char how, const char *name)
{
	long fd;
	switch (how) {
	case 'o': return (fd = sys(OPEN, name, CREATE | WRONLY, 0600)) < 0 ? fd : (sys(WRITE, fd, "new", 3), sys(CLOSE, fd));
	case 'x': return (fd = sys(OPEN, name, CREATE | EXCL | WRONLY, 0600)) < 0 ? fd : sys(CLOSE, fd);
	case 'm': return sys(MKDIR, name, 0755);
	case 'u': return sys(UNLINK, name);
	case 'r': return sys(RMDIR, name);
	case 'k': return sys(LINK, "A", name);
	case 's': return sys(SYMLINK, "A", name);
	case 't': return sys(SYMLINK, name, "x");
	case 'n': return sys(RENAME, "A", name);
	case 'N': return sys(RENAME, "d", name);
	case 'f': return sys(RENAME, name, "x");
	case 'c': return sys(CHDIR, name);
	case 'M': return sys(MKDIR, name, 0755) ?: sys(CHDIR, name);
	}
	return 1;
}

int main(int argc, char **argv)
{
	char *name = argv[1], how = argv[2][0], b[512] = "d/";
	if (how == 'p') {
		/* Behind the name of a directory that nothing was done with. */
		b[2] = name[0], b[3] = name[1], b[4] = 0;
		say("done", sys(MKDIR, b, 0755));
		look(b);
		spell(name, argv[3]);
		list("."), list("d");
		return 0;
	}
	long fd = sys(OPEN, "d/A", RDONLY), link = sys(OPEN, "l", PATH | NOFOLLOW);
	sys(CLOSE, fd), sys(CLOSE, link);
	sys(CLOSE, sys(OPEN, "A", RDONLY));
	if (how == 'l') {
		look(name);
		spell(name, argv[3]);
		return 0;
	}
	/* Natively this may be the superuser. */
	if (name[0] == '/') return 77;
	/* The only call for which the path is a text. */
	if (how == 't') spell(name, argv[3]);
	say("done", change(how, name));
	sys(CLOSE, fd = sys(OPEN, "x", WRONLY));
	say("x", fd < 0 ? fd : 0);
	look(name);
	if (how != 't') spell(name, argv[3]);
	look("x"), look("d/x"), look("l/A");
	list("."), list("d");
	fd = sys(GETCWD, b, sizeof b);
	if (fd > 0) {
		char *last = b;
		for (char *p = b; *p; p++) if (*p == '/') last = p;
		if (how == 'M') text(last), text("\n");
	}
	if (fd < 0) say("removed", fd);
	return 0;
}
