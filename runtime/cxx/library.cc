/* What libc++'s headers leave to its library, for programs without streams and locales: the templates that the headers
 * declare as instantiated elsewhere, and a few functions. Whoever needs more of it is told so by the linker. */
#pragma clang section text=".text.library"
#define _LIBCPP_BUILDING_LIBRARY
#include <algorithm>
#include <any>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <variant>
#include <vector>

_LIBCPP_BEGIN_NAMESPACE_STD

#define INSTANTIATE(...) template __VA_ARGS__;
_LIBCPP_STRING_V1_EXTERN_TEMPLATE_LIST(INSTANTIATE, char)
_LIBCPP_STRING_V1_EXTERN_TEMPLATE_LIST(INSTANTIATE, wchar_t)
template string operator+ <char, char_traits<char>, allocator<char>>(char const *, string const &);

template <class Less, class Iterator> void __sort(Iterator first, Iterator last, Less) {
  __less<> less;
  if (first != last)
    __introsort<_ClassicAlgPolicy, __less<> &, Iterator, false>(first, last, less, 2 * __bit_log2(size_t(last - first)));
}

#define SORT(type) template void __sort<__less<type> &, type *>(type *, type *, __less<type> &);
SORT(char)
SORT(wchar_t)
SORT(signed char)
SORT(unsigned char)
SORT(short)
SORT(unsigned short)
SORT(int)
SORT(unsigned)
SORT(long)
SORT(unsigned long)
SORT(long long)
SORT(unsigned long long)
SORT(float)
SORT(double)
SORT(long double)

[[noreturn]] void __libcpp_verbose_abort(char const *format, ...) noexcept {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  abort();
}

/* Numbers as text and back. */
template <class Number, class Read> static Number number(const char *what, const string &text, size_t *end, Read read) {
  char *stopped;
  errno = 0;
  Number value = read(text.c_str(), &stopped);
  if (stopped == text.c_str())
    __throw_invalid_argument((string(what) + ": no conversion").c_str());
  if (errno == ERANGE)
    __throw_out_of_range((string(what) + ": out of range").c_str());
  if (end)
    *end = stopped - text.c_str();
  return value;
}

int stoi(const string &text, size_t *end, int base) {
  long value = number<long>("stoi", text, end, [=](const char *s, char **e) { return strtol(s, e, base); });
  if (value != (int)value)
    __throw_out_of_range("stoi: out of range");
  return (int)value;
}
long stol(const string &text, size_t *end, int base) {
  return number<long>("stol", text, end, [=](const char *s, char **e) { return strtol(s, e, base); });
}
unsigned long stoul(const string &text, size_t *end, int base) {
  return number<unsigned long>("stoul", text, end, [=](const char *s, char **e) { return strtoul(s, e, base); });
}
long long stoll(const string &text, size_t *end, int base) {
  return number<long long>("stoll", text, end, [=](const char *s, char **e) { return strtoll(s, e, base); });
}
unsigned long long stoull(const string &text, size_t *end, int base) {
  return number<unsigned long long>("stoull", text, end, [=](const char *s, char **e) { return strtoull(s, e, base); });
}
double stod(const string &text, size_t *end) { return number<double>("stod", text, end, strtod); }

template <class Number> static string printed(const char *format, Number value) {
  char text[400];
  snprintf(text, sizeof text, format, value);
  return text;
}
string to_string(int value) { return printed("%d", value); }
string to_string(unsigned value) { return printed("%u", value); }
string to_string(long value) { return printed("%ld", value); }
string to_string(unsigned long value) { return printed("%lu", value); }
string to_string(long long value) { return printed("%lld", value); }
string to_string(unsigned long long value) { return printed("%llu", value); }
string to_string(double value) { return printed("%f", value); }

/* A prime that is no less than `n`: as many buckets as a hash table should have. */
size_t __next_prime(size_t n) {
  auto prime = [](size_t p) {
    for (size_t d = 3; d * d <= p; d += 2)
      if (p % d == 0)
        return false;
    return true;
  };
  if (n <= 2)
    return n;
  for (n |= 1; !prime(n);)
    n += 2;
  return n;
}

/* FNV-1a. */
size_t __hash_memory(_LIBCPP_NOESCAPE const void *bytes, size_t size) noexcept {
  size_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ static_cast<const unsigned char *>(bytes)[i]) * 0x100000001b3;
  return hash;
}

/* Shared pointers; counts begin at 0. */
__shared_count::~__shared_count() {}
__shared_weak_count::~__shared_weak_count() {}
void __shared_weak_count::__release_weak() noexcept {
  if (__libcpp_atomic_refcount_decrement(__shared_weak_owners_) == -1)
    __on_zero_shared_weak();
}
__shared_weak_count *__shared_weak_count::lock() noexcept {
  if (__shared_owners_ == -1)
    return nullptr;
  ++__shared_owners_;
  return this;
}
const void *__shared_weak_count::__get_deleter(const type_info &) const noexcept { return nullptr; }

