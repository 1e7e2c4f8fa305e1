//! The rows: an operator at some widths, in C and in IR.

use wryneck_ir::Op;
use wryneck_ir::float::Format;

/// One operator with its widths.
pub struct Row {
    pub op: Op,
    pub name: String,
    /// Width of the instruction.
    pub width: u32,
    /// C statements: `a`, `b`, `c` are the operands in types `A`, `B`, `C`; they set `r` of type `R`.
    body: String,
    types: [Type; 4],
    /// The instruction's text after the operator, on %a, %b, %c.
    operands: String,
    /// A library function does it: which NaN comes out is not stated, nor what patterns that are no numbers give.
    pub library: bool,
    pub kind: Kind,
}

/// What inputs suit a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Division,
    Shift,
    Float(Format),
    /// A float whose value fits in an integer of that width, signed or not.
    FloatWithin(Format, u32, bool),
}

/// The type of an operand or result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Type {
    None,
    Int(u32),
    Float(Format),
}

impl Type {
    fn width(self) -> u32 {
        match self {
            Type::None => 0,
            Type::Int(w) => w,
            Type::Float(f) => f.width(),
        }
    }
    fn c(self) -> String {
        match self {
            Type::None => "u64".into(),
            Type::Int(w) => format!("unsigned _BitInt({w})"),
            Type::Float(Format::Half) => "_Float16".into(),
            Type::Float(Format::Single) => "float".into(),
            Type::Float(Format::Double) => "double".into(),
            Type::Float(Format::Extended) => "long double".into(),
            Type::Float(Format::Quad) => "__float128".into(),
        }
    }
}

const WIDTHS: &[u32] = &[2, 7, 8, 16, 31, 32, 33, 64, 65, 80, 127, 128, 200, 256];

impl Row {
    /// Widths of the parameters.
    pub fn params(&self) -> impl Iterator<Item = u32> {
        self.types[1..].iter().map(|t| t.width()).filter(|&w| w > 0)
    }
    pub fn result(&self) -> u32 {
        self.types[0].width()
    }
    /// Makes results that may differ equal.
    pub fn canonical(&self, v: &mut [u64]) {
        if let (true, Type::Float(f)) = (self.library, self.types[0]) {
            let bits = u128::from(v[0]) | v.get(1).map_or(0, |&h| u128::from(h) << 64);
            if f.is_nan(bits) {
                v.fill(u64::MAX);
            }
            // Which zero the library's fmin and fmax give is not stated either.
            if matches!(self.op, Op::Fmin | Op::Fmax) && bits << (129 - f.width()) == 0 {
                v.fill(0);
            }
        }
    }
    /// Function `number` of the IR module.
    pub fn ir(&self, number: usize) -> String {
        let params: Vec<String> = self.params().zip(["a", "b", "c"]).map(|(w, n)| format!("%{n}: {w}")).collect();
        let width = if matches!(self.op, Op::PtrAdd | Op::Anchor) { String::new() } else { format!(".{}", self.width) };
        format!(
            "func strong @f{number}({}) -> {r} {{ s: %r = {}{width} {} ret.{r} %r }}\n",
            params.join(", "),
            self.op.name(),
            self.operands,
            r = self.result()
        )
    }
    fn c_function(&self, number: usize) -> String {
        let mut out = format!("static void f{number}(const u64 *in, u64 *out) {{ typedef {} R; R r;\n", self.types[0].c());
        for (i, t) in self.types[1..].iter().enumerate().filter(|(_, t)| **t != Type::None) {
            let (upper, lower) = (["A", "B", "C"][i], ["a", "b", "c"][i]);
            let read = match t {
                Type::Int(w) => {
                    (0..w.div_ceil(64)).map(|l| format!("({upper})in[{}] << {}", 4 * i as u32 + l, 64 * l)).collect::<Vec<_>>().join(" | ")
                }
                _ => String::new(),
            };
            out += &match t {
                Type::Float(f) => {
                    format!("typedef {} {upper}; {upper} {lower}; memcpy(&{lower}, in + {}, {});\n", t.c(), 4 * i, f.width() / 8)
                }
                _ => format!("typedef {} {upper}; {upper} {lower} = {read};\n", t.c()),
            };
            if let Type::Int(w @ 2..) = t {
                out += &format!(
                    "typedef _BitInt({w}) S{upper}; typedef _BitInt({}) D{upper}; typedef unsigned _BitInt({}) W{upper};\n",
                    2 * w + 2,
                    2 * w
                );
            }
        }
        out += &self.body;
        out += &match self.types[0] {
            Type::Float(f) => format!("\nmemcpy(out, &r, {}); }}\n", f.width() / 8),
            t => (0..t.width().div_ceil(64)).fold("\n".to_owned(), |s, l| s + &format!("out[{l}] = (u64)(r >> {});", 64 * l)) + " }\n",
        };
        out
    }
}

