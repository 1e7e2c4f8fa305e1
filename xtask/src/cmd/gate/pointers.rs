//! Pointers looked up by input: for random C programs over 256 inputs, all of them run natively under AddressSanitizer, the set of results equals
//! the set of the results of the tests that `wryneck run --emit all` writes. Each test ends as it claims to: an exit with its status and output, or a
//! fault. A run that calls itself complete is compared; one that does not is counted apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, bail, ensure};

use super::seeds::{self, Seeds};
use crate::bitcode::{CLANG, NativeMusl};
use crate::process;
use crate::random_pointers::{FAULT, Program, program};

#[derive(clap::Args)]
pub struct Args {
    /// How many programs
    #[arg(long, default_value_t = 1000)]
    programs: u64,
    /// Every N-th program is explored as an executable, too
    #[arg(long, default_value_t = 4)]
    machine: u64,
    #[command(flatten)]
    seeds: Seeds,
}

/// Status and output.
type End = (i32, String);

/// What a program is explored as.
struct Form {
    name: &'static str,
    options: &'static [&'static str],
    linked: Linked,
    /// Whether the first path is that of a seed, whose pointers lead to the seed's objects first.
    seeded: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Linked {
    /// It is bitcode.
    No,
    Clang,
    /// GNU tools lay out sections otherwise: the program's first constant is the first of its section.
    Gcc,
}

const FORMS: &[Form] = &[
    Form { name: "bitcode -O0", options: &["--cc-flag", "-O0"], linked: Linked::No, seeded: false },
    Form { name: "bitcode -O2", options: &["--cc-flag", "-O2"], linked: Linked::No, seeded: false },
    Form { name: "bitcode -O2 with a seed", options: &["--cc-flag", "-O2"], linked: Linked::No, seeded: true },
    Form { name: "executable -O0", options: &["-O0"], linked: Linked::Clang, seeded: false },
    Form { name: "executable -O2", options: &["-O2"], linked: Linked::Clang, seeded: false },
    Form { name: "executable -O0 of gcc", options: &["-O0"], linked: Linked::Gcc, seeded: false },
    Form { name: "executable -O0 with a seed", options: &["-O0"], linked: Linked::Clang, seeded: true },
];

/// Counts of one form.
#[derive(Clone, Copy, Default)]
struct Counts {
    runs: u64,
    equal: u64,
    incomplete: u64,
    results: u64,
    tests: u64,
    faults: u64,
}

pub fn run(args: &Args) -> Result<()> {
    let musl = NativeMusl::debian()?;
    let table = Mutex::new(BTreeMap::<&str, Counts>::new());
    let wrong = args.seeds.compare(args.programs, |seed, source| {
        let Program { text, planted } = program(seed);
        fs::write(source, &text)?;
        let native = native(source)?;
        let mut problems = Vec::new();
        for form in FORMS.iter().filter(|form| form.linked == Linked::No || args.machine > 0 && seed % args.machine == 0) {
            fs::write(source.with_extension("seed"), [seed as u8 | 1])?;
            let (counts, found) = compare(source, form, &native, &musl, planted).context(form.name)?;
            table.lock().expect("no holder panics").entry(form.name).or_default().add(counts);
            problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", form.name)));
        }
        Ok(problems)
    })?;
    for (name, c) in table.into_inner().expect("no holder panics") {
        println!(
            "{name}: {} of {} explorations complete and equal, {} incomplete; {} results, {} tests, {} of faults",
            c.equal, c.runs, c.incomplete, c.results, c.tests, c.faults
        );
    }
    ensure!(wrong.is_empty(), "{} programs differ from their native runs", wrong.len());
    Ok(())
}

/// The results of all inputs, by input.
fn native(source: &Path) -> Result<BTreeMap<u8, End>> {
    let binary = source.with_extension("native");
    let mut clang = Command::new(CLANG);
    clang.args(["-DNATIVE", "-w", "-O1", "-fsanitize=address", "-fno-omit-frame-pointer", "-fwrapv", "-o"]).arg(&binary).arg(source);
    process::output(&mut clang)?;
    let options = format!("exitcode={FAULT}:detect_leaks=0:detect_stack_use_after_return=0:symbolize=0");
    let out = process::output(Command::new(&binary).env("ASAN_OPTIONS", options))?;
    out.lines()
        .map(|line| {
            let mut words = line.splitn(3, ' ');
            let mut next = || words.next().context("the native program prints input, status and output");
            Ok((next()?.parse()?, (next()?.parse()?, next()?.to_owned())))
        })
        .collect()
}

