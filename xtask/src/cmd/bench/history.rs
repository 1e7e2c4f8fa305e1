//! The paper's Figure 5 (hit rate over a user's shell history) and Figure 6 (growth of path conditions with the length of arguments).
//!
//! The history is generated: programs are drawn by a Zipf distribution, as shell histories have it; each program has a few forms of command, drawn likewise, of
//! flags, files of three folders and words. Seven of ten commands repeat one of the last forty with other words, or as it was. Between commands, now and then
//! a file grows or a new one appears, so facts change. Commands run in the order of the history; every miss is verified once.
//! The share of lines that were typed before is counted (`repeats`), to be compared with that of real users (docs/guard.md).
//!
//! A run that was ended goes on where it was: the folder `--state` has the stores, the files, and a line for each command that was asked about.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::cache::Cache;
use crate::random::Random;

#[derive(clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 1000)]
    commands: usize,
    /// Most paths of one verification
    #[arg(long, default_value_t = 300)]
    paths: u64,
    /// Time of one verification
    #[arg(long, default_value = "1s")]
    budget: String,
    /// Time for each length of Figure 6; 0s leaves it out
    #[arg(long, default_value = "60s")]
    growth: String,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The programs' folder
    #[arg(long)]
    programs: Option<PathBuf>,
    /// Only this mode of Figure 5
    #[arg(long, value_parser = ["arguments-only", "arguments-only-up-to", "nothing"])]
    mode: Option<String>,
    /// Where the figures are kept, one JSON object a line
    #[arg(long, default_value = "docs/results/guard-history.jsonl")]
    results: PathBuf,
    /// Where commands and stores are kept meanwhile: a run that was ended goes on there. It is removed at the end
    #[arg(long, default_value = "target/guard-history")]
    state: PathBuf,
}

/// Programs, most used first, with their forms: F is a file, D a folder, W a word, N a number, a `<` gives standard input.
const FORMS: [(&str, &[&str]); 30] = [
    ("ls", &["", "-l", "-la", "D", "-l D", "-a", "-lt"]),
    ("cat", &["F", "F F", "-n F"]),
    ("echo", &["W", "W W", "-n W", "W W W", "-e W"]),
    ("wc", &["-l F", "F", "-c F", "-w F"]),
    ("head", &["F", "-n N F", "-c N F"]),
    ("tail", &["F", "-n N F"]),
    ("sort", &["F", "-n F", "-r F", "-u F"]),
    ("cut", &["-d: -fN F", "-cN F", "-fN F"]),
    ("pwd", &["", "-P"]),
    ("basename", &["F", "W .txt"]),
    ("dirname", &["F", "D"]),
    ("date", &["", "+%Y"]),
    ("uname", &["-a", "-r", ""]),
    ("stat", &["F"]),
    ("du", &["-s D", "-h D"]),
    ("df", &[""]),
    ("uniq", &["F", "-c F"]),
    ("tr", &["a b < F", "-d x < F"]),
    ("seq", &["N", "1 N"]),
    ("expr", &["N + N", "N * N"]),
    ("test", &["-f F", "-d D", "W = W"]),
    ("true", &[""]),
    ("printf", &["W", "%s W"]),
    ("id", &["", "-u"]),
    ("whoami", &[""]),
    ("tac", &["F"]),
    ("nl", &["F"]),
    ("base64", &["F"]),
    ("paste", &["F F"]),
    ("readlink", &["-f F", "F"]),
];
const FILES: [&str; 8] = ["notes.txt", "a.txt", "data.csv", "log", "docs/b.txt", "docs/c.txt", "src/main.c", "src/util.c"];
const FOLDERS: [&str; 4] = [".", "docs", "src", ".."];
const WORDS: [&str; 12] = ["hello", "done", "x", "test", "abc", "foo", "bar", "ok", "todo", "build", "main", "v1.2"];