/// A program that reads records of a row number and three operands, and writes a result each.
pub fn c_file(rows: &[Row]) -> String {
    let mut out = String::from("#include <string.h>\n#include <stdio.h>\ntypedef unsigned long u64;\n");
    out += "__float128 fmodf128(__float128, __float128), sqrtf128(__float128), fmaf128(__float128, __float128, __float128);\n";
    out += "__float128 fminf128(__float128, __float128), fmaxf128(__float128, __float128), floorf128(__float128);\n";
    out += "__float128 ceilf128(__float128), truncf128(__float128), rintf128(__float128), roundf128(__float128);\n";
    for (i, row) in rows.iter().enumerate() {
        out += &row.c_function(i);
    }
    out += "static void (*const table[])(const u64 *, u64 *) = {";
    for i in 0..rows.len() {
        out += &format!("f{i},");
    }
    out += "};\nint main(void) { u64 in[13];\n";
    out += "while (fread(in, sizeof in, 1, stdin) == 1) { u64 r[4] = {0}; table[in[0]](in + 1, r); fwrite(r, sizeof r, 1, stdout); } }\n";
    out
}

/// All rows.
pub fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    integers(&mut rows);
    casts(&mut rows);
    for f in Format::ALL {
        floats(&mut rows, f);
    }
    float_casts(&mut rows);
    rows
}

struct New<'r>(&'r mut Vec<Row>);

impl New<'_> {
    /// `raw`, for the name: source width, predicate, rounding, scale or offset, or 0.
    fn add(&mut self, (op, width, raw): (Op, u32, u32), types: [Type; 4], kind: Kind, operands: &str, body: &str) {
        let name = format!("{}.{width} (raw {raw})", op.name());
        let (operands, body) = (operands.to_owned(), body.to_owned());
        self.0.push(Row { op, name, width, body, types, operands, library: false, kind });
    }
}

