/* What glibc has and musl has not: programs of Rust ask for it before they start a process. */
const char *gnu_get_libc_version(void) { return "2.36"; }
