//! Lines of coreutils that the tests of an exploration cover natively, ours beside KLEE's, on the same symbolic input and for the same time, one after the
//! other. The tests of both run on one build by clang that counts lines, gnulib's among them. The inputs are those of KLEE's authors.
//!
//! Unlike other benches it judges: ours have to cover more lines than KLEE's, of every program.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use wryneck_report::KTest;
use wryneck_session::symbolic::{self, Concrete};

use crate::cache::{self, Cache};
use crate::cmd::gate::bounds::Bounds;
use crate::cmd::gate::explore::{self, Job, Kept};
use crate::coreutils::Coreutils;
use crate::gcov::{self, Coverage, Run};
use crate::klee::{self, Klee};

#[derive(clap::Args)]
pub struct Args {
    /// Seconds for each program
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Only these programs
    #[arg(long)]
    program: Vec<String>,
    /// Searchers of ours
    #[arg(long, default_value = "default")]
    search: String,
    #[command(flatten)]
    klee: klee::Args,
    /// Where results are kept, one JSON object a line; programs found there are not run again
    #[arg(long, default_value = "docs/results/coverage.jsonl")]
    results: PathBuf,
}

const USUAL: &str = "--sym-args 0 1 10 --sym-args 0 2 2 --sym-files 1 8 --sym-stdin 8";

const PROGRAMS: &[(&str, &str)] = &[
    ("cat", USUAL),
    ("comm", USUAL),
    ("cut", USUAL),
    ("expr", "--sym-args 0 1 10 --sym-args 0 3 2 --sym-files 1 8 --sym-stdin 8"),
    ("factor", USUAL),
    ("od", "--sym-args 0 3 10 --sym-files 2 12 --sym-stdin 12"),
    ("sort", USUAL),
    ("tr", USUAL),
    ("uname", USUAL),
    ("wc", USUAL),
];

pub fn run(args: &Args) -> Result<()> {
    let names: Vec<&str> = PROGRAMS.iter().map(|(name, _)| *name).collect();
    let klee = args.klee.open()?;
    let coreutils = Coreutils::configured()?;
    let counted = coreutils.counted(&names)?;
    let theirs = klee.as_ref().map(|klee| coreutils.bitcode(klee, &names)).transpose()?;
    let ours = Cache::open()?.path("coreutils/O2");
    let mut pairs = Vec::new();
    for (name, input) in PROGRAMS.iter().filter(|(name, _)| args.program.is_empty() || args.program.iter().any(|asked| asked == name)) {
        let mut options = vec!["--max-memory".to_owned(), format!("{}M", klee::MEMORY), "--no-replay".to_owned()];
        options.extend(["--search".to_owned(), args.search.clone()]);
        let target = ours.join(name).with_extension("bc");
        let input: Vec<String> = input.split(' ').map(str::to_owned).collect();
        let job = Job { name: format!("{name} {}", args.search), target, options, input: input.clone() };
        let lines = |out: &Path| covered(&counted, name, &input, out);
        let row = explore::all(&[job], args.seconds, Some(&lines), &args.results)?.remove(0);
        let other = match klee.as_ref().zip(theirs.as_ref()) {
            Some((klee, dir)) => Some(beside(args, klee, dir, name, &input, &lines)?),
            None => None,
        };
        pairs.push((*name, row, other));
    }
    table(&pairs, args.seconds)
}

/// KLEE's row of a program.
fn beside(args: &Args, klee: &Klee, dir: &Path, name: &str, input: &[String], lines: explore::Replay<'_>) -> Result<Value> {
    let tool = format!("KLEE {}", klee.searchers());
    Kept::open(&args.results)?.row(&format!("{name} {tool}"), args.seconds, &tool, || {
        let scratch = tempfile::tempdir()?;
        let out = scratch.path().join("out");
        let options = ["--only-output-states-covering-new", "--optimize", "--disable-inlining"];
        let done = klee.explore(&dir.join("build/src").join(name), input, args.seconds, &options, &out, |_| Ok(false))?;
        let row = json!({ "paths": done.paths, "partial": done.partial, "wall": done.seconds, "work": done.work, "replay": lines(&out)? });
        println!("{name}: KLEE: {row}");
        Ok(row)
    })
}

/// What the tests of a run folder cover, ours or KLEE's.
fn covered(programs: &Path, name: &str, input: &[String], out: &Path) -> Result<Value> {
    let words = symbolic::parse(input)?;
    let tests = cache::files(out)?.into_iter().filter(|file| file.extension().is_some_and(|kind| kind == "ktest"));
    let run = |test: PathBuf| -> Result<Run> {
        let test = KTest::from_bytes(&fs::read(&test)?).with_context(|| format!("`{}` is no test", test.display()))?;
        let given = Concrete::of(&words, &test);
        let files = given.files.into_iter().map(|file| (file.path, file.bytes)).collect();
        Ok(Run { args: given.args, stdin: given.stdin.unwrap_or_default(), files })
    };
    let runs: Vec<Run> = tests.map(run).collect::<Result<_>>()?;
    let build = programs.join("build");
    let lines = gcov::of_runs(&build.join("src").join(name), &build, &runs)?;
    let count = |of: &dyn Fn(&str, bool) -> bool| lines.iter().filter(|((file, _), ran)| of(file, **ran)).count();
    let own = |file: &str| file.contains("src/");
    Ok(json!({
        "tests": runs.len(), "lines": count(&|_, _| true), "covered": count(&|_, ran| ran),
        "own": count(&|file, _| own(file)), "own_covered": count(&|file, ran| ran && own(file)), "missed": missed(&lines),
    }))
}

/// The lines of the program's own that did not run, as ranges.
fn missed(lines: &Coverage) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut open: Option<(&str, u64, u64)> = None;
    let mut close = |open: Option<(&str, u64, u64)>| {
        out.extend(open.map(|(file, from, to)| if from == to { format!("{file}:{from}") } else { format!("{file}:{from}-{to}") }));
    };
    for ((file, line), ran) in lines.iter().filter(|((file, _), _)| file.contains("src/")) {
        open = match open {
            Some((name, from, _)) if !ran && name == file => Some((name, from, *line)),
            previous => {
                close(previous);
                (!ran).then_some((file.as_str(), *line, *line))
            }
        };
    }
    close(open);
    out.join(" ")
}

fn table(pairs: &[(&str, Value, Option<Value>)], seconds: u32) -> Result<()> {
    println!(
        "\n| program | lines | ours: covered | of its own file | paths | tests | KLEE: covered | of its own file | paths (alive) | tests | seconds |\n\
         |---|---|---|---|---|---|---|---|---|---|---|"
    );
    let mut bounds = Bounds::default();
    for (name, row, other) in pairs {
        let lines = &row["replay"];
        let own = |lines: &Value| format!("{} of {}", lines["own_covered"], lines["own"]);
        print!("| {name} | {} | {} | {} | {} | {} |", lines["lines"], lines["covered"], own(lines), row["paths"], lines["tests"]);
        let Some(other) = other else {
            println!(" not run |  |  |  |  |");
            continue;
        };
        let theirs = &other["replay"];
        println!(
            " {} | {} | {} ({}) | {} | {:.0} |",
            theirs["covered"],
            own(theirs),
            other["paths"],
            other["partial"],
            theirs["tests"],
            other["wall"].as_f64().unwrap_or(0.0)
        );
        let count = |lines: &Value| lines["covered"].as_f64().unwrap_or(0.0);
        bounds.at_least(&format!("{name}: lines at {seconds} s"), count(lines), count(theirs) + 1.0);
    }
    bounds.hold()
}