fn integers(rows: &mut Vec<Row>) {
    use Kind::{Division, Integer, Shift};
    let mut new = New(rows);
    // Operator, result type (1: a bit), operands, inputs, C.
    let table: &[(Op, bool, usize, Kind, &str)] = &[
        (Op::Copy, false, 1, Integer, "r = a;"),
        (Op::Add, false, 2, Integer, "r = a + b;"),
        (Op::Sub, false, 2, Integer, "r = a - b;"),
        (Op::Mul, false, 2, Integer, "r = (WA)a * b;"),
        (Op::Udiv, false, 2, Division, "r = a / b;"),
        (Op::Sdiv, false, 2, Division, "r = (SA)a / (SA)b;"),
        (Op::Urem, false, 2, Division, "r = a % b;"),
        (Op::Srem, false, 2, Division, "r = (SA)a % (SA)b;"),
        (Op::And, false, 2, Integer, "r = a & b;"),
        (Op::Or, false, 2, Integer, "r = a | b;"),
        (Op::Xor, false, 2, Integer, "r = a ^ b;"),
        (Op::Shl, false, 2, Shift, "r = b >= WIDTH ? (A)0 : (A)(a << b);"),
        (Op::Lshr, false, 2, Shift, "r = b >= WIDTH ? (A)0 : (A)(a >> b);"),
        (Op::Ashr, false, 2, Shift, "r = (SA)a >> (b >= WIDTH ? (A)(WIDTH - 1) : b);"),
        (Op::Fshl, false, 3, Shift, "WA v = (WA)a << WIDTH | b; r = (v << (unsigned)(c % (WA)WIDTH)) >> WIDTH;"),
        (Op::Fshr, false, 3, Shift, "WA v = (WA)a << WIDTH | b; r = v >> (unsigned)(c % (WA)WIDTH);"),
        (Op::Eq, true, 2, Integer, "r = a == b;"),
        (Op::Ne, true, 2, Integer, "r = a != b;"),
        (Op::Ult, true, 2, Integer, "r = a < b;"),
        (Op::Ule, true, 2, Integer, "r = a <= b;"),
        (Op::Slt, true, 2, Integer, "r = (SA)a < (SA)b;"),
        (Op::Sle, true, 2, Integer, "r = (SA)a <= (SA)b;"),
        (Op::UaddOverflow, true, 2, Integer, "DA x = (DA)a + (DA)b; r = x != (DA)(A)x;"),
        (Op::SaddOverflow, true, 2, Integer, "DA x = (DA)(SA)a + (DA)(SA)b; r = x != (DA)(SA)x;"),
        (Op::UsubOverflow, true, 2, Integer, "DA x = (DA)a - (DA)b; r = x != (DA)(A)x;"),
        (Op::SsubOverflow, true, 2, Integer, "DA x = (DA)(SA)a - (DA)(SA)b; r = x != (DA)(SA)x;"),
        (Op::UmulOverflow, true, 2, Integer, "DA x = (DA)a * (DA)b; r = x != (DA)(A)x;"),
        (Op::SmulOverflow, true, 2, Integer, "DA x = (DA)(SA)a * (DA)(SA)b; r = x != (DA)(SA)x;"),
        (Op::Bswap, false, 1, Integer, "r = 0; for (int i = 0; i < WIDTH; i += 8) r = r << 8 | ((a >> i) & 255);"),
        (Op::Bitreverse, false, 1, Integer, "r = 0; for (int i = 0; i < WIDTH; i++) r = r << 1 | ((a >> i) & 1);"),
        (Op::Ctpop, false, 1, Integer, "u64 n = 0; for (int i = 0; i < WIDTH; i++) n += (u64)((a >> i) & 1); r = (A)n;"),
        (Op::Ctlz, false, 1, Integer, "u64 n = 0; while (n < WIDTH && !((a >> (WIDTH - 1 - n)) & 1)) n++; r = (A)n;"),
        (Op::Cttz, false, 1, Integer, "u64 n = 0; while (n < WIDTH && !((a >> n) & 1)) n++; r = (A)n;"),
    ];
    for &width in WIDTHS {
        for &(op, bit, count, kind, body) in table {
            // Counts of 2 bits may not fit 2 bits; the operator cuts them, but LLVM's never are that narrow.
            if op == Op::Bswap && width % 16 != 0 || width == 2 && matches!(op, Op::Ctpop | Op::Ctlz | Op::Cttz) {
                continue;
            }
            let int = Type::Int(width);
            let operand = |n: usize| if n < count { int } else { Type::None };
            let types = [if bit { Type::Int(1) } else { int }, operand(0), operand(1), operand(2)];
            let body = body.replace("WIDTH", &width.to_string());
            new.add((op, width, 0), types, kind, ["%a", "%a, %b", "%a, %b, %c"][count - 1], &body);
        }
        let int = Type::Int(width);
        new.add((Op::Select, width, 0), [int, Type::Int(1), int, int], Integer, "%a, %b, %c", "r = a ? b : c;");
    }
    let word = Type::Int(64);
    new.add((Op::PtrAdd, 64, 12), [word, word, word, Type::None], Integer, "%a, %b scale 12", "r = a + b * 12;");
    new.add((Op::Anchor, 64, 7), [word, word, word, Type::None], Integer, "%a, %b object 7", "r = a;");
}

