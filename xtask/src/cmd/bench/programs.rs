//! Programs of Debian packages, as `cargo xtask corpus PACKAGE` builds them, explored for a while each: how fast, how far, and what their paths end by. Unlike
//! the other benches it judges: paths must not end by `longjmp` or by floating point, and six programs must be ten times as fast as they once were, three of
//! them thirty times.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;

use crate::cache::Cache;
use crate::cmd::gate::bounds::Bounds;
use crate::cmd::gate::explore::{self, Job, Packages};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    packages: Packages,
    /// Where results are kept, one JSON object a line; programs found there are not run again
    #[arg(long, default_value = "docs/results/programs.jsonl")]
    results: PathBuf,
}

struct Program {
    package: &'static str,
    name: &'static str,
    /// The words after it; `{}` is the package's folder.
    input: &'static str,
    /// Paths a second before floating point was symbolic and `longjmp` followed, where that was measured.
    before: Option<f64>,
    /// None of its paths may end by this, which its package is known for.
    never: Option<Cause>,
    /// It has to be ten times as fast as before.
    tenfold: bool,
}

impl Program {
    /// Paths a second that it has to have ten times.
    fn bound(&self) -> Option<f64> {
        self.before.filter(|_| self.tenfold)
    }
}

/// Programs that have to be thirty times as fast as before.
const FAST: f64 = 3.0;

/// What a path should not end by.
#[derive(Clone, Copy, PartialEq)]
enum Cause {
    LongJump,
    Float,
}

impl Cause {
    /// Words of the ends and findings that are due to it.
    fn words(self) -> &'static [&'static str] {
        match self {
            Cause::LongJump => &["longjmp"],
            Cause::Float => &["floating point", "floating-point"],
        }
    }

    /// Most that may end so, as a share of all paths.
    fn most(self) -> f64 {
        match self {
            Cause::LongJump => 0.0,
            Cause::Float => 0.01,
        }
    }
}

const fn row(package: &'static str, name: &'static str, input: &'static str) -> Program {
    Program { package, name, input, before: None, never: None, tenfold: false }
}

// One more program: a row, sorted by package.
const PROGRAMS: &[Program] = &[
    Program { before: Some(21.0), tenfold: true, ..row("bc", "bc", "--sym-stdin 6") },
    row("bc", "dc", "--sym-stdin 6"),
    Program { never: Some(Cause::LongJump), ..row("busybox", "busybox_unstripped", "ash -c --sym-arg 6") },
    row("cjson", "cjson-afl", "A --sym-files 1 8"),
    Program { before: Some(75.0), tenfold: true, ..row("expat", "xmlwf", "--sym-stdin 12") },
    Program { before: Some(1.0), tenfold: true, ..row("file", "file", "-m {}/magic.mgc A --sym-files 1 8") },
    Program { before: Some(2.7), never: Some(Cause::Float), tenfold: true, ..row("jq", "jq", "--sym-arg 2 --sym-stdin 5") },
    Program { never: Some(Cause::Float), ..row("jq", "jq", "-n --sym-arg 5") },
    row("less", "less", "--sym-arg 4 A --sym-files 1 4"),
    Program { never: Some(Cause::LongJump), ..row("libpng1.6", "readpng", "--sym-stdin 60") },
    Program { before: Some(7366.0), ..row("libyaml", "run-parser", "A --sym-files 1 10") },
    Program { before: Some(10.0), never: Some(Cause::LongJump), tenfold: true, ..row("lua5.4", "lua", "- --sym-stdin 8") },
    Program { never: Some(Cause::LongJump), ..row("mawk", "mawk", "--sym-arg 6 --sym-stdin 4") },
    row("nginx", "nginx", "-t -e stderr -p ./ -c A --sym-files 1 10"),
    Program { before: Some(11.0), tenfold: true, ..row("redis", "redis-server", "- --sym-stdin 6") },
    row("sqlite3", "sqlite3", ":memory: --sym-arg 8"),
    Program { before: Some(7384.0), ..row("tinyxml2", "tinyxml2-parse", "--sym-stdin 8") },
    row("zlib", "minigzip", "-d --sym-stdin 24"),
];

