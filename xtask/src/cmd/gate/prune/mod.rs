//! Pruning keeps every event sequence: for random C programs, the set of sequences of the paths that end equals the set over all inputs
//! run natively, without pruning and with it, by every searcher. Algorithm 1 of paper 1 as printed must lose some, which shows that the
//! programs can tell.
//!
//! Programs share C files, ten each: clang and the lowering cost more than the explorations. Cost: about 30 ms of one core a program.

mod program;
mod reduce;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use serde_json::{Value, json};

use self::program::{Program, Shape};
use crate::bitcode::{CLANG, NativeMusl};
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// How many programs
    #[arg(long, default_value_t = 5000)]
    programs: u64,
    /// The first one's seed
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// Every searcher on every program, or one after the other
    #[arg(long, default_value = "rotate")]
    searchers: Searchers,
    /// As bitcode, or as static executables
    #[arg(long, default_value = "bitcode")]
    frontend: Frontend,
    /// What the programs' entries are
    #[arg(long, default_value = "plain")]
    shape: Shape,
    /// Add what each program came to to this file, a JSON object a line
    #[arg(long)]
    results: Option<PathBuf>,
    /// Keep the programs' files, and say where
    #[arg(long)]
    show: bool,
    /// Shrink the smallest program that is wrong
    #[arg(long)]
    reduce: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Searchers {
    All,
    Rotate,
}

/// What the explored programs are.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Frontend {
    Bitcode,
    /// Static executables of musl
    Machine,
    /// Dynamic executables of the host's C library
    Host,
}

const SEARCHERS: [&str; 7] = ["bfs", "coverage-new", "default", "dfs", "distance-to-uncovered", "random-path", "subtrees"];
/// Programs of a C file.
const BATCH: u64 = 10;
/// The largest number of sequences a failure names.
const NAMED: usize = 5;
const RULES: [(&str, &str); 2] = [("rule.toml", include_str!("rule.toml")), ("more.toml", include_str!("more.toml"))];

/// How a program is explored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Unpruned,
    Wanted,
    /// Where flips are left out behind equal states, too.
    Subsumed,
    Algorithm1,
}

impl Mode {
    const ALL: [Mode; 4] = [Mode::Unpruned, Mode::Wanted, Mode::Subsumed, Mode::Algorithm1];

    /// The value of `--prune`, and what more is asked for.
    fn words(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Mode::Unpruned => ("off", &[]),
            Mode::Wanted => ("wanted", &["--off", "subsumption"]),
            Mode::Subsumed => ("wanted", &[]),
            Mode::Algorithm1 => ("algorithm1", &[]),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Mode::Subsumed => "subsumed",
            Mode::Unpruned | Mode::Wanted | Mode::Algorithm1 => self.words().0,
        }
    }
}

type Sequences = BTreeSet<String>;

/// What an exploration came to: its paths, the flips it left out behind equal states, and the sequences of paths that ended.
struct Explored {
    paths: u64,
    subsumed: u64,
    sequences: Sequences,
    /// The programs have no faults: one that is found is false, cuts its paths short, and has to leave every rule without VERIFIED.
    unsure: bool,
}

/// What the explorations of a mode came to.
#[derive(Default)]
struct Sum {
    runs: u64,
    paths: u64,
    /// Flips that were left out behind equal states.
    subsumed: u64,
    time: Duration,
    /// Runs without a sequence that an input shows.
    lost: u64,
    /// Runs without one that say so: a false fault, and no rule VERIFIED.
    unsure: u64,
}

/// How an exploration differs from the truth.
#[derive(Default)]
struct Wrong {
    missing: Sequences,
    extra: Sequences,
    /// Why there is no answer, if there is none.
    broken: String,
}

impl Wrong {
    fn new(found: Result<Sequences>, truth: &Sequences) -> Wrong {
        match found {
            Ok(found) => Wrong { missing: truth - &found, extra: &found - truth, broken: String::new() },
            Err(error) => Wrong { broken: format!("{error:#}"), ..Wrong::default() },
        }
    }

    /// Where the tool broke down, if it did.
    fn panic(&self) -> Option<&str> {
        self.broken.lines().find_map(|line| Some(line.split_once("panicked at")?.1))
    }

    /// The published algorithm may lose sequences.
    fn is_failure(&self, mode: Mode) -> bool {
        !self.broken.is_empty() || !self.extra.is_empty() || mode != Mode::Algorithm1 && !self.missing.is_empty()
    }
}

/// A program on which a mode is wrong.
struct Failure {
    program: Program,
    mode: Mode,
    searcher: &'static str,
    wrong: Wrong,
}

#[derive(Default)]
struct Results {
    sums: BTreeMap<Mode, Sum>,
    sequences: usize,
    inputs: usize,
    failures: Vec<Failure>,
}

