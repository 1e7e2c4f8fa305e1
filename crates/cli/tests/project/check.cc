#include "words.h"

struct Rule {
  virtual bool holds(const char *text) const = 0;
  virtual ~Rule() {}
};

template <int N> struct Words : Rule {
  bool holds(const char *text) const override { return words(text) == N; }
};

int main(int argc, char **argv) {
  Rule *rule = argc > 2 ? (Rule *)new Words<2> : new Words<1>;
  bool held = argc > 1 && rule->holds(argv[1]);
  delete rule;
  return held ? 0 : 1;
}
