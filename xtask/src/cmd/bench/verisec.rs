//! The Verisec suite (Ku, Hart, Chechik and Lie, ASE 2007): small programs cut from vulnerabilities of real ones, each `_bad` with its repaired twin
//! `_ok`, from a checkout of the public repository `tomhart-msc/verisec`, of which nothing is kept here. Paper 3 measures itself by it (4.5.2).
//!
//! A case is its file and the suite's `lib/stubs.c`, whose own `strcpy` and the like are part of what is checked; buffers are of [`BASE_SIZE`].
//! Inputs are arrays that nobody writes, so `--uninit symbolic`. A faulty program counts as detected if a finding is at the line after a
//! `/* BAD */` or inside a call made there; a repaired one as a false alarm if a finding is at the line after an `/* OK */` or inside a call made
//! there, and those with findings elsewhere are counted beside.
//!
//! Resumable: what the results file has, keyed by case and build, is not run again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::bitcode::{CLANG, LLVM_LINK};
use crate::process;

mod witness;

#[derive(clap::Args, Clone)]
pub struct Args {
    /// The suite's folder, which has `lib` and `programs`
    suite: PathBuf,
    /// Programs of the suite; those that the tool was developed on unless given
    #[arg(long, value_delimiter = ',', default_values_t = DEVELOPED.map(String::from))]
    program: Vec<String>,
    #[arg(long, value_enum, default_value_t = Frontend::Bitcode)]
    frontend: Frontend,
    /// The compiler's optimisation
    #[arg(short = 'O', default_value = "0")]
    level: String,
    /// Executables without debug information
    #[arg(long)]
    no_debug: bool,
    /// Bounds of frames of optimised executables by unwinding tables
    #[arg(long)]
    frames: bool,
    /// What memory never written is, for `wryneck run`
    #[arg(long, default_value = "symbolic-globals")]
    uninit: String,
    /// How many accesses out of bounds a path goes on behind
    #[arg(long, default_value_t = 8)]
    keep_going: u32,
    /// Seconds for each case
    #[arg(long, default_value_t = 30)]
    seconds: u32,
    /// Cases at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Instead of measuring, show that the cases called faulty that no tool can detect are not, by exploring them to the end and natively
    #[arg(long)]
    witness: bool,
    /// Where results are kept, one JSON object a line
    #[arg(long, default_value = "docs/results/verisec.jsonl")]
    results: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Frontend {
    /// LLVM bitcode by clang
    Bitcode,
    /// An executable by gcc, without a C library
    Machine,
}

const DEVELOPED: [&str; 6] = ["OpenSER", "NetBSD-libc", "libgd", "samba", "gxine", "SpamAssassin"];
/// The macro `BASE_SZ`.
const BASE_SIZE: u32 = 4;
/// Loops over strings that nobody ended have no end either: short paths get their turn.
const SEARCH: &str = "random-path,bfs";
/// For each case.
const MEMORY: &str = "4G";
/// Bodies for what the suite leaves open.
const SUPPORT: &str = include_str!("verisec.c");

/// Cases that are not what their names say, and why.
const NOT_AS_NAMED: [(&[&str], &str); 5] = [
    (
        &[
            "NetBSD-libc/CVE-2006-6652/glob3/glob3_int_bad",
            "NetBSD-libc/CVE-2006-6652/glob3/glob3_ptr_bad",
            "NetBSD-libc/CVE-2006-6652/glob3/loop_int_bad",
            "NetBSD-libc/CVE-2006-6652/glob3/loop_ptr_bad",
        ],
        "the same element is written out of bounds before the marked line, where the path ends",
    ),
    (&["OpenSER/CVE-2006-6876/fetchsms/loops_bad"], "at most 2 * BASE_SZ + 3 bytes are copied, which is the size of `pdu`"),
    (
        &[
            "OpenSER/CVE-2006-6876/fetchsms/full_bad",
            "OpenSER/CVE-2006-6876/fetchsms/istrstr2_loops_bad",
            "OpenSER/CVE-2006-6876/fetchsms/istrstr_loops_bad",
        ],
        "at most 2 * BASE_SZ + 3 bytes are copied, which is the size of `pdu`; but `answer` is read beyond its end before",
    ),
    (
        &[
            "OpenSER/CVE-2006-6876/fetchsms/full_ok",
            "OpenSER/CVE-2006-6876/fetchsms/istrstr2_loops_ok",
            "OpenSER/CVE-2006-6876/fetchsms/istrstr_loops_ok",
            "OpenSER/CVE-2006-6876/fetchsms/istrstr_ok",
        ],
        "`answer` is read beyond its end: its last characters may be the needle, and one more is skipped",
    ),
    (
        &[
            "samba/CVE-2007-0453/_nss_winbind_ipnodes_getbyname/nonsimp_bad",
            "samba/CVE-2007-0453/_nss_winbind_ipnodes_getbyname/nonsimp_ok",
        ],
        "`in[INSZ] = EOS` writes beyond `in` first",
    ),
];

/// A program of the suite.
struct Case {
    /// Its path below the suite's `programs/apps`, without `.c`.
    name: String,
    source: PathBuf,
    bad: bool,
    /// The lines behind its `/* BAD */` or `/* OK */` comments.
    marks: BTreeSet<u64>,
}

/// How cases are built; a key of results.
#[derive(Clone, Copy)]
struct Build<'a> {
    args: &'a Args,
    /// A copy of the suite that compiles.
    suite: &'a Path,
}

