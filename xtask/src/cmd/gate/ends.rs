//! How programs of one byte of input end: natively, and by the tool's tests.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Status, or the signal with a minus, and output.
pub type End = (i32, Vec<u8>);

/// Inputs that run at one time, so that waits cost little.
const AT_ONCE: usize = 32;

/// The end of the native program on each input.
pub fn native(program: &Path, inputs: &[u8]) -> Result<Vec<End>> {
    let mut ends = Vec::new();
    for some in inputs.chunks(AT_ONCE) {
        let mut running = Vec::new();
        for input in some {
            // What ignores a signal here (`nohup`) would have it ignored there.
            let mut command = Command::new("env");
            command.arg("--default-signal").arg(program).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = command.spawn()?;
            child.stdin.take().context("it has a standard input")?.write_all(&[*input])?;
            running.push(child);
        }
        for child in running {
            let out = child.wait_with_output()?;
            ends.push((out.status.code().unwrap_or_else(|| -out.status.signal().unwrap_or(0)), out.stdout));
        }
    }
    Ok(ends)
}

/// Input and end of each path of a target; `status` gives what the machine does where a test ends.
/// The run folder is `out`.
pub fn ours(target: &Path, out: &Path, options: &[&str], status: &dyn Fn(&Value) -> Option<i32>) -> Result<Vec<(u8, End)>> {
    let mut tool = Command::new(super::wryneck());
    tool.args(["run", "--json", "--emit", "all"]).args(options).arg("--output").arg(out).arg(target).args(["--sym-stdin", "1"]);
    let done = tool.output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    let run: Value = serde_json::from_slice(&done.stdout).with_context(|| format!("{}: {said}", target.display()))?;
    for end in run["ends"].as_array().into_iter().flatten() {
        ensure!(end["class"] == "exit" || end["class"] == "fault", "{}: {end}", target.display());
    }
    let mut ends = Vec::new();
    for file in fs::read_dir(out)?.flatten().map(|file| file.path()) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with("test") || !name.ends_with(".json") {
            continue;
        }
        let test: Value = serde_json::from_slice(&fs::read(&file)?)?;
        let input = test["objects"].as_array().into_iter().flatten().find(|object| object["name"] == "stdin");
        let input = input.and_then(|object| super::seeds::bytes(&object["bytes"]).first().copied()).unwrap_or(0);
        let end = || format!("{}: an end that is none of the program: {} {}", target.display(), test["what"], test["message"]);
        ends.push((input, (status(&test).with_context(end)?, super::seeds::bytes(&test["stdout"]))));
    }
    ensure!(!ends.is_empty(), "{} has no test", target.display());
    Ok(ends)
}

/// The tests of a run folder whose native replay ends otherwise, in words.
pub fn replayed_otherwise(out: &Path) -> Result<Vec<String>> {
    let done = Command::new(super::wryneck()).args(["replay", "--json"]).arg(out).output()?;
    let replay: Value = serde_json::from_slice(&done.stdout).with_context(|| String::from_utf8_lossy(&done.stderr).into_owned())?;
    let tests = replay["tests"].as_array().into_iter().flatten().filter(|test| test["verdict"] == "different end");
    Ok(tests.map(|test| format!("the replay of {}: {}", test["test"], test["why"])).collect())
}
