//! The words of `wryneck run`: one table of options, then the target, then symbolic input and arguments.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use wryneck_exec::Pruning;
use wryneck_exec::config::{Audit, Undefined, Uninit};
use wryneck_exec::search::SEARCHERS;
use wryneck_session::{Emit, Overflow, Plan};
use wryneck_verify::AtExit;

use crate::formats::Wanted;
use crate::options::{self, Opt, Words, bytes, number, one_of, seconds};
use crate::problem::problem;
use crate::{several, symbolic};

/// The options and words of one `wryneck run`.
pub struct RunArgs {
    pub plan: Plan,
    pub output: Option<PathBuf>,
    /// The run folder of a run to go on with.
    pub resume: Option<PathBuf>,
    /// Seconds of wall time for the run.
    pub max_time: Option<f64>,
    /// Bytes of the run folder.
    pub max_disk: u64,
    pub json: bool,
    /// Files for other tools.
    pub formats: Wanted,
    pub quiet: bool,
    /// Findings are replayed natively before they are reported.
    pub replay: bool,
    /// These replays run on the real system.
    pub unconfined: bool,
    /// Where to write the sequences of events.
    pub sequences: Option<PathBuf>,
    /// Where to write the tree of paths.
    pub tree: Option<PathBuf>,
    /// Where the inputs of tests go as plain files.
    pub export: Option<String>,
    /// Workers that explore side by side.
    pub jobs: u32,
}

impl Default for RunArgs {
    fn default() -> RunArgs {
        RunArgs {
            plan: Plan::default(),
            output: None,
            resume: None,
            max_time: None,
            max_disk: 10 << 30,
            json: false,
            formats: Wanted::default(),
            quiet: false,
            replay: true,
            unconfined: false,
            sequences: None,
            tree: None,
            export: None,
            jobs: 1,
        }
    }
}

impl RunArgs {
    /// The files that are written at the end, for other tools.
    pub fn files(&self) -> Vec<PathBuf> {
        self.formats.files().chain(self.tree.iter().cloned()).chain(self.sequences.iter().cloned()).collect()
    }

    /// Whether these files can be written: they are made now, since a run may take long.
    pub fn check_files(&self) -> Result<()> {
        self.files().iter().try_for_each(|file| match fs::OpenOptions::new().write(true).create(true).truncate(false).open(file) {
            Ok(_) => Ok(()),
            Err(error) => Err(problem(format!("cannot write `{}`: {error}", file.display()), "give a file that can be written")),
        })
    }
}

/// Whether all paths are explored, which seeds and goals are among.
fn explores_all(prune: Option<Pruning>) -> bool {
    matches!(prune, None | Some(Pruning::Classified | Pruning::Measured))
}

impl RunArgs {
    /// Whether what is asked for can be done by several workers.
    pub fn check_jobs(&self) -> Result<()> {
        let plan = &self.plan;
        let refused = [
            ("verify` with pruning", plan.prune.is_some() && !plan.rules.is_empty()),
            ("--seed`", !plan.seeds.is_empty()),
            ("--find`", !plan.find.is_empty()),
            ("--avoid`", !plan.avoid.is_empty()),
            ("--tree`", self.tree.is_some()),
        ];
        match refused.iter().find(|(_, given)| *given && self.jobs > 1) {
            Some((what, _)) => Err(problem(
                format!("`-j {}` cannot be used with `{what}: that needs one worker", self.jobs),
                "leave out `-j`; `verify --prune off` explores all paths and takes it",
            )),
            None => Ok(()),
        }
    }

    /// Whether seeds and goals fit what else is asked for.
    pub fn check_aims(&self) -> Result<()> {
        let aims = [("--seed", &self.plan.seeds), ("--find", &self.plan.find), ("--avoid", &self.plan.avoid)];
        match aims.iter().find(|(_, words)| !words.is_empty()) {
            Some((option, _)) if !explores_all(self.plan.prune) => Err(problem(
                format!("`{option}` is for explorations of all paths, and `verify` leaves out what does not matter to its rules"),
                "add `--prune off`, or use `wryneck run`",
            )),
            Some(_) | None => Ok(()),
        }
    }
}