/// What is explored, and where lines are known from if it does not know its own.
struct Built {
    target: PathBuf,
    lines: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let suite = scratch.path().join("suite");
    let cases = copy(&args.suite, &args.program, &suite)?;
    ensure!(!cases.is_empty(), "`{}` has no cases of {:?}", args.suite.display(), args.program);
    let build = Build { args, suite: &suite };
    if args.witness {
        return witness::run(&build, &cases);
    }
    let mut rows = build.known()?;
    let missing: Vec<&Case> = cases.iter().filter(|case| !rows.contains_key(&case.name)).collect();
    let new = Mutex::new(Vec::new());
    process::parallel_on(args.jobs, &missing, |case| {
        let row = build.measure(case)?;
        let mut new = new.lock().expect("no job panics");
        writeln!(OpenOptions::new().create(true).append(true).open(&args.results)?, "{row}")?;
        println!("{:<9} {:>5.1} s {}", text(&row["verdict"]), row["took"].as_f64().unwrap_or(0.0), case.name);
        new.push((case.name.clone(), row));
        Ok(())
    })?;
    rows.extend(new.into_inner().expect("no job panics"));
    summarise(&cases, &rows);
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Copies the suite's library and programs, repaired so that they compile, and lists their cases by name.
fn copy(from: &Path, programs: &[String], to: &Path) -> Result<Vec<Case>> {
    copy_folder(&from.join("lib"), &to.join("lib"), &mut Vec::new())?;
    // As shipped, `memcpy` computes with pointers to void.
    let header = to.join("lib/stubs.h");
    let repaired = fs::read_to_string(&header)?.replace("#define TYPECAST_MEMCPY 0", "#define TYPECAST_MEMCPY 1");
    fs::write(&header, repaired)?;
    fs::write(to.join("support.c"), SUPPORT)?;
    let (apps, mut sources) = (to.join("programs/apps"), Vec::new());
    for program in programs {
        copy_folder(&from.join("programs/apps").join(program), &apps.join(program), &mut sources)?;
    }
    let case = |source: PathBuf| {
        let name = source.strip_prefix(&apps).ok()?.with_extension("").to_str()?.to_owned();
        let (bad, ok) = (name.ends_with("_bad"), name.ends_with("_ok"));
        let content = fs::read_to_string(&source).ok()?;
        let marked = (2..).zip(content.lines()).filter(|(_, line)| line.contains("/* BAD */") || line.contains("/* OK */"));
        let marks = marked.map(|(next, _)| next).collect();
        (bad || ok).then_some(Case { name, source, bad, marks })
    };
    let mut cases: Vec<Case> = sources.into_iter().filter_map(case).collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

/// Copies C files and headers; `sources` gets the copies of the former.
fn copy_folder(from: &Path, to: &Path, sources: &mut Vec<PathBuf>) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read `{}`", from.display()))? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        let kind = path.extension().and_then(|e| e.to_str());
        if path.is_dir() {
            copy_folder(&path, &target, sources)?;
        } else if let Some("c" | "h") = kind {
            fs::copy(&path, &target)?;
            sources.extend((kind == Some("c")).then_some(target));
        }
    }
    Ok(())
}

