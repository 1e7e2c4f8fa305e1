//! Random C programs full of pointers that are looked up by input: what the gate `pointers` compares with native runs.
//!
//! `set_up()` builds, at run time and from constants, a hash table with chains, a list, trees, a vector grown by `realloc`, tables of numbers
//! and of tables, an automaton, tables of functions and strings, and an aligned block whose addresses are computed as numbers. `run(a, b)` looks
//! things up there by two input bytes. It writes letters as it goes and returns a status. The bits of both are decided one by one, so every
//! result is a path of its own. Some programs have a planted fault: a null pointer, freed memory, an element behind the end of a heap array, or
//! a byte before the block. Compiled with `-DNATIVE`, `main` prints the result of each of the 256 inputs `n`, each in a child of its own.

use std::fmt::Write;

use crate::random::Random;

/// A program, and what it is like.
pub struct Program {
    pub text: String,
    /// It has a fault on purpose (that need not be reached).
    pub planted: bool,
}

struct Generator {
    random: Random,
    out: String,
    buckets: usize,
    nodes: usize,
    vector: usize,
    planted: bool,
}

/// The native result of a fault: the exit code that the sanitizer is given.
pub const FAULT: i32 = 77;

const TYPES: &str = "\
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct node { struct node *next; unsigned char key; short val; union { struct node *alt; int *num; } u; };
struct leaf { int w; unsigned char tag; };
struct tree { struct leaf *leaf[3]; struct tree *kid[4]; struct { struct node *head; int n; } in; };
struct state { struct state *to[4]; unsigned char out; };
static void say(int c) {
  volatile char t = 0;
  for (int k = 0; k < 8; k++) if (c >> k & 1) t |= 1 << k;
  if (write(1, (char *)&t, 1) != 1) _exit(9);
}
";

const OPERATIONS: &str = "\
static int add(int x, struct node *p) { return x + (p ? p->key : 1); }
static int sub(int x, struct node *p) { say('s'); return x - (p ? p->val : 2); }
static int mul(int x, struct node *p) { return (x & 255) * (p && p->next ? 3 : 5); }
static int flip(int x, struct node *p) { say(p ? 'p' : 'q'); return ~x; }
";

