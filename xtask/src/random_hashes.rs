//! Random C functions about hashed tables over sixteen input bits, without undefined behaviour, for the gate `hashes`.
//!
//! `f` puts words into a table, some of them with bytes of the input, then looks words up, removes them and puts more. What comes of it decides the bits of its
//! result: whether and where a word is found, after how many probes, how full the table is, what stands in a slot. The table probes (in steps that are constant,
//! growing or a second hash) or chains its nodes, keeps its hashes or computes them again, grows or does not. Compiled with `-DNATIVE`, `main` prints the
//! result of all 65,536 inputs.

use std::fmt::Write;

use crate::random::{OF_TWO_BYTES, Random};

struct Generator {
    random: Random,
    out: String,
}

/// What the hash of a word `s` of `n` bytes is, begun in `h`.
const HASHES: &[&str] = &[
    "for (; n--; s++) h = (h ^ *s) * 16777619u;",
    "for (; n--; s++) h = h * 33 + *s;",
    "for (; n--; s++) h = h * 31 ^ *s;",
    "for (; n--; s++) { h += *s; h += h << 10; h ^= h >> 6; } h += h << 3; h ^= h >> 11; h += h << 15;",
    "for (; n; n--) h ^= (h << 5) + (h >> 2) + s[n - 1];",
    "for (; n--; s++) { h = (h << 4) + *s; unsigned g = h & 0xf0000000u; h = (h ^ g >> 24) & ~g; }",
    "for (; n--; s++) h = crc[(h ^ *s) & 255] ^ h >> 8;",
    "for (; n--; s++) h = (h + *s) * 2654435761u, h ^= h >> 15;",
    "for (; n--; s++) h = h << 1 ^ h >> 31 ^ *s;",
];

/// Steps from the first slot to the next ones: `i` is the number of probes so far.
const STEPS: &[&str] = &["i", "i * 3", "i * (i + 1) / 2", "i * (hash >> 8 | 1)"];

