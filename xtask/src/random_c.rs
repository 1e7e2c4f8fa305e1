//! Random C programs over twelve input bits, without undefined behaviour: what the completeness gate compares with native runs.
//!
//! `run(a, b, out)` computes on integers of several widths, an array, a structure and a pointer, with branches, bounded loops,
//! switches, calls, recursion and an automaton of two tables. It appends letters to `out` and returns a status whose bits are decided one by
//! one, so that every result is a path of its own. Compiled with `-DNATIVE`, `main` prints the result of all 4,096 inputs.

use crate::random::Random;

pub struct Generator {
    random: Random,
    out: String,
    indent: usize,
    loops: u32,
}

const VARIABLES: [(&str, &str); 6] =
    [("unsigned char", "v0"), ("unsigned short", "v1"), ("unsigned", "v2"), ("unsigned long", "v3"), ("signed char", "v4"), ("int", "v5")];

impl Generator {
    /// The program of a seed.
    pub fn program(seed: u64) -> String {
        let mut g = Generator { random: Random::new(seed), out: String::new(), indent: 0, loops: 0 };
        g.line("#include <stdio.h>");
        g.line("#ifndef NATIVE\n#include <wryneck.h>\n#endif");
        g.line("struct pair { short x; unsigned char y; long z; };");
        g.line("static char *cursor;");
        g.line("static void say(int c) { if (cursor) *cursor++ = c; }");
        g.line("static unsigned mix(unsigned x, unsigned y) { return x < y ? x * 3u + y : y * 5u ^ x; }");
        g.line("static unsigned deep(unsigned n, unsigned x) { return n == 0 || x > 200 ? x : deep(n - 1, x + n); }");
        g.line("static unsigned (*const table[2])(unsigned, unsigned) = {mix, deep};");
        let numbers = |random: &mut Random, most: usize, count| -> String {
            (0..count).map(|_| random.below(most).to_string()).collect::<Vec<_>>().join(", ")
        };
        let (classes, states) = (numbers(&mut g.random, 4, 16), numbers(&mut g.random, 8, 32));
        g.line(&format!("static const unsigned char classes[16] = {{{classes}}}, states[32] = {{{states}}};"));
        g.line("static int run(unsigned char a, unsigned char b, char *out) {");
        g.indent = 1;
        for (ty, name) in VARIABLES {
            let value = ["a", "b", "a + b", "a ^ b", "1", "a * 3u", "7"][g.below(7)];
            g.line(&format!("{ty} {name} = {value};"));
        }
        g.line("unsigned char t[8] = {1, 4, 9, 16, a, b, 0, 255};");
        g.line("struct pair p = {a, b, a - b}, q = p;");
        g.line("unsigned char state = 0;");
        g.line("unsigned char *s = t;");
        g.line("cursor = out;");
        g.statements(3, 4);
        g.line("unsigned r = v0 ^ v2 ^ (unsigned)v5 ^ p.y ^ state, status = 0;");
        g.line("for (int i = 0; i < 3; i++) if (r >> i & 1) status |= 1u << i;");
        g.line("if (cursor) *cursor = 0;");
        g.line("(void)q; (void)s; (void)v1; (void)v3; (void)v4;");
        g.line("return status;");
        g.indent = 0;
        g.line("}");
        g.line("#ifdef NATIVE");
        g.line("int main(void) { static char out[1 << 16];");
        g.line("  for (int n = 0; n < 4096; n++) { int r = run(n & 255, n >> 8, out); printf(\"%d %d %s\\n\", n, r, out); } return 0; }");
        g.line("#else");
        g.line("int main(void) { unsigned char in[2]; static char out[1 << 16]; wryneck_make_symbolic(in, 2, \"in\");");
        g.line("  int r = run(in[0], in[1] & 15, out); puts(out); return r; }");
        g.line("#endif");
        g.out
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn value(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.below(9) {
                0 => self.below(300).to_string(),
                1 => "a".into(),
                2 => "b".into(),
                3 => "p.x".into(),
                4 => "p.y".into(),
                5 => format!("t[{} & 7]", VARIABLES[self.below(4)].1),
                _ => VARIABLES[self.below(6)].1.into(),
            };
        }
        let (x, y) = (self.value(depth - 1), self.value(depth - 1));
        match self.below(13) {
            0 => format!("((unsigned)({x}) + (unsigned)({y}))"),
            1 => format!("((unsigned)({x}) - (unsigned)({y}))"),
            2 => format!("((unsigned)({x}) * ((unsigned)({y}) & 15))"),
            3 => format!("({x} & {y})"),
            4 => format!("({x} | {y})"),
            5 => format!("({x} ^ {y})"),
            6 => format!("((unsigned)({x}) << ({y} & 7))"),
            7 => format!("((unsigned)({x}) >> ({y} & 7))"),
            8 => format!("((unsigned)({x}) / (((unsigned)({y}) & 7) + 1))"),
            9 => format!("((int)({x}) % (int)(({y} & 15) + 2))"),
            10 => format!("table[{x} & 1](({x}) & 7, ({y}) & 255)"),
            11 => format!("(({x}) ? ({y}) : (unsigned)q.z)"),
            _ => format!("s[({x}) & 3]"),
        }
    }

