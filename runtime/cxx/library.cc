/* What libc++'s headers leave to its library, for programs without streams, locales and exceptions: the templates that the headers
 * declare as instantiated elsewhere, and a few functions. Whoever needs more of it is told so by the linker. */
#define _LIBCPP_BUILDING_LIBRARY
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
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

/* Numbers as text and back. A text that is no number, or too large a one, would throw. */
template <class Number, class Read> static Number number(const char *what, const string &text, size_t *end, Read read) {
  char *stopped;
  errno = 0;
  Number value = read(text.c_str(), &stopped);
  if (errno == ERANGE || stopped == text.c_str())
    __libcpp_verbose_abort("%s: no conversion", what);
  if (end)
    *end = stopped - text.c_str();
  return value;
}

int stoi(const string &text, size_t *end, int base) {
  long value = number<long>("stoi", text, end, [=](const char *s, char **e) { return strtol(s, e, base); });
  if (value != (int)value)
    __libcpp_verbose_abort("stoi: out of range");
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
