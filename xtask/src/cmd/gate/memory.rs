//! The memory of a long run, as a curve: resident memory over time, written as CSV and drawn in the terminal.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::bounds::Bounds;
use crate::cache::Cache;

#[derive(clap::Args)]
pub struct Args {
    /// Seconds of the run
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
    /// The program of coreutils
    #[arg(long, default_value = "cat")]
    program: String,
    /// Memory that the run may have
    #[arg(long, default_value = "2G")]
    max_memory: String,
    /// Where the curve is written: seconds and MiB, a pair a line
    #[arg(long, default_value = "docs/results/memory.csv")]
    results: PathBuf,
}

const POINTS: u64 = 120;
const INPUT: [&str; 13] = ["--sym-args", "0", "1", "4", "--sym-args", "0", "2", "2", "--sym-files", "1", "8", "--sym-stdin", "8"];

pub fn run(args: &Args) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let target = Cache::open()?.path("coreutils/O2").join(&args.program).with_extension("bc");
    let mut child = Command::new(super::wryneck())
        .args(["run", "--emit", "new", "--max-time", &format!("{}s", args.seconds)])
        .args(["--max-memory", &args.max_memory, "--output"])
        .arg(dir.path().join("out"))
        .arg(target)
        .args(INPUT)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start wryneck: build it with `cargo build --release`")?;
    let (start, status) = (Instant::now(), format!("/proc/{}/status", child.id()));
    let mut curve: Vec<(u64, u64)> = Vec::new();
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        let text = fs::read_to_string(&status).unwrap_or_default();
        let resident = text.lines().find_map(|l| l.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        curve.extend(resident.map(|kib| (start.elapsed().as_secs(), kib / 1024)));
        sleep(Duration::from_secs_f64(args.seconds as f64 / POINTS as f64));
    };
    ensure!(matches!(ended.code(), Some(0 | 1 | 3)), "wryneck ended with {ended}");
    let mut csv = "seconds,MiB\n".to_owned();
    let most = curve.iter().map(|(_, mib)| *mib).max().unwrap_or(1).max(1);
    for (i, (at, mib)) in curve.iter().enumerate() {
        writeln!(csv, "{at},{mib}")?;
        if i % 4 == 0 {
            println!("{at:>6} s {mib:>6} MiB {}", "#".repeat((mib * 60 / most) as usize));
        }
    }
    fs::create_dir_all(args.results.parent().context("the results have a folder")?)?;
    fs::write(&args.results, csv)?;
    bounds(&curve, mebibytes(&args.max_memory)?).hold()
}

/// The most that may be in use stays within the limit, and the second half of the run takes hardly more than the first.
fn bounds(curve: &[(u64, u64)], limit: u64) -> Bounds {
    let mut bounds = Bounds::default();
    let most = |part: &[(u64, u64)]| part.iter().map(|(_, mib)| *mib).max().unwrap_or(0) as f64;
    let (first, second) = curve.split_at(curve.len() / 2);
    bounds.at_least("points of the curve", curve.len() as f64, (POINTS / 2) as f64);
    bounds.at_most("MiB at most", most(curve), limit as f64);
    bounds.at_most("growth in the second half, as a share of the limit", (most(second) - most(first)) / limit as f64, 0.15);
    bounds
}

/// The mebibytes of a size such as `2G` or `512M`.
fn mebibytes(size: &str) -> Result<u64> {
    let (digits, unit) = size.split_at(size.len().saturating_sub(1));
    let number: u64 = digits.parse().with_context(|| format!("`{size}` is not a size such as 2G"))?;
    Ok(match unit {
        "G" => number << 10,
        "M" => number,
        _ => bail!("`{size}` is not a size such as 2G or 512M"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_that_grows_falls_short() {
        let curve = |mib: &dyn Fn(u64) -> u64| (0..POINTS).map(|at| (at, mib(at))).collect::<Vec<_>>();
        assert!(bounds(&curve(&|at| 1000 + at.min(20) * 10), 2048).hold().is_ok());
        assert!(bounds(&curve(&|at| at * 10), 2048).hold().is_err(), "grows to the end");
        assert!(bounds(&curve(&|_| 3000), 2048).hold().is_err(), "above the limit");
        assert!(bounds(&[(0, 1)], 2048).hold().is_err(), "was not watched");
        assert_eq!((mebibytes("2G").ok(), mebibytes("512M").ok(), mebibytes("x").ok()), (Some(2048), Some(512), None));
    }
}
