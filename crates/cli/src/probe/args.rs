//! The words of `wryneck probe`.

use std::path::PathBuf;

use anyhow::Result;
use wryneck_probe::Bounds;
use wryneck_session::Overflow;

use super::outcome::Grade;
use crate::options::{self, Opt, Words, bytes, number, one_of, seconds};
use crate::problem::problem;

/// What is to be probed, and how.
#[derive(Clone)]
pub struct ProbeArgs {
    pub target: PathBuf,
    /// Patterns of the functions to probe.
    pub functions: Vec<String>,
    pub all: bool,
    /// Patterns of the functions whose calls are skipped.
    pub skip: Vec<String>,
    /// Variables of the program have their initial values.
    pub globals_initial: bool,
    /// The least sure findings that are reported.
    pub report: Grade,
    /// Seconds for one function.
    pub max_time: f64,
    /// Bytes for one function.
    pub max_memory: u64,
    pub loop_limit: u32,
    /// Paths without new code or findings after which a function is left.
    pub stale: u64,
    /// Seconds of processor time after which it is left, too.
    pub stale_time: f64,
    pub bounds: Bounds,
    /// Calls of a path that may fail.
    pub fail_calls: u32,
    pub rules: Vec<String>,
    pub cc_flags: Vec<String>,
    /// As typed.
    pub overflow: Option<String>,
    pub machine_code: bool,
    /// Harnesses are run natively.
    /// Whether the program's constructors run before the function.
    pub constructors: bool,
    /// What callers guarantee.
    pub contracts: Option<PathBuf>,
    /// Where to write what all callers guarantee.
    pub infer: Option<PathBuf>,
    /// Contracts that the calls of the function are to keep.
    pub check: Option<PathBuf>,
    /// Skipped functions are entered if time is left.
    pub deepen: bool,
    pub replay: bool,
    pub unconfined: bool,
    pub jobs: usize,
    /// This part of so many.
    pub shard: (usize, usize),
    /// Where the results of functions go, a JSON line each; those that are there are not probed again.
    pub results: Option<PathBuf>,
    /// Where harnesses are written.
    pub harnesses: Option<PathBuf>,
    pub json: bool,
    pub quiet: bool,
    /// Only print the names of the functions that would be probed, as JSON lines.
    pub list: bool,
    /// One function, whose result is one JSON line on standard output: what a sweep starts.
    pub one: bool,
}

impl Default for ProbeArgs {
    fn default() -> ProbeArgs {
        ProbeArgs {
            target: PathBuf::new(),
            functions: Vec::new(),
            all: false,
            skip: Vec::new(),
            globals_initial: false,
            report: Grade::Must,
            max_time: 30.0,
            max_memory: 2 << 30,
            loop_limit: 8,
            stale: 300,
            stale_time: 1.0,
            bounds: Bounds::default(),
            fail_calls: 1,
            constructors: false,
            contracts: None,
            infer: None,
            check: None,
            deepen: true,
            rules: Vec::new(),
            cc_flags: Vec::new(),
            overflow: None,
            machine_code: false,
            replay: true,
            unconfined: false,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            shard: (1, 1),
            results: None,
            harnesses: None,
            json: false,
            quiet: false,
            list: false,
            one: false,
        }
    }
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| (1..=*n).contains(i)).ok_or_else(|| "expected I/N, such as `2/8`".to_owned())
}

