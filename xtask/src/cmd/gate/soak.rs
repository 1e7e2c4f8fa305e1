//! A long run under a small memory limit: its memory stays flat, and it does not become slow. Compared are the memory of the last two quarters, and
//! instructions a second of processor time of the last quarter with those of the second, so that other work on the machine does not count.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::cache::Cache;
use crate::watched;

#[derive(clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 1.0)]
    hours: f64,
    /// The program of coreutils
    #[arg(long, default_value = "cat")]
    program: String,
    /// Memory that the run may have, in MiB
    #[arg(long, default_value_t = 500)]
    max_memory: u64,
    /// Where the curve is written: seconds, MiB, instructions a second of processor time, paths
    #[arg(long, default_value = "docs/results/soak.csv")]
    results: PathBuf,
}

const INPUT: [&str; 13] = ["--sym-args", "0", "1", "4", "--sym-args", "0", "2", "2", "--sym-files", "1", "8", "--sym-stdin", "8"];
/// How much memory may still grow from the third quarter to the last.
const GROWTH: f64 = 1.1;
/// The least part of the second quarter's speed that the last one has.
const SLOWEST: f64 = 0.5;

/// A line of the run's progress.
struct Point {
    second: f64,
    mib: u64,
    speed: f64,
    paths: u64,
}

pub fn run(args: &Args) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let target = Cache::open()?.path("coreutils/O2").join(&args.program).with_extension("bc");
    let seconds = args.hours * 3600.0;
    let start = Instant::now();
    let mut child = Command::new(super::wryneck())
        .args([
            "run",
            "--emit",
            "new",
            "--max-time",
            &format!("{seconds:.0}s"),
            "--max-memory",
            &format!("{}M", args.max_memory),
            "--output",
        ])
        .arg(dir.path().join("out"))
        .arg(target)
        .args(INPUT)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start wryneck: build it with `cargo build --release`")?;
    let mut points = Vec::new();
    let mut last = (0.0, 0.0);
    for line in BufReader::new(child.stderr.take().context("it is a pipe")?).lines() {
        let Some((paths, speed)) = numbers(&line?) else { continue };
        let mib = watched::memory(child.id(), &watched::tree(child.id())) >> 20;
        let now = (start.elapsed().as_secs_f64(), watched::processor_seconds(child.id()).unwrap_or(last.1));
        // Progress has the rate since the line before.
        let share = (now.1 - last.1) / (now.0 - last.0);
        last = now;
        if share > 0.0 {
            points.push(Point { second: now.0, mib, speed: speed / share, paths });
        }
    }
    let ended = child.wait()?;
    let csv: String = points.iter().map(|p| format!("{:.0},{},{:.0},{}\n", p.second, p.mib, p.speed, p.paths)).collect();
    fs::write(&args.results, format!("seconds,MiB,instructions/s,paths\n{csv}"))?;
    let quarter = |number: usize| {
        let range = seconds * number as f64 / 4.0..seconds * (number + 1) as f64 / 4.0;
        let of: Vec<&Point> = points.iter().filter(|p| range.contains(&p.second)).collect();
        let speed = of.iter().map(|p| p.speed).sum::<f64>() / of.len().max(1) as f64;
        (of.iter().map(|p| p.mib).max().unwrap_or(0), speed)
    };
    let quarters = [0, 1, 2, 3].map(quarter);
    for (number, (mib, speed)) in quarters.iter().enumerate() {
        println!("quarter {}: at most {mib} MiB, {speed:.0} instructions/s", number + 1);
    }
    let late = start.elapsed().as_secs_f64() - seconds;
    println!("{} paths; it ended {late:.2} s after its time with {ended}", points.last().map_or(0, |p| p.paths));
    ensure!(matches!(ended.code(), Some(0 | 1 | 3)), "wryneck ended with {ended}");
    ensure!(quarters[3].0 as f64 <= quarters[2].0 as f64 * GROWTH, "memory grows");
    ensure!(quarters[3].0 as f64 <= args.max_memory as f64 * GROWTH, "memory is above its limit");
    ensure!(quarters[3].1 >= quarters[1].1 * SLOWEST, "the last quarter is slower than half of the second");
    Ok(())
}

/// Paths and instructions a second of a line of progress: `5.01 s: 53 paths, 11 paths/s, 0 findings, …, 1.20 M instructions/s, …`.
fn numbers(line: &str) -> Option<(u64, f64)> {
    let part = |name: &str| line.split([':', ',']).map(str::trim).find_map(|part| part.strip_suffix(name).map(str::trim));
    let speed = part("instructions/s")?;
    let (number, unit) = speed.split_once(' ').unwrap_or((speed, ""));
    let scale = match unit {
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => 1.0,
    };
    Some((part("paths")?.parse().ok()?, number.parse::<f64>().ok()? * scale))
}
