//! What it costs to record paths and to slice them (paper 1, Table 4): programs of coreutils within the paper's bounds, explored without pruning for as
//! many instructions each: without a rule (`run`), under a rule, with every path recorded, and with every path sliced besides.
//!
//! Costs are processor time of the whole tool, the least of several turns, less that of a start (the same, ended after its first instructions). The
//! order of exploration is the same in all columns but for paths that look at the rule's events. Where paths are sliced, a path is recorded twice if it needs more of
//! what it shares with others than those did. `wryneck verify` costs less where slicing does not pay: then it slices few paths.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

use super::explore::{self, GNULIB, INPUT, Programs, hundredths};

#[derive(clap::Args)]
pub struct Args {
    /// Instructions of each exploration
    #[arg(long, default_value_t = 10_000_000)]
    instructions: u64,
    /// Turns, of which the fastest counts
    #[arg(long, default_value_t = 3)]
    turns: u32,
    /// Where results go, one JSON object a line
    #[arg(long, default_value = "docs/results/recording.jsonl")]
    results: PathBuf,
    #[command(flatten)]
    programs: Programs,
}

const PROGRAMS: [&str; 10] = ["base64", "cat", "cut", "dir", "expr", "fold", "od", "sort", "test", "wc"];
const RULE: &str = "open-close";
/// What is compared: the command, and what its options are besides.
const MODES: [(&str, &[&str]); 4] = [
    ("run", &["run"]),
    ("rule", &["verify", "--rule", RULE, "--prune", "off"]),
    ("recorded", &["verify", "--rule", RULE, "--prune", "recorded"]),
    ("sliced", &["verify", "--rule", RULE, "--prune", "sliced", "--summaries", GNULIB]),
];
/// A start runs so many instructions.
const START: u64 = 1;

pub fn run(args: &Args) -> Result<()> {
    let programs = args.programs.folder()?;
    println!("{:<10} {:>9} {:>9} {:>9} {:>9} {:>12} {:>12}", "", "run", "rule", "recorded", "sliced", "recording", "slicing");
    let (mut lines, mut logs) = (String::new(), [0.0; 2]);
    for program in PROGRAMS {
        let target = programs.join(program).with_extension("bc");
        let mut seconds = [0.0; MODES.len()];
        for (mode, (_, words)) in MODES.iter().enumerate() {
            seconds[mode] = least(args.turns, &target, words, args.instructions)? - least(args.turns, &target, words, START)?;
        }
        let [plain, rule, recorded, sliced] = seconds;
        let (recording, slicing) = (recorded / rule, sliced / recorded);
        println!("{program:<10} {plain:>8.2}s {rule:>8.2}s {recorded:>8.2}s {sliced:>8.2}s {recording:>11.2}x {slicing:>11.2}x");
        logs[0] += recording.ln();
        logs[1] += slicing.ln();
        let row = json!({
            "program": program, "instructions": args.instructions, "run": hundredths(plain), "rule": hundredths(rule),
            "recorded": hundredths(recorded), "sliced": hundredths(sliced),
        });
        lines += &format!("{row}\n");
    }
    let [recording, slicing] = logs.map(|sum| (sum / PROGRAMS.len() as f64).exp());
    println!("geometric means: recording {recording:.2}x (wanted: at most 2), slicing {slicing:.2}x");
    fs::write(&args.results, lines).with_context(|| format!("cannot write `{}`", args.results.display()))
}

/// Seconds of processor time.
fn least(turns: u32, target: &Path, words: &[&str], instructions: u64) -> Result<f64> {
    let turns: Result<Vec<f64>> = (0..turns.max(1)).map(|_| explore::timed(words, instructions, target, &INPUT, None)).collect();
    Ok(turns?.into_iter().fold(f64::INFINITY, f64::min))
}
