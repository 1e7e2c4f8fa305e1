//! Truth: random programs of C++ exceptions (nested handlers, what is thrown again, destructors and constructors that speak, virtual and
//! ambiguous bases, pointers, `std::exception_ptr`, `noexcept`) end and print for every input as natively, compiled by g++ and by clang++
//! against the host's C++ library. Each end of theirs is one of our tests', and the other way round.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::ends::{self, End};
use crate::process;
use crate::random::Random;

#[derive(clap::Args)]
pub struct Args {
    /// How many programs
    #[arg(long, default_value_t = 100)]
    programs: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Keep a program that differs here
    #[arg(long)]
    keep: Option<std::path::PathBuf>,
}

const PRELUDE: &str = include_str!("exceptions.cc");
/// The input is one byte below this.
const INPUTS: u8 = 24;
/// How it ends if nobody catches: killed by SIGABRT.
const ABORTED: i32 = -6;

pub fn run(args: &Args) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let (wrong, ends) = (Mutex::new(Vec::new()), Mutex::new((0usize, 0usize)));
    let seeds: Vec<u64> = (args.seed..args.seed + args.programs).collect();
    process::parallel(&seeds, |seed| {
        let source = dir.path().join(format!("{seed}.cc"));
        fs::write(&source, Program::random(*seed))?;
        let level = ["-O0", "-O1", "-O2"][*seed as usize % 3];
        let ours = ours(&source, level)?;
        for compiler in ["g++", "clang++-22"] {
            let natives = native(&source, compiler)?;
            let aborted = natives.iter().filter(|end| end.0 == ABORTED).count();
            let mut sum = ends.lock().expect("no holder panics");
            (sum.0, sum.1) = (sum.0 + natives.len(), sum.1 + aborted);
            if ours != natives {
                let shown = |ends: Vec<&End>| {
                    let words =
                        ends.iter().take(2).map(|(status, out)| format!("{status} {}", String::from_utf8_lossy(out).replace('\n', " ")));
                    words.collect::<Vec<_>>().join("; ")
                };
                let (lost, made_up) = (natives.difference(&ours).collect(), ours.difference(&natives).collect());
                let line = format!("seed {seed} {level} {compiler}: lost {}\n  made up {}", shown(lost), shown(made_up));
                wrong.lock().expect("no holder panics").push(line);
                if let Some(keep) = &args.keep {
                    fs::create_dir_all(keep)?;
                    fs::copy(&source, keep.join(format!("{seed}.cc")))?;
                }
            }
        }
        Ok(())
    })?;
    let (wrong, (all, aborted)) = (wrong.into_inner().expect("no holder panics"), ends.into_inner().expect("no holder panics"));
    wrong.iter().for_each(|line| println!("{line}"));
    println!(
        "exceptions: {} programs, {all} ends natively by two compilers, {aborted} of them uncaught; {} differ",
        seeds.len(),
        wrong.len()
    );
    ensure!(wrong.is_empty(), "{} comparisons differ", wrong.len());
    ensure!(aborted > 0 && aborted < all, "the programs do not show what they are for");
    Ok(())
}

fn native(source: &Path, compiler: &str) -> Result<BTreeSet<End>> {
    let binary = source.with_extension(compiler);
    let built = Command::new(compiler).args(["-w", "-std=c++17", "-O1", "-o"]).arg(&binary).arg(source).output()?;
    ensure!(built.status.success(), "{compiler} does not compile {}: {}", source.display(), String::from_utf8_lossy(&built.stderr));
    let inputs: Vec<u8> = (0..=INPUTS).collect();
    Ok(ends::native(&binary, &inputs)?.into_iter().collect())
}

fn ours(source: &Path, level: &str) -> Result<BTreeSet<End>> {
    let program = source.with_extension("ours");
    let built = Command::new(super::wryneck()).args(["c++", "-w", "-std=c++17", level, "-o"]).arg(&program).arg(source).output()?;
    ensure!(built.status.success(), "wryneck c++ does not compile {}: {}", source.display(), String::from_utf8_lossy(&built.stderr));
    let status = |test: &Value| match (test["class"].as_str()?, test["what"].as_str()?) {
        ("exit", status) => status.parse().ok(),
        ("fault", what) if what.starts_with("uncaught-exception") => Some(ABORTED),
        _ => None,
    };
    let out = source.with_extension("out");
    let ends = ends::ours(&program, &out, &["--max-time", "120"], &status)?;
    fs::remove_dir_all(out)?;
    Ok(ends.into_iter().map(|(_, end)| end).collect())
}

/// A program that is being made.
struct Program {
    random: Random,
    text: String,
    /// Names for objects.
    made: u32,
    functions: usize,
    depth: usize,
}

impl Program {
    fn random(seed: u64) -> String {
        let mut p = Program { random: Random::new(seed), text: PRELUDE.to_owned(), made: 0, functions: 0, depth: 1 };
        p.text.push_str("\nstatic std::exception_ptr kept;\n");
        for _ in 0..2 + p.random.below(4) {
            let never = if p.random.below(8) == 0 { " noexcept" } else { "" };
            let name = p.functions;
            writeln!(p.text, "static void f{name}(int k){never} {{").expect("a string takes all");
            p.block(5, 3);
            p.text.push_str("}\n");
            p.functions += 1;
        }
        p.text.push_str("int main() {\n  unsigned char c = 0;\n  read(0, &c, 1);\n");
        // A path for each input.
        writeln!(p.text, "  volatile int count = 0;\n  while (count < {INPUTS} && count != c) count++;").expect("a string takes all");
        p.text.push_str("  int k = count;\n");
        if p.random.below(3) > 0 {
            p.text.push_str("  try {\n");
            p.depth = 2;
            p.block(4, 2);
            p.text.push_str("  }");
            p.handlers(1);
        } else {
            p.block(4, 2);
        }
        p.text.push_str("  std::printf(\"end %d\\n\", std::uncaught_exceptions());\n  return k & 7;\n}\n");
        p.text
    }

