#define WRYNECK_NEEDS_LIBCXX __attribute__((unavailable("it needs all of the C++ library: run `wryneck deps libc++` once")))
