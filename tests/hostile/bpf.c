//@ attack: a program is loaded into the kernel
//@ effect: said
#include "hostile.h"
#include <linux/bpf.h>

static void attack(void)
{
	struct bpf_insn program[] = {{.code = 0xb7}, {.code = 0x95}};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = 2, .insns = (unsigned long)program, .license = (unsigned long)"GPL"};
	effect_if(syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr) >= 0);
}
