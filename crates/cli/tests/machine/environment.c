// Ends by the variables that it is given: some it sets itself, and one it takes away.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char file[300];
	if (readlink("/proc/self/exe", file, sizeof file) <= 0) return 7;
	char *mode = getenv("MODE");
	if (!mode) return 1;
	if (getenv("MODE") != mode) return 9;
	if (!strcmp(mode, "on")) {
		char *deep = getenv("DEEP");
		return deep && deep[0] == 'z' ? 5 : 2;
	}
	setenv("MINE", "q", 1);
	if (getenv("MINE")[0] != 'q') return 8;
	if (argc > 1) unsetenv("MODE");
	return 3;
}