fn audit(text: &str) -> Result<Audit, String> {
    match text {
        "off" => Ok(Audit::Off),
        "all" => Ok(Audit::AtLeast(u64::MAX)),
        _ => number(text).map(Audit::AtLeast).map_err(|_| "expected a number, `all` or `off`".to_owned()),
    }
}

// One more option: a row (sorted by name). The help and the parsing follow.
#[rustfmt::skip]
pub static OPTIONS: &[Opt<RunArgs>] = &[
    Opt { name: "--at-exit", value: "strict|lenient",
        help: "with rules: what is left when the program exits is wrong (default), or only what is left twice by the same calls",
        set: |a, v| { a.plan.policy.at_exit = one_of(v, &[("strict", AtExit::Strict), ("lenient", AtExit::Lenient)])?; Ok(()) } },
    Opt { name: "--audit", value: "N|all|off", help: "with rules: explore at least N of the flips that pruning left out, too, and report the events it lost (default 20)",
        set: |a, v| { a.plan.config.audit = audit(v)?; Ok(()) } },
    Opt { name: "--avoid", value: "GOAL", help: "end paths that reach this, as `--find` names it; may be repeated",
        set: |a, v| { a.plan.avoid.push(v.into()); Ok(()) } },
    Opt { name: "--break-fact", value: "KIND:FUNCTION:N", help: "for tests of the tool: with rules, leave out a static fact, to see whether that is noticed",
        set: |a, v| { a.plan.broken_fact = Some(v.into()); Ok(()) } },
    Opt { name: "--cc-flag", value: "FLAG", help: "one more flag for clang (C targets); may be repeated",
        set: |a, v| { a.plan.cc_flags.push(v.into()); Ok(()) } },
    Opt { name: "--compact-above", value: "NODES", help: "collect expressions above so many nodes",
        set: |a, v| { a.plan.config.compact_above = number(v)?; Ok(()) } },
    Opt { name: "--emit", value: "new|all|none", help: "which paths leave a test: those that cover new code, take a new side of a branch or first show a fault (default), all, none",
        set: |a, v| { a.plan.emit = one_of(v, &[("all", Emit::All), ("new", Emit::New), ("none", Emit::None)])?; Ok(()) } },
    Opt { name: "--entry", value: "NAME", help: "start with this function on symbolic arguments instead of `main`",
        set: |a, v| { a.plan.entry = Some(v.into()); Ok(()) } },
    Opt { name: "--entry-bytes", value: "N", help: "bytes that a pointer argument of the entry points to; most bytes for a fuzz entry (default 16)",
        set: |a, v| { a.plan.entry_bytes = number(v)?; Ok(()) } },
    Opt { name: "--explain", value: "FILE[:LINE]", help: "with rules: say why the branches of this source line were kept or pruned",
        set: |a, v| { a.plan.explain = Some(file_and_line(v)); Ok(()) } },
    Opt { name: "--export", value: "[INPUT=]DIR", help: "write the input of each test there as a plain file too, for a fuzzer (one input: standard input, a file, or a fuzz entry's)",
        set: |a, v| { a.export = Some(v.into()); Ok(()) } },
    Opt { name: "--fail-calls", value: "N", help: "let up to N calls of a path fail: disk full or bad, interrupts, short transfers, no memory",
        set: |a, v| { a.plan.fail_calls = number(v)?; Ok(()) } },
    Opt { name: "--find", value: "GOAL", help: "search for a FUNCTION, FILE:LINE, ADDRESS (executables) or output:TEXT; end at the first hit and name its test; may be repeated",
        set: |a, v| { a.plan.find.push(v.into()); Ok(()) } },
    Opt { name: "--follow-seeds", value: "", help: "take up what appears in the folders of `--seed` while the run goes on: for a fuzzer that runs beside it",
        set: |a, _| { a.plan.follow = true; Ok(()) } },
    Opt { name: "--frames", value: "", help: "machine code: bounds of frames in optimised code, too, by unwinding tables; slower",
        set: |a, _| { a.plan.frames = true; Ok(()) } },
    Opt { name: "--give-way", value: "", help: "with `--follow-seeds`: sleep while another finds more new code in the same time than the run does: for a fuzzer on the same core, at a low priority",
        set: |a, _| { a.plan.give_way = true; Ok(()) } },
    Opt { name: "--html", value: "FILE", help: "write one HTML page at the end that needs no other file (also `wryneck report RUN`)",
        set: |a, v| a.formats.add("html", v) },
    Opt { name: "--json", value: "", help: "print one JSON object at the end instead of a summary",
        set: |a, _| { a.json = true; Ok(()) } },
    Opt { name: "--jsonl", value: "FILE", help: "write JSON lines at the end; `-` is standard output, here and below",
        set: |a, v| a.formats.add("jsonl", v) },
    Opt { name: "--keep-going", value: "N", help: "continue a path after up to N reads and writes out of bounds (what is read is then input, what is written is lost) and results that overflow (they wrap)",
        set: |a, v| { a.plan.config.keep_going = number(v)?; Ok(()) } },
    Opt { name: "--lcov", value: "FILE", help: "write the coverage at the end, for genhtml and editors",
        set: |a, v| a.formats.add("lcov", v) },
    Opt { name: "--leaks", value: "", help: "report memory that no pointer leads to when a path exits; memory that is still reachable goes into the ledger",
        set: |a, _| { a.plan.config.leaks = true; Ok(()) } },
    Opt { name: "--loop-limit", value: "N", help: "end paths that take one loop's back edge more often under symbolic conditions (machine code: that enter one block)",
        set: |a, v| { a.plan.config.loop_limit = number(v)?; Ok(()) } },
    Opt { name: "--machine-code", value: "", help: "run an executable's machine code though it carries bitcode",
        set: |a, _| { a.plan.machine_code = true; Ok(()) } },
    Opt { name: "--max-depth", value: "N", help: "end paths after so many decisions",
        set: |a, v| { a.plan.config.max_depth = number(v)?; Ok(()) } },
    Opt { name: "--max-disk", value: "SIZE", help: "write no more tests when the run folder is nearly this large, and stop when it is (default 10G)",
        set: |a, v| { a.max_disk = bytes(v)?; Ok(()) } },
    Opt { name: "--max-forks", value: "N", help: "stop forking after so many flips",
        set: |a, v| { a.plan.config.max_forks = number(v)?; Ok(()) } },
    Opt { name: "--max-instructions", value: "N", help: "stop after so many instructions over all paths",
        set: |a, v| { a.plan.config.max_instructions = number(v)?; Ok(()) } },
    Opt { name: "--max-memory", value: "SIZE", help: "stop above this much memory, that of children included (default 8G)",
        set: |a, v| { a.plan.max_memory = bytes(v)?; Ok(()) } },
    Opt { name: "--max-resolutions", value: "N", help: "objects tried for one symbolic pointer without a known base",
        set: |a, v| { a.plan.config.max_resolutions = number(v)?; Ok(()) } },
    Opt { name: "--max-targets", value: "N", help: "targets tried for one symbolic computed jump of machine code (default 1024)",
        set: |a, v| { a.plan.config.max_targets = number(v)?; Ok(()) } },
    Opt { name: "--max-time", value: "TIME", help: "stop after this time, such as `30s` or `5min`, in which sources are compiled, too; replays of findings get up to a fifth of it",
        set: |a, v| { a.max_time = Some(seconds(v)?); Ok(()) } },
    Opt { name: "--no-libc", value: "", help: "run without the C library: what it would define is undefined",
        set: |a, _| { a.plan.libc = false; Ok(()) } },
    Opt { name: "--no-prune", value: "", help: "with rules: explore all paths and report how many are relevant; as `--prune classified`",
        set: |a, _| { a.plan.prune = Some(Pruning::Classified); Ok(()) } },
    Opt { name: "--no-replay", value: "", help: "report findings without running the program natively on their inputs",
        set: |a, _| { a.replay = false; Ok(()) } },
    Opt { name: "--off", value: "NAME[,NAME]", help: "switch off: snapshots, quick-checks, substitution, known-bits, byte-domain, independence, enumeration, abstraction, implied-values, neighbours, value-sets, search, cache, recent-models; with `--seed`: mutants (inputs made of seeds and of what they lead to); with `--seed` or `--find`: compare-whole (strings are compared as one value); with rules, of bitcode: fact-checks (comparing sliced paths with the static facts) and subsumption (pruning of states that a fully explored one subsumes); races (with several threads); of machine code: stand-ins (models of library functions) and variables (their bounds)",
        set: |a, v| v.split(',').try_for_each(|name| switch_off(a, name)) },
    Opt { name: "--output", value: "DIR", help: "the run folder (default `wryneck-out-N`; `wryneck-last` points to it)",
        set: |a, v| { a.output = Some(v.into()); Ok(()) } },
    Opt { name: "--overflow", value: "signed|unsigned|conversions|all", help: "report results that overflow, and conversions that change a value (C source; of bitcode: `signed`); several with commas between",
        set: |a, v| { a.plan.overflow = Overflow::parse(v)?; Ok(()) } },
    Opt { name: "--preamble", value: "NAME", help: "with `--entry`: run this function first, without arguments, to set up what the entry works on",
        set: |a, v| { a.plan.preamble = Some(v.into()); Ok(()) } },
    Opt { name: "--prune", value: "wanted|classified|off|recorded|sliced|algorithm1", help: "with rules: explore relevant flips only (default of `verify`); all, and classify them; all; all, and record or slice each path (to measure the cost); or those that paper 1's algorithm as printed keeps (loses behaviour)",
        set: |a, v| { (a.plan.prune, a.plan.slices) = one_of(v, PRUNINGS)?; Ok(()) } },
    Opt { name: "--quiet", value: "", help: "no progress and no summary",
        set: |a, _| { a.quiet = true; Ok(()) } },
    Opt { name: "--resume", value: "RUN", help: "go on where the run in this folder was stopped, with its own target and options, into a new folder",
        set: |a, v| { a.resume = Some(v.into()); Ok(()) } },
    Opt { name: "--rule", value: "ID|FILE[,…]", help: "check these rules; see `wryneck rules`",
        set: |a, v| { a.plan.rules.extend(v.split(',').map(str::to_owned)); Ok(()) } },
    Opt { name: "--rules-in-libraries", value: "", help: "calls that libraries make inside themselves are events of rules too",
        set: |a, _| { a.plan.policy.inside_libraries = true; Ok(()) } },
    Opt { name: "--sarif", value: "FILE", help: "write the findings at the end as SARIF 2.1.0, for code scanning",
        set: |a, v| a.formats.add("sarif", v) },
    Opt { name: "--schedules", value: "N", help: "threads: explore also the orders that differ up to N times from the one in which each runs until it waits (default 0)",
        set: |a, v| { a.plan.config.schedules = number(v)?; Ok(()) } },
    Opt { name: "--search", value: "NAME[,NAME]", help: "searchers taking turns: bfs, coverage-new, default, dfs, distance-to-uncovered, random-path, subtrees (default where `verify` prunes subsumed states)",
        set: |a, v| searchers(v).map(|names| a.plan.search = Some(names)) },
    Opt { name: "--search-seed", value: "N", help: "seed of the random searchers",
        set: |a, v| { a.plan.config.seed = number(v)?; Ok(()) } },
    Opt { name: "--seed", value: "[INPUT=]FILE|DIR", help: "begin with the path of this input, and explore near it first: a plain file, a `.ktest` file, a corpus of libFuzzer or AFL++; may be repeated",
        set: |a, v| { a.plan.seeds.push(v.into()); Ok(()) } },
    Opt { name: "--sequences", value: "FILE", help: "with rules: write the distinct sequences of their events, a line each",
        set: |a, v| { a.sequences = Some(v.into()); Ok(()) } },
    Opt { name: "--solver", value: "NAME", help: "what decides hard queries: bitblast (default), or a process, cvc5 or z3",
        set: |a, v| backend(v).map(|name| a.plan.solver.backend = name.into()) },
    Opt { name: "--solver-timeout", value: "TIME", help: "give up a query after this time",
        set: |a, v| { a.plan.solver_timeout = Some(seconds(v)?); Ok(()) } },
    Opt { name: "--stdin", value: "FILE", help: "standard input, concrete (default: empty)",
        set: |a, v| { a.plan.stdin = Some(v.into()); Ok(()) } },
    Opt { name: "--summaries", value: "FILE", help: "with rules: what functions of the program read and write, taken on trust; may be repeated (see rules/summaries)",
        set: |a, v| { a.plan.summaries.push(v.into()); Ok(()) } },
    Opt { name: "--tree", value: "FILE", help: "write the tree of the explored paths: their decisions with positions, and with rules their events and which decisions are relevant",
        set: |a, v| { a.tree = Some(v.into()); Ok(()) } },
    Opt { name: "--unconfined", value: "", help: "replay findings on the real system: the program may change and delete files, and all else that you may",
        set: |a, _| { a.unconfined = true; Ok(()) } },
    Opt { name: "--undefined", value: "symbolic|error", help: "what a call of an undefined function gives: a fresh symbolic value (default), or the path's end",
        set: |a, v| { a.plan.config.undefined = one_of(v, &[("symbolic", Undefined::Symbolic), ("error", Undefined::Error)])?; Ok(()) } },
    Opt { name: "--uninit", value: "zero|symbolic|symbolic-globals|report", help: "what reading uninitialised memory gives: zero (default), symbolic input, the same with the program's variables that have no initial value, or a finding where a branch, an address or output depends on it",
        set: |a, v| { a.plan.config.uninit = one_of(v, &[("zero", Uninit::Zero), ("symbolic", Uninit::Symbolic), ("symbolic-globals", Uninit::SymbolicGlobals), ("report", Uninit::Report)])?; Ok(()) } },
    Opt { name: "-j", value: "N", help: "explore with N workers side by side (default 1); all paths, so not with pruning, seeds or goals",
        set: |a, v| { a.jobs = workers(v)?; Ok(()) } },
];

