/* Before each source of libc++: its code is the library's, not the program's. */
#pragma clang section text=".text.library"
