/* What libc++'s headers leave to its library, as far as programs without streams, locales and exceptions need it: the explicit
 * instantiations, and the few functions below. */
#define _LIBCPP_BUILDING_LIBRARY
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <vector>

_LIBCPP_BEGIN_NAMESPACE_STD

[[noreturn]] void __libcpp_verbose_abort(char const *format, ...) noexcept {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  abort();
}

_LIBCPP_END_NAMESPACE_STD