fn casts(rows: &mut Vec<Row>) {
    let mut new = New(rows);
    let int = Type::Int;
    for &from in WIDTHS {
        for &to in WIDTHS {
            let types = [int(to), int(from), Type::None, Type::None];
            let operands = format!("%a from {from}");
            if to > from {
                new.add((Op::Zext, to, from), types, Kind::Integer, &operands, "r = (R)a;");
                new.add((Op::Sext, to, from), types, Kind::Integer, &operands, &format!("r = (R)(_BitInt({to}))(SA)a;"));
                let types = [int(to), int(to - from), int(from), Type::None];
                let body = format!("r = (R)((R)a << {from}) | b;");
                if to - from > 1 {
                    new.add((Op::Concat, to, from), types, Kind::Integer, &format!("%a, %b low {from}"), &body);
                }
            } else if to < from {
                new.add((Op::Trunc, to, from), types, Kind::Integer, &operands, "r = (R)a;");
                for low in [0, (from - to) / 2, from - to] {
                    let operands = format!("%a at {low} of {from}");
                    new.add((Op::Extract, to, from), types, Kind::Integer, &operands, &format!("r = (R)(a >> {low});"));
                }
            }
        }
    }
}

/// The library's name of a function in a format: `fmod`, `fmodf`, `fmodl`, `fmodf128`.
fn library(f: Format, name: &str) -> String {
    match f {
        Format::Half | Format::Single => format!("__builtin_{name}f"),
        Format::Double => format!("__builtin_{name}"),
        Format::Extended => format!("__builtin_{name}l"),
        Format::Quad => format!("{name}f128"),
    }
}

