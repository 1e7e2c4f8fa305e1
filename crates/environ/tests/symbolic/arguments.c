/* argc is the exit code; what is concrete among arguments and environment is printed. */
#include "../programs/say.h"


int main(int argc, char **argv, char **envp)
{
	const char *fixed = argv[argc - 3];
	text(fixed), text(" "), text(envp[1]), text("\n");
	if (argv[argc] || envp[2]) return 99;
	return argc;
}
