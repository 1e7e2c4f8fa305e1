//! Lifted machine code against the CPU (the oracle): every mnemonic of Debian's coreutils and libc.so.6, each form of its operands
//! in real encodings, from random states, natively and lifted.
//!
//! A form is a mnemonic with the kinds of its operands; its encodings are a sample of those in the corpus. What the lifter does
//! not say (unsupported) is weighed by how often the corpus has it. Mnemonics whose result no two machines share are counted,
//! not compared.

mod corpus;
mod data;
mod forms;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use wryneck_oracle::lifted::{Lifted, SIGTRAP};
use wryneck_oracle::{Answer, Case, Engine, Inputs, Lifter, Native, Random, State, differences, disagreement};

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// States for each form of a mnemonic
    #[arg(long, default_value_t = 1000)]
    states: usize,
    /// Encodings of a form that share them
    #[arg(long, default_value_t = 8)]
    encodings: usize,
    /// States for each encoding that the engine runs too, concretely and symbolically
    #[arg(long, default_value_t = 2)]
    engine: usize,
    /// Seed of the samples and states
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only mnemonics that begin with this
    #[arg(long)]
    only: Option<String>,
    /// Writes an encoding of each form that is lifted to this file: the list that `crates/oracle/tests` runs
    #[arg(long)]
    list: Option<PathBuf>,
    /// Runs encodings of every form there may be and writes the table of those that the CPU confirms
    #[arg(long)]
    forms: bool,
    /// Runs the libraries of Debian that are the corpus, each by itself; those with a result of this table are left out
    #[arg(long)]
    corpus: bool,
    /// Where the table of confirmed forms is
    #[arg(long, default_value = "crates/machine/src/cpu/x86_64/confirmed.txt")]
    table: PathBuf,
    /// Shows what the instruction with these bytes (in hexadecimal) is lifted to, and does nothing else
    #[arg(long)]
    show: Option<String>,
    /// Files of the corpus, instead of coreutils and libc.so.6
    files: Vec<PathBuf>,
    /// Where the list goes
    #[arg(long, default_value = "docs/results/lift.jsonl")]
    results: PathBuf,
}

/// Instructions that the oracle cannot compare, and why.
const NOT_COMPARED: &[(&str, &str)] = &[
    ("cpuid", "says which CPU it is: ours is a fixed one"),
    ("fldenv", "says which registers of the x87 are empty, which is not kept"),
    ("fnstenv", "says which registers of the x87 are empty, which is not kept"),
    ("fxrstor", "says which registers of the x87 are empty, which is not kept"),
    ("fxrstor64", "says which registers of the x87 are empty, which is not kept"),
    ("fxsave", "says which registers of the x87 are empty, which is not kept"),
    ("fxsave64", "says which registers of the x87 are empty, which is not kept"),
    ("ldmxcsr", "values that ask for another rounding, or for exceptions, end the path by name"),
    ("rdpkru", "depends on the kernel's use of protection keys"),
    ("rdtsc", "the time"),
    ("rdtscp", "the time"),
    ("syscall", "the kernel answers: tests/lift.rs and whole programs compare it"),
    ("wrpkru", "changes which memory may be used"),
    ("xabort", "our CPU has no transactions"),
    ("xbegin", "our CPU has no transactions"),
    ("xend", "our CPU has no transactions"),
    ("xgetbv", "says what the kernel has switched on: ours is fixed"),
    ("xtest", "our CPU has no transactions"),
];

/// A form of a mnemonic in the corpus.
struct Form {
    weight: u64,
    /// A sample of its encodings.
    cases: Vec<Case>,
}