_LIBCPP_END_NAMESPACE_STD

/* ---- what is thrown ---------------------------------------------------------------------------------------------------------------------- */

namespace __cxxabiv1 {
extern "C" {
void __cxa_increment_exception_refcount(void *) noexcept;
void __cxa_decrement_exception_refcount(void *) noexcept;
void *__cxa_current_primary_exception() noexcept;
void __cxa_rethrow_primary_exception(void *);
unsigned __cxa_uncaught_exceptions() noexcept;
}
}

/* A text that copies of an exception share: a count, then the letters. */
_LIBCPP_BEGIN_NAMESPACE_STD
static size_t &owners(const char *text) { return reinterpret_cast<size_t *>(const_cast<char *>(text))[-1]; }
static void drop(const char *text) {
  if (--owners(text) == 0)
    ::operator delete(&owners(text));
}
__libcpp_refstring::__libcpp_refstring(const char *text) {
  size_t size = strlen(text) + 1;
  size_t *count = static_cast<size_t *>(::operator new(sizeof(size_t) + size));
  *count = 1;
  __imp_ = static_cast<const char *>(memcpy(count + 1, text, size));
}
__libcpp_refstring::__libcpp_refstring(const __libcpp_refstring &other) noexcept : __imp_(other.__imp_) { owners(__imp_)++; }
__libcpp_refstring &__libcpp_refstring::operator=(const __libcpp_refstring &other) noexcept {
  owners(other.__imp_)++;
  drop(__imp_);
  __imp_ = other.__imp_;
  return *this;
}
__libcpp_refstring::~__libcpp_refstring() { drop(__imp_); }

bad_function_call::~bad_function_call() noexcept {}
const char *bad_function_call::what() const noexcept { return "std::bad_function_call"; }
bad_weak_ptr::~bad_weak_ptr() noexcept {}
const char *bad_weak_ptr::what() const noexcept { return "bad_weak_ptr"; }
_LIBCPP_END_NAMESPACE_STD

namespace std {
bad_optional_access::~bad_optional_access() noexcept {}
const char *bad_optional_access::what() const noexcept { return "bad_optional_access"; }
const char *bad_variant_access::what() const noexcept { return "bad_variant_access"; }
const char *bad_any_cast::what() const noexcept { return "bad any cast"; }

#define WITH_TEXT(name)                                                              \
  name::name(const string &text) : __imp_(text.c_str()) {}                           \
  name::name(const char *text) : __imp_(text) {}                                     \
  name::name(const name &other) noexcept : exception(other), __imp_(other.__imp_) {} \
  name &name::operator=(const name &other) noexcept {                                \
    __imp_ = other.__imp_;                                                           \
    return *this;                                                                    \
  }
WITH_TEXT(logic_error)
WITH_TEXT(runtime_error)

void __throw_bad_alloc() { throw bad_alloc(); }

int uncaught_exceptions() noexcept { return (int)__cxxabiv1::__cxa_uncaught_exceptions(); }
bool uncaught_exception() noexcept { return uncaught_exceptions() > 0; }

exception_ptr::exception_ptr(const exception_ptr &other) noexcept : __ptr_(other.__ptr_) {
  __cxxabiv1::__cxa_increment_exception_refcount(__ptr_);
}
exception_ptr &exception_ptr::operator=(const exception_ptr &other) noexcept {
  __cxxabiv1::__cxa_increment_exception_refcount(other.__ptr_);
  __cxxabiv1::__cxa_decrement_exception_refcount(__ptr_);
  __ptr_ = other.__ptr_;
  return *this;
}
exception_ptr::~exception_ptr() noexcept { __cxxabiv1::__cxa_decrement_exception_refcount(__ptr_); }
exception_ptr exception_ptr::__from_native_exception_pointer(void *object) noexcept {
  exception_ptr pointer;
  pointer.__ptr_ = object;
  __cxxabiv1::__cxa_increment_exception_refcount(object);
  return pointer;
}
exception_ptr current_exception() noexcept {
  exception_ptr pointer;
  pointer.__ptr_ = __cxxabiv1::__cxa_current_primary_exception();
  return pointer;
}
void rethrow_exception(exception_ptr pointer) {
  __cxxabiv1::__cxa_rethrow_primary_exception(pointer.__ptr_);
  terminate();
}
nested_exception::nested_exception() noexcept : __ptr_(current_exception()) {}
nested_exception::~nested_exception() noexcept {}
void nested_exception::rethrow_nested() const {
  if (!__ptr_)
    terminate();
  rethrow_exception(__ptr_);
}
}