// One more option: a row (sorted by name). The help and the parsing follow.
#[rustfmt::skip]
pub static OPTIONS: &[Opt<ProbeArgs>] = &[
    Opt { name: "--aliases", value: "N", help: "existing objects that a pointer may also point to when it is first used (default 2)",
        set: |a, v| { a.bounds.aliases = number(v)?; Ok(()) } },
    Opt { name: "--all", value: "", help: "probe every function of the target",
        set: |a, _| { a.all = true; Ok(()) } },
    Opt { name: "--cc-flag", value: "FLAG", help: "one more flag for clang (C targets); may be repeated",
        set: |a, v| { a.cc_flags.push(v.into()); Ok(()) } },
    Opt { name: "--check", value: "FILE", help: "count the calls that keep and break the contracts in this file: what `--infer` starts",
        set: |a, v| { a.check = Some(v.into()); Ok(()) } },
    Opt { name: "--constructors", value: "", help: "run the program's constructors before the function",
        set: |a, _| { a.constructors = true; Ok(()) } },
    Opt { name: "--contracts", value: "FILE", help: "assume what functions require of their callers: lines such as `list_head: requires lst != 0`",
        set: |a, v| { a.contracts = Some(v.into()); Ok(()) } },
    Opt { name: "--fail-calls", value: "N", help: "let up to N calls of a path fail, allocations among them (default 1)",
        set: |a, v| { a.fail_calls = number(v)?; Ok(()) } },
    Opt { name: "--function", value: "GLOB", help: "probe the functions of these names, or of machine code the one at an address (0x1234); may be repeated",
        set: |a, v| { a.functions.push(v.into()); Ok(()) } },
    Opt { name: "--globals", value: "lazy|initial", help: "variables of the program: under-constrained (default), or with their initial values",
        set: |a, v| { a.globals_initial = one_of(v, &[("initial", true), ("lazy", false)])?; Ok(()) } },
    Opt { name: "--harnesses", value: "DIR", help: "write each finding's harness there, a C file",
        set: |a, v| { a.harnesses = Some(v.into()); Ok(()) } },
    Opt { name: "--infer", value: "FILE", help: "write contracts there: what all callers in the target guarantee, for functions with findings (bitcode)",
        set: |a, v| { a.infer = Some(v.into()); Ok(()) } },
    Opt { name: "--json", value: "", help: "print the results as JSON lines, one for each function",
        set: |a, _| { a.json = true; Ok(()) } },
    Opt { name: "--list", value: "", help: "print the work list as JSON lines, one for each function, and probe nothing",
        set: |a, _| { a.list = true; Ok(()) } },
    Opt { name: "--loop-limit", value: "N", help: "end paths that take one loop's back edge more often under symbolic conditions (default 8)",
        set: |a, v| { a.loop_limit = number(v)?; Ok(()) } },
    Opt { name: "--machine-code", value: "", help: "probe an executable's machine code though it carries bitcode",
        set: |a, _| { a.machine_code = true; Ok(()) } },
    Opt { name: "--max-memory", value: "SIZE", help: "memory for one function (default 2G)",
        set: |a, v| { a.max_memory = bytes(v)?; Ok(()) } },
    Opt { name: "--max-time", value: "TIME", help: "time for one function (default 30s)",
        set: |a, v| { a.max_time = seconds(v)?; Ok(()) } },
    Opt { name: "--no-deepen", value: "", help: "do not enter skipped functions when time is left",
        set: |a, _| { a.deepen = false; Ok(()) } },
    Opt { name: "--no-replay", value: "", help: "report findings without running their harnesses natively",
        set: |a, _| { a.replay = false; Ok(()) } },
    Opt { name: "--object-bytes", value: "N", help: "bytes that a lazily made object may grow to (default 16384)",
        set: |a, v| { a.bounds.object_bytes = bytes(v)?; Ok(()) } },
    Opt { name: "--one", value: "", help: "probe one function and print its result as one JSON line: what a sweep starts for each function",
        set: |a, _| { a.one = true; Ok(()) } },
    Opt { name: "--overflow", value: "signed|unsigned|conversions|all", help: "report results that overflow, and conversions that change a value (C source; of bitcode: `signed`)",
        set: |a, v| { Overflow::parse(v)?; a.overflow = Some(v.into()); Ok(()) } },
    Opt { name: "--pointers", value: "lazy|plain", help: "make objects for pointers as they are used (default), or end paths at their first use",
        set: |a, v| { a.bounds.makes = one_of(v, &[("lazy", true), ("plain", false)])?; Ok(()) } },
    Opt { name: "--quiet", value: "", help: "no progress",
        set: |a, _| { a.quiet = true; Ok(()) } },
    Opt { name: "--report", value: "must|may", help: "report errors that must happen on their path (default), or also those that may",
        set: |a, v| { a.report = one_of(v, &[("may", Grade::May), ("must", Grade::Must)])?; Ok(()) } },
    Opt { name: "--results", value: "FILE", help: "add each function's result to this file as it comes; functions that are in it are not probed again (resume)",
        set: |a, v| { a.results = Some(v.into()); Ok(()) } },
    Opt { name: "--rule", value: "ID|FILE[,…]", help: "check these rules, too; see `wryneck rules`",
        set: |a, v| { a.rules.extend(v.split(',').map(str::to_owned)); Ok(()) } },
    Opt { name: "--shard", value: "I/N", help: "probe the I-th of N equal parts of the functions",
        set: |a, v| { a.shard = shard(v)?; Ok(()) } },
    Opt { name: "--skip", value: "GLOB", help: "do not follow calls of these functions: what they return and may change becomes under-constrained; may be repeated",
        set: |a, v| { a.skip.push(v.into()); Ok(()) } },
    Opt { name: "--stale", value: "N", help: "leave a function after so many paths without new code or findings (default 300)",
        set: |a, v| { a.stale = number(v)?; Ok(()) } },
    Opt { name: "--stale-time", value: "TIME", help: "leave a function after so much processor time without new code or findings (default 1s)",
        set: |a, v| { a.stale_time = seconds(v)?; Ok(()) } },
    Opt { name: "--unconfined", value: "", help: "run harnesses on the real system",
        set: |a, _| { a.unconfined = true; Ok(()) } },
    Opt { name: "-j", value: "N", help: "functions probed at once (default: as many as there are processors)",
        set: |a, v| { a.jobs = number::<usize>(v)?.max(1); Ok(()) } },
];