/// Most workers of a run.
const MOST_WORKERS: u32 = 256;

fn workers(text: &str) -> Result<u32, String> {
    match number(text)? {
        0 => Err("a run has at least one worker".into()),
        n if n > MOST_WORKERS => Err(format!("a run has at most {MOST_WORKERS} workers")),
        n => Ok(n),
    }
}

/// How to prune, and whether paths are sliced.
const PRUNINGS: &[(&str, (Option<Pruning>, bool))] = &[
    ("algorithm1", (Some(Pruning::AsPrinted), true)),
    ("classified", (Some(Pruning::Classified), true)),
    ("off", (None, true)),
    ("recorded", (Some(Pruning::Measured), false)),
    ("sliced", (Some(Pruning::Measured), true)),
    ("wanted", (Some(Pruning::Wanted), true)),
];

fn file_and_line(words: &str) -> (String, Option<u32>) {
    let parts = words.rsplit_once(':').and_then(|(file, line)| Some((file.to_owned(), Some(line.parse().ok()?))));
    parts.unwrap_or_else(|| (words.to_owned(), None))
}

fn searchers(names: &str) -> Result<Vec<String>, String> {
    let known: Vec<_> = SEARCHERS.iter().map(|row| (row.name, row.name)).collect();
    names.split(',').map(|name| one_of(name, &known).map(str::to_owned)).collect()
}

