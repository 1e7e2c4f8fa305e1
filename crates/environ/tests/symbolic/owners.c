/* Gives a file to the user its argument's byte says, `x` for nobody, and asks whose it is. */
#include "../programs/say.h"

enum { FCHOWN = 93 };

int main(int argc, char **argv)
{
	unsigned char b[144];
	int user = argv[1][0] == 'x' ? -1 : argv[1][0];
	long fd = sys(OPEN, "file", CREATE | RDWR, 0600);
	if (sys(FCHOWN, fd, user, -1) || sys(FSTAT, fd, b)) return 99;
	int owner;
	__builtin_memcpy(&owner, b + 28, 4);
	return owner == 'a' ? 1 : owner == 0 ? 2 : owner == user ? 3 : 98;
}
