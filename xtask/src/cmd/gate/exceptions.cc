// What the random programs of `gate exceptions` are made of: classes that say when they begin and end, related in each way.
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <unistd.h>

// Whoever aborts flushes nothing.
static const int unbuffered = std::setvbuf(stdout, nullptr, _IONBF, 0);

struct Said {
  int n;
  explicit Said(int n) : n(n) { std::printf("+%d\n", n); }
  Said(const Said &other) : n(other.n + 1000) { std::printf("=%d\n", n); }
  ~Said() { std::printf("-%d %d\n", n, std::uncaught_exceptions()); }
};

struct Base {
  int a;
  explicit Base(int a) : a(a) {}
  virtual ~Base() {}
};
struct Derived : Base {
  Said said;
  explicit Derived(int a) : Base(a), said(a + 100) {}
};
struct Hidden : private Derived {
  explicit Hidden(int a) : Derived(a) {}
};
struct Left : virtual Base {
  int l = 1;
  explicit Left(int a) : Base(a) {}
};
struct Right : virtual Base {
  int r = 2;
  explicit Right(int a) : Base(a) {}
};
struct Joined : Left, Right {
  int j = 3;
  explicit Joined(int a) : Base(a), Left(a), Right(a) {}
};
struct One : Base {
  int o = 4;
  explicit One(int a) : Base(a) {}
};
struct Two : Base {
  int t = 5;
  explicit Two(int a) : Base(a) {}
};
// Has `Base` twice: no handler of `Base` takes it.
struct Twice : One, Two {
  explicit Twice(int a) : One(a), Two(a + 1) {}
};
struct Offset {
  long filler = 7;
  virtual ~Offset() {}
};
struct Behind : Offset, Derived {
  explicit Behind(int a) : Derived(a) {}
};

// Its third member may throw while it is made.
struct Parts {
  Said first, second;
  explicit Parts(int k, int at) try : first(k + 1), second(at == k ? throw Derived(k) : k + 2) {
    std::printf("parts\n");
  } catch (Base &b) {
    std::printf("no parts %d\n", b.a);
  }
};
// The object of this number throws while it is made.
struct Counted {
  static int made, bad;
  Counted() {
    std::printf("c%d\n", made);
    if (made++ == bad)
      throw One(bad);
  }
  ~Counted() { std::printf("~%d\n", --made); }
};
int Counted::made, Counted::bad;

static Derived static_derived(31);
static Joined static_joined(32);
static Base *const no_base = nullptr;