const NATIVE: &str = "\
#ifdef NATIVE
#include <stdio.h>
#include <sys/wait.h>
int main(void) {
  set_up();
  for (int n = 0; n < 256; n++) {
    int fds[2]; char out[4096]; ssize_t len = 0, got; int status;
    if (pipe(fds)) return 1;
    pid_t child = fork();
    if (!child) { dup2(fds[1], 1); close(fds[0]); close(fds[1]); close(2); _exit(run(INPUTS(n))); }
    close(fds[1]);
    while ((got = read(fds[0], out + len, sizeof out - len)) > 0) len += got;
    close(fds[0]);
    if (waitpid(child, &status, 0) != child) return 1;
    printf(\"%d %d %.*s\\n\", n, WIFEXITED(status) ? WEXITSTATUS(status) : 77, (int)len, out);
  }
  return 0;
}
#else
int main(int argc, char **argv) {
  if (argc < 2) return 99;
  set_up();
  unsigned char a = argv[1][0], b = a ? argv[1][1] : 0;
  return run(INPUTS(BYTES(a, b)));
}
#endif
";

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    let mut random = Random::new(seed ^ 0x5eed_0f9a);
    let (buckets, nodes, vector) = ([3, 4, 5, 7, 8, 13][random.below(6)], 3 + random.below(8), 3 + random.below(18));
    let planted = random.below(3) == 0;
    let nibbles = random.below(2) == 0;
    let mut g = Generator { random, out: TYPES.to_owned(), buckets, nodes, vector, planted };
    // Either the first byte is the input, or four bits of both are.
    let inputs = match nibbles {
        true => "#define BYTES(a, b) (((a) & 15) | ((b) & 15) << 4)\n#define INPUTS(n) (n) & 15, (n) >> 4\n",
        false => "#define BYTES(a, b) (a)\n#define INPUTS(n) (n), (n) * 7 & 255\n",
    };
    g.out.push_str(inputs);
    g.globals();
    g.out.push_str(OPERATIONS);
    g.set_up();
    g.run();
    g.out.push_str(NATIVE);
    Program { text: g.out, planted }
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn globals(&mut self) {
        let (buckets, nodes) = (self.buckets, self.nodes);
        self.line(&format!("enum {{ N = {buckets}, NODES = {nodes}, K = 3, M = {}, R = 3 }};", 4 + nodes % 3));
        self.line("static struct node *table[N], *list, **vec;");
        self.line("static unsigned count;");
        self.line("static unsigned char *block;");
        self.line("static struct tree trees[K];");
        self.line("static int numbers[8] = {3, 1, 4, 1, 5, 9, 2, 6}, *nums[M], **rows[R];");
        self.line("static struct state dfa[5];");
        let places: Vec<String> = (0..8).map(|_| (9 + self.below(27)).to_string()).collect();
        self.line(&format!("static const unsigned char places[8] = {{{}}};", places.join(", ")));
        let words = ["ab", "a", "", "xyz", "abc", "q0", "zz9"];
        let first = self.below(4);
        let names: Vec<String> = words[first..].iter().map(|word| format!("\"{word}\"")).collect();
        self.line(&format!("static const char *const names[] = {{{}}};", names.join(", ")));
        self.line("static int add(int, struct node *), sub(int, struct node *), mul(int, struct node *), flip(int, struct node *);");
        let ops: Vec<&str> = (0..5).map(|_| ["add", "sub", "mul", "flip"][self.below(4)]).collect();
        let constness = ["const ", ""][self.below(2)];
        self.line(&format!("static int (*{constness}ops[])(int, struct node *) = {{{}}};", ops.join(", ")));
    }

    fn set_up(&mut self) {
        let (factor, start, push) = (1 + 2 * self.below(5), 33 + self.below(60), 1 + self.below(3));
        let alt = ["p->u.alt = table[i % N];", "if (p->key & 1) p->u.alt = p; else p->u.num = &numbers[i & 7];"][self.below(2)];
        self.line(&format!("enum {{ UNION_ALT = {} }};", u8::from(alt.starts_with("p->u.alt"))));
        self.line("static void set_up(void) {");
        self.line("  for (int i = 0; i < NODES; i++) {");
        let allocate = ["calloc(1, sizeof *p)", "memset(malloc(sizeof *p), 0, sizeof *p)"][self.below(2)];
        self.line(&format!("    struct node *p = {allocate};"));
        self.line(&format!("    unsigned h = (i * {factor} + {start}) % N;"));
        self.line(&format!("    p->key = {start} + i * {factor}; p->val = i * 37 - 40; p->next = table[h]; table[h] = p;"));
        self.line(&format!("    {alt}"));
        self.line("  }");
        self.line(&format!("  for (int i = 0; i < {}; i++) {{", self.vector));
        self.line("    vec = realloc(vec, (count + 1) * sizeof *vec);");
        self.line(&format!("    vec[count++] = table[i * {push} % N];"));
        self.line("  }");
        self.line("  for (int i = 0; i < 4; i++) { struct node *p = calloc(1, sizeof *p); p->key = 'a' + 5 * i; p->val = 7 * i; p->next = list; list = p;");
        self.line("    if (UNION_ALT || p->key & 1) p->u.alt = p; else p->u.num = numbers; }");
        self.line("  for (int i = 0; i < K; i++) {");
        self.line("    for (int j = 0; j < 3; j++) if ((i + j) % 3) { trees[i].leaf[j] = calloc(1, sizeof(struct leaf)); trees[i].leaf[j]->w = i * 10 + j; trees[i].leaf[j]->tag = j; }");
        self.line(&format!("    for (int j = 0; j < 4; j++) if (j != (i & 3)) trees[i].kid[j] = &trees[(i + j * {push}) % K];"));
        self.line("    trees[i].in.head = table[i % N]; trees[i].in.n = i;");
        self.line("  }");
        self.line("  block = aligned_alloc(128, 128);");
        self.line("  for (int i = 0; i < 128; i++) block[i] = i * 7;");
        self.line("  for (int i = 0; i < M; i++) nums[i] = i & 1 ? &numbers[i % 8] : calloc(2, sizeof(int));");
        self.line("  for (int i = 0; i < R; i++) { rows[i] = calloc(3, sizeof(int *)); for (int j = 0; j < 3; j++) rows[i][j] = nums[(i + j) % M]; }");
        let (x, y) = (self.below(5), 1 + self.below(4));
        self.line(&format!(
            "  for (int i = 0; i < 5; i++) {{ dfa[i].out = i * 3; for (int j = 0; j < 4; j++) dfa[i].to[j] = &dfa[(i * {y} + j + {x}) % 5]; }}"
        ));
        self.line("}");
    }

    fn run(&mut self) {
        self.line("static int run(unsigned a, unsigned b) {");
        self.line("  int acc = 0; unsigned k = 0; (void)k; (void)b;");
        for _ in 0..2 + self.below(4) {
            self.statement();
        }
        if self.planted {
            self.plant();
        }
        for _ in 0..self.below(2) {
            self.statement();
        }
        self.line("  int status = 0;");
        self.line("  for (int i = 0; i < 4; i++) if (acc >> i & 1) status |= 1 << i;");
        self.line("  return status;");
        self.line("}");
    }

    /// An unsigned number made of input.
    fn index(&mut self) -> String {
        match self.below(8) {
            0 => "a".into(),
            1 => "b".into(),
            2 => "(a + b)".into(),
            3 => "(a ^ b << 1)".into(),
            4 => "(a * 5 + 3)".into(),
            5 => "(a >> 2)".into(),
            6 => "(unsigned char)(a - b)".into(),
            _ => "(a ^ k)".into(),
        }
    }

    /// The address of a byte of the block, as a number.
    fn address(&mut self) -> String {
        let i = self.index();
        match self.below(5) {
            0 => format!("(uintptr_t)block | ({i} & 120)"),
            1 => format!("(uintptr_t)block ^ ({i} & 127)"),
            2 => format!("(uintptr_t)(block + ({i} & 127)) & ~(uintptr_t)15"),
            3 => format!("((uintptr_t)block & ~(uintptr_t)255) + ((uintptr_t)block & 255) + ({i} & 96)"),
            _ => format!("(uintptr_t)(block + 127) - ({i} & 96)"),
        }
    }

    fn node(&mut self) -> String {
        let i = self.index();
        match self.below(5) {
            0 | 1 => format!("table[{i} % N]"),
            2 => format!("vec[{i} % count]"),
            3 => format!("trees[{i} % K].in.head"),
            _ => format!("({i} & 4 ? table[{i} % N] : list)"),
        }
    }

    fn statement(&mut self) {
        let (i, j, p) = (self.index(), self.index(), self.node());
        let number = self.below(90);
        let text = match self.below(28) {
            0 => format!(
                "for (struct node *p = table[{i} % N]; p; p = p->next) if (p->key == ({j} & 127)) {{ acc += p->val; say('x'); break; }}"
            ),
            1 => format!("{{ struct node *p = {p}; if (p) acc += p->val; else say('n'); }}"),
            2 => format!("{{ struct node *p = {p}; if (p && p->next) acc += p->next->key; if (p && p->next && p->next->next) say('3'); }}"),
            3 => format!("acc = ops[{i} % 5](acc, {p});"),
            4 => format!("{{ struct tree *t = trees[{i} % K].kid[{j} & 3]; if (t) {{ acc += t->in.n; k++; }} else say('-'); }}"),
            5 => format!(
                "{{ struct tree *t = trees[{i} % K].kid[{j} & 3]; struct leaf *l = t ? t->leaf[{i} % 3] : 0; if (l) acc += l->w + l->tag; }}"
            ),
            6 => format!("acc += *nums[{i} % M];"),
            7 => format!("*nums[{i} % M] = {number} + acc; acc ^= *nums[{j} % M];"),
            8 => format!("acc += *rows[{i} % R][{j} % 3];"),
            9 => format!("{{ int **r = rows[{i} % R]; *r[1] += {number}; acc += **r; }}"),
            10 => format!(
                "{{ struct node *p = {p}; if (p) acc += UNION_ALT ? (p->u.alt ? p->u.alt->key : 1) : p->key & 1 ? p->u.alt->val : *p->u.num; }}"
            ),
            11 => format!("{{ int *q = numbers + {i} % 8; acc += q + 2 < numbers + 8 ? q[2] - *q : q[-1]; }}"),
            12 => format!(
                "{{ struct node *p = {p}; if (p) switch (p->key & 7) {{ case 1: say('1'); break; case {}: acc++; break; case 4: case 6: say('e'); break; default: acc += 2; }} }}",
                self.below(2) * 3
            ),
            13 => format!("acc += names[{i} % (sizeof names / sizeof *names)][0];"),
            14 => format!("acc += (int)strlen(names[{i} % (sizeof names / sizeof *names)]);"),
            15 => format!(
                "if (!strcmp(names[{i} % (sizeof names / sizeof *names)], \"abc\")) say('='); else if (names[{j} % (sizeof names / sizeof *names)][0] == 'q') say('Q');"
            ),
            16 => format!(
                "{{ struct state *s = dfa; s = s->to[{i} & 3]; s = s->to[{j} & 3]; s = s->to[(a >> 2) & 3]; acc += s->out; if (s == dfa + 2) say('d'); }}"
            ),
            17 => format!("table[{i} % N] = {p}; if (table[{j} % N] == list) say('l');"),
            18 => format!(
                "{{ struct node **pp = &table[{i} % N]; while (*pp && (*pp)->key < {number}) pp = &(*pp)->next; if (*pp) {{ acc += (*pp)->key; *pp = (*pp)->next; }} }}"
            ),
            19 => format!(
                "{{ struct node *p = {p}, copy; if (p) {{ memcpy(&copy, p, sizeof copy); acc += copy.key + (copy.next ? copy.next->key : 0); }} }}"
            ),
            20 => {
                format!("{{ struct node *p = {p}, *q = {}; if (p == q) say('='); else if (p && q) acc += p->key - q->key; }}", self.node())
            }
            // A text has no variable of its own; `places` may begin its section.
            21 => format!("acc += \"0123456789abcdefghijklmnopqrstuvwxyz\"[places[{i} & 7]];"),
            22 => format!("{{ const char *t = \"the quick brown fox jumps over it\" + places[{i} & 7] / 2; acc += *t - t[{j} & 7]; }}"),
            23 => {
                format!("{{ int *q = {i} & 1 ? &numbers[0] : &numbers[4]; *q += {number}; acc += q[1] + *({j} & 1 ? q : numbers + 2); }}")
            }
            24 | 25 => {
                let addr = self.address();
                format!("{{ unsigned char *q = (unsigned char *)({addr}); *q += {number}; acc += *q + block[{j} & 127]; }}")
            }
            // What is added to the pointer has one value on each side of the branch.
            26 => {
                let other = ["c > 9", "c < 99", "(c & 3) != 1", "c != 7"][self.below(4)];
                format!(
                    "{{ unsigned char c = {i}, *q = block + ({j} & 31); if (c == {number}) say('e'); else if ({other}) {{ q += (c == {number}) * 40; q[!({other})]++; acc += q[c == {number}] + q[1]; }} acc += q[(c == {number}) * 64]; }}"
                )
            }
            _ => format!(
                "{{ struct node **v = vec + {i} % count; if (v > vec && v[-1]) acc += v[-1]->key; if (*v) (*v)->val ^= {number}; }}"
            ),
        };
        self.line(&format!("  {text}"));
    }

    /// A fault on purpose, for some input, if the state is so.
    fn plant(&mut self) {
        let (i, j) = (self.index(), self.index());
        let mut text = String::new();
        let _ = match self.below(6) {
            0 => write!(text, "acc += table[{i} % N]->key;"),
            1 => write!(text, "acc += trees[{i} % K].kid[{j} & 3]->in.n;"),
            2 => write!(
                text,
                "if ({i} % N == 1) free(list); acc += list->key; if ({j} & 1) acc += table[{j} % N] ? table[{j} % N]->val : 0;"
            ),
            3 => write!(text, "acc += vec[{i} % (count + 1)] != 0;"),
            4 => write!(
                text,
                "{{ unsigned char *q = (unsigned char *)((uintptr_t)(block + ({i} & 127) - 24) & ~(uintptr_t)15); *q = 9; acc += block[{j} & 127]; }}"
            ),
            _ => write!(text, "{{ int *q = rows[{i} % R][{j} % 4]; acc += *q; }}"),
        };
        self.line(&format!("  {text}"));
    }
}
