//! Models of the world below the program: system calls, libc stand-ins, intrinsics.
