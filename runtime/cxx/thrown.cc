/* What of the standard exceptions is not in libc++'s headers, and not in its own library either: libc++ leaves it to the library of the ABI. */
#pragma clang section text=".text.library"
#define _LIBCPP_BUILDING_LIBRARY
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
#if __has_include("include/refstring.h") /* of libc++'s own library */
#include "include/refstring.h"
#endif

namespace std {
#define PLAIN(name, text)   \
  name::~name() noexcept {} \
  const char *name::what() const noexcept { return text; }
PLAIN(exception, "std::exception")
PLAIN(bad_exception, "std::bad_exception")
PLAIN(bad_alloc, "std::bad_alloc")
PLAIN(bad_array_new_length, "bad_array_new_length")
PLAIN(bad_cast, "std::bad_cast")
PLAIN(bad_typeid, "std::bad_typeid")
bad_alloc::bad_alloc() noexcept {}
bad_array_new_length::bad_array_new_length() noexcept {}
bad_cast::bad_cast() noexcept {}
bad_typeid::bad_typeid() noexcept {}

#define WITH_TEXT(name)    \
  name::~name() noexcept {} \
  const char *name::what() const noexcept { return __imp_.c_str(); }
WITH_TEXT(logic_error)
WITH_TEXT(runtime_error)
domain_error::~domain_error() noexcept {}
invalid_argument::~invalid_argument() noexcept {}
length_error::~length_error() noexcept {}
out_of_range::~out_of_range() noexcept {}
range_error::~range_error() noexcept {}
overflow_error::~overflow_error() noexcept {}
underflow_error::~underflow_error() noexcept {}
}

extern "C" {
[[noreturn]] void __cxa_bad_cast() { throw std::bad_cast(); }
[[noreturn]] void __cxa_bad_typeid() { throw std::bad_typeid(); }
[[noreturn]] void __cxa_throw_bad_array_new_length() { throw std::bad_array_new_length(); }
}