pub fn run(args: &Args) -> Result<()> {
    let mut dir = tempfile::Builder::new().prefix("prune-").tempdir()?;
    dir.disable_cleanup(args.show);
    for (name, text) in RULES.iter().chain([&("events.c", include_str!("events.c"))]) {
        fs::write(dir.path().join(name), text)?;
    }
    let mut batches: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for seed in args.first..args.first + args.programs {
        batches.entry(seed / BATCH).or_default().push(seed);
    }
    let Args { frontend, shape, .. } = *args;
    let bench = Bench { dir: dir.path().to_owned(), wryneck: crate::cmd::wryneck()?, frontend, shape };
    let batches: Vec<_> = batches.into_iter().collect();
    let rows = args.results.as_ref().map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?.map(Mutex::new);
    let results = Mutex::new(Results::default());
    process::parallel(&batches, |(number, seeds)| {
        let of_batch = Mutex::new(Results::default());
        bench.batch(*number, seeds, args.searchers, &of_batch)?;
        let of_batch = of_batch.into_inner().expect("no job panics");
        if let Some(rows) = &rows {
            let row = of_batch.row(args, seeds);
            writeln!(rows.lock().expect("no job panics"), "{row}")?;
        }
        results.lock().expect("no job panics").add(of_batch);
        Ok(())
    })?;
    if args.show {
        println!("files: {}", dir.path().display());
    }
    let mut results = results.into_inner().expect("no job panics");
    results.failures.sort_by_key(|f| (f.program.text.len(), f.mode, f.searcher));
    results.print(args.programs);
    if let Some(smallest) = results.failures.first() {
        let text = if args.reduce { bench.reduce(smallest)? } else { smallest.program.text.clone() };
        println!("the smallest, seed {}, {}:\n{text}", smallest.program.seed, level(smallest.program.seed));
    }
    results.judge(args.programs)
}

/// What explores, and where.
struct Bench {
    dir: PathBuf,
    wryneck: PathBuf,
    frontend: Frontend,
    shape: Shape,
}

impl Bench {
    /// Programs of one C file.
    fn batch(&self, number: u64, seeds: &[u64], searchers: Searchers, results: &Mutex<Results>) -> Result<()> {
        let programs: Vec<Program> = seeds.iter().map(|seed| Program::new(*seed, self.shape)).collect();
        let source = self.dir.join(format!("{number}.c"));
        fs::write(&source, file(&programs))?;
        let truth = native(&source, &["-O0"])?;
        let code = self.frontend.compile(&source, level(number * BATCH))?;
        for program in &programs {
            let truth = truth.get(&program.seed).context("every program ends on some input")?;
            // Not in step with the simple programs, which are every third.
            let rotated = [SEARCHERS[program.seed as usize / 3 % SEARCHERS.len()]];
            {
                let mut results = results.lock().expect("no job panics");
                results.sequences += truth.len();
                results.inputs += program.values.iter().product::<usize>();
            }
            for mode in Mode::ALL {
                let every = matches!(mode, Mode::Wanted | Mode::Subsumed) && searchers == Searchers::All;
                for searcher in if every { &SEARCHERS[..] } else { &rotated } {
                    self.explore(&code, program, mode, searcher, truth, results);
                }
            }
        }
        Ok(())
    }

    /// Compares one exploration with the truth.
    fn explore(&self, code: &Path, program: &Program, mode: Mode, searcher: &'static str, truth: &Sequences, results: &Mutex<Results>) {
        let started = Instant::now();
        let answer = self.explored(code, program.seed, mode, searcher);
        let time = started.elapsed();
        let mut results = results.lock().expect("no job panics");
        let sum = results.sums.entry(mode).or_default();
        sum.runs += 1;
        sum.time += time;
        sum.paths += answer.as_ref().map_or(0, |found| found.paths);
        sum.subsumed += answer.as_ref().map_or(0, |found| found.subsumed);
        let unsure = answer.as_ref().is_ok_and(|found| found.unsure);
        let wrong = Wrong::new(answer.map(|found| found.sequences), truth);
        let says_so = unsure && wrong.extra.is_empty() && !wrong.missing.is_empty();
        sum.lost += u64::from(!wrong.missing.is_empty() && !says_so);
        sum.unsure += u64::from(says_so);
        if wrong.is_failure(mode) && !says_so {
            results.failures.push(Failure { program: program.clone(), mode, searcher, wrong });
        }
    }