fn backend(name: &str) -> Result<&'static str, String> {
    wryneck_solver::backend::by_name(name).map(|row| row.name).map_err(|e| e.to_string())
}

fn switch_off(a: &mut RunArgs, name: &str) -> Result<(), String> {
    type Switch = fn(&mut RunArgs) -> &mut bool;
    const SWITCHES: &[(&str, Switch)] = &[
        ("abstraction", |a| &mut a.plan.solver.abstraction),
        ("byte-domain", |a| &mut a.plan.solver.byte_domain),
        ("cache", |a| &mut a.plan.solver.cache),
        ("compare-whole", |a| &mut a.plan.compare_whole),
        ("enumeration", |a| &mut a.plan.solver.enumeration),
        ("fact-checks", |a| &mut a.plan.checks),
        ("implied-values", |a| &mut a.plan.config.implied_values),
        ("mutants", |a| &mut a.plan.mutants),
        ("neighbours", |a| &mut a.plan.solver.neighbours),
        ("value-sets", |a| &mut a.plan.solver.value_sets),
        ("independence", |a| &mut a.plan.solver.independence),
        ("known-bits", |a| &mut a.plan.solver.known_bits),
        ("quick-checks", |a| &mut a.plan.config.quick_checks),
        ("races", |a| &mut a.plan.config.races),
        ("recent-models", |a| &mut a.plan.solver.recent_models),
        ("search", |a| &mut a.plan.solver.search),
        ("snapshots", |a| &mut a.plan.config.snapshots),
        ("stand-ins", |a| &mut a.plan.stand_ins),
        ("substitution", |a| &mut a.plan.solver.substitution),
        ("subsumption", |a| &mut a.plan.config.subsume),
        ("variables", |a| &mut a.plan.variables),
    ];
    let switch = one_of(name, SWITCHES)?;
    *switch(a) = false;
    Ok(())
}

