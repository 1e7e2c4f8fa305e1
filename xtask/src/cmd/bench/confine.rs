//! What confinement costs a replay: the same program run confined and unconfined in turn, by the crate that replays run by; medians.
//!
//! One program ends at once, which shows the bare cost. The other is under the address sanitizer and maps and touches as those do.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use wryneck_confine::{Confinement, Job, Limits};

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Replays of each kind
    #[arg(long, default_value_t = 200)]
    runs: usize,
    /// The most that confinement may cost a replay, in ms; more fails
    #[arg(long, default_value_t = 5.0)]
    most: f64,
}

/// Name, flags.
const PROGRAMS: [(&str, &[&str]); 2] = [("plain, static", &["-static"]), ("address sanitizer", &["-fsanitize=address"])];
const SOURCE: &str = "#include <stdlib.h>\nint main(void) { free(malloc(100)); return 0; }\n";

pub fn run(args: &Args) -> Result<()> {
    let confined = Confinement::probe().map_err(|why| anyhow!("no confinement here: {why}"))?;
    println!("confined by {}, {} runs of each, in turn; medians in ms", confined.level().name(), args.runs);
    println!("| program | unconfined | confined | more | ratio |\n|---|---|---|---|---|");
    let scratch = tempfile::tempdir()?;
    let dir = fs::canonicalize(scratch.path())?;
    let mut dearest: f64 = 0.0;
    fs::write(dir.join("p.c"), SOURCE)?;
    for (name, flags) in PROGRAMS {
        let program = dir.join(name.replace([' ', ','], "-"));
        process::output(Command::new("clang-22").args(["-O1", "-o"]).arg(&program).arg(dir.join("p.c")).args(flags))?;
        let mut times = [Vec::new(), Vec::new()];
        for turn in 0..args.runs {
            for (times, confinement) in times.iter_mut().zip([Confinement::unconfined(), confined]) {
                times.push(once(confinement, &program, &dir.join(turn.to_string()))?);
            }
        }
        let [without, with] = times.map(median);
        println!("| {name} | {without:.2} | {with:.2} | {:.2} | {:.2} |", with - without, with / without);
        dearest = dearest.max(with - without);
    }
    ensure!(dearest <= args.most, "confinement costs {dearest:.2} ms a replay, more than {} ms", args.most);
    Ok(())
}

/// How long a run takes, in milliseconds.
fn once(confinement: Confinement, program: &Path, dir: &Path) -> Result<f64> {
    let (work, told) = (dir.join("work"), dir.join("told"));
    fs::create_dir_all(&work)?;
    fs::create_dir_all(&told)?;
    let job = Job {
        program: program.to_owned(),
        args: vec![b"program".into()],
        env: vec![b"ASAN_OPTIONS=detect_leaks=0".into()],
        work,
        stdin: "/dev/null".into(),
        collect: vec![told],
        ..Job::default()
    };
    let start = Instant::now();
    let ended = confinement.run(&job, &Limits { time: Duration::from_secs(60), ..Limits::default() }, &|| false)?;
    let time = start.elapsed().as_secs_f64() * 1000.0;
    ensure!(ended.status.success(), "it ends with {}: {}", ended.status, String::from_utf8_lossy(&ended.stderr));
    fs::remove_dir_all(dir)?;
    Ok(time)
}

/// The middle one; of none, nothing.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
