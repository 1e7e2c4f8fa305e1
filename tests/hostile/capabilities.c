//@ attack: it has powers, or may get them from set-uid programs
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	char line[300];
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof line, status)) {
		unsigned long long powers;
		int none;
		if (sscanf(line, "CapEff: %llx", &powers) == 1 || sscanf(line, "CapPrm: %llx", &powers) == 1) effect_if(powers != 0);
		if (sscanf(line, "NoNewPrivs: %d", &none) == 1) effect_if(!none);
	}
}
