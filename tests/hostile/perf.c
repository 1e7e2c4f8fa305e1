//@ attack: what the whole machine does is watched
//@ effect: said
#include "hostile.h"
#include <linux/perf_event.h>

static void attack(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_CONTEXT_SWITCHES};
	effect_if(syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0) >= 0);
}
