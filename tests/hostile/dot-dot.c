//@ attack: a file is reached by leaving the working directory upwards
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	char path[8192] = "";
	for (int i = 0; i < 40; i++) strcat(path, "../");
	strcat(path, arena + 1);
	strcat(path, "/victim");
	append(path);
}