/// What became of a mnemonic.
#[derive(Default, serde::Serialize)]
struct Row {
    mnemonic: String,
    /// Instructions of the corpus.
    weight: u64,
    forms: u64,
    states: u64,
    agreed: u64,
    /// Those among them from which the instruction ran to its end, without a fault.
    completed: u64,
    failed: u64,
    /// Runs of the engine; those that ended as the reference interpreter's.
    engine: u64,
    engine_agreed: u64,
    /// States from which the lifter does not say.
    unsupported: u64,
    /// Instructions of the corpus whose forms are never supported.
    unsupported_weight: u64,
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

pub fn run(args: &Args) -> Result<()> {
    if let Some(digits) = &args.show {
        let byte = |i: usize| digits.get(i..i + 2).and_then(|two| u8::from_str_radix(two, 16).ok()).context("not bytes in hexadecimal");
        let code = (0..digits.len()).step_by(2).map(byte).collect::<Result<Vec<u8>>>()?;
        println!("{}", Lifter::of_all_forms()?.text(&code)?);
        return Ok(());
    }
    if args.forms {
        return forms::run(args);
    }
    if args.corpus {
        return corpus::run(args);
    }
    let files = if args.files.is_empty() { installed()? } else { args.files.clone() };
    let corpus = sampled(args, &files)?;
    let total: u64 = corpus.values().flat_map(|forms| forms.values()).map(|f| f.weight).sum();
    let (lifter, native) = (Lifter::new()?, Native::new()?);
    if let Some(path) = &args.list {
        return list(&lifter, &corpus, path);
    }
    let mut rows = measured(args, &lifter, &native, &corpus)?;
    rows.sort_by(|a, b| b.weight.cmp(&a.weight).then(a.mnemonic.cmp(&b.mnemonic)));
    report(args, &rows, total)
}

/// What becomes of each mnemonic.
fn measured(args: &Args, lifter: &Lifter, native: &Native, corpus: &BTreeMap<String, BTreeMap<String, Form>>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (mnemonic, forms) in corpus.iter().filter(|(m, _)| args.only.as_ref().is_none_or(|only| m.starts_with(only.as_str()))) {
        let mut row = Row { mnemonic: mnemonic.clone(), ..Row::default() };
        for (name, form) in forms {
            row.forms += 1;
            row.weight += form.weight;
            compare(args, lifter, native, (name, form), &mut row)?;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// An encoding of each form that is lifted.
fn list(lifter: &Lifter, corpus: &BTreeMap<String, BTreeMap<String, Form>>, path: &Path) -> Result<()> {
    let mut text =
        String::from("# Made by `cargo xtask gate lift --list`: bytes and text of an instruction for each form in coreutils and libc.\n");
    for (mnemonic, forms) in corpus.iter().filter(|(m, _)| !NOT_COMPARED.iter().any(|(name, _)| name == m)) {
        for form in forms.values() {
            let lifted = |case: &&Case| lifter.lift(&case.code).is_ok_and(|lifted| lifter.unsupported(&lifted).is_none());
            let Some(case) = form.cases.iter().find(lifted) else { continue };
            let bytes: String = case.original.iter().map(|b| format!("{b:02x}")).collect();
            ensure!(!case.text.contains('\n'), "{mnemonic}: a text of several lines");
            text += &format!("{bytes} {}\n", case.text);
        }
    }
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Runs one form from its states on both sides.
fn compare(args: &Args, lifter: &Lifter, native: &Native, (name, form): (&str, &Form), row: &mut Row) -> Result<()> {
    if let Some((_, why)) = NOT_COMPARED.iter().find(|(m, _)| row.mnemonic.split(' ').next_back() == Some(*m)) {
        row.note = format!("not compared: {why}");
        return Ok(());
    }
    let mut random = Random::new(args.seed ^ u64::from_le_bytes(blake3::hash(name.as_bytes()).as_bytes()[..8].try_into()?));
    let each = args.states.div_ceil(form.cases.len());
    let (mut never, mut shown) = (0, 0);
    for case in &form.cases {
        let lifted = match lifter.lift(&case.code) {
            Ok(lifted) => lifted,
            Err(e) => {
                println!("{name}: `{}`: {e}", case.text);
                row.failed += 1;
                continue;
            }
        };
        if let Some(why) = lifter.unsupported(&lifted) {
            never += 1;
            row.unsupported += each as u64;
            row.note = why;
            continue;
        }
        let states: Vec<_> = (0..each).map(|_| case.state(&mut random)).collect();
        let after = native.run(&case.code, &states)?;
        for (before, cpu) in states.iter().zip(&after).filter(|(_, cpu)| cpu.spilled == 0) {
            row.states += 1;
            if let Some(wrong) = against_cpu(lifter, &lifted, case, (before, cpu), row) {
                row.failed += 1;
                if shown < 2 {
                    shown += 1;
                    println!("{name}: `{}` {:02x?}: {wrong}", case.text, case.code);
                }
            }
        }
        for before in &states[..args.engine.min(states.len())] {
            for inputs in [Inputs::Concrete, Inputs::Symbolic] {
                let path = Engine { lifter, inputs }.run(case, before)?;
                row.engine += 1;
                match disagreement(&lifter.run(&lifted, &path.before), &path.answer) {
                    None if matches!(path.answer, Answer::Unsupported(_)) => {}
                    None => row.engine_agreed += 1,
                    Some(wrong) => {
                        row.failed += 1;
                        println!("{name}: `{}` {:02x?}: interpreter and engine, {inputs:?}: {wrong}", case.text, case.code);
                    }
                }
            }
        }
    }
    row.unsupported_weight += form.weight * never / form.cases.len() as u64;
    Ok(())
}

/// How our result from one state differs from the CPU's, if it does.
fn against_cpu(lifter: &Lifter, lifted: &Lifted, case: &Case, (before, cpu): (&State, &State), row: &mut Row) -> Option<String> {
    match lifter.run(lifted, before) {
        Answer::State(ours) => {
            let wrong = differences(case, before, cpu, &ours);
            row.agreed += u64::from(wrong.is_empty());
            row.completed += u64::from(wrong.is_empty() && cpu.signal == SIGTRAP);
            (!wrong.is_empty()).then(|| wrong[..wrong.len().min(4)].join("; "))
        }
        Answer::Unsupported(why) => {
            row.unsupported += 1;
            row.note = why;
            None
        }
        Answer::Wrong(why) => Some(why),
    }
}

fn report(args: &Args, rows: &[Row], total: u64) -> Result<()> {
    let mut out = Vec::new();
    for row in rows {
        writeln!(out, "{}", serde_json::to_string(row)?)?;
        if row.failed > 0 || row.unsupported > 0 {
            println!(
                "{:<14} weight {:>6}, states {:>6}, agreed {:>6}, failed {:>6}, unsupported {:>6} (weight {:>5}) {}",
                row.mnemonic, row.weight, row.states, row.agreed, row.failed, row.unsupported, row.unsupported_weight, row.note
            );
        }
    }
    let sum = |f: &dyn Fn(&Row) -> u64| rows.iter().map(f).sum::<u64>();
    let absent = sum(&|r| r.unsupported_weight);
    println!(
        "{} mnemonics, {} forms, {} instructions; {} states: {} agreed, {} failed, {} left unsaid; engine: {} runs, {} agreed; absent: {} instructions ({:.3} %)",
        rows.len(),
        sum(&|r| r.forms),
        total,
        sum(&|r| r.states),
        sum(&|r| r.agreed),
        sum(&|r| r.failed),
        sum(&|r| r.unsupported),
        sum(&|r| r.engine),
        sum(&|r| r.engine_agreed),
        absent,
        100.0 * absent as f64 / total as f64,
    );
    if args.only.is_none() && args.files.is_empty() {
        fs::write(&args.results, out).with_context(|| format!("cannot write `{}`", args.results.display()))?;
    }
    let least = 100 * sum(&|r| r.forms);
    ensure!(
        args.only.is_some() || sum(&|r| r.agreed) >= least.min(args.states as u64 * sum(&|r| r.forms) / 2),
        "only {} states were compared",
        sum(&|r| r.agreed)
    );
    // With few states or mnemonics, too: a form that is lifted was compared from most of its states.
    let thin = |row: &&Row| {
        let said = row.note.starts_with("not compared") || row.failed > 0;
        !said && 2 * (row.states + row.unsupported) < row.forms * args.states as u64
    };
    let thin: Vec<&str> = rows.iter().filter(thin).map(|row| row.mnemonic.as_str()).collect();
    ensure!(thin.is_empty(), "compared from less than half of their states: {}", thin.join(", "));
    ensure!(!rows.is_empty() && sum(&|r| r.states) > 0, "no state was compared");
    ensure!(sum(&|r| r.failed) == 0, "{} mnemonics fail", rows.iter().filter(|r| r.failed > 0).count());
    ensure!(absent * 200 < total, "what is absent weighs 0.5 % or more");
    Ok(())
}

/// The corpus: forms by mnemonic, with a sample of the encodings of each.
fn sampled(args: &Args, files: &[PathBuf]) -> Result<BTreeMap<String, BTreeMap<String, Form>>> {
    let mut random = Random::new(args.seed);
    let mut forms: BTreeMap<String, BTreeMap<String, Form>> = BTreeMap::new();
    for file in files {
        let listing = process::output(Command::new("objdump").args(["-d", "-w"]).arg(file))?;
        let data = data::ranges(file, &listing)?;
        let is_data = |line| data::instruction(line).is_some_and(|(address, _)| data.iter().any(|range| range.contains(&address)));
        for line in listing.lines().filter(|line| !is_data(line)) {
            let mut columns = line.splitn(3, '\t').skip(1);
            let (Some(bytes), Some(text)) = (columns.next(), columns.next()) else { continue };
            let bytes: Vec<u8> = bytes.split_whitespace().map_while(|b| u8::from_str_radix(b, 16).ok()).collect();
            let Some(case) = Case::new(&bytes, text) else { continue };
            let form = forms.entry(case.mnemonic.clone()).or_default().entry(case.form()).or_insert(Form { weight: 0, cases: Vec::new() });
            form.weight += 1;
            // A sample of fixed size from a stream (algorithm R).
            if form.cases.len() < args.encodings {
                form.cases.push(case);
            } else if let Some(there) = usize::try_from(random.below(form.weight)).ok().and_then(|n| form.cases.get_mut(n)) {
                *there = case;
            }
        }
    }
    Ok(forms)
}

/// The programs of the installed coreutils, and the C library.
fn installed() -> Result<Vec<PathBuf>> {
    let list = process::output(Command::new("dpkg").args(["-L", "coreutils"]))?;
    let programs = list.lines().filter(|path| path.contains("/bin/")).map(PathBuf::from);
    let files = programs.chain([PathBuf::from("/lib/x86_64-linux-gnu/libc.so.6")]);
    let mut real: Vec<PathBuf> = files.filter(|path| path.is_file() && !path.is_symlink()).collect();
    real.sort();
    ensure!(!real.is_empty(), "coreutils is not installed: give files instead");
    Ok(real)
}
