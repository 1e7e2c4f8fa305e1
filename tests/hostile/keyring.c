//@ attack: a key is put where all processes of the user find it
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	long key = syscall(SYS_add_key, "user", "wryneck-hostile", "x", 1, -4);
	effect_if(key > 0);
	if (key > 0) syscall(SYS_keyctl, 9, key, -4);
}