    fn condition(&mut self) -> String {
        let (x, y) = (self.value(1), self.value(0));
        let op = ["==", "!=", "<", "<=", ">", ">="][self.below(6)];
        match self.below(4) {
            0 => format!("(signed char)({x}) {op} (signed char)({y})"),
            1 => format!("({x} & 15) {op} {}", self.below(16)),
            2 => format!("({x}) {op} ({y}) && ({y} & {})", 1 << self.below(8)),
            _ => format!("(unsigned)({x}) {op} (unsigned)({y})"),
        }
    }

    fn statements(&mut self, depth: u32, most: usize) {
        for _ in 0..1 + self.below(most) {
            self.statement(depth);
        }
    }

    fn block(&mut self, head: &str, depth: u32, most: usize) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        self.statements(depth, most);
        self.indent -= 1;
        self.line("}");
    }

    fn statement(&mut self, depth: u32) {
        let kind = if depth == 0 { 4 + self.below(7) } else { self.below(11) };
        match kind {
            0 | 1 => {
                let c = self.condition();
                self.block(&format!("if ({c})"), depth - 1, 3);
                if self.below(2) == 0 {
                    self.block("else", depth - 1, 2);
                }
            }
            2 => {
                let (x, i) = (self.value(0), self.loops);
                self.loops += 1;
                self.block(&format!("for (unsigned i{i} = 0; i{i} < ((unsigned)({x}) & 3); i{i}++)"), depth - 1, 2);
            }
            3 => {
                let (x, k) = (self.value(1), self.below(8));
                self.line(&format!("switch ({x} & 7) {{"));
                for case in [k, (k + 1) % 8, (k + 3) % 8] {
                    self.line(&format!("case {case}: say('a' + {case});"));
                    self.indent += 1;
                    self.statements(depth - 1, 1);
                    let last = if self.below(4) == 0 { "/* falls through */" } else { "break;" };
                    self.line(last);
                    self.indent -= 1;
                }
                self.line("default: break;");
                self.line("}");
            }
            4 => {
                let letter = (b'A' + self.below(26) as u8) as char;
                self.line(&format!("say('{letter}');"));
            }
            5 => {
                let (i, x) = (self.value(0), self.value(1));
                self.line(&format!("t[{i} & 7] = {x};"));
            }
            6 => {
                let x = self.value(1);
                let target = ["p.x", "p.y", "p.z"][self.below(3)];
                self.line(&format!("{target} = {x}; q = p; s = t + ({x} & 4);"));
            }
            7 => {
                let (x, letter) = (self.value(0), (b'A' + self.below(26) as u8) as char);
                self.line(&format!("state = states[state * 4 + classes[({x}) & 15]];"));
                let which = self.below(8);
                self.line(&format!("if (state == {which}) say('{letter}');"));
            }
            8 => {
                // After the loop `s` is `t` again, which only the loop's end tells.
                let (x, y, z) = (self.value(0), self.value(0), self.value(0));
                self.line(&format!("{{ unsigned n = ({x}) & 3, m = n; s = t; while (n--) *s++ ^= {y}; s -= m; s[({z}) & 1]++; }}"));
            }
            _ => {
                let (v, x) = (VARIABLES[self.below(6)].1, self.value(2));
                self.line(&format!("{v} = {x};"));
            }
        }
    }
}