fn floats(rows: &mut Vec<Row>, f: Format) {
    let mut new = New(rows);
    let (t, none, kind, width) = (Type::Float(f), Type::None, Kind::Float(f), f.width());
    for (op, c) in [(Op::Fadd, "+"), (Op::Fsub, "-"), (Op::Fmul, "*"), (Op::Fdiv, "/")] {
        new.add((op, width, 0), [t, t, t, none], kind, "%a, %b", &format!("r = a {c} b;"));
        // libgcc chooses among NaNs by its own rule.
        new.0.last_mut().unwrap().library = f == Format::Quad;
    }
    new.add((Op::Fneg, width, 0), [t, t, none, none], kind, "%a", "r = -a;");
    let sign = format!("r = a; ((unsigned char *)&r)[{}] &= 127;", width / 8 - 1);
    new.add((Op::Fabs, width, 0), [t, t, none, none], kind, "%a", &sign);
    for (op, name) in [(Op::Frem, "fmod"), (Op::Fmin, "fmin"), (Op::Fmax, "fmax")] {
        new.add((op, width, 0), [t, t, t, none], kind, "%a, %b", &format!("r = {}(a, b);", library(f, name)));
        new.0.last_mut().unwrap().library = op == Op::Frem || matches!(f, Format::Extended | Format::Quad | Format::Half);
    }
    new.add((Op::Fsqrt, width, 0), [t, t, none, none], kind, "%a", &format!("r = {}(a);", library(f, "sqrt")));
    new.0.last_mut().unwrap().library = f == Format::Quad;
    // C has no fma of 16 bits; a double holds the exact product and nearly the sum (see `inputs`).
    let fma = match f {
        Format::Half => "r = (_Float16)__builtin_fma((double)a, (double)b, (double)c);".to_owned(),
        _ => format!("r = {}(a, b, c);", library(f, "fma")),
    };
    new.add((Op::Fma, width, 0), [t, t, t, t], kind, "%a, %b, %c", &fma);
    new.0.last_mut().unwrap().library = true;
    let rounds = [("floor", "floor"), ("ceil", "ceil"), ("trunc", "trunc"), ("even", "rint"), ("away", "round")];
    for (mode, (word, name)) in rounds.into_iter().enumerate() {
        let body = format!("r = {}(a);", library(f, name));
        new.add((Op::Fround, width, mode as u32), [t, t, none, none], kind, &format!("%a to {word}"), &body);
        new.0.last_mut().unwrap().library = matches!(f, Format::Extended | Format::Quad);
    }
    // Both are on the stack; the instructions of two numbers pop one.
    let one = |name: &str| format!(r#"r = a; __asm__("{name}" : "+t"(r));"#);
    let two = |name: &str| format!(r#"__asm__("{name}" : "=t"(r) : "0"(a), "u"(b) : "st(1)");"#);
    let tangent = r#"unsigned short status; __asm__("fptan\n fnstsw %1\n testb $4, %h1\n jnz 1f\n fstp %%st(0)\n 1:" : "=t"(r), "=a"(status) : "0"(a));"#;
    let functions = [
        ("sine", one("fsin")),
        ("cosine", one("fcos")),
        ("tangent", tangent.to_owned()),
        ("angle", two("fpatan")),
        ("logarithm", two("fyl2x")),
        ("logarithm_of_one_more", two("fyl2xp1")),
        ("power_less_one", one("f2xm1")),
    ];
    for (number, (word, body)) in (0..).zip(functions).filter(|_| f == Format::Extended) {
        new.add((Op::X87, width, number), [t, t, t, none], kind, &format!("%a, %b function {word}"), &body);
    }
    for predicate in 0..16 {
        let body = format!(
            "int p = {predicate}; r = (p & 1 && a == b) || (p & 2 && a > b) || (p & 4 && a < b) || (p & 8 && __builtin_isunordered(a, b));"
        );
        new.add((Op::Fcmp, width, predicate), [Type::Int(1), t, t, none], kind, &format!("%a, %b is {predicate}"), &body);
    }
}

fn float_casts(rows: &mut Vec<Row>) {
    let mut new = New(rows);
    let none = Type::None;
    for from in Format::ALL {
        let operands = format!("%a from {}", from.width());
        let source = Type::Float(from);
        for to in Format::ALL.into_iter().filter(|&to| to != from) {
            let types = [Type::Float(to), source, none, none];
            new.add((Op::Fcast, to.width(), from.width()), types, Kind::Float(from), &operands, "r = (R)a;");
            let by_cpu = |f| matches!(f, Format::Single | Format::Double | Format::Extended);
            new.0.last_mut().unwrap().library = from == Format::Quad || to == Format::Quad || from == Format::Extended && !by_cpu(to);
        }
        for width in [8u32, 16, 32, 64, 128] {
            // Out of range, what the library does is not stated.
            let library = width == 128 || from == Format::Quad;
            let kind = |signed| if library { Kind::FloatWithin(from, width, signed) } else { Kind::Float(from) };
            let types = [Type::Int(width), source, none, none];
            // Standard types, since clang's conversions of `_BitInt` are others.
            let c = ["char", "short", "int", "long", "__int128"][width.trailing_zeros() as usize - 3];
            new.add(
                (Op::FtoS, width, from.width()),
                types,
                kind(true),
                &operands,
                &format!("r = (R)(signed {c})a;").replace("signed __int128", "__int128"),
            );
            new.add((Op::FtoU, width, from.width()), types, kind(false), &operands, &format!("r = (R)(unsigned {c})a;"));
        }
    }
    for to in Format::ALL {
        for width in [8u32, 16, 32, 64, 128] {
            let types = [Type::Float(to), Type::Int(width), none, none];
            let operands = format!("%a from {width}");
            let c = ["char", "short", "int", "long", "__int128"][width.trailing_zeros() as usize - 3];
            let signed = format!("r = (R)(signed {c})a;").replace("signed __int128", "__int128");
            new.add((Op::StoF, to.width(), width), types, Kind::Integer, &operands, &signed);
            new.add((Op::UtoF, to.width(), width), types, Kind::Integer, &operands, &format!("r = (R)(unsigned {c})a;"));
        }
    }
}