fn compare(source: &Path, form: &Form, native: &BTreeMap<u8, End>, musl: &NativeMusl, planted: bool) -> Result<(Counts, Vec<String>)> {
    let nibbles = fs::read_to_string(source)?.contains("& 15) | ");
    let out = source.with_extension("out");
    let _ = fs::remove_dir_all(&out);
    let mut run = Command::new(super::wryneck());
    run.args(["run", "--quiet", "--no-replay", "--emit", "all", "--max-time", "120s", "--output"]).arg(&out);
    if form.seeded {
        run.arg("--seed").arg(source.with_extension("seed"));
    }
    let program = source.with_extension("program");
    let compiler = match form.linked {
        Linked::No => None,
        Linked::Clang => Some(musl.linking(&[source], &program)?),
        Linked::Gcc => {
            let mut gcc = Command::new("musl-gcc");
            gcc.args(["-static", "-w", "-o"]).arg(&program).arg(source);
            Some(gcc)
        }
    };
    match compiler {
        Some(mut compiler) => {
            process::output(compiler.args(form.options).args(["-g", "-fwrapv", "-DTARGET"]))?;
            run.arg("--machine-code").arg(&program);
        }
        None => _ = run.args(form.options).args(["--cc-flag", "-fwrapv"]).arg(source),
    }
    run.args(["--sym-arg", "2"]);
    let run = run.output().context("cannot start wryneck: build it with `cargo build --release`")?;
    let (stderr, status) = (String::from_utf8_lossy(&run.stderr).into_owned(), run.status.code());
    let complete = match status {
        Some(0 | 1) => true,
        Some(3) => false,
        _ => bail!("wryneck ended with {}:\n{stderr}", run.status),
    };
    let mut counts = Counts { runs: 1, ..Counts::default() };
    let mut problems = Vec::new();
    let mut got: BTreeSet<&End> = BTreeSet::new();
    for test in seeds::tests(&out)? {
        counts.tests += 1;
        let input = seeds::bytes(&test["objects"][0]["bytes"]);
        let a = input.first().copied().unwrap_or(0);
        let b = if a == 0 { 0 } else { input.get(1).copied().unwrap_or(0) };
        let n = if nibbles { a & 15 | (b & 15) << 4 } else { a };
        let want = native.get(&n).context("there is a result of every input")?;
        got.insert(want);
        let claimed = match test["class"].as_str() {
            Some("exit") => test["what"].as_str().and_then(|what| what.rsplit(' ').next()?.parse().ok()).unwrap_or(-1),
            Some("fault") => FAULT,
            _ => continue,
        };
        counts.faults += u64::from(claimed == FAULT);
        let stdout = String::from_utf8_lossy(&seeds::bytes(&test["stdout"])).into_owned();
        let same = claimed == want.0 && stdout == want.1;
        if !same {
            let ended = if want.0 == FAULT { "a fault".to_owned() } else { format!("exit {} and `{}`", want.0, want.1) };
            problems.push(format!(
                "input {n} ends as {} {} `{stdout}`{}, natively as {ended}",
                test["class"].as_str().unwrap_or("?"),
                test["what"].as_str().unwrap_or("?"),
                test["message"].as_str().map(|message| format!(" ({message})")).unwrap_or_default(),
            ));
        }
        if claimed == FAULT && !planted {
            problems.push("a fault in a program without one".to_owned());
        }
    }
    let want: BTreeSet<&End> = native.values().collect();
    counts.results = want.len() as u64;
    let missing: Vec<_> = want.difference(&got).collect();
    match (complete, missing.is_empty()) {
        (false, _) => {
            counts.incomplete = 1;
            let why = stderr.lines().last().unwrap_or_default().to_owned();
            problems.push(format!("incomplete: {why}"));
        }
        (true, false) => problems.push(format!("complete, but {} of {} results have no test: {missing:?}", missing.len(), want.len())),
        (true, true) => counts.equal = u64::from(problems.is_empty()),
    }
    problems.truncate(3);
    Ok((counts, problems))
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.runs += other.runs;
        self.equal += other.equal;
        self.incomplete += other.incomplete;
        self.results += other.results;
        self.tests += other.tests;
        self.faults += other.faults;
    }
}