const TARGETS: &str = "\
    TARGET is a `.c`, `.cc`, `.rs`, `.bc` or `.ll` file, a program made by `wryneck build`, an executable, or a relocatable object.\n\
    Several `.c`, `.bc`, `.ll`, `.o` and `.a` files are linked (`main.c more.c lib.a`). Options, before TARGET:\n";

const SYMBOLIC: &str = "\nSymbolic input, before or after TARGET; other words after it are the program's arguments:\n\
    \x20 --sym-arg N                  an argument of up to N symbolic bytes\n\
    \x20 --sym-args MIN MAX N         MIN to MAX such arguments\n\
    \x20 --sym-stdin N|MIN-MAX        so many symbolic bytes of standard input\n\
    \x20 --sym-files N SIZE           symbolic files `A`, `B`, … of SIZE bytes each\n\
    \x20 --sym-file PATH[:SIZE][:stat]  a symbolic file; `PATH` may have `*` and `?`; `SIZE` is `N` or `MIN-MAX`, else the file's own;\n\
    \x20                              `:stat` makes times and permissions symbolic that do not bind this user\n\
    \x20 --sym-calls NAME[,NAME]      the results of these functions are input: rand, random, lrand48, time, clock, gettimeofday,\n\
    \x20                              clock_gettime, getpid, getrandom, getenv[:LEN] (variables are unset or of up to LEN bytes), and\n\
    \x20                              any function that the program calls for a number\n\
    \x20 --sym-env NAME:LEN           an environment variable of up to LEN symbolic bytes\n\
    \x20 --sym-socket [udp:]PORT:SIZE a client that connects to PORT and sends SIZE symbolic bytes, or a datagram of them; several, in their order\n\
    \x20 --literal WORD               an argument, even if WORD looks like an option of the tool\n\
    \x20 --                           what follows is arguments only\n\n\
    Examples:\n\
    \x20 wryneck run first.c                              every path of a C program that asks for input by wryneck.h or klee.h\n\
    \x20 wryneck run echo.bc --sym-args 0 2 2             up to two arguments of up to two bytes\n\
    \x20 wryneck run --max-time 30s wc.bc A --sym-files 1 8   a symbolic file of eight bytes, named as an argument\n\
    \x20 wryneck run --search dfs --emit all --output out tr.bc --sym-arg 2 x --sym-stdin 4\n\
    \x20 wryneck verify --rule open-close cat.bc A --sym-files 1 8   is what it opens closed?\n\
    \x20 wryneck run --entry parse --entry-bytes 32 lib.bc    one function on symbolic arguments\n\
    \x20 wryneck run --seed corpus/ --export new/ parser.bc --sym-stdin 0-64   begin with a fuzzer's corpus, and write what is new\n\
    \x20 wryneck run --find win --avoid fail crackme --sym-arg 16   an input that reaches a function\n\
    \x20 wryneck run --find wc.c:512 wc.bc A --sym-files 1 8   or a line of the source\n\
    \x20 wryneck run game.c --sym-calls rand,time,getenv:8   every die, every time, every variable the program asks for\n\
    \x20 wryneck run --sym-socket 8080:24 server.c       a server whose first request has 24 symbolic bytes\n\
    \x20 wryneck run --overflow signed,conversions parse.c --sym-stdin 8   sums that overflow and lengths that are cut off\n\
    \x20 wryneck run --resume wryneck-last --max-time 10min   go on where a limit, Ctrl-C or a kill stopped a run\n\
    \x20 wryneck run --entry parse --preamble set_up a.o b.o  machine code of two objects, after a function that sets things up\n\n\
    Exit codes: 0 every path was explored and nothing found, 1 findings, 2 wrong usage or our error, 3 not every path was explored.\n\
    With `--find`: 0 a goal is reached, 1 none can be (every path was explored), 2 as above, 3 not reached yet.\n";

