//! Random C functions of floating-point arithmetic over sixteen input bits, without undefined behaviour, for the gate `floats`.
//!
//! `f` makes numbers of the input (as an integer, scaled, as bits of a `float`), computes with them in `float`, `double` and `long double`, and
//! returns which comparisons hold. Compiled with `-DNATIVE`, `main` prints the result of all 65,536 inputs.

use crate::random::{OF_TWO_BYTES, Random};

const TYPES: [(&str, &str); 3] = [("float", "f"), ("double", ""), ("long double", "L")];

struct Generator {
    random: Random,
    out: String,
    /// Type and name of the numbers so far.
    numbers: Vec<(usize, String)>,
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut g = Generator { random: Random::new(seed), out: String::new(), numbers: Vec::new() };
    g.out.push_str("#include <math.h>\n#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\n");
    g.out.push_str("static float bits(unsigned n) { float x; n <<= 16; memcpy(&x, &n, 4); return x; }\n");
    g.out.push_str("static int whole(double x) { return x > -1e6 && x < 1e6 ? (int)x : 7; }\n");
    g.out.push_str("int f(unsigned short n) {\n");
    g.inputs();
    for _ in 0..1 + g.below(5) {
        g.number();
    }
    g.out.push_str("  int r = 0;\n");
    for bit in 0..2 + g.below(4) {
        let test = g.test();
        g.out.push_str(&format!("  if ({test})\n    r |= {};\n", 1 << bit));
    }
    g.out.push_str("  return r;\n}\n");
    g.out.push_str(OF_TWO_BYTES);
    g.out
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn declare(&mut self, ty: usize, value: &str) {
        let name = format!("x{}", self.numbers.len());
        self.out.push_str(&format!("  {} {name} = {value};\n", TYPES[ty].0));
        self.numbers.push((ty, name));
    }

    fn inputs(&mut self) {
        for _ in 0..2 {
            let ty = self.below(3);
            let k = self.below(40) + 1;
            let value = match self.below(7) {
                0 => "(short)n".to_owned(),
                1 => "n".to_owned(),
                2 => format!("n / {k}.0"),
                3 => "(signed char)n".to_owned(),
                4 => format!("(unsigned char)(n >> 8) - {k}.5"),
                _ => "bits(n)".to_owned(),
            };
            self.declare(ty, &value);
        }
    }

    fn constant(&mut self, ty: usize) -> String {
        let (whole, part) = (self.below(100), self.below(100));
        let number = match self.below(5) {
            0 => format!("{whole}.0"),
            1 => format!("{whole}.{part:02}"),
            2 => format!("0.{part:03}1"),
            3 => format!("-{whole}.5"),
            _ => format!("1e{}", self.below(12)),
        };
        format!("{number}{}", TYPES[ty].1)
    }

    fn operand(&mut self, ty: usize) -> String {
        if self.below(3) == 0 {
            return self.constant(ty);
        }
        let at = self.below(self.numbers.len());
        self.numbers[at].1.clone()
    }

    /// One more number. Few products and quotients of two unknown numbers: such equations are hard for every solver.
    fn number(&mut self) {
        let ty = self.below(3);
        let at = self.below(self.numbers.len());
        let (a, k) = (self.numbers[at].1.clone(), self.constant(ty));
        let b = self.operand(ty);
        let suffix = ["f", "", "l"][ty];
        let value = match self.below(13) {
            0 | 1 => format!("{a} + {b}"),
            2 => format!("{a} - {b}"),
            3 | 4 => format!("{a} * {k}"),
            5 => format!("{a} / {k}"),
            6 => format!("{k} / {a}"),
            7 => format!("{a} * {a}"),
            8 => format!("fabs{suffix}({a})"),
            9 => format!("{}{suffix}({a})", ["floor", "ceil", "trunc", "rint"][self.below(4)]),
            10 => format!("sqrt{suffix}({a})"),
            11 => format!("whole({a}) + {k}"),
            _ => format!("{a} < {b} ? {a} : {k}"),
        };
        self.declare(ty, &value);
    }

    fn test(&mut self) -> String {
        let at = self.numbers.len() - 1 - self.below(2);
        let (ty, name) = self.numbers[at].clone();
        let other = self.operand(ty);
        match self.below(8) {
            0 => format!("{name} == {other}"),
            1 => format!("{name} <= {other}"),
            2 => format!("!({name} >= {other})"),
            3 => format!("{name} != {name}"),
            4 => format!("whole({name}) % 3 == 1"),
            5 => format!("{name} > {other}"),
            _ => format!("{name} < {other}"),
        }
    }
}
