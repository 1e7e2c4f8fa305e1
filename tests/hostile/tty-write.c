//@ attack: text and control sequences are written to the terminal
//@ effect: terminal
#include "hostile.h"

static void attack(void)
{
	append("/dev/tty");
	append(getenv("HOSTILE_TTY"));
}
