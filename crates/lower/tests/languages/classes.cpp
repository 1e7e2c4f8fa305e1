// C++ without unwinding: virtual calls, templates, constructors of statics, lambdas, references, members by pointer.
extern "C" int printf(const char *, ...);

struct Shape {
  int id;
  explicit Shape(int i) : id(i) {}
  virtual int area() const = 0;
  virtual ~Shape() { printf("~%d ", id); }
};
struct Named { virtual const char *name() const { return "?"; } };
struct Square : Shape, Named {
  int side;
  Square(int i, int s) : Shape(i), side(s) {}
  int area() const override { return side * side; }
  const char *name() const override { return "square"; }
};
struct Rectangle : virtual Named, Shape {
  int w, h;
  Rectangle(int i, int a, int b) : Shape(i), w(a), h(b) {}
  int area() const override { return w * h; }
  const char *name() const override { return "rectangle"; }
};
template <class T, int N> struct Stack {
  T items[N];
  int count = 0;
  Stack &operator<<(T const &x) { items[count++] = x; return *this; }
  T operator[](int i) const { return items[i % count]; }
  template <class F> T fold(F f) const { T r = items[0]; for (int i = 1; i < count; i++) r = f(r, items[i]); return r; }
};
struct Counter { int n; Counter(int s) : n(s) { printf("+%d ", s); } ~Counter() { printf("-%d ", n); } };
static Counter global(7);
static int &reference(int &x) { static Counter once(8); x += once.n; return x; }
enum class Color : unsigned char { red, green = 5 };
struct Pair { long a; double b; };
static Pair make(long a) { return {a, static_cast<double>(a) / 2}; }

int main(int argc, char **) {
  Square s(1, argc + 2);
  Rectangle r(2, 3, argc + 4);
  Shape const *shapes[] = {&s, &r};
  Named const *names[] = {&s, &r};
  for (int i = 0; i < 2; i++) printf("%d %s ", shapes[i]->area(), names[i]->name());
  Stack<long, 8> stack;
  stack << 3 << 4 << argc;
  int factor = argc + 1;
  printf("%ld %ld\n", stack.fold([=](long a, long b) { return a * factor + b; }), stack[7]);
  int x = argc;
  reference(x)++, reference(x) *= 2;
  int Rectangle::*member = argc ? &Rectangle::h : &Rectangle::w;
  int (Shape::*method)() const = &Shape::area;
  Pair p = make(argc + 8);
  printf("%d %d %d %d %ld %d\n", x, r.*member, (shapes[1]->*method)(), static_cast<int>(Color::green), p.a, static_cast<int>(p.b * 2));
  return x & 31;
}
// What the run-time library would bring.
extern "C" int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
extern "C" int __cxa_guard_acquire(char *g) { return !*g; }
extern "C" void __cxa_guard_release(char *g) { *g = 1; }
extern "C" void __cxa_pure_virtual() {}
void operator delete(void *, unsigned long) noexcept {}
void *__dso_handle_of_test;
