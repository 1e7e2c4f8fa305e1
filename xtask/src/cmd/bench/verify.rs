//! coreutils under each rule within the bounds of paper 1 (section 8): up to three two-byte arguments, two eight-byte files, eight bytes of
//! standard input; pruned and not, with what is known of gnulib's functions (rules/summaries/gnulib.toml). Pairs of a program and a rule that have nothing to do with one another are left out and listed.
//!
//! Resumable: what the results file has, keyed by program, rule, mode and seconds, is not run again. The table is the paper's Table 1.
//! Cost: twice the seconds for each pair, and [`SCREEN`] seconds for each program once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::explore::{Exploration, GNULIB, INPUT, Mode, Programs};
use crate::cache;
use crate::random::Random;
use crate::{bitcode, process};

#[derive(clap::Args)]
pub struct Args {
    /// So many pairs, drawn by a fixed seed, instead of all
    #[arg(long)]
    sample: Option<usize>,
    /// Seconds for each exploration
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Explorations at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Only these pairs, `PROGRAM:RULE[,…]`
    #[arg(long, value_delimiter = ',')]
    pairs: Vec<String>,
    /// Searchers of both modes, as `wryneck verify --search` takes them; results of others belong into another file
    #[arg(long)]
    search: Option<String>,
    /// Parts of the tool to be switched off, as `wryneck verify --off` takes them; another file for these, too
    #[arg(long)]
    off: Option<String>,
    /// Where results are kept, one JSON object a line
    #[arg(long, default_value = "docs/results/verify.jsonl")]
    results: PathBuf,
    #[command(flatten)]
    programs: Programs,
}

const RULES: [&str; 5] = ["assertion", "data-loss", "file-access", "memory-leak", "open-close"];
/// Seconds in which some path of a program must have an event of a rule.
const SCREEN: u32 = 5;
/// The seed of the sample.
const SEED: u64 = 8;
/// For each exploration.
const MEMORY: &str = "6G";

/// Program, rule, mode (or `screen`), seconds.
type Key = (String, String, String, u64);

/// The results file.
struct Results {
    path: PathBuf,
    rows: Mutex<BTreeMap<Key, Value>>,
}

/// A program and a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    program: String,
    rule: &'static str,
}

pub fn run(args: &Args) -> Result<()> {
    let programs = args.programs.folder()?;
    let results = Results::read(&args.results)?;
    let rules = Rule::built_in()?;
    let mut pairs = pairs(&programs, &rules, args, &results)?;
    if let Some(sample) = args.sample {
        draw(&mut pairs, sample);
    }
    ensure!(!pairs.is_empty(), "no pair of a program and a rule");
    // Both modes of a pair run side by side, so that other work on the machine slows them alike.
    let jobs: Vec<(&Pair, Mode)> = pairs.iter().flat_map(|pair| Mode::BOTH.map(|mode| (pair, mode))).collect();
    process::parallel_on(args.jobs, &jobs, |(pair, mode)| {
        let target = programs.join(&pair.program).with_extension("bc");
        results.measure(&target, pair, *mode, args).map(drop)
    })?;
    summarise(&pairs, &results, args.seconds);
    Ok(())
}

/// A built-in rule and the functions that are its events.
struct Rule {
    id: &'static str,
    functions: BTreeSet<String>,
}

impl Rule {
    /// Those of the paper's rules that the tool has, as it explains them.
    fn built_in() -> Result<Vec<Rule>> {
        let wryneck = crate::cmd::wryneck()?;
        let listed = process::output(Command::new(&wryneck).arg("rules"))?;
        let has = |id: &&&str| listed.lines().any(|line| line.split(' ').next() == Some(id));
        RULES
            .iter()
            .filter(has)
            .map(|id| {
                let text = process::output(Command::new(&wryneck).args(["rules", id]))?;
                let events = text.lines().filter_map(|line| line.split_once(": call of ").or(line.split_once(": return of ")));
                let names = events.flat_map(|(_, rest)| rest.split(';').next().unwrap_or_default().split(", "));
                Ok(Rule { id, functions: names.map(|name| name.trim().to_owned()).collect() })
            })
            .collect()
    }
}