impl Build<'_> {
    /// The results that there are of this build, by case.
    fn known(&self) -> Result<BTreeMap<String, Value>> {
        if let Some(dir) = self.args.results.parent() {
            fs::create_dir_all(dir)?;
        }
        let (mut rows, key) = (BTreeMap::new(), self.key());
        for line in fs::read_to_string(&self.args.results).unwrap_or_default().lines() {
            let row: Value = serde_json::from_str(line).with_context(|| format!("{}: not our results", self.args.results.display()))?;
            if row["build"] == key {
                rows.insert(text(&row["case"]).to_owned(), row);
            }
        }
        Ok(rows)
    }

    fn key(&self) -> Value {
        let frontend = match self.args.frontend {
            Frontend::Bitcode => "bitcode",
            Frontend::Machine => "machine",
        };
        json!({ "frontend": frontend, "level": self.args.level, "debug": !self.args.no_debug, "keep_going": self.args.keep_going, "uninit": self.args.uninit, "frames": self.args.frames, "seconds": self.args.seconds })
    }

    /// The compiler; what speaks to the tool is not optimised, since bodies that are never run would go.
    fn compiler(&self, of_suite: bool) -> Command {
        let (debug, level) = (of_suite, if of_suite { self.args.level.as_str() } else { "0" });
        let mut command = match self.args.frontend {
            Frontend::Bitcode => Command::new(CLANG),
            Frontend::Machine => Command::new("gcc"),
        };
        command.args(["-std=gnu89", "-fno-builtin", "-w", "-c"]).arg(format!("-O{level}")).arg(format!("-DBASE_SZ={BASE_SIZE}"));
        command.args(debug.then_some("-g"));
        match self.args.frontend {
            Frontend::Bitcode => command.args(["-emit-llvm", "-Wno-error=incompatible-pointer-types"]),
            Frontend::Machine => command.arg("-DEXECUTABLE"),
        };
        command
    }

    fn build(&self, case: &Case, dir: &Path) -> Result<Built> {
        let (stubs, support) = (self.suite.join("lib/stubs.c"), self.suite.join("support.c"));
        let parts = [(&case.source, "case", true), (&stubs, "stubs", true), (&support, "support", false)];
        let mut objects = Vec::new();
        for (source, name, of_suite) in parts {
            let object = dir.join(name).with_extension("o");
            process::output(self.compiler(of_suite).arg(source).arg("-o").arg(&object))?;
            objects.push(object);
        }
        let target = match self.args.frontend {
            Frontend::Bitcode => {
                let target = dir.join("program.bc");
                process::output(Command::new(LLVM_LINK).args(&objects).arg("-o").arg(&target))?;
                target
            }
            Frontend::Machine => {
                let target = dir.join("program");
                process::output(Command::new("gcc").args(["-nostdlib", "-static"]).args(&objects).arg("-o").arg(&target))?;
                target
            }
        };
        if self.args.frontend == Frontend::Bitcode || !self.args.no_debug {
            return Ok(Built { target, lines: None });
        }
        let stripped = dir.join("stripped");
        process::output(Command::new("strip").arg("--strip-debug").arg(&target).arg("-o").arg(&stripped))?;
        Ok(Built { target: stripped, lines: Some(target) })
    }

    /// Builds and explores a case.
    fn measure(&self, case: &Case) -> Result<Value> {
        let dir = tempfile::tempdir()?;
        let (out, empty) = (dir.path().join("out"), dir.path().join("empty"));
        fs::create_dir(&empty)?;
        let built = self.build(case, dir.path())?;
        let wryneck = crate::cmd::wryneck()?;
        let mut command = Command::new(&wryneck);
        command
            .current_dir(&empty)
            .args(["run", "--json", "--uninit", &self.args.uninit, "--no-replay", "--emit", "none", "--max-memory", MEMORY]);
        command.args([
            "--keep-going",
            &self.args.keep_going.to_string(),
            "--search",
            SEARCH,
            "--max-time",
            &format!("{}s", self.args.seconds),
        ]);
        command.args((self.args.frontend == Frontend::Bitcode).then_some("--no-libc"));
        command.args(self.args.frames.then_some("--frames"));
        let done = command
            .arg("--output")
            .arg(&out)
            .arg(&built.target)
            .output()
            .with_context(|| format!("cannot start `{}`", wryneck.display()))?;
        // A broken exploration is a result too.
        let Ok(run) = serde_json::from_slice::<Value>(&done.stdout) else {
            let why = String::from_utf8_lossy(&done.stderr).into_owned();
            return Ok(json!({ "case": case.name, "build": self.key(), "verdict": "broken", "why": why }));
        };
        let mut found = Vec::new();
        for finding in run["findings"].as_array().into_iter().flatten() {
            found.push((text(&finding["kind"]["id"]).to_owned(), built.stack(finding)?));
        }
        let at_mark = |(_, stack): &(String, Vec<(String, u64)>)| stack.iter().any(|place| case.is_mark(place));
        let marked = found.iter().any(at_mark);
        let verdict = match (case.bad, marked, found.is_empty()) {
            (true, true, _) => "detected",
            (true, false, _) => "missed",
            (false, true, _) => "alarm",
            (false, false, false) => "elsewhere",
            (false, false, true) => "clean",
        };
        let shown = found.iter().map(|(kind, stack)| {
            let places: Vec<String> = stack.iter().map(|(file, line)| format!("{file}:{line}")).collect();
            format!("{kind} {}", places.join(" "))
        });
        let ledger: Vec<&str> = run["ledger"].as_array().into_iter().flatten().map(|row| text(&row["kind"])).collect();
        Ok(json!({
            "case": case.name, "build": self.key(), "verdict": verdict, "findings": shown.collect::<Vec<_>>(),
            "took": run["seconds"], "status": run["status"]["limit"].as_str().unwrap_or("complete"), "paths": run["totals"]["paths"],
            "ledger": ledger,
        }))
    }
}