    fn line(&mut self, text: &str) {
        let indent = "  ".repeat(self.depth);
        writeln!(self.text, "{indent}{text}").expect("a string takes all");
    }

    fn block(&mut self, statements: usize, deeper: u32) {
        for _ in 0..1 + self.random.below(statements) {
            self.statement(deeper);
        }
    }

    fn statement(&mut self, deeper: u32) {
        self.made += 1;
        let n = self.made;
        let (m, r) = (2 + self.random.below(5), self.random.below(5));
        match self.random.below(if deeper == 0 { 7 } else { 13 }) {
            0 => self.line(&format!("std::printf(\"p{n} %d\\n\", k);")),
            1 => self.line(&format!("Said s{n}({n});")),
            2 | 3 => {
                let thrown = self.thrown();
                self.line(&format!("if (k % {m} == {}) throw {thrown};", r % m));
            }
            4 if self.functions > 0 => {
                let callee = self.random.below(self.functions);
                self.line(&format!("f{callee}(k + {r});"));
            }
            5 => self.line(&format!("{{ Parts parts(k % {m}, {r}); }}")),
            6 => self.line(&format!("{{ Counted::made = 0; Counted::bad = k % {m} + {r}; delete[] new Counted[3]; }}")),
            7 => self.line(&format!("if (kept && k % {m} == 0) std::rethrow_exception(kept);")),
            8 => {
                self.line(&format!("if (k % {m} == {}) {{", r % m));
                self.inner(deeper);
                self.line("}");
            }
            9 if self.random.below(3) == 0 => {
                self.line("[&]() noexcept {");
                self.inner(deeper);
                self.line("}();");
            }
            _ if deeper == 0 => self.line(&format!("std::printf(\"q{n}\\n\");")),
            _ => {
                self.line("try {");
                self.inner(deeper);
                self.line("}");
                self.handlers(deeper - 1);
            }
        }
    }

    fn inner(&mut self, deeper: u32) {
        self.depth += 1;
        self.block(3, deeper - 1);
        self.depth -= 1;
    }

    fn thrown(&mut self) -> String {
        const ALL: [&str; 17] = [
            "k + #",
            "(long)k",
            "2.5",
            "\"text\"",
            "Base(#)",
            "Derived(#)",
            "Hidden(#)",
            "Joined(#)",
            "Twice(#)",
            "Behind(#)",
            "(Base *)&static_derived",
            "&static_derived",
            "&static_joined",
            "(const Derived *)&static_derived",
            "no_base",
            "std::runtime_error(\"r#\")",
            "std::out_of_range(std::string(\"o#\"))",
        ];
        let which = ALL[self.random.below(ALL.len())];
        which.replace('#', &self.made.to_string())
    }

    fn handlers(&mut self, deeper: u32) {
        const ALL: [(&str, &str); 18] = [
            ("int i", "i"),
            ("long l", "(int)l"),
            ("double d", "(int)d"),
            ("const char *s", "s[0]"),
            ("const void *v", "v != nullptr"),
            ("Base &b", "b.a"),
            ("Base b", "b.a"),
            ("const Derived &d", "d.said.n"),
            ("Derived d", "d.said.n"),
            ("Left &l", "l.l + l.a"),
            ("Right r", "r.r + r.a"),
            ("Two &t", "t.t + t.a"),
            ("Offset &o", "(int)o.filler"),
            ("Base *b", "b ? b->a : -1"),
            ("const Base *b", "b ? b->a : -1"),
            ("Derived *d", "d->a"),
            ("std::logic_error &e", "e.what()[1]"),
            ("std::exception &e", "e.what()[0]"),
        ];
        let mut used = BTreeSet::new();
        for _ in 0..1 + self.random.below(3) {
            used.insert(self.random.below(ALL.len()));
        }
        let mut order: Vec<usize> = used.into_iter().collect();
        if self.random.below(2) == 0 {
            order.reverse();
        }
        for which in order {
            self.made += 1;
            let ((declared, value), n) = (ALL[which], self.made);
            self.line(&format!("catch ({declared}) {{ std::printf(\"h{n} %d %d\\n\", {value}, std::uncaught_exceptions());"));
            self.handler(deeper);
        }
        if self.random.below(3) == 0 {
            let n = self.made;
            self.line(&format!("catch (...) {{ std::printf(\"any{n}\\n\");"));
            self.handler(deeper);
        }
    }

    /// The rest of a handler.
    fn handler(&mut self, deeper: u32) {
        self.depth += 1;
        let m = 2 + self.random.below(4);
        match self.random.below(6) {
            0 => self.line("throw;"),
            1 => self.line(&format!("if (k % {m} == 1) throw;")),
            2 => self.line("kept = std::current_exception();"),
            3 => {
                let thrown = self.thrown();
                self.line(&format!("if (k % {m} == 0) throw {thrown};"));
            }
            _ if deeper > 0 => self.statement(deeper - 1),
            _ => {}
        }
        self.depth -= 1;
        self.line("}");
    }
}
