//@ frontend: bitcode, since the next function takes the place on the stack of machine code
//@ args: --sym-arg 2
// Without a prefix the context points to a default that is gone when its caller uses it.
struct context { const char *text; const char *prefix; };
static char kept[2];
static void prepare(struct context *c, const char *text) {
  char standard[2] = {text[0], 0};
  c->text = text;
#ifdef FIXED
  kept[0] = standard[0];
  c->prefix = kept;
#else
  c->prefix = text[0] == '/' ? kept : standard;
#endif
}
static int matches(const struct context *c) {
  return c->prefix[0] == c->text[0];  //~ FAULT use-after-return
}
int main(int argc, char **argv) {
  struct context c;
  prepare(&c, argv[1]);
  return matches(&c);
}
