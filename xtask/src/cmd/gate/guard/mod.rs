//! Guard's truth: a *clean* hit never faults natively, inputs of one stored path take one path natively, and a planted crash is refused while its
//! neighbours run; after kills at random moments and mutations of stores too.
//!
//! `risky.c` crashes for some arguments, variables, files, directories and standard inputs. So a fact that guard forgets shows as a native crash of an input
//! that was called clean. Programs of coreutils are given random arguments. Every run whose path is stored is traced ([`trace`]): the first one of a path
//! shows the lines and columns of the program's own functions, in their order, and every later one has to show the same.

mod kills;
mod mutants;
mod place;
mod readers;
mod trace;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::random::Random;
use place::{Input, Place};
use trace::{Own, Trace};

#[derive(clap::Args)]
pub struct Args {
    /// Random inputs for each program
    #[arg(long, default_value_t = 2000)]
    inputs: usize,
    /// Random programs that read files and standard input of random lengths
    #[arg(long, default_value_t = 100)]
    readers: usize,
    /// Kills at random moments
    #[arg(long, default_value_t = 200)]
    kills: usize,
    /// Mutated stores
    #[arg(long, default_value_t = 10_000)]
    mutants: usize,
    /// Only these programs
    #[arg(long)]
    program: Vec<String>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Verify machine code instead of bitcode
    #[arg(long)]
    machine_code: bool,
    /// Where the counts are kept, a JSON object a line; parts that it has are not run again
    #[arg(long)]
    results: Option<PathBuf>,
}

/// Programs of coreutils beside `risky`, and words that their random arguments are made of.
const PROGRAMS: [(&str, &[&str]); 4] = [
    ("echo", &["-n", "-e", "-E", "a", "bc", "\\n", "\\x41", "--", "-ne"]),
    ("uname", &["-s", "-r", "-a", "-m", "-sr", "--help", "x", "-n"]),
    ("cut", &["-f", "1", "2-3", "-d", ":", "-c1", "-b2", "-s", "f", "--output-delimiter", "-f1,2"]),
    ("wc", &["-l", "-w", "-c", "f", "g", "-L", "--total", "-m"]),
];

/// Of how many inputs one is verified when it is missed: the others show hits and misses of what is there.
const VERIFIED: usize = 8;

pub fn run(args: &Args) -> Result<()> {
    let mut place = Place::new(args.machine_code)?;
    let results = Results::open(args)?;
    planted(&place)?;
    println!("planted: the crash on `-a -b` is refused, its neighbours run");
    let mut programs = vec![("risky".to_owned(), place.risky.clone(), &[][..])];
    let is_asked = |name: &str| args.inputs > 0 && (args.program.is_empty() || args.program.iter().any(|asked| asked == name));
    for (name, words) in PROGRAMS.into_iter().filter(|(name, _)| is_asked(name)) {
        programs.push((name.to_owned(), place.coreutils(name)?, words));
    }
    for (number, (name, file, words)) in (1..).zip(programs) {
        let part = json!({ "part": "truth", "program": name, "of": args.inputs });
        if results.has(&part) || !is_asked(&name) {
            continue;
        }
        let (subject, mut random) = (Subject::of(file)?, Random::new(args.seed + 1000 * number));
        let mut count = Counts::default();
        for number in 0..args.inputs {
            place.shuffle(&mut random)?;
            let input = if words.is_empty() { Input::risky(&mut random) } else { Input::of_words(words, &mut random) };
            judge(&place, &subject, &input, number % VERIFIED == 0, &mut count)?;
        }
        println!(
            "{name:<6} {} inputs: {} clean ({} without a verification), {} faulty, {} not verified; {} crash natively; {} paths traced, {} runs beside the first of a path, all alike",
            args.inputs,
            count.clean,
            count.hits,
            count.faulty,
            count.unverified,
            count.crashes,
            count.traces.len(),
            count.same()
        );
        ensure!(count.clean > 0, "`{name}`: nothing was clean, so nothing was tested");
        results.add(
            part,
            json!({ "clean": count.clean, "hits": count.hits, "faulty": count.faulty, "unverified": count.unverified,
            "crashes": count.crashes, "refused_crashes": count.refused, "paths_traced": count.traces.len(), "same_path_pairs": count.same(),
            "places": count.places }),
        )?;
    }
    let part = json!({ "part": "readers", "of": args.readers });
    if args.readers > 0 && !results.has(&part) {
        let count = readers::run(&place, args.readers, &mut Random::new(args.seed))?;
        println!(
            "{} random programs that read: {} clean ({} without a verification), {} faulty, {} not verified; {} crash natively; none is false",
            args.readers, count.clean, count.hits, count.faulty, count.unverified, count.crashes
        );
        ensure!(count.clean > 0, "nothing was clean, so nothing was tested");
        results.add(
            part,
            json!({ "clean": count.clean, "hits": count.hits, "faulty": count.faulty, "unverified": count.unverified,
            "crashes": count.crashes, "same_path_pairs": count.same() }),
        )?;
    }
    let part = json!({ "part": "kills", "of": args.kills });
    if args.kills > 0 && !results.has(&part) {
        let killed = kills::run(&mut place, args.kills, &mut Random::new(args.seed))?;
        println!("{} kills: {killed} met a verification; no store was damaged, no process was left, nothing clean crashes", args.kills);
        results.add(part, json!({ "met": killed }))?;
    }
    let part = json!({ "part": "mutants", "of": args.mutants });
    if args.mutants > 0 && !results.has(&part) {
        let aside = mutants::run(&mut place, args.mutants, &mut Random::new(args.seed))?;
        println!("{} mutated stores: {aside} were set aside, no answer was wrong", args.mutants);
        results.add(part, json!({ "set_aside": aside }))?;
    }
    Ok(())
}

