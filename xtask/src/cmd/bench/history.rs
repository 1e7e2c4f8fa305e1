//! The paper's Figure 5 (hit rate over a user's shell history) and Figure 6 (growth of path conditions with the length of arguments).
//!
//! The history is generated: programs are drawn by a Zipf distribution, as shell histories have it; each program has a few forms of command, drawn likewise, of
//! flags, files of three folders and words. Seven of ten commands repeat one of the last forty with other words, or as it was. Between commands, now and then
//! a file grows or a new one appears, so facts change. Commands run in the order of the history; every miss is verified once.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

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
    /// Where results are kept, one JSON object a line
    #[arg(long, default_value = "docs/results/guard-history.jsonl")]
    results: PathBuf,
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
    for assume in ["arguments-only", "nothing"] {
        rows.push(figure5(args, assume, &programs, &forms)?);
    }
    if args.growth != "0s" {
        for name in ["uname", "pwd", "du", "ls"] {
            let place = Place::new(&programs)?;
            let mut counts = Vec::new();
            for length in 1..=4 {
                let word = &"zzzz"[..length];
                let options = ["--budget", &args.growth, "--max-memory", "4G", "--assume", "arguments-only"];
                let answer = place.answer(name, &[word.to_owned()], None, &options)?;
                counts.push(json!({ "length": length, "paths": answer["paths"] }));
                println!("figure 6: {name} with {length} symbolic bytes: {} paths stored so far", answer["paths"]);
            }
            rows.push(json!({ "figure": 6, "program": name, "budget": args.growth, "counts": counts }));
        }
    }
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    Ok(fs::write(&args.results, text)?)
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

fn figure5(args: &Args, assume: &str, programs: &std::path::Path, forms: &[&(&'static str, &'static [&'static str])]) -> Result<Value> {
    let place = Place::new(programs)?;
    let mut random = Random::new(args.seed);
    let mut recent: Vec<(usize, usize, Shell)> = Vec::new();
    let (mut hits, mut known, mut curve) = (0, 0, Vec::new());
    let mut window = Vec::new();
    let mut why: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    for number in 0..args.commands {
        let (program, form, shell) = match recent.len() {
            n if n > 0 && random.below(10) < 7 => {
                let (program, form, shell) = recent[n - 1 - random.below(n.min(40))].clone();
                let again = if random.below(2) == 0 { shell } else { fill(forms[program].0, forms[program].1[form], &mut random) };
                (program, form, again)
            }
            _ => {
                let program = zipf(&mut random, forms.len());
                let form = zipf(&mut random, forms[program].1.len());
                (program, form, fill(forms[program].0, forms[program].1[form], &mut random))
            }
        };
        place.age(&mut random)?;
        let (name, words, stdin) = &shell;
        let paths = args.paths.to_string();
        let answer = place.answer(name, words, stdin.as_deref(), &["--budget", &args.budget, "--max-paths", &paths, "--assume", assume])?;
        let is_known = answer["answer"] == "clean" || answer["answer"] == "faulty";
        let hit = answer["hit"] == true && is_known;
        if !is_known {
            let text = answer["text"].as_str().unwrap_or_default();
            *why.entry(format!("{name}: {}", &text[..text.len().min(120)])).or_default() += 1;
        }
        hits += u64::from(hit);
        known += u64::from(is_known);
        window.push(hit);
        if (number + 1) % 50 == 0 {
            let last = window.iter().rev().take(100).filter(|hit| **hit).count() as f64 / window.len().min(100) as f64;
            curve.push(json!({ "commands": number + 1, "hit_rate": hits as f64 / (number + 1) as f64, "last_100": last }));
            println!(
                "figure 5, assume {assume}: {} commands, hit rate {:.3}, of the last hundred {last:.2}",
                number + 1,
                hits as f64 / (number + 1) as f64
            );
        }
        recent.push((program, form, shell));
    }
    let rate = hits as f64 / args.commands as f64;
    Ok(json!({ "figure": 5, "assume": assume, "commands": args.commands, "programs": forms.len(), "seed": args.seed, "hit_rate": rate,
        "verdict_rate": known as f64 / args.commands as f64, "curve": curve, "not_verified": why }))
}

struct Place {
    dir: tempfile::TempDir,
    wryneck: PathBuf,
    programs: PathBuf,
}

impl Place {
    fn new(programs: &std::path::Path) -> Result<Place> {
        let dir = tempfile::tempdir()?;
        fs::create_dir(dir.path().join("cache"))?;
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(dir.path().join("cache"), fs::Permissions::from_mode(0o700))?;
        fs::copy(Cache::open()?.path("libc.bc"), dir.path().join("cache/libc.bc"))?;
        for folder in ["home/docs", "home/src"] {
            fs::create_dir_all(dir.path().join(folder))?;
        }
        for (i, file) in FILES.iter().enumerate() {
            fs::write(dir.path().join("home").join(file), format!("first: {i}\nsecond line\nthird:x:y\n").repeat(i + 1))?;
        }
        let wryneck = std::env::var_os("WRYNECK").map_or_else(|| "target/release/wryneck".into(), PathBuf::from);
        let wryneck = fs::canonicalize(wryneck).context("build wryneck with `cargo build --release`")?;
        Ok(Place { dir, wryneck, programs: programs.to_owned() })
    }

    /// One command in twenty changes a file.
    fn age(&self, random: &mut Random) -> Result<()> {
        use std::io::Write;
        if random.below(20) == 0 {
            let file = self.dir.path().join("home").join(FILES[random.below(FILES.len())]);
            writeln!(fs::OpenOptions::new().append(true).create(true).open(file)?, "one more line")?;
        }
        Ok(())
    }

    fn answer(&self, name: &str, words: &[String], stdin: Option<&str>, options: &[&str]) -> Result<Value> {
        let home = self.dir.path().join("home");
        let mut command = Command::new(&self.wryneck);
        command.args(["guard", "--answer"]).args(options).arg("--").arg(self.programs.join(name)).args(words);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("LANG", "C").env("HOME", &home).env("PWD", &home).env("TERM", "xterm");
        command.env("WRYNECK_CACHE", self.dir.path().join("cache")).current_dir(&home);
        match stdin {
            Some(file) => command.stdin(fs::File::open(home.join(file))?),
            None => command.stdin(Stdio::null()),
        };
        let out = command.output()?;
        serde_json::from_slice(&out.stdout).with_context(|| format!("guard gives no answer: {}", String::from_utf8_lossy(&out.stderr)))
    }
}
