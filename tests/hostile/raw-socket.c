//@ attack: packets are made by hand
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	effect_if(socket(AF_PACKET, SOCK_RAW, 0) >= 0 || socket(AF_INET, SOCK_RAW, 1) >= 0);
}