/// Parts of the gate that are done, a JSON object a line: a gate that was ended goes on with the others.
struct Results<'a> {
    file: Option<&'a std::path::Path>,
    /// What all parts of this gate say.
    common: Value,
    known: Vec<Value>,
}

impl<'a> Results<'a> {
    fn open(args: &'a Args) -> Result<Results<'a>> {
        let text = match &args.results {
            Some(file) if file.exists() => std::fs::read_to_string(file)?,
            _ => String::new(),
        };
        let known = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let common = json!({ "machine_code": args.machine_code, "seed": args.seed });
        Ok(Results { file: args.results.as_deref(), common, known })
    }

    /// Whether a line says all that these two say.
    fn has(&self, part: &Value) -> bool {
        let fields = || self.common.as_object().into_iter().chain(part.as_object()).flatten();
        self.known.iter().any(|line| fields().all(|(name, value)| line[name] == *value))
    }

    fn add(&self, part: Value, counts: Value) -> Result<()> {
        let Some(file) = self.file else { return Ok(()) };
        let fields = [&self.common, &part, &counts].into_iter().filter_map(Value::as_object).flatten();
        let line = Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect());
        writeln!(std::fs::OpenOptions::new().create(true).append(true).open(file)?, "{line}")?;
        Ok(())
    }
}

/// A program that guard is asked about.
struct Subject {
    file: PathBuf,
    own: Own,
}

impl Subject {
    fn of(file: PathBuf) -> Result<Subject> {
        let own = Own::of(&file)?;
        Ok(Subject { file, own })
    }
}

#[derive(Default)]
struct Counts {
    clean: usize,
    /// Of these, without a verification.
    hits: usize,
    faulty: usize,
    unverified: usize,
    /// Native runs that a signal ended, and those of them that guard called faulty.
    crashes: usize,
    refused: usize,
    /// The native path of each stored path that was met, by its program and number.
    traces: BTreeMap<(PathBuf, u64), Trace>,
    /// Places of all traces.
    places: u64,
}

impl Counts {
    /// Runs of stored paths beside the first of each.
    fn same(&self) -> usize {
        self.clean + self.faulty - self.traces.len()
    }
}

/// Asks guard about an input, runs it natively, and compares.
fn judge(place: &Place, subject: &Subject, input: &Input, verifies: bool, count: &mut Counts) -> Result<()> {
    let Subject { file, own } = subject;
    let answer = place.answer(file, input, verifies)?;
    let shown = || format!("{} {input:?}: {}", file.display(), answer.text);
    let code = match answer.path {
        Some(path) => {
            let trace = place.traced(file, input, own)?;
            count.places += trace.places;
            let first = count.traces.entry((file.clone(), path)).or_insert_with(|| trace.clone());
            ensure!(*first == trace, "one stored path ({path}), and two native ones: {first:?} before, {trace:?} of {}", shown());
            trace.code
        }
        None => place.native(file, input)?.code,
    };
    let crashed = code.is_none();
    count.crashes += usize::from(crashed);
    match answer.kind.as_str() {
        "clean" => {
            count.clean += 1;
            count.hits += usize::from(answer.hit);
            ensure!(!crashed, "clean, and the native run crashes: {}", shown());
        }
        "faulty" => {
            count.faulty += 1;
            count.refused += usize::from(crashed);
            ensure!(crashed, "faulty, and the native run ends well: {}", shown());
        }
        _ => count.unverified += 1,
    }
    Ok(())
}

/// A crash on one combination of flags is refused; each flag alone runs.
fn planted(place: &Place) -> Result<()> {
    for (words, runs) in
        [(vec!["-a"], true), (vec!["-b"], true), (vec!["-a", "-b"], false), (vec!["-b", "-a"], false), (vec!["-a", "-a"], true)]
    {
        let input = Input::plain(&words);
        let ended = place.guarded(&place.risky, &input)?;
        let code = if runs { Some(0) } else { Some(125) };
        ensure!(ended.code == code, "{words:?}: exit {:?}, not {code:?}: {}{}", ended.code, ended.out, ended.err);
        ensure!(runs || ended.err.contains("null-dereference"), "{words:?}: the refusal does not name the fault: {}", ended.err);
        ensure!(!runs || ended.out == place.native(&place.risky, &input)?.out, "{words:?}: another output under guard");
    }
    Ok(())
}