/// What the commands that take these arguments do; `verify` is `run` with verdicts.
fn purpose(command: &str) -> &'static str {
    match command {
        "verify" => "Explores a program and gives a verdict on each `--rule`, on all that are built in if there is none.\n",
        _ => "",
    }
}

/// The help of `run` and of another command that takes the same arguments.
pub fn help(command: &str) -> String {
    let usage = format!(
        "usage: wryneck {command} [options] TARGET [symbolic input and arguments]\n       wryneck {command} --resume RUN [options]"
    );
    format!("{usage}\n\n{}{TARGETS}{}{SYMBOLIC}", purpose(command), options::help(OPTIONS))
}

/// The arguments of one `wryneck run` or another command that takes the same.
pub fn parse(command: &str, words: Vec<String>) -> Result<RunArgs> {
    let mut args = RunArgs::default();
    let mut words = Words::new(words);
    let mut before = Vec::new();
    let is_symbolic = |word: &str| symbolic::values(word).is_some() || symbolic::misspelt(word).is_some();
    loop {
        options::parse_until(OPTIONS, &mut args, &mut words, &is_symbolic)?;
        let Some(word) = words.peek().filter(|word| is_symbolic(word)) else { break };
        if let Some(error) = symbolic::misspelt(word) {
            return Err(error);
        }
        let count = symbolic::values(word).unwrap_or_default();
        before.extend((0..=count).map_while(|_| words.next()));
    }
    let Some(target) = words.next() else {
        return Err(problem(
            "no target is given",
            format!(
                "write `wryneck {command} [options] TARGET …`, TARGET a `.c`, `.cc`, `.rs`, `.bc` or `.ll` file, a program made by `wryneck build`, or an executable"
            ),
        ));
    };
    args.plan.target = target.into();
    let mut rest = words.rest();
    args.plan.objects = several::take(&args.plan.target, &mut rest);
    refuse_misplaced(command, &rest)?;
    args.plan.words = before;
    args.plan.words.extend(rest);
    Ok(args)
}

