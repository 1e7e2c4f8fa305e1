//! Guard's lookups (paper 4, Table 1 and Figure 7): lookups a second at three sizes of store, as a walk of the decision tree and as the paper's scans,
//! and what a hit costs over the native run. The stores come from exploring the program itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::cache::Cache;
use crate::random::Random;

#[derive(clap::Args)]
pub struct Args {
    /// Paths of the stores
    #[arg(long, value_delimiter = ',', default_values_t = [10, 1000, 50_000])]
    paths: Vec<u64>,
    /// Only these programs
    #[arg(long)]
    program: Vec<String>,
    /// Inputs that are looked up in each store
    #[arg(long, default_value_t = 20)]
    inputs: usize,
    /// Runs of which the median is taken
    #[arg(long, default_value_t = 200)]
    runs: usize,
    /// Where results are kept, one JSON object a line
    #[arg(long, default_value = "docs/results/guard.jsonl")]
    results: PathBuf,
}

/// Programs, and the arguments whose generalisation has more paths than the largest store.
const PROGRAMS: [(&str, &[&str]); 4] = [
    ("echo", &["-ab", "\\cde", "fgh"]),
    ("uname", &["-sr", "--al", "-m"]),
    ("cut", &["-b1-3", "-sn", "f"]),
    ("basename", &["-a", "/ab/c.d", "-s.e"]),
];
const LOOKUPS: [&str; 3] = ["tree", "mru", "linear"];
/// Most that a hit may cost over the native run, in milliseconds; most that a lookup in the tree may take, in microseconds.
const OVERHEAD: f64 = 2.0;
const LOOKUP: f64 = 100.0;

pub fn run(args: &Args) -> Result<()> {
    let programs = Cache::open()?.path("coreutils/O2");
    let mut bad = Vec::new();
    for (name, words) in PROGRAMS {
        if !args.program.is_empty() && !args.program.iter().any(|asked| asked == name) {
            continue;
        }
        for &paths in &args.paths {
            let place = Place::new(programs.join(name))?;
            let row = place.measure(name, words, paths, args)?;
            println!("{}", shown(&row));
            let number = |key: &str| row[key].as_f64().unwrap_or(f64::MAX);
            if number("overhead_ms") > OVERHEAD || number("tree_us") > LOOKUP {
                bad.push(format!("{name} at {paths}"));
            }
            use std::io::Write;
            writeln!(fs::OpenOptions::new().append(true).create(true).open(&args.results)?, "{row}")?;
        }
    }
    ensure!(bad.is_empty(), "a hit costs over {OVERHEAD} ms, or a lookup over {LOOKUP} us: {bad:?}");
    Ok(())
}

fn shown(row: &Value) -> String {
    let n = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
    format!(
        "{:<9} {:>6} paths, {:>5.1} MB: tree {:>6.1} us ({:.1} us again), mru {:>9.1} us, linear {:>9.1} us; native {:.2} ms, guarded {:.2} ms: {:.2} ms over; {:.0} s to explore",
        row["program"].as_str().unwrap_or_default(),
        n("paths"),
        n("bytes") / 1e6,
        n("tree_us"),
        n("tree_again_us"),
        n("mru_us"),
        n("linear_us"),
        n("native_ms"),
        n("guarded_ms"),
        n("overhead_ms"),
        n("seconds")
    )
}

struct Place {
    dir: tempfile::TempDir,
    wryneck: PathBuf,
    program: PathBuf,
}

impl Place {
    fn new(program: PathBuf) -> Result<Place> {
        let dir = tempfile::tempdir()?;
        fs::copy(Cache::open()?.path("libc.bc"), dir.path().join("libc.bc"))?;
        let wryneck = std::env::var_os("WRYNECK").map_or_else(|| "target/release/wryneck".into(), PathBuf::from);
        let wryneck = fs::canonicalize(wryneck).context("build wryneck with `cargo build --release`")?;
        fs::write(dir.path().join("f"), "one two\n")?;
        Ok(Place { dir, wryneck, program })
    }

    fn command(&self, program: &Path, options: &[&str], words: &[String]) -> Command {
        let mut command = Command::new(program);
        command.args(options).args(words).env_clear().env("PATH", "/usr/bin:/bin").env("LANG", "C").env("WRYNECK_CACHE", self.dir.path());
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    fn answer(&self, options: &[&str], words: &[String]) -> Result<Value> {
        let program = self.program.display().to_string();
        let all = [&["guard", "--answer"], options, &["--", &program]].concat();
        let out = self.command(&self.wryneck, &all, words).output()?;
        serde_json::from_slice(&out.stdout).with_context(|| format!("guard gives no answer: {}", String::from_utf8_lossy(&out.stderr)))
    }

    fn measure(&self, name: &str, words: &[&str], paths: u64, args: &Args) -> Result<Value> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let began = Instant::now();
        let first = self.answer(&["--budget", "20min", "--max-memory", "6G", "--max-paths", &paths.to_string()], &words)?;
        let seconds = began.elapsed().as_secs_f64();
        // Inputs of the same shape: a letter or two are others, or in every second input up to eight.
        let mut random = Random::new(7);
        let mut inputs = vec![words.clone()];
        while inputs.len() < args.inputs {
            let mut input = words.clone();
            let most = if inputs.len().is_multiple_of(2) { 2 } else { 8 };
            for _ in 0..1 + random.below(most) {
                let word = random.below(input.len());
                let at = random.below(input[word].len());
                input[word].replace_range(at..=at, &char::from(b'-' + random.below(78) as u8).to_string());
            }
            inputs.push(input);
        }
        let mut row = json!({ "program": name, "paths": first["paths"], "seconds": seconds, "inputs": inputs.len() });
        let (mut clean, mut warm) = (0, 0.0);
        for lookup in LOOKUPS {
            let mut all = 0.0;
            for input in &inputs {
                // The first lookup of a process asks the world and maps pages: it is what a run costs. Later ones show the search alone.
                let answer = self.answer(&["--on-miss", "run", "--lookup", lookup], input)?;
                all += answer["lookup_us"].as_f64().unwrap_or(f64::NAN);
                if lookup == "tree" {
                    clean += u64::from(answer["answer"] == "clean");
                    let again = self.answer(&["--on-miss", "run", "--repeat", "100"], input)?;
                    warm += again["lookup_us"].as_f64().unwrap_or(f64::NAN);
                }
            }
            let mean = all / inputs.len() as f64;
            row[format!("{lookup}_us")] = mean.into();
            row[format!("{lookup}_per_second")] = (1e6 / mean).round().into();
        }
        row["tree_again_us"] = (warm / inputs.len() as f64).into();
        row["clean_of_inputs"] = clean.into();
        let store = fs::read_dir(self.dir.path().join("guard"))?.flatten().map(|entry| entry.path());
        let store = store.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "paths"));
        row["bytes"] = store.and_then(|file| fs::metadata(file).ok()).map_or(0, |m| m.len()).into();
        let program = self.program.display().to_string();
        let native = self.median(args.runs, &self.program, &[], &words)?;
        let guarded = self.median(args.runs, &self.wryneck, &["guard", "--", &program], &words)?;
        (row["native_ms"], row["guarded_ms"], row["overhead_ms"]) = (native.into(), guarded.into(), (guarded - native).into());
        Ok(row)
    }

    /// Milliseconds of wall time.
    fn median(&self, runs: usize, program: &Path, options: &[&str], words: &[String]) -> Result<f64> {
        let mut times = Vec::new();
        for _ in 0..runs {
            let mut command = self.command(program, options, words);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let began = Instant::now();
            command.status()?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[runs / 2])
    }
}