/// The pairs that have to do with one another, or those that were asked for; says which are left out.
fn pairs(programs: &Path, rules: &[Rule], args: &Args, results: &Results) -> Result<Vec<Pair>> {
    let files: Vec<PathBuf> = cache::files(programs)?.into_iter().filter(|f| f.extension().is_some_and(|e| e == "bc")).collect();
    let (mut kept, mut no_call, mut no_event) = (Vec::new(), Vec::new(), Vec::new());
    let mut screened = Vec::new();
    for file in &files {
        let program = file.file_stem().and_then(|name| name.to_str()).context("programs have plain names")?.to_owned();
        let undefined = bitcode::undefined(file)?;
        for rule in rules {
            let pair = Pair { program: program.clone(), rule: rule.id };
            let name = pair.name();
            match rule.functions.is_disjoint(&undefined) {
                _ if !args.pairs.is_empty() => kept.extend(args.pairs.contains(&name).then_some(pair)),
                true => no_call.push(name),
                // No path has an event of this rule unless it breaks it.
                false if rule.id == "assertion" => kept.push(pair),
                false => screened.push((file, pair)),
            }
        }
    }
    let mut by_file: BTreeMap<&PathBuf, Vec<&Pair>> = BTreeMap::new();
    screened.iter().for_each(|(file, pair)| by_file.entry(file).or_default().push(pair));
    let by_file: Vec<_> = by_file.into_iter().collect();
    process::parallel_on(args.jobs, &by_file, |(file, pairs)| results.screen(file, pairs))?;
    for (_, pair) in screened {
        if results.has_event(&pair) { kept.push(pair) } else { no_event.push(pair.name()) }
    }
    println!("{} programs, {} pairs", files.len(), kept.len());
    println!("left out, no event is called ({}): {}", no_call.len(), no_call.join(" "));
    println!("left out, no path had an event in {SCREEN} s ({}): {}", no_event.len(), no_event.join(" "));
    kept.sort();
    Ok(kept)
}

/// Keeps `count` pairs, the same for the same list.
fn draw(pairs: &mut Vec<Pair>, count: usize) {
    let mut random = Random::new(SEED);
    for at in 0..pairs.len().min(count) {
        let other = at + random.below(pairs.len() - at);
        pairs.swap(at, other);
    }
    pairs.truncate(count);
    pairs.sort();
}

impl Pair {
    fn name(&self) -> String {
        format!("{}:{}", self.program, self.rule)
    }
}

impl Results {
    fn read(path: &Path) -> Result<Results> {
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        let mut rows = BTreeMap::new();
        for line in fs::read_to_string(path).unwrap_or_default().lines() {
            let row: Value = serde_json::from_str(line).with_context(|| format!("{}: not our results", path.display()))?;
            rows.insert(key(&row), row);
        }
        Ok(Results { path: path.to_owned(), rows: Mutex::new(rows) })
    }

    fn get(&self, program: &str, rule: &str, mode: &str, seconds: u32) -> Option<Value> {
        let key = (program.to_owned(), rule.to_owned(), mode.to_owned(), seconds.into());
        self.rows.lock().expect("no job panics").get(&key).cloned()
    }

    fn add(&self, row: Value) -> Result<()> {
        let mut rows = self.rows.lock().expect("no job panics");
        writeln!(OpenOptions::new().create(true).append(true).open(&self.path)?, "{row}")?;
        rows.insert(key(&row), row);
        Ok(())
    }

    /// Which rules have an event on some path of their program, in a short run without pruning.
    fn screen(&self, target: &Path, pairs: &[&Pair]) -> Result<()> {
        let unknown = pairs.iter().filter(|pair| self.get(&pair.program, pair.rule, "screen", SCREEN).is_none());
        let unknown: Vec<&&Pair> = unknown.collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let ids: Vec<&str> = unknown.iter().map(|pair| pair.rule).collect();
        let exploration = Exploration {
            target,
            input: &INPUT,
            rules: &ids,
            mode: Mode::Unpruned,
            summaries: None,
            seconds: SCREEN,
            memory: MEMORY,
            search: None,
            off: None,
            tree: None,
        };
        let explored = exploration.run()?;
        unknown.iter().try_for_each(|pair| {
            let relevant = &explored.rule(pair.rule)["relevant"];
            self.add(json!({ "program": pair.program, "rule": pair.rule, "mode": "screen", "limit": SCREEN, "relevant": relevant }))
        })
    }

    fn has_event(&self, pair: &Pair) -> bool {
        self.get(&pair.program, pair.rule, "screen", SCREEN).is_some_and(|row| row["relevant"].as_u64().unwrap_or(0) > 0)
    }

