// A loop over input, and calls that may fail.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int length = 0;
	if (argc < 2) {
		char *room = malloc(10);
		return room == NULL ? 3 : open("bounds", O_RDONLY) < 0 ? 2 : 1;
	}
	while (argv[1][length] == 'a')
		length++;
	return length;
}
