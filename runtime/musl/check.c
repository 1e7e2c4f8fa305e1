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

/* A pseudo-random number, the same in both libraries. */
static unsigned next(void)
{
	static unsigned long long state = 1;
	state = state * 6364136223846793005U + 1442695040888963407U;
	return state >> 33;
}

/* Takes what a conversion gave into the sum: its bits, what it read and whether it was out of range. */
static void add(unsigned long long *sum, const void *bits, int size, long read)
{
	unsigned char bytes[16];
	memcpy(bytes, bits, size);
	for (int i = 0; i < size; i++) *sum = (*sum ^ bytes[i]) * 1099511628211U;
	*sum = (*sum ^ (read << 8 | errno)) * 1099511628211U;
	errno = 0;
}

/* Conversions of texts to numbers, as one sum for each kind of text, so that a difference is found by bisection. */
static void numbers_in_text(void)
{
	static const char letters[] = "0123456789..eE+- xXinfnan0123456789pPabcdefABCDEF0x0x";
	for (int kind = 0; kind < 4; kind++) {
		unsigned long long sum = 0;
		for (int i = 0; i < 100000; i++) {
			char text[64], *end;
			int length = next() % 10, read = -1;
			double d = 0;
			switch (kind) {
			case 0:
				for (int k = 0; k < length; k++) text[k] = letters[next() % (sizeof letters - 1)];
				text[length] = 0;
				break;
			case 1: sprintf(text, "%dE%d", next() % 10000, (int)(next() % 660) - 345); break;
			case 2: sprintf(text, "-%u.%uE%d", next() >> next() % 31, next() >> next() % 31, (int)(next() % 80) - 40); break;
			default: sprintf(text, "0x%x.%xp%d", next() >> next() % 31, next() >> next() % 31, (int)(next() % 300) - 150);
			}
			float f = strtof(text, &end);
			add(&sum, &f, f == f ? 4 : 0, end - text);
			d = strtod(text, &end);
			add(&sum, &d, d == d ? 8 : 0, end - text);
			long double l = strtold(text, &end);
			add(&sum, &l, l == l ? 10 : 0, end - text);
			d = 0;
			int count = sscanf(text, length & 1 ? "%lf%n" : "%4lf%n", &d, &read);
			add(&sum, &d, d == d ? 8 : 0, count * 100 + read);
		}
		printf("numbers %d: %llx\n", kind, sum);
	}
}

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
	numbers_in_text();
	return numbers[0] + 10;
}
