//! Loops of C as gcc vectorises them (`tests/loops`), as static programs of musl: what they print under `wryneck run` is what they
//! print natively. A path that ends as unsupported is counted by the reason; a wrong result fails the gate.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};

use super::concrete::End;
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Only every so manieth loop
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Loops of a setting that may be unsupported
    #[arg(long, default_value_t = 3)]
    allowed: usize,
    /// Where the loops and their frame are
    #[arg(long, default_value = "tests/loops")]
    folder: PathBuf,
}

const SETTINGS: [&[&str]; 3] = [&["-O2"], &["-O3", "-mavx"], &["-O3", "-march=x86-64-v3"]];
/// Exact whatever the order: contraction would compute other results than the loop says.
const COMMON: [&str; 5] = ["-w", "-static", "-fno-math-errno", "-ffp-contract=off", "-fwrapv"];

/// A loop: its line in the table, the type of its elements, and its body.
struct Loop {
    line: usize,
    element: String,
    body: String,
}

/// How loops of one setting ended.
#[derive(Default)]
struct Ends {
    same: usize,
    wrong: Vec<String>,
    unsupported: BTreeMap<String, Vec<usize>>,
}

pub fn run(args: &Args) -> Result<()> {
    let table = args.folder.join("loops.txt");
    let text = fs::read_to_string(&table).with_context(|| format!("cannot read `{}`", table.display()))?;
    let mut loops = Vec::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')).step_by(args.every.max(1)) {
        let (element, body) = line.split_once(": ").with_context(|| format!("{}:{}: no type before the loop", table.display(), n + 1))?;
        loops.push(Loop { line: n + 1, element: element.to_owned(), body: body.to_owned() });
    }
    let folder = tempfile::tempdir()?;
    let mut failed = Vec::new();
    for (number, setting) in SETTINGS.iter().enumerate() {
        let ends = Mutex::new(Ends::default());
        process::parallel(&loops, |one| {
            let place = folder.path().join(format!("{number}-{}", one.line));
            let (native, ours) = both(args, one, setting, &place)?;
            let mut ends = ends.lock().expect("no holder panics");
            match ours {
                Ok(ours) if ours == native => ends.same += 1,
                Ok(ours) => ends.wrong.push(format!("loops.txt:{}: natively\n{native}ours\n{ours}", one.line)),
                Err(why) => ends.unsupported.entry(why).or_default().push(one.line),
            }
            Ok(())
        })?;
        let ends = ends.into_inner().expect("no holder panics");
        let unsupported: usize = ends.unsupported.values().map(Vec::len).sum();
        let setting = setting.join(" ");
        println!("{setting}: {} loops: {} as natively, {} wrong, {unsupported} unsupported", loops.len(), ends.same, ends.wrong.len());
        ends.unsupported.iter().for_each(|(why, lines)| println!("  {why}: lines {lines:?}"));
        ends.wrong.iter().for_each(|wrong| println!("  {wrong}"));
        if !ends.wrong.is_empty() || unsupported > args.allowed {
            failed.push(setting);
        }
    }
    ensure!(failed.is_empty(), "{} settings fail: {}", failed.len(), failed.join("; "));
    Ok(())
}

/// What a loop prints natively, and under the tool; or why it does not get to its end there.
fn both(args: &Args, one: &Loop, setting: &[&str], place: &Path) -> Result<(String, Result<String, String>)> {
    let program = place.with_extension("program");
    let defined = [format!("-DE={}", one.element), format!("-DLOOP={}", one.body)];
    let mut compiler = Command::new("musl-gcc");
    compiler.args(setting).args(COMMON).args(defined).arg("-o").arg(&program).arg(args.folder.join("harness.c")).arg("-lm");
    process::output(&mut compiler).with_context(|| format!("loops.txt:{}", one.line))?;
    let native = End::natively(&program, &[], &args.folder)?;
    let ours = End::under_the_tool(&program, &[], &place.with_extension("out"))?;
    fs::remove_file(&program)?;
    Ok((native, ours.result))
}