const WORDS: &[&str] = &["if", "else", "for", "x", "long", "a", "int", "do", "b1", "while", "case", "no", "yes", "z"];

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut g = Generator { random: Random::new(seed), out: String::new() };
    let chains = g.below(3) == 0;
    g.out.push_str("#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n");
    g.out.push_str("#ifdef NATIVE\n#include <stdio.h>\n#endif\n");
    g.hash();
    if chains {
        g.chained()
    } else {
        g.probed()
    }
    g.function();
    g.out.push_str(OF_TWO_BYTES);
    g.out
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn hash(&mut self) {
        let (body, start) = (self.pick(HASHES), [0, 5381, 2_166_136_261u32][self.below(3)]);
        if body.contains("crc") {
            self.out.push_str("static unsigned crc[256];\n");
            self.out.push_str("__attribute__((constructor)) static void fill(void) {\n");
            self.out.push_str("  for (unsigned i = 0; i < 256; i++) { unsigned c = i; for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1; crc[i] = c; }\n}\n");
        }
        let ty = self.pick(&["unsigned", "unsigned", "unsigned long", "unsigned short"]);
        let _ = writeln!(self.out, "static {ty} hash_of(const unsigned char *s, int n) {{ unsigned h = {start}u; {body} return h; }}");
    }

    /// A table that probes.
    fn probed(&mut self) {
        let bits = 3 + self.below(3);
        let modulo = self.below(4) == 0;
        let (size, at) = match modulo {
            true => ([11, 13, 17, 31][self.below(4)], "% size"),
            false => (1 << bits, "& (size - 1)"),
        };
        let step = self.pick(if modulo { &STEPS[..2] } else { STEPS });
        let grows = !modulo && self.below(2) == 0;
        let keeps = self.below(2) == 0;
        let most = if grows { 256 } else { size };
        let same = if keeps { "t->hash == hash && t->n == n" } else { "t->n == n" };
        let _ =
            writeln!(self.out, "struct slot {{ unsigned hash; signed char n; unsigned char used; short value; unsigned char key[8]; }};");
        let _ = writeln!(self.out, "static struct slot table[{most}]; static unsigned size, count, probes;");
        let _ = writeln!(self.out, "static struct slot *slot_of(const unsigned char *s, int n, unsigned hash) {{");
        let _ = writeln!(self.out, "  struct slot *gone = 0;\n  for (unsigned i = 0; i < size; i++, probes++) {{");
        let _ = writeln!(self.out, "    struct slot *t = &table[(hash + {step}) {at}];");
        let _ = writeln!(self.out, "    if (!t->used) return gone ? gone : t;");
        let _ = writeln!(
            self.out,
            "    if (t->used == 2) {{ if (!gone) gone = t; }} else if ({same} && !memcmp(t->key, s, n)) return t;\n  }}\n  return gone;\n}}"
        );
        if grows {
            let _ = writeln!(
                self.out,
                "static void grow(void) {{\n  static struct slot old[{most}]; unsigned before = size; memcpy(old, table, sizeof old);"
            );
            let _ = writeln!(self.out, "  memset(table, 0, sizeof table); size *= 2; count = 0;");
            let again = if keeps { "old[i].hash" } else { "hash_of(old[i].key, old[i].n)" };
            let _ = writeln!(
                self.out,
                "  for (unsigned i = 0; i < before; i++) if (old[i].used == 1) {{ struct slot *t = slot_of(old[i].key, old[i].n, {again}); if (t) {{ *t = old[i]; count++; }} }}\n}}"
            );
        }
        let _ = writeln!(self.out, "static void put(const unsigned char *s, int n, int value) {{");
        if grows {
            let _ = writeln!(self.out, "  if (count * 4 >= size * 3 && size < {most}) grow();");
        }
        let _ = writeln!(self.out, "  unsigned hash = hash_of(s, n);\n  struct slot *t = slot_of(s, n, hash);\n  if (!t) return;");
        let _ = writeln!(
            self.out,
            "  if (t->used != 1) {{ t->used = 1; t->hash = hash; t->n = n; memcpy(t->key, s, n); count++; }}\n  t->value = value;\n}}"
        );
        let _ = writeln!(
            self.out,
            "static int get(const unsigned char *s, int n) {{ struct slot *t = slot_of(s, n, hash_of(s, n)); return t && t->used == 1 ? t->value : -1; }}"
        );
        let _ = writeln!(
            self.out,
            "static int place(const unsigned char *s, int n) {{ struct slot *t = slot_of(s, n, hash_of(s, n)); return t ? t - table : -1; }}"
        );
        let _ = writeln!(
            self.out,
            "static void drop(const unsigned char *s, int n) {{ struct slot *t = slot_of(s, n, hash_of(s, n)); if (t && t->used == 1) {{ t->used = 2; count--; }} }}"
        );
        let _ = writeln!(self.out, "static void begin(void) {{ memset(table, 0, sizeof table); size = {size}; count = probes = 0; }}");
        let _ = writeln!(self.out, "static int at(unsigned i) {{ return table[i % size].used == 1 ? table[i % size].value : -1; }}");
    }

    /// A table whose slots are lists of nodes.
    fn chained(&mut self) {
        let (size, at) = [(8, "& 7"), (16, "& 15"), (7, "% 7"), (13, "% 13")][self.below(4)];
        let allocated = self.below(2) == 0;
        let _ =
            writeln!(self.out, "struct node {{ struct node *next; unsigned hash; short value; signed char n; unsigned char key[8]; }};");
        let _ = writeln!(self.out, "static struct node *table[{size}], nodes[64]; static unsigned size = {size}, count, probes, made;");
        let _ = writeln!(self.out, "static struct node **link_of(const unsigned char *s, int n, unsigned hash) {{");
        let _ = writeln!(self.out, "  struct node **t = &table[hash {at}];");
        let _ = writeln!(
            self.out,
            "  for (; *t; t = &(*t)->next, probes++) if ((*t)->hash == hash && (*t)->n == n && !memcmp((*t)->key, s, n)) break;\n  return t;\n}}"
        );
        let _ = writeln!(
            self.out,
            "static void put(const unsigned char *s, int n, int value) {{\n  unsigned hash = hash_of(s, n); struct node **t = link_of(s, n, hash);"
        );
        let new = if allocated { "calloc(1, sizeof(struct node))" } else { "made < 64 ? &nodes[made++] : 0" };
        let _ = writeln!(self.out, "  if (!*t) {{ struct node *new = {new}; if (!new) return; memset(new, 0, sizeof *new);");
        let front = self.below(2) == 0;
        let place = if front {
            format!("new->next = table[hash {at}]; table[hash {at}] = new; t = &table[hash {at}];")
        } else {
            "*t = new;".to_owned()
        };
        let _ =
            writeln!(self.out, "    new->hash = hash; new->n = n; memcpy(new->key, s, n); {place} count++; }}\n  (*t)->value = value;\n}}");
        let _ = writeln!(
            self.out,
            "static int get(const unsigned char *s, int n) {{ struct node *t = *link_of(s, n, hash_of(s, n)); return t ? t->value : -1; }}"
        );
        let _ = writeln!(
            self.out,
            "static int place(const unsigned char *s, int n) {{ return *link_of(s, n, hash_of(s, n)) ? hash_of(s, n) {at} : -1; }}"
        );
        let free = if allocated { "free(gone);" } else { "" };
        let _ = writeln!(
            self.out,
            "static void drop(const unsigned char *s, int n) {{ struct node **t = link_of(s, n, hash_of(s, n)), *gone = *t; if (gone) {{ *t = gone->next; count--; {free} }} }}"
        );
        let _ = writeln!(
            self.out,
            "static void begin(void) {{\n  for (unsigned i = 0; i < size; i++) while (table[i]) {{ struct node *gone = table[i]; table[i] = gone->next; {free} }}"
        );
        let _ = writeln!(self.out, "  memset(table, 0, sizeof table); count = probes = made = 0;\n}}");
        let _ = writeln!(self.out, "static int at(unsigned i) {{ struct node *t = table[i % size]; return t ? t->value : -1; }}");
    }

    /// A word, and its length: constant, or with bytes of the input.
    fn word(&mut self, of_input: usize) -> String {
        let word = self.pick(WORDS);
        if self.below(4) >= of_input {
            return format!("(const unsigned char *)\"{word}\", {}", word.len());
        }
        let by = ["a", "b", "a & 7", "b & 31", "a ^ b", "'a' + (b & 3)", "a >> 4"];
        let (x, y) = (self.pick(&by), self.pick(&by));
        match self.below(5) {
            0 => "in, 2".to_owned(),
            1 => "in, 1".to_owned(),
            2 => format!("(unsigned char[]){{'{}', {x}}}, 2", &word[..1]),
            3 => format!("(unsigned char[]){{{x}, '{}', {y}}}, 3", &word[..1]),
            _ => format!("(unsigned char[]){{{x}, {y}}}, 1 + (({x}) & 1)"),
        }
    }

    fn function(&mut self) {
        self.out.push_str("int f(unsigned short n) {\n  unsigned char in[2] = {n, n >> 8}, a = in[0], b = in[1];\n  int r = 0;\n  (void)a, (void)b;\n  begin();\n");
        for _ in 0..1 + self.below(5) {
            let (word, value) = (self.word(0), self.below(100));
            let _ = writeln!(self.out, "  put({word}, {value});");
        }
        for _ in 0..1 + self.below(2) {
            let (word, value) = (self.word(3), self.pick(&["a", "b & 15", "40", "count", "a > b"]));
            let _ = writeln!(self.out, "  put({word}, {value});");
        }
        for bit in 0..2 + self.below(3) {
            match self.below(6) {
                0 => {
                    let word = self.word(2);
                    let _ = writeln!(self.out, "  drop({word});");
                }
                1 => {
                    let (word, value) = (self.word(2), self.below(50));
                    let _ = writeln!(self.out, "  if (get({word}) < 0) put({word}, {value});");
                }
                _ => {}
            }
            let k = self.below(20);
            let word = self.word(2);
            let test = match self.below(8) {
                0 => format!("get({word}) > {k}"),
                1 => format!("get({word}) < 0"),
                2 => format!("place({word}) == {}", k % 8),
                3 => format!("place({word}) > {}", k % 12),
                4 => format!("count > {}", k % 7),
                5 => format!("probes > {k}"),
                6 => format!("at({}) == {k}", ["a", "b & 7", "3"][k % 3]),
                _ => format!("hash_of({word}) % {} < {}", k + 2, k / 2 + 1),
            };
            let _ = writeln!(self.out, "  if ({test}) r |= {};", 1 << bit);
        }
        self.out.push_str("  return r;\n}\n");
    }
}
