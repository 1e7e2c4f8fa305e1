/* Names that programs compiled for musl call, and that the host's C library has under another name. A sanitizer build links this. */
__asm__(
    ".globl sigsetjmp\n"
    ".type sigsetjmp, @function\n"
    "sigsetjmp:\n"
    "  jmp __sigsetjmp@PLT\n");
