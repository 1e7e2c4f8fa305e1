// What the compiler's run-time library for coverage wants of the host's C library and musl has not.
#include <stdarg.h>
#include <stdio.h>

int __fprintf_chk(FILE *file, int flag, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int written = vfprintf(file, format, values);
  va_end(values);
  return written;
}