    fn measure(&self, target: &Path, pair: &Pair, mode: Mode, args: &Args) -> Result<()> {
        let seconds = args.seconds;
        if self.get(&pair.program, pair.rule, mode.word(), seconds).is_some() {
            return Ok(());
        }
        let rules = &[pair.rule];
        let exploration = Exploration {
            target,
            input: &INPUT,
            rules,
            mode,
            summaries: Some(Path::new(GNULIB)),
            seconds,
            memory: MEMORY,
            search: args.search.as_deref(),
            off: args.off.as_deref(),
            tree: None,
        };
        let mut row = json!({ "program": pair.program, "rule": pair.rule, "mode": mode.word(), "limit": seconds });
        // A broken exploration is a result too.
        let more = match exploration.run() {
            Ok(explored) => {
                let rule = explored.rule(pair.rule);
                row["verdict"] = rule["verdict"].clone();
                row["why"] = rule["why"].clone();
                row["relevant"] = rule["relevant"].clone();
                explored.counts()
            }
            Err(error) => json!({ "verdict": "BROKEN", "why": format!("{error:#}") }),
        };
        if let (Some(row), Some(more)) = (row.as_object_mut(), more.as_object()) {
            row.extend(more.clone());
        }
        let (text, number) = (|name: &str| row[name].as_str().unwrap_or("").to_owned(), |name: &str| row[name].as_u64().unwrap_or(0));
        println!(
            "{:<24} {:<9} {:>6.1} s {:<10} {:>8} paths {:>8} relevant {:>8} sequences  {}",
            pair.name(),
            mode.word(),
            row["took"].as_f64().unwrap_or(0.0),
            text("verdict"),
            number("paths"),
            row["pruning"]["relevant"].as_u64().unwrap_or(0),
            number("relevant_sequences"),
            text("why"),
        );
        self.add(row)
    }
}

fn key(row: &Value) -> Key {
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    (text("program"), text("rule"), text("mode"), row["limit"].as_u64().unwrap_or(0))
}

/// What a mode came to over some pairs.
#[derive(Clone, Copy, Default)]
struct Sum {
    verified: u64,
    violated: u64,
    /// Relevant paths, those explored besides, distinct sequences with an event, and seconds, on pairs that pruning did not decide.
    relevant: u64,
    redundant: u64,
    sequences: u64,
    seconds: f64,
}

impl Sum {
    fn decided(self) -> u64 {
        self.verified + self.violated
    }

    fn add(&mut self, other: Sum) {
        self.verified += other.verified;
        self.violated += other.violated;
        self.relevant += other.relevant;
        self.redundant += other.redundant;
        self.sequences += other.sequences;
        self.seconds += other.seconds;
    }

    fn per_minute(self) -> f64 {
        60.0 * self.relevant as f64 / self.seconds.max(1.0)
    }
}

fn summarise(pairs: &[Pair], results: &Results, seconds: u32) {
    let mut sums: BTreeMap<&str, (u64, [Sum; 2])> = BTreeMap::new();
    for pair in pairs {
        let rows = Mode::BOTH.map(|mode| results.get(&pair.program, pair.rule, mode.word(), seconds).unwrap_or_default());
        let open = rows[0]["status"]["kind"] != "complete";
        let (count, sum) = sums.entry(pair.rule).or_default();
        *count += 1;
        for (sum, row) in sum.iter_mut().zip(&rows) {
            let is = |verdict: &str| u64::from(row["verdict"] == verdict);
            let of = |count: &Value| if open { count.as_u64().unwrap_or(0) } else { 0 };
            sum.add(Sum {
                verified: is("VERIFIED"),
                violated: is("VIOLATED"),
                relevant: of(&row["pruning"]["relevant"]),
                redundant: of(&row["pruning"]["redundant"]),
                sequences: of(&row["relevant_sequences"]),
                seconds: if open { row["took"].as_f64().unwrap_or(0.0) } else { 0.0 },
            });
        }
    }
    println!("\nPairs in which pruning leaves paths unexplored after {seconds} s count from `relevant` on.");
    let heads = ["verified", "violated", "relevant paths", "redundant paths", "sequences"];
    println!("{:<12} {:>6}{}", "rule", "pairs", heads.map(|head| format!("{:>26}", format!("{head}, without"))).concat());
    let (mut pairs, mut total) = (0, [Sum::default(); 2]);
    for (rule, (count, sum)) in &sums {
        line(rule, *count, sum);
        pairs += count;
        total.iter_mut().zip(sum).for_each(|(total, sum)| total.add(*sum));
    }
    line("total", pairs, &total);
    let [pruned, unpruned] = total;
    println!(
        "decided: {} of {pairs} pairs ({:.1} %; wanted: 25 %), {:.1} times as many as without pruning (wanted: 3); {:.1} times as many \
         relevant paths a minute on pairs that stay unexplored (wanted: 5, if not the former)",
        pruned.decided(),
        100.0 * pruned.decided() as f64 / pairs.max(1) as f64,
        pruned.decided() as f64 / unpruned.decided().max(1) as f64,
        pruned.per_minute() / unpruned.per_minute().max(f64::MIN_POSITIVE),
    );
}

fn line(name: &str, pairs: u64, [pruned, unpruned]: &[Sum; 2]) {
    let counts = |sum: &Sum| [sum.verified, sum.violated, sum.relevant, sum.redundant, sum.sequences];
    let both = counts(pruned).into_iter().zip(counts(unpruned)).map(|(pruned, not)| format!("{:>26}", format!("{pruned}, {not}")));
    println!("{name:<12} {pairs:>6}{}", both.collect::<String>());
}