    /// The text of a smaller program that is wrong in the same way, and defined natively.
    fn reduce(&self, failure: &Failure) -> Result<String> {
        let Failure { program, mode, searcher, wrong } = failure;
        let source = self.dir.join("reduced.c");
        let try_it = |text: &str| -> Result<bool> {
            fs::write(&source, file(&[Program { text: text.to_owned(), ..program.clone() }]))?;
            let truth = native(&source, &["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"])?;
            let truth = truth.get(&program.seed).context("no path ends")?;
            let code = self.frontend.compile(&source, level(program.seed))?;
            let found = self.explored(&code, program.seed, *mode, searcher).map(|found| found.sequences);
            let now = Wrong::new(found, truth);
            let alike = now.missing.is_empty() == wrong.missing.is_empty() && now.extra.is_empty() == wrong.extra.is_empty();
            Ok(now.is_failure(*mode) && alike && now.panic() == wrong.panic())
        };
        Ok(reduce::reduce(&program.text, |text| try_it(text).unwrap_or(false)))
    }

    fn explored(&self, code: &Path, seed: u64, mode: Mode, searcher: &str) -> Result<Explored> {
        let name = |what: &str| code.with_extension(format!("{seed}-{}-{searcher}.{what}", mode.name()));
        let (out, sequences) = (name("out"), name("sequences"));
        let _ = fs::remove_dir_all(&out);
        let dir = code.parent().context("code lies in the folder of its rules")?;
        let (prune, more) = mode.words();
        let rules = RULES.map(|(rule, _)| dir.join(rule).display().to_string()).join(",");
        let mut command = Command::new(&self.wryneck);
        command
            .args(["verify", "--json", "--no-replay", "--emit", "none", "--max-time", "60s", "--audit", "off", "--rule", &rules])
            .args(["--search", searcher, "--prune", prune, "--sequences"])
            .arg(&sequences)
            .args(more)
            .arg("--output")
            .arg(&out);
        // Called by `main`, or a function of its own, in a quarter of the files at each level.
        match self.frontend == Frontend::Bitcode && (seed / BATCH / 2).is_multiple_of(4) {
            true => command.args(["--entry", &format!("p_{seed}")]).arg(code),
            false => command.arg(code).arg((seed % BATCH).to_string()),
        };
        let done = command.env("RUST_BACKTRACE", "0").output()?;
        let run: Value = serde_json::from_slice(&done.stdout).with_context(|| String::from_utf8_lossy(&done.stderr).into_owned())?;
        ensure!(run["status"]["kind"] == "complete", "not complete: {}", run["status"]);
        let found = fs::read_to_string(&sequences).context("no sequences")?;
        let _ = fs::remove_dir_all(&out);
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let some = |value: &Value, wanted: &dyn Fn(&Value) -> bool| value.as_array().is_some_and(|all| all.iter().any(wanted));
        let is_fault = |finding: &Value| finding["kind"]["id"].as_str().is_some_and(|id| id.starts_with("out-of-bounds-"));
        Ok(Explored {
            unsure: some(&run["findings"], &is_fault) && !some(&run["rules"], &|rule| rule["verdict"] == "VERIFIED"),
            paths: number(&run["totals"]["paths"]),
            subsumed: number(&run["pruning"]["subsumed"]),
            sequences: found.lines().map(str::to_owned).collect(),
        })
    }
}

impl Frontend {
    /// A file of programs as what is explored.
    fn compile(self, source: &Path, level: &str) -> Result<PathBuf> {
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/include");
        match self {
            Frontend::Bitcode => {
                let bitcode = source.with_extension("bc");
                let mut clang = Command::new(CLANG);
                clang.args(["-c", "-emit-llvm", "-g", "-w", level, "-I"]).arg(include).arg("-o").arg(&bitcode).arg(source);
                process::output(&mut clang)?;
                Ok(bitcode)
            }
            Frontend::Host => {
                let (program, replay) = (source.with_extension("exe"), include.with_file_name("replay.c"));
                let mut clang = Command::new(CLANG);
                clang.args(["-g", "-w", "-fno-stack-protector", level, "-I"]).arg(include).arg("-o").arg(&program).args([source, &replay]);
                process::output(&mut clang)?;
                Ok(program)
            }
            Frontend::Machine => {
                // The replay library has the intrinsics, by whose names they are recognised.
                let (program, replay) = (source.with_extension("exe"), include.with_file_name("replay.c"));
                let mut clang = NativeMusl::debian()?.linking(&[source, &replay], &program)?;
                process::output(clang.args(["-g", "-fno-stack-protector", level, "-I"]).arg(include))?;
                Ok(program)
            }
        }
    }
}

/// How clang optimises a program's file: every second file is.
fn level(seed: u64) -> &'static str {
    if (seed / BATCH).is_multiple_of(2) { "-O0" } else { "-O2" }
}