pub fn run(args: &Args) -> Result<()> {
    let programs = match &args.programs {
        Some(folder) => folder.clone(),
        None => Cache::open()?.path("coreutils/O0"),
    };
    let forms: Vec<_> = FORMS.iter().filter(|(name, _)| programs.join(name).is_file()).collect();
    println!("{} of {} programs are in `{}`", forms.len(), FORMS.len(), programs.display());
    ensure!(!forms.is_empty(), "no program is there: `cargo xtask setup coreutils`, or `--programs DIR`");
    let mut rows = Vec::new();
    for (mode, assume, up_to) in
        [("arguments-only", "arguments-only", 0), ("arguments-only-up-to", "arguments-only", 16), ("nothing", "nothing", 0)]
    {
        if args.mode.as_ref().is_none_or(|only| only == mode) {
            rows.push(figure5(args, (assume, up_to), &programs, &forms)?);
        }
    }
    if args.growth != "0s" {
        for name in ["uname", "pwd", "du", "ls"] {
            rows.push(figure6(args, name, &programs)?);
        }
    }
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    fs::write(&args.results, text)?;
    // Of one mode alone the others may go on.
    if args.mode.is_none() { Ok(fs::remove_dir_all(&args.state)?) } else { Ok(()) }
}

/// Growth: paths that are stored for one argument of so many symbolic bytes.
fn figure6(args: &Args, name: &str, programs: &Path) -> Result<Value> {
    let place = Place::new(&args.state.join(format!("growth-{name}")), programs)?;
    let mut log = Log::open(&place.dir.join("log"))?;
    let mut before = 0;
    for length in 1..=4 {
        if log.lines.len() < length {
            let options = ["--budget", &args.growth, "--max-memory", "4G", "--assume", "arguments-only"];
            let began = Instant::now();
            let answer = place.answer(name, &["zzzz"[..length].to_owned()], None, &options)?;
            let paths = answer["paths"].as_u64().unwrap_or(0);
            log.add(
                json!({ "length": length, "paths": paths - before, "seconds": began.elapsed().as_secs_f64(), "answer": answer["answer"] }),
            )?;
        }
        let row = &log.lines[length - 1];
        before += row["paths"].as_u64().unwrap_or(0);
        println!(
            "figure 6: {name} with {length} symbolic bytes: {} paths in {:.0} s",
            row["paths"],
            row["seconds"].as_f64().unwrap_or(0.0)
        );
    }
    Ok(json!({ "figure": 6, "program": name, "budget": args.growth, "counts": log.lines }))
}

/// By Zipf's law: the first is drawn most often.
fn zipf(random: &mut Random, n: usize) -> usize {
    let weight = |i: usize| 100_000 / (i + 1);
    let mut at = random.below((0..n).map(weight).sum());
    (0..n)
        .find(|i| {
            let here = weight(*i);
            let found = at < here;
            at = at.saturating_sub(here);
            found
        })
        .unwrap_or(0)
}

/// A command: its program, words, and the file on standard input.
type Shell = (&'static str, Vec<String>, Option<String>);

fn fill(name: &'static str, form: &str, random: &mut Random) -> Shell {
    let (mut words, mut stdin, mut reads) = (Vec::new(), None, false);
    for part in form.split_whitespace() {
        let word = match part {
            "F" => FILES[zipf(random, FILES.len())].to_owned(),
            "D" => FOLDERS[zipf(random, FOLDERS.len())].to_owned(),
            "W" => WORDS[zipf(random, WORDS.len())].to_owned(),
            "N" => (1 + zipf(random, 20)).to_string(),
            _ => part.replace('N', &(1 + random.below(3)).to_string()),
        };
        match (part, reads) {
            ("<", _) => reads = true,
            (_, true) => stdin = Some(word),
            (_, false) => words.push(word),
        }
    }
    (name, words, stdin)
}

/// A history that is drawn: the next command depends on those before.
struct Drawn<'a> {
    random: Random,
    forms: &'a [&'static Forms],
    recent: Vec<(usize, usize, Shell)>,
}

