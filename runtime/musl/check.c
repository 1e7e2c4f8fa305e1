/* Exercises the library's start-up, output, input, numbers, sorting and locale; the set-up compares what it prints when linked
 * with the bitcode library with what it prints when linked with the distribution's native one. */
#include <complex.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void last(void) { puts("last"); }

int main(int argc, char **argv)
{
	int numbers[] = {5, 3, 9, -1, 7};
	char text[64], *end;
	struct stat st;
	wchar_t wide[8];
	time_t day = 86400 * 365;
	int fd = open("/dev/null", O_RDONLY);

	atexit(last);
	printf("%d %s\n", argc, argv[argc - 1]);
	qsort(numbers, 5, sizeof *numbers, ascending);
	for (int i = 0; i < 5; i++) printf("%d ", numbers[i]);
	printf("%.3f %g %Lg %a\n", 1.0 / 3, 1e100, strtold("2.5e-3", &end), 0.1);
	snprintf(text, sizeof text, "%5d|%-5s|%#x|%lld", 42, "ab", 255, 1LL << 40);
	printf("%s %zu %s\n", text, strlen(text), strchr(text, '|'));
	printf("%s %s\n", strerror(ENOENT), getenv("WRYNECK_ABSENT") ? "set" : "unset");
	setenv("WRYNECK_ABSENT", "here", 1);
	printf("%s %d %d\n", getenv("WRYNECK_ABSENT"), fcntl(fd, F_GETFD), open("/nonexistent", O_RDONLY) < 0 ? errno : 0);
	printf("%d %d\n", fstat(fd, &st), S_ISCHR(st.st_mode));
	setlocale(LC_ALL, "C.UTF-8");
	printf("%zu %s\n", mbstowcs(wide, "h\xc3\xa9!", 8), asctime(gmtime(&day)));
	double complex product = (1.0 + 2.0 * I) * (argc - 3.0 * I), ratio = product / (1.0 - 1.0 * I);
	printf("%g %g %g %g\n", creal(product), cimag(product), creal(ratio), cimag(ratio));
	while (fgets(text, sizeof text, stdin)) printf("read %s", text);
	return numbers[0] + 10;
}