/// Words after the target that look like options of the tool, or like symbolic input and are none, would silently be the program's arguments.
fn refuse_misplaced(command: &str, words: &[String]) -> Result<()> {
    let mut rest = words.iter();
    while let Some(word) = rest.next().filter(|word| *word != "--") {
        if let Some(count) = symbolic::values(word) {
            rest.by_ref().take(count).for_each(drop);
            continue;
        }
        if let Some(error) = symbolic::misspelt(word) {
            return Err(error);
        }
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        if let Some(option) = OPTIONS.iter().find(|option| option.name == name) {
            let usage = if option.value.is_empty() || word.contains('=') { word.clone() } else { format!("{name} {}", option.value) };
            return Err(problem(
                format!("`{word}` comes after the target, where it would be an argument of the program"),
                format!("write `wryneck {command} {usage} TARGET …`; for the program: `--literal {word}`, or all its arguments after `--`"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str) -> Result<RunArgs, String> {
        let words = line.split_whitespace().map(str::to_owned).collect();
        parse("run", words).map_err(|e| e.to_string())
    }

    #[test]
    fn options_come_before_the_target_and_words_after_it() {
        let a = run("--max-time 30s --search dfs,bfs --off cache,snapshots t.c --sym-arg 2 -- --max-time").expect("it is fine");
        assert_eq!(a.max_time, Some(30.0));
        assert_eq!(a.plan.search.as_deref(), Some(&["dfs".to_owned(), "bfs".to_owned()][..]));
        assert!(!a.plan.solver.cache && !a.plan.config.snapshots && a.plan.solver.known_bits);
        assert_eq!(a.plan.words, ["--sym-arg", "2", "--", "--max-time"]);
    }

    #[test]
    fn symbolic_input_may_come_before_the_target() {
        let a = run("--sym-arg 5 --max-time 30s --sym-args 0 1 2 t.c x -sym-stdin 3").expect("it is fine");
        assert_eq!((a.max_time, a.plan.target.to_str()), (Some(30.0), Some("t.c")));
        assert_eq!(a.plan.words.join(" "), "--sym-arg 5 --sym-args 0 1 2 x -sym-stdin 3");
    }

    #[test]
    fn words_that_look_like_options_are_no_arguments() {
        let error = |line: &str| {
            let words = line.split_whitespace().map(str::to_owned).collect();
            parse("run", words).err().map(|e| format!("{e}; {}", crate::problem::advice(&e).unwrap_or_default())).expect("it is an error")
        };
        assert!(error("t.c --max-time 60s").contains("`--max-time` comes after the target"), "{}", error("t.c --max-time 60s"));
        assert!(error("t.c --max-time=60s").contains("write `wryneck run --max-time=60s TARGET …`"));
        assert!(error("t.c --sym-argz 5").contains("write `--sym-arg`"));
        assert!(error("t.c --sym-arg=5").contains("write `--sym-arg 5`"));
        assert!(error("--sym-file=a t.c").contains("write `--sym-file a`"));
        for fine in ["t.c --literal --quiet", "t.c -- --quiet --sym-arg=5", "t.c --color --sym-arg 3", "t.c --sym-arg 3 -- --json"] {
            assert!(run(fine).is_ok(), "{fine}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |line| run(line).err().expect("it is an error");
        assert_eq!(error(""), "no target is given");
        assert_eq!(
            error("--search fast t.c"),
            "`--search fast`: not one of `bfs`, `coverage-new`, `default`, `dfs`, `distance-to-uncovered`, `nearest`, `random-path`, `subtrees`"
        );
        assert_eq!(error("--solver magic t.c"), "`--solver magic`: no solver backend is called `magic`");
        assert_eq!(error("--max-forks many t.c"), "`--max-forks many`: not a whole number in range");
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(OPTIONS.windows(2).all(|w| w[0].name < w[1].name));
    }
}