const ABOUT: &str = "usage: wryneck probe [options] TARGET\n\n\
    Runs functions without their callers. Inputs are made as the code uses them; an error is reported if it must happen on its path.\n\n\
    TARGET is a `.c`, `.cc`, `.rs`, `.bc` or `.ll` file, an object, or an executable.\n\nOptions:\n";
const EXAMPLES: &str = "\nExamples:\n\
    \x20 wryneck probe list.c --function list_head       one function of a C file\n\
    \x20 wryneck probe --all --results out.jsonl lib.bc  every function; started again, it goes on where it was\n\
    \x20 wryneck probe --all --shard 2/8 lib.bc          a part of the functions, for a batch system\n\
    \x20 wryneck probe --report may --function 'png_*' libpng.o\n\
    \x20 wryneck probe --skip 'log_*' --rule lock.toml --all driver.c\n";

pub fn help() -> String {
    format!("{ABOUT}{}{EXAMPLES}", options::help(OPTIONS))
}

/// The arguments of `wryneck probe`.
pub fn parse(words: Vec<String>) -> Result<ProbeArgs> {
    let mut args = ProbeArgs::default();
    let mut words = Words::new(words);
    let mut target: Option<PathBuf> = None;
    loop {
        options::parse(OPTIONS, &mut args, &mut words)?;
        match (words.next(), &target) {
            (None, _) => break,
            (Some(word), None) => target = Some(word.into()),
            (Some(word), Some(_)) => return Err(problem(format!("`{word}` is a second target"), "probe one target at a time")),
        }
    }
    args.target = target.ok_or_else(|| problem("no target is given", "write `wryneck probe FILE.c --function NAME`"))?;
    if args.functions.is_empty() && !args.all {
        return Err(problem("no function is given", "write `--function NAME`, or `--all`"));
    }
    if let Some(file) = &args.contracts {
        super::contract::read(file)?;
    }
    if args.infer.is_some() && args.contracts.is_some() {
        return Err(problem(
            "`--infer` finds contracts, and `--contracts` gives some",
            "infer first, then probe with the file that was written",
        ));
    }
    if args.all {
        args.functions.push("*".into());
    }
    Ok(args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(OPTIONS.windows(2).all(|w| w[0].name < w[1].name));
    }

    #[test]
    fn options_may_follow_the_target() {
        let words = "--report may f.c --function a --shard 2/3".split(' ').map(str::to_owned).collect();
        let args = parse(words).expect("it is fine");
        assert_eq!((args.report, args.shard, &*args.functions), (Grade::May, (2, 3), &["a".to_owned()][..]));
        assert!(shard("0/3").is_err() && shard("4/3").is_err());
    }
}
