//! Random calls with variable arguments of every class, among named parameters that take some of the registers, arrive as natively.

use std::fmt::Write;

use crate::bad_input::Random;
use crate::native::{compile, compilers, interpret, lower_source, run};

const STEPS: u64 = 5_000_000;
const CALLS: usize = 60;
/// More than the registers of either kind.
const MOST: usize = 24;

/// Types of arguments: letter, C type, value, and what is added of the argument `a`.
const TYPES: &[(char, &str, &str, &str)] = &[
    ('i', "int", "$", "a"),
    ('l', "long", "$ * 1000003l", "a"),
    ('d', "double", "$ + 0.5", "(long)(a * 2)"),
    ('D', "long double", "$ + 0.25L", "(long)(a * 4)"),
    ('s', "struct small", "(struct small){$, 3}", "a.a - a.b"),
    ('p', "struct pair", "(struct pair){$, 5}", "(long)a.x + a.y"),
    ('f', "struct floats", "(struct floats){$, 2, 1}", "(long)(a.x - a.y + a.z)"),
    ('b', "struct large", "(struct large){{$, 7}}", "a.v[0] - a.v[1]"),
    ('A', "struct aligned", "(struct aligned){$, 9}", "a.a - a.b"),
    ('M', "struct mixed", "(struct mixed){$, 4}", "(long)a.x - a.y"),
    ('V', "struct vast", "(struct vast){{$, 8}}", "a.v[0] - a.v[1]"),
];

const HEAD: &str = "#include <stdarg.h>
#include <stdio.h>
struct small { int a, b; };
struct pair { double x; long y; };
struct floats { float x, y, z; };
struct large { long v[5]; };
struct __attribute__((aligned(16))) aligned { long a, b; };
struct __attribute__((aligned(16))) mixed { double x; long y; };
struct __attribute__((aligned(32))) vast { long v[4]; };
";

/// Functions with named parameters of several kinds: their parameters, and values for these.
const FUNCTIONS: &[(&str, &str)] = &[
    ("const char *kinds", ""),
    ("int n, double x, const char *kinds", "1, 2.0, "),
    ("long a, long b, long c, long d, const char *kinds", "1, 2, 3, 4, "),
    ("struct large b, struct pair p, const char *kinds", "(struct large){{1}}, (struct pair){1, 2}, "),
    ("double a, double b, double c, double d, double e, double f, double g, const char *kinds", "1, 2, 3, 4, 5, 6, 7, "),
    ("int a, int b, int c, int d, int e, int f, int g, const char *kinds", "1, 2, 3, 4, 5, 6, 7, "),
];

fn program(random: &mut Random) -> String {
    let mut c = HEAD.to_owned();
    let mut cases = String::new();
    for (letter, ty, _, added) in TYPES {
        writeln!(cases, "case '{letter}': {{ {ty} a = va_arg(ap, {ty}); s += {added}; break; }}").expect("to memory");
    }
    for (n, (parameters, _)) in FUNCTIONS.iter().enumerate() {
        // By value, and by a list that is handed on.
        write!(
            c,
            "__attribute__((noinline)) static long v{n}(const char *kinds, va_list ap) {{\n  long s = 0;\n  for (; *kinds; kinds++) {{ s = s * 31 % 1000000007; switch (*kinds) {{\n{cases}}} }}\n  return s;\n}}
__attribute__((noinline)) static long f{n}({parameters}, ...) {{\n  va_list ap, copy;\n  va_start(ap, kinds);\n  va_copy(copy, ap);\n  long s = v{n}(kinds, ap);\n  for (ap[0] = copy[0]; *kinds; kinds++) {{ s = s * 31 % 1000000007; switch (*kinds) {{\n{cases}}} }}\n  return s;\n}}\n"
        )
        .expect("to memory");
    }
    c.push_str("int main(void) {\n");
    for _ in 0..CALLS {
        let n = random.below(FUNCTIONS.len());
        // A few types a call, so that registers of one kind are used up.
        let few: Vec<usize> = (0..1 + random.below(4)).map(|_| random.below(TYPES.len())).collect();
        let (mut kinds, mut values) = (String::new(), String::new());
        for _ in 0..random.below(MOST) {
            let (letter, _, value, _) = TYPES[few[random.below(few.len())]];
            kinds.push(letter);
            write!(values, ", {}", value.replace('$', &random.below(1000).to_string())).expect("to memory");
        }
        writeln!(c, "  printf(\"%ld\\n\", f{n}({}\"{kinds}\"{values}));", FUNCTIONS[n].1).expect("to memory");
    }
    c.push_str("  return 0;\n}\n");
    c
}

#[test]
fn random_calls_pass_variable_arguments_as_natively() {
    let mut random = Random(22);
    for level in ["-O0", "-O2"] {
        let installed = compilers();
        for compiler in [installed.first(), installed.last()].into_iter().flatten() {
            let scratch = tempfile::tempdir().expect("a scratch directory");
            let source = scratch.path().join("program.c");
            let text = program(&mut random);
            std::fs::write(&source, &text).expect("written");
            let native = run(&compile(compiler, &[level], &source, &scratch.path().join("program"))).expect("the program ends by itself");
            let ours = interpret(lower_source(compiler, &[level], &source, scratch.path()), STEPS).expect("it runs").expect("in few steps");
            let calls = text.lines().filter(|line| line.starts_with("  printf"));
            for ((ours, native), call) in ours.output.lines().zip(native.output.lines()).zip(calls) {
                assert_eq!(ours, native, "{compiler} {level}: {call}");
            }
            assert_eq!(ours, native, "{compiler} {level}");
        }
    }
}
