// Handlers by value, reference, pointer and base, through virtual bases; destructors on the way; what is thrown again.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <exception>
#include <unistd.h>
struct Noisy { const char *n; Noisy(const char*n):n(n){printf("+%s\n",n);} ~Noisy(){printf("-%s\n",n);} };
struct A { virtual ~A() {} int a = 1; };
struct B : A { int b = 2; };
struct C : virtual A { int c = 3; };
struct D : virtual A { int d = 4; };
struct E : C, D { int e = 5; };
static void f(int k) {
  Noisy n("f");
  switch (k) {
  case 0: throw 42;
  case 1: throw std::runtime_error("rt");
  case 2: throw B();
  case 3: throw E();
  case 4: throw "text";
  case 5: { static B b; throw &b; }
  case 6: throw std::out_of_range("oor");
  case 7: return;
  case 8: throw 2.5;
  }
  printf("f ends\n");
}
static void g(int k) {
  Noisy n("g");
  try { Noisy m("try"); f(k); }
  catch (int i) { printf("int %d\n", i); if (i == 42) { try { throw; } catch (int j) { printf("again %d\n", j); } throw 43L; } }
  catch (const std::logic_error &e) { printf("logic %s\n", e.what()); throw; }
  catch (A *p) { printf("A* %d\n", p->a); }
}
int main() {
  setvbuf(stdout, nullptr, _IONBF, 0);
  char c = 0;
  read(0, &c, 1);
  try { g(c & 15); }
  catch (A &a) { printf("A %d\n", a.a); }
  catch (std::exception &e) { printf("exc %s\n", e.what()); }
  catch (long l) { printf("long %ld\n", l); return 3; }
  catch (...) { printf("other %d\n", std::uncaught_exceptions()); std::exception_ptr p = std::current_exception();
    try { std::rethrow_exception(p); } catch (const char *s) { printf("s %s\n", s); } }
  printf("done %d\n", std::uncaught_exceptions());
  return 0;
}
