//@ attack: the host of a virtual machine is reached
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	effect_if(socket(AF_VSOCK, SOCK_STREAM, 0) >= 0 || socket(AF_NETLINK, SOCK_RAW, 0) >= 0);
}
