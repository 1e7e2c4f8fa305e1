// Runs one instruction on the CPU from many states: reads `code length, code, states` from standard input, writes the states it
// left behind. A state goes into the processor and comes out of it by the frame of a signal handler, so every register does.
//
// Code lies in a page of breakpoints: where control gets to, the next signal says. Built by gcc -O1; see native.rs.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

// As `State` in state.rs.
struct state {
    uint64_t gpr[16], rip, rflags, fs, gs;
    uint64_t vec[16][4];
    uint64_t st[8][2];
    uint16_t fcw, fsw, ftw, unused;
    uint32_t mxcsr, signal, spilled, unused2;
    uint64_t window[64];
};

enum { PAGE = 4096, WINDOW = 512, WINDOW_AT = 2048, LOW_XSAVE = 512, HEADER = 64 };
#define CODE ((uint8_t *)0x10000000)
#define SCRATCH ((uint8_t *)0x20000000)

// Of the frame of a signal: the kernel saves in this order, SLEIGH and the encoding count in the other.
static const int ORDER[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static struct state *now;
static int running;
static uint64_t own_fs, own_gs;
static gregset_t own_registers;
static uint8_t own_vectors[PAGE];

static void set_bases(uint64_t fs, uint64_t gs) { __asm__ volatile("wrgsbase %1; wrfsbase %0" : : "r"(fs), "r"(gs)); }

static void handler(int number, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    greg_t *r = c->uc_mcontext.gregs;
    uint8_t *fp = (uint8_t *)c->uc_mcontext.fpregs;
    uint64_t *high = (uint64_t *)(fp + LOW_XSAVE + HEADER), *present = (uint64_t *)(fp + LOW_XSAVE);
    if (!running) {
        memcpy(own_registers, r, sizeof own_registers);
        memcpy(own_vectors, fp, LOW_XSAVE + HEADER + 256);
        for (int i = 0; i < 16; i++) {
            r[ORDER[i]] = now->gpr[i];
            memcpy(fp + 160 + 16 * i, now->vec[i], 16);
            memcpy(high + 2 * i, now->vec[i] + 2, 16);
        }
        for (int i = 0; i < 8; i++)
            memcpy(fp + 32 + 16 * i, now->st[i], 10);
        memcpy(fp, &now->fcw, 2);
        memcpy(fp + 2, &now->fsw, 2);
        fp[4] = now->ftw;
        memcpy(fp + 24, &now->mxcsr, 4);
        *present |= 7;
        r[REG_RIP] = now->rip;
        r[REG_EFL] = now->rflags;
        memset(SCRATCH, 0, PAGE);
        memcpy(SCRATCH + WINDOW_AT, now->window, WINDOW);
        running = 1;
        set_bases(now->fs, now->gs);
        return;
    }
    uint64_t fs, gs;
    __asm__ volatile("rdfsbase %0; rdgsbase %1" : "=r"(fs), "=r"(gs));
    set_bases(own_fs, own_gs);
    for (int i = 0; i < 16; i++) {
        now->gpr[i] = r[ORDER[i]];
        memset(now->vec[i], 0, 32);
        if (*present & 2)
            memcpy(now->vec[i], fp + 160 + 16 * i, 16);
        if (*present & 4)
            memcpy(now->vec[i] + 2, high + 2 * i, 16);
    }
    now->fs = fs, now->gs = gs, now->rip = r[REG_RIP], now->rflags = r[REG_EFL], now->signal = number;
    for (int i = 0; i < 8; i++) {
        now->st[i][0] = now->st[i][1] = 0;
        memcpy(now->st[i], fp + 32 + 16 * i, 10);
    }
    now->ftw = fp[4];
    memcpy(&now->fcw, fp, 2);
    memcpy(&now->fsw, fp + 2, 2);
    memcpy(&now->mxcsr, fp + 24, 4);
    memcpy(now->window, SCRATCH + WINDOW_AT, WINDOW);
    now->spilled = 0;
    for (int i = 0; i < PAGE; i += 8)
        if ((i < WINDOW_AT || i >= WINDOW_AT + WINDOW) && *(uint64_t *)(SCRATCH + i))
            now->spilled = 1;
    memcpy(r, own_registers, sizeof own_registers);
    memcpy(fp, own_vectors, LOW_XSAVE + HEADER + 256);
    running = 0;
}

static void all(ssize_t (*move)(int, void *, size_t), int fd, void *at, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = move(fd, (char *)at + done, size - done);
        if (n <= 0)
            _exit(3);
        done += n;
    }
}

int main(void) {
    uint32_t head[2];
    all(read, 0, head, sizeof head);
    int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (mmap(CODE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, how, -1, 0) != CODE) return 2;
    if (mmap(SCRATCH, PAGE, PROT_READ | PROT_WRITE, how, -1, 0) != SCRATCH) return 2;
    struct state *states = calloc(head[0], sizeof *states);
    uint8_t code[256];
    if (!states || head[1] > sizeof code) return 2;
    all(read, 0, code, head[1]);
    all(read, 0, states, head[0] * sizeof *states);
    memset(CODE, 0xcc, PAGE);
    if (head[0]) memcpy((void *)states->rip, code, head[1]);
    __asm__ volatile("rdfsbase %0; rdgsbase %1" : "=r"(own_fs), "=r"(own_gs));
    stack_t stack = {.ss_sp = malloc(1 << 18), .ss_size = 1 << 18};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    int caught[] = {SIGTRAP, SIGSEGV, SIGILL, SIGFPE, SIGBUS};
    for (int i = 0; i < 5; i++)
        sigaction(caught[i], &action, 0);
    alarm(60);
    for (uint32_t i = 0; i < head[0]; i++) {
        now = states + i;
        __asm__ volatile("int3" : : : "memory");
    }
    all((ssize_t(*)(int, void *, size_t))write, 1, states, head[0] * sizeof *states);
    return 0;
}