/// A program's name and its forms.
type Forms = (&'static str, &'static [&'static str]);

impl Drawn<'_> {
    fn command(&mut self) -> Shell {
        let (random, forms) = (&mut self.random, self.forms);
        let (program, form, shell) = match self.recent.len() {
            n if n > 0 && random.below(10) < 7 => {
                let (program, form, shell) = self.recent[n - 1 - random.below(n.min(40))].clone();
                let again = if random.below(2) == 0 { shell } else { fill(forms[program].0, forms[program].1[form], random) };
                (program, form, again)
            }
            _ => {
                let program = zipf(random, forms.len());
                let form = zipf(random, forms[program].1.len());
                (program, form, fill(forms[program].0, forms[program].1[form], random))
            }
        };
        self.recent.push((program, form, shell.clone()));
        shell
    }

    /// One command in twenty changes a file.
    fn aged(&mut self) -> Option<&'static str> {
        (self.random.below(20) == 0).then(|| FILES[self.random.below(FILES.len())])
    }
}

/// One mode: what is checked, and up to which length arguments are symbolic (0: with the length that they have, as in the paper).
fn figure5(args: &Args, (assume, up_to): (&str, u32), programs: &Path, forms: &[&'static Forms]) -> Result<Value> {
    let place = Place::new(&args.state.join(format!("{assume}-{up_to}")), programs)?;
    let policy = place.dir.join("policy");
    fs::write(&policy, format!("up_to = {up_to}\n"))?;
    let policy = policy.display().to_string();
    let mut log = Log::open(&place.dir.join("log"))?;
    let mut drawn = Drawn { random: Random::new(args.seed), forms, recent: Vec::new() };
    let paths = args.paths.to_string();
    let options = ["--policy", &policy, "--budget", &args.budget, "--max-paths", &paths, "--assume", assume];
    let (mut hits, mut shapes, mut new, mut curve) = (0u64, BTreeSet::new(), 0u64, Vec::new());
    let (mut typed, mut repeats) = (BTreeSet::new(), 0u64);
    for number in 0..args.commands {
        let (name, words, stdin) = drawn.command();
        let aged = drawn.aged();
        if log.lines.len() <= number {
            aged.map_or(Ok(()), |file| place.age(file))?;
            let began = Instant::now();
            let answer = place.answer(name, &words, stdin.as_deref(), &options)?;
            let seconds = began.elapsed().as_secs_f64();
            log.add(json!({ "program": name, "words": words, "answer": answer["answer"], "hit": answer["hit"], "text": answer["text"], "seconds": seconds }))?;
        }
        hits += u64::from(is_hit(&log.lines[number]));
        // The paper's bound: a hit needs an earlier command with arguments of these lengths. Where lengths are shared, their number counts.
        let lengths: Vec<usize> = words.iter().map(|word| word.len().max(up_to as usize)).collect();
        new += u64::from(shapes.insert((name, lengths)));
        repeats += u64::from(!typed.insert((name, words, stdin)));
        if (number + 1) % 50 == 0 {
            let rate = hits as f64 / (number + 1) as f64;
            let last = &log.lines[number.saturating_sub(99)..=number];
            let last = last.iter().filter(|line| is_hit(line)).count() as f64 / last.len() as f64;
            let bound = 1.0 - new as f64 / (number + 1) as f64;
            let repeats = repeats as f64 / (number + 1) as f64;
            curve.push(json!({ "commands": number + 1, "hit_rate": rate, "last_100": last, "seen_lengths": bound, "repeats": repeats }));
            println!(
                "figure 5, assume {assume}, up to {up_to}: {} commands, hit rate {rate:.3}, of the last hundred {last:.2}; lengths seen before {bound:.3}, lines {repeats:.3}",
                number + 1
            );
        }
    }
    let lines = &log.lines[..args.commands];
    let mut why: BTreeMap<String, u64> = BTreeMap::new();
    for line in lines.iter().filter(|line| !is_known(line)) {
        let text = line["text"].as_str().unwrap_or_default();
        *why.entry(format!("{}: {}", line["program"].as_str().unwrap_or_default(), text.chars().take(120).collect::<String>()))
            .or_default() += 1;
    }
    let mut misses: BTreeMap<String, u64> = BTreeMap::new();
    for line in lines.iter().filter(|line| !is_hit(line)) {
        *misses.entry(line["program"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    let share = |count: usize| count as f64 / args.commands as f64;
    Ok(
        json!({ "figure": 5, "assume": assume, "up_to": up_to, "commands": args.commands, "programs": forms.len(), "seed": args.seed, "hit_rate": share(hits as usize),
        "verdict_rate": share(lines.iter().filter(|line| is_known(line)).count()), "curve": curve, "misses": misses, "not_verified": why }),
    )
}

/// Whether something is known of a command's path, at once or after a verification.
fn is_known(line: &Value) -> bool {
    line["answer"] == "clean" || line["answer"] == "faulty"
}

fn is_hit(line: &Value) -> bool {
    line["hit"] == true && is_known(line)
}

/// What was asked so far, one JSON object a line.
struct Log {
    file: fs::File,
    lines: Vec<Value>,
}

impl Log {
    fn open(path: &Path) -> Result<Log> {
        let text = fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<Value> = text.lines().map_while(|line| serde_json::from_str(line).ok()).collect();
        // A line that was not finished goes.
        fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
        Ok(Log { file: fs::OpenOptions::new().append(true).open(path)?, lines })
    }

    fn add(&mut self, line: Value) -> Result<()> {
        writeln!(self.file, "{line}")?;
        self.lines.push(line);
        Ok(())
    }
}

/// Files and stores of one figure.
struct Place {
    dir: PathBuf,
    wryneck: PathBuf,
    programs: PathBuf,
}

impl Place {
    fn new(dir: &Path, programs: &Path) -> Result<Place> {
        let wryneck = std::env::var_os("WRYNECK").map_or_else(|| "target/release/wryneck".into(), PathBuf::from);
        let wryneck = fs::canonicalize(wryneck).context("build wryneck with `cargo build --release`")?;
        if !dir.join("cache/libc.bc").exists() {
            use std::os::unix::fs::PermissionsExt;
            fs::create_dir_all(dir.join("cache"))?;
            fs::set_permissions(dir.join("cache"), fs::Permissions::from_mode(0o700))?;
            for folder in ["home/docs", "home/src"] {
                fs::create_dir_all(dir.join(folder))?;
            }
            for (i, file) in FILES.iter().enumerate() {
                fs::write(dir.join("home").join(file), format!("first: {i}\nsecond line\nthird:x:y\n").repeat(i + 1))?;
            }
            fs::copy(Cache::open()?.path("libc.bc"), dir.join("cache/libc.bc"))?;
        }
        Ok(Place { dir: fs::canonicalize(dir)?, wryneck, programs: programs.to_owned() })
    }

    fn age(&self, file: &str) -> Result<()> {
        let file = self.dir.join("home").join(file);
        Ok(writeln!(fs::OpenOptions::new().append(true).create(true).open(file)?, "one more line")?)
    }

    fn answer(&self, name: &str, words: &[String], stdin: Option<&str>, options: &[&str]) -> Result<Value> {
        let home = self.dir.join("home");
        let mut command = Command::new(&self.wryneck);
        command.args(["guard", "--answer"]).args(options).arg("--").arg(self.programs.join(name)).args(words);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("LANG", "C").env("HOME", &home).env("PWD", &home).env("TERM", "xterm");
        command.env("WRYNECK_CACHE", self.dir.join("cache")).current_dir(&home);
        match stdin {
            Some(file) => command.stdin(fs::File::open(home.join(file))?),
            None => command.stdin(Stdio::null()),
        };
        let out = command.output()?;
        serde_json::from_slice(&out.stdout).with_context(|| format!("guard gives no answer: {}", String::from_utf8_lossy(&out.stderr)))
    }
}
