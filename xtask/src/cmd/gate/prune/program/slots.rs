//! Pointers in variables, in a table and in results of functions, and stores by them: to old objects and to new memory.
//!
//! Events come last and depend on what the objects hold. So a pointer matters only for where stores go. The table grows and its pointers are
//! replaced by ones to new memory, as text libraries do with their buffers.

use super::Generator;

/// The program's objects and functions.
pub(super) const STORE: &str = "\
struct slot@ { unsigned long size; char *val; };
static char s0@[64], s1@[64], s2@[64], s3@[64], *g@;
static struct slot@ vec0@[2], *vec@;
static char *checked@(char *p) { if (!p) exit(9); return p; }
static char *fresh@(unsigned n) { char *p = checked@(malloc(64)); memset(p, n, 64); return p; }
static char *which@(int i) { return i & 1 ? s2@ : s3@; }
static char *same@(char *p) { return p; }
static void put@(char *to, int at, int v) { to[at & 7] = v; }
static void put_twice@(char *to, int at, int v) { char *p = to + 1; put@(p, at, v); *p++ = v; *p = v; }
static char *slot_put@(int n, unsigned long size, int v) {
  struct slot@ *sv = vec@;
  char *val = sv[n].val;
  if (sv[n].size <= size) {
    sv[n].size = size + 1;
    sv[n].val = val = fresh@(0);
  }
  val[v & 7] = v;
  return val;
}
static void grow@(void) {
  struct slot@ *more = (struct slot@ *)fresh@(0);
  memcpy(more, vec@, sizeof vec0@);
  vec@ = more;
}
static void keep@(char **where, char *p) { *where = p; }
static void put_far@(char *a, long o, int v) { *(char *)((long)a + o) = v; }
";
/// Statements that give all this its first state.
pub(super) const RESET: &str = "memset(s0@, 0, 64); memset(s1@, 0, 64); memset(s2@, 0, 64); memset(s3@, 0, 64); g@ = s2@; vec@ = vec0@; \
     vec0@[0].size = 4; vec0@[0].val = s0@; vec0@[1].size = 2; vec0@[1].val = s1@; ";

const INPUTS: [&str; 3] = ["x0", "x1", "x2"];
const POINTERS: [&str; 4] = ["p0", "p1", "p2", "p3"];
/// `%` and `#` are pointers, `$` a value.
const FORMS: [&str; 36] = [
    "% = vec@[$ & 1].val;",
    "vec@[$ & 1].val = %;",
    "vec@[$ & 1].val = fresh@($);",
    "vec@[$ & 1].size = $;",
    "% = fresh@($);",
    "% = checked@(malloc(64)); memset(%, $, 64);",
    "% = which@($);",
    "% = same@(#);",
    "% = slot_put@($ & 1, $, $);",
    "%[$ & 7] = $;",
    "%[$ & 7] = $;",
    "put@(%, $, $);",
    "put_twice@(%, $, $);",
    "put@(vec@[$ & 1].val, $, $);",
    "vec@[$ & 1].val[$ & 7] = $;",
    "slot_put@($ & 1, $, $);",
    "% = #;",
    "g@ = %;",
    "% = g@;",
    "g@ = fresh@($);",
    "g@[$ & 7] = $;",
    "% = % == # ? s1@ : #;",
    "if (% == s0@) %[$ & 7] = $;",
    "if (vec@[$ & 1].val != %) % = s3@;",
    "{ struct slot@ *sv = vec@; sv += $ & 1; sv->val = %; }",
    "{ struct slot@ *sv = &vec@[$ & 1]; char *val = sv->val; sv->size = $; val[$ & 7] = $; }",
    "grow@();",
    "memcpy(%, #, 0); memmove(%, s1@, 8);",
    "{ struct slot@ l = vec@[0]; l.val[$ & 7] = $; vec@[1] = l; }",
    "*(char **)((char *)vec@ + 8 + 16 * ($ & 1)) = %;",
    "{ unsigned long n = (unsigned long)%; # = (char *)n; }",
    "%++; *% = $;",
    "for (int i = 0; i < 2; i++) vec@[i].val[$ & 7] = $;",
    "keep@(&vec@[$ & 1].val, %);",
    "for (char *at = %, *end = % + ($ & 3); at < end; at++) *at = $;",
    "memcpy(&vec@[$ & 1].val, &vec@[$ & 1].val, 0); memmove(&vec@[0], &vec@[1], sizeof *vec@);",
];
/// Numbers that lead from one object to another.
const FAR: [&str; 8] = [
    "far = (long)h1 - (long)h0;",
    "far = (long)h1 - (long)h0;",
    "far = 0;",
    "*(char *)((long)h0 + far) = $;",
    "*(char *)((long)h0 + far + ($ & 1)) = $;",
    "put_far@(h0, far, $);",
    "put_far@(h0 + 1, far - ($ & 1), $);",
    "{ int near = (int)far; *(char *)(near + (long)h0) = $; }",
];
/// What events depend on.
const SEEN: [&str; 10] = [
    "s0@[$ & 7]", "s1@[$ & 7]", "s2@[$ & 7]", "s3@[$ & 7]", "s0@[$ & 7]", "s1@[$ & 7]", "g@[$ & 7]", "%[$ & 7]", "vec@[$ & 1].val[$ & 7]",
    "(int)vec@[$ & 1].size",
];

impl Generator {
    /// The statements of an entry.
    pub(super) fn slots(&mut self) {
        let places = ["s0@", "s1@", "vec0@[0].val", "fresh@(1)"];
        self.line(RESET);
        for (at, name) in INPUTS.into_iter().enumerate() {
            self.line(&format!("int {name} = in@[{at}];"));
        }
        for name in POINTERS {
            let place = self.pick(&places);
            self.line(&format!("char *{name} = {place};"));
        }
        let far = self.below(2) == 0;
        // Two objects of the heap, and a number that leads from one to the other.
        self.line("char *h0 = fresh@(0), *h1 = fresh@(0);");
        self.line("long far = 0;");
        for _ in 0..3 + self.below(8) {
            let form = if far && self.below(2) == 0 { self.pick(&FAR) } else { self.pick(&FORMS) };
            let mut text = self.filled(form);
            if self.below(3) > 0 {
                let at = self.below(INPUTS.len());
                let value = self.random.below(self.values[at]);
                text = format!("if ({} == {value}) {{ {text} }}", INPUTS[at]);
            }
            self.line(&text);
        }
        for event in 0..1 + self.below(2) {
            let seen = if far && self.below(4) > 0 { self.pick(&["h0[$ & 1]", "h1[0]", "h1[$ & 1]"]) } else { self.pick(&SEEN) };
            let (seen, value) = (self.filled(seen), self.below(4));
            self.line(&format!("if ({seen} > {value}) ev{event}();"));
        }
        self.happened = true;
    }

    fn filled(&mut self, form: &str) -> String {
        let (one, other) = (self.pick(&POINTERS), self.pick(&POINTERS));
        let form = form.replace('%', one).replace('#', other);
        let mut pieces = form.split('$');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            text += &match self.below(4) {
                0 => self.pick(&INPUTS).to_owned(),
                _ => self.below(8).to_string(),
            };
            text += piece;
        }
        text
    }
}