/// The C file of some programs: natively all of them run on all inputs, in bitcode an argument says which one does.
fn file(programs: &[Program]) -> String {
    let lines = |line: &dyn Fn(&Program) -> String| programs.iter().map(line).collect::<Vec<_>>().join("\n");
    format!(
        "#include \"events.c\"\n\n{}\n#ifdef NATIVE\nstatic const struct program programs[] = {{\n{}\n}};\n\
         int main(void) {{ for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) run(&programs[i]); }}\n#else\n\
         int main(int count, char **words) {{ switch (words[1][0]) {{\n{}\n}} }}\n#endif\n",
        lines(&|p| p.text.clone()),
        lines(&Program::row),
        lines(&|p| format!("case '{}': p_{}(); break;", p.seed % BATCH, p.seed)),
    )
}

/// The sequences of all inputs, by program.
fn native(source: &Path, flags: &[&str]) -> Result<BTreeMap<u64, Sequences>> {
    let binary = source.with_extension("native");
    process::output(Command::new(CLANG).args(["-DNATIVE", "-w", "-o"]).arg(&binary).args(flags).arg(source))?;
    let mut found: BTreeMap<u64, Sequences> = BTreeMap::new();
    for line in process::output(Command::new("timeout").arg("10").arg(&binary))?.lines() {
        let (seed, sequence) = line.split_once(' ').unwrap_or((line, ""));
        found.entry(seed.parse()?).or_default().insert(sequence.to_owned());
    }
    Ok(found)
}

impl Results {
    /// Adds what other programs came to.
    fn add(&mut self, other: Results) {
        for (mode, sum) in other.sums {
            let all = self.sums.entry(mode).or_default();
            all.runs += sum.runs;
            all.paths += sum.paths;
            all.subsumed += sum.subsumed;
            all.time += sum.time;
            all.lost += sum.lost;
            all.unsure += sum.unsure;
        }
        self.sequences += other.sequences;
        self.inputs += other.inputs;
        self.failures.extend(other.failures);
    }

    /// Some programs' results as an object of the results file.
    fn row(&self, args: &Args, seeds: &[u64]) -> Value {
        let name = |value: Option<clap::builder::PossibleValue>| value.map_or(String::new(), |value| value.get_name().to_owned());
        let modes = self.sums.iter().map(|(mode, sum)| {
            let counts = json!({ "runs": sum.runs, "paths": sum.paths, "subsumed": sum.subsumed, "lost": sum.lost, "unsure": sum.unsure });
            (mode.name().to_owned(), counts)
        });
        let wrong: BTreeSet<u64> = self.failures.iter().map(|failure| failure.program.seed).collect();
        json!({
            "first": seeds.first(), "programs": seeds.len(), "shape": name(args.shape.to_possible_value()),
            "frontend": name(args.frontend.to_possible_value()), "searchers": name(args.searchers.to_possible_value()),
            "sequences": self.sequences, "inputs": self.inputs, "modes": modes.collect::<serde_json::Map<_, _>>(), "wrong": wrong,
        })
    }

    fn print(&self, programs: u64) {
        println!("{programs} programs, {} inputs, {} distinct event sequences", self.inputs, self.sequences);
        for (mode, sum) in &self.sums {
            let (name, seconds) = (mode.name(), sum.time.as_secs_f64());
            let Sum { runs, paths, subsumed, lost, unsure, .. } = sum;
            let says_so = if *unsure > 0 { format!(", in {unsure} more, which say so") } else { String::new() };
            println!(
                "{name:<10} {runs:>6} runs {paths:>8} paths {subsumed:>6} subsumed {seconds:>7.1} s; sequences lost in {lost}{says_so}"
            );
        }
        self.failures.iter().for_each(Failure::print);
    }

    fn judge(&self, programs: u64) -> Result<()> {
        let wrong: BTreeSet<u64> = self.failures.iter().map(|f| f.program.seed).collect();
        ensure!(wrong.is_empty(), "{} of {programs} programs show other sequences than natively", wrong.len());
        // False faults are rare: executables whose debug information takes offsets between variables for accesses out of bounds. One program may always be one.
        let (runs, unsure) = self.sums.values().fold((0, 0), |(runs, unsure), sum| (runs + sum.runs, unsure + sum.unsure));
        ensure!(unsure * 50 <= runs + 50 * Mode::ALL.len() as u64, "{unsure} of {runs} explorations find a false fault");
        let lost = self.sums.get(&Mode::Algorithm1).map_or(0, |sum| sum.lost);
        ensure!(lost > 0, "the published algorithm lost no sequence, so these programs test nothing");
        Ok(())
    }
}

impl Failure {
    fn print(&self) {
        let Wrong { missing, extra, broken } = &self.wrong;
        println!("seed {} {} by {}: {broken}", self.program.seed, self.mode.name(), self.searcher);
        for (what, sequences) in [("missing", missing), ("extra", extra)] {
            for sequence in sequences.iter().take(NAMED) {
                println!("  {what}: `{sequence}`");
            }
        }
    }
}