pub fn run(args: &Args) -> Result<()> {
    let cache = Cache::open()?;
    let mut asked = Vec::new();
    for program in PROGRAMS.iter().filter(|row| args.packages.has(row.package)) {
        asked.push((program, explore::of_package(&cache, program.package, program.name, program.input)?));
    }
    let (programs, jobs): (Vec<&Program>, Vec<Job>) = asked.into_iter().unzip();
    let rows = explore::all(&jobs, args.packages.seconds, None, &args.results)?;
    println!(
        "\n| program and input | paths/s | before | end by `longjmp` | end by floating point | time in the solver | lines covered | most frequent in the ledger |\n\
         |---|---|---|---|---|---|---|---|"
    );
    let mut bounds = Bounds::default();
    let mut fast = 0.0;
    for (program, job) in programs.iter().zip(&jobs) {
        let Some(row) = rows.iter().find(|row| row["program"] == job.name.as_str()) else { continue };
        table_row(program, row);
        judge(program, row, &mut bounds);
        fast += f64::from(program.bound().is_some_and(|before| speed(row) >= 30.0 * before));
    }
    if programs.len() == PROGRAMS.len() {
        bounds.at_least("programs that are thirty times as fast", fast, FAST);
    }
    bounds.hold()
}

/// Paths a second.
fn speed(row: &Value) -> f64 {
    row["paths"].as_f64().unwrap_or(0.0) / row["seconds"].as_f64().unwrap_or(f64::INFINITY)
}

/// The share of paths that end by this: as something that is not supported, or as a finding.
fn share(row: &Value, cause: Cause) -> f64 {
    let list = |name: &str| row[name].as_array().into_iter().flatten();
    let is_due = |text: &Value| text.as_str().is_some_and(|text| cause.words().iter().any(|word| text.contains(word)));
    let ends: f64 = list("gaps").filter(|end| is_due(&end["what"])).filter_map(|end| end["count"].as_f64()).sum();
    let findings = list("findings").filter(|finding| is_due(&finding["message"])).count() as f64;
    (ends + findings) / row["paths"].as_f64().unwrap_or(0.0).max(1.0)
}

fn table_row(program: &Program, row: &Value) {
    const SHOWN: usize = 3;
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for entry in row["ledger"].as_array().into_iter().flatten().filter(|entry| entry["kind"] != "cut-off") {
        *kinds.entry(entry["kind"].as_str().unwrap_or("")).or_default() += entry["count"].as_u64().unwrap_or(0);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let kinds: Vec<_> = kinds.iter().take(SHOWN).map(|(kind, count)| format!("{kind} {count}")).collect();
    let percent = |share: f64| if share == 0.0 { "0".to_owned() } else { format!("{:.1} %", share * 100.0) };
    println!(
        "| `{} {}` | {:.1} | {} | {} | {} | {:.0} % | {} of {} | {} |",
        program.name,
        program.input,
        speed(row),
        program.before.map_or_else(|| "–".to_owned(), |before| before.to_string()),
        percent(share(row, Cause::LongJump)),
        percent(share(row, Cause::Float)),
        row["solver"].as_f64().unwrap_or(0.0) / row["seconds"].as_f64().unwrap_or(f64::INFINITY) * 100.0,
        row["covered"],
        row["lines"],
        kinds.join(", "),
    );
}

fn judge(program: &Program, row: &Value, bounds: &mut Bounds) {
    let name = row["program"].as_str().unwrap_or("");
    bounds.at_least(&format!("{name}: paths"), row["paths"].as_f64().unwrap_or(0.0), 1.0);
    bounds.at_most(&format!("{name}: internal errors"), row["internal"].as_f64().unwrap_or(0.0), 0.0);
    if let Some(cause) = program.never {
        bounds.at_most(&format!("{name}: share of paths that end by {}", cause.words()[0]), share(row, cause), cause.most());
    }
    if let Some(before) = program.bound() {
        bounds.at_least(&format!("{name}: paths a second"), speed(row), 10.0 * before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ends_are_counted_by_their_cause() {
        let row = json!({
            "paths": 100, "seconds": 50.0,
            "gaps": [{ "what": "`longjmp` by an old copy", "count": 3 }, { "what": "floating point on symbolic input", "count": 4 }, { "what": "other", "count": 5 }],
            "findings": [{ "message": "`longjmp` to a function that has returned" }, { "message": "overflow" }],
        });
        assert_eq!((share(&row, Cause::LongJump), share(&row, Cause::Float), speed(&row)), (0.04, 0.04, 2.0));
        assert_eq!(share(&json!({}), Cause::Float), 0.0);
        let mut bounds = Bounds::default();
        judge(&Program { never: Some(Cause::LongJump), ..row_of() }, &row, &mut bounds);
        assert!(bounds.hold().is_err());
        let mut bounds = Bounds::default();
        judge(&Program { before: Some(0.2), tenfold: true, ..row_of() }, &row, &mut bounds);
        assert!(bounds.hold().is_ok());
        assert!(PROGRAMS.windows(2).all(|w| w[0].package <= w[1].package));
    }

    fn row_of() -> Program {
        super::row("p", "p", "")
    }
}