impl Case {
    fn is_mark(&self, (file, line): &(String, u64)) -> bool {
        self.source.file_name().is_some_and(|name| name == file.as_str()) && self.marks.contains(line)
    }

    /// Why it cannot be as its name says.
    fn reason(&self) -> Option<&'static str> {
        NOT_AS_NAMED.iter().find(|(names, _)| names.contains(&&*self.name)).map(|(_, why)| *why)
    }

    /// The repaired twin of a faulty one.
    fn twin(&self) -> Option<String> {
        self.name.strip_suffix("_bad").map(|stem| format!("{stem}_ok"))
    }
}

impl Built {
    /// The places of a finding's call stack, innermost first: names of files, and lines.
    fn stack(&self, finding: &Value) -> Result<Vec<(String, u64)>> {
        let mut places = Vec::new();
        for place in finding["stack"].as_array().into_iter().flatten() {
            match &self.lines {
                None => places.push((base_name(text(&place["file"])), place["line"].as_u64().unwrap_or(0))),
                Some(program) => places.extend(lines_of(program, text(&place["function"]))?),
            }
        }
        Ok(places)
    }
}

fn base_name(path: &str) -> String {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned()
}

/// The lines of a place that is given as `function+0xoffset`, by a program's debug information: of inlined calls, all.
fn lines_of(program: &Path, place: &str) -> Result<Vec<(String, u64)>> {
    let (function, offset) = place.split_once('+').unwrap_or((place, "0x0"));
    let names = process::output(Command::new("nm").arg(program))?;
    let address = |line: &str| {
        let mut words = line.split_whitespace();
        let (address, name) = (words.next()?, words.nth(1)?);
        (name == function).then(|| u64::from_str_radix(address, 16).ok()).flatten()
    };
    let Some(start) = names.lines().find_map(address) else { return Ok(Vec::new()) };
    let offset = u64::from_str_radix(offset.trim_start_matches("0x"), 16).unwrap_or(0);
    let told = process::output(Command::new("addr2line").args(["-i", "-e"]).arg(program).arg(format!("{:#x}", start + offset)))?;
    let place = |line: &str| {
        let (file, line) = line.rsplit_once(':')?;
        let number = line.split(' ').next()?.parse().ok()?;
        Some((base_name(file), number))
    };
    Ok(told.lines().filter_map(place).collect())
}

/// The rates of the paper's Table 4.1 (Zitser's), and every case that is not as it should be.
fn summarise(cases: &[Case], rows: &BTreeMap<String, Value>) {
    println!();
    let of = |case: &Case| rows.get(&case.name).unwrap_or(&Value::Null);
    for case in cases.iter().filter(|case| !matches!(text(&of(case)["verdict"]), "detected" | "clean")) {
        let (row, why) = (of(case), case.reason().unwrap_or("?"));
        println!("{:<8} {} ({}): {}: {why}", text(&row["verdict"]), case.name, text(&row["status"]), row["findings"]);
    }
    let complete = cases.iter().filter(|case| of(case)["status"] == "complete").count();
    let seconds: f64 = cases.iter().filter_map(|case| of(case)["took"].as_f64()).sum();
    println!("{} cases, {complete} explored to the end, {seconds:.0} s", cases.len());
    println!("all: {}", rates(cases.iter(), rows));
    println!("without those that are not what their names say: {}", rates(cases.iter().filter(|case| case.reason().is_none()), rows));
}

fn rates<'a>(cases: impl Iterator<Item = &'a Case>, rows: &BTreeMap<String, Value>) -> String {
    let verdict = |name: &str| rows.get(name).map_or("broken", |row| text(&row["verdict"]));
    let (mut faulty, mut repaired, mut detected, mut alarms, mut elsewhere, mut apart) = (0, 0, 0, 0, 0, 0);
    for case in cases {
        let found = verdict(&case.name);
        match case.twin() {
            Some(twin) => {
                faulty += 1;
                detected += usize::from(found == "detected");
                apart += usize::from(found == "detected" && matches!(verdict(&twin), "clean" | "elsewhere"));
            }
            None => {
                repaired += 1;
                alarms += usize::from(matches!(found, "alarm" | "broken"));
                elsewhere += usize::from(found == "elsewhere");
            }
        }
    }
    let rate = |part: usize, whole: usize| format!("{:.3} ({part} of {whole})", part as f64 / whole.max(1) as f64);
    format!(
        "detection {}, false alarms {}, and {elsewhere} with findings elsewhere alone, discrimination {}",
        rate(detected, faulty),
        rate(alarms, repaired),
        rate(apart, detected),
    )
}
