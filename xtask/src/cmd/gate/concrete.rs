//! An executable under the tool, without symbolic input: how its one path ends, to be compared with the native end.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

/// Instructions of a run.
const LIMIT: &str = "400000000";

/// How a program ended.
pub struct End {
    /// Its exit status and standard output; or, of a fault, words. `Err`: why it did not get to an end.
    pub result: Result<String, String>,
}

impl End {
    /// Runs the program; what it writes of its own goes to `out`, which is removed.
    pub fn under_the_tool(program: &Path, arguments: &[&str], out: &Path) -> Result<End> {
        let mut tool = Command::new(super::wryneck());
        tool.args(["run", "--quiet", "--emit", "all", "--max-instructions", LIMIT, "--output"]).arg(out).arg(program);
        let done = tool.args(arguments).output().context("cannot start wryneck: build it with `cargo build --release`")?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let Ok(text) = fs::read(out.join("test000001.json")) else {
            return Ok(End { result: Err(format!("no test: {}", said.trim_end())) });
        };
        let test: Value = serde_json::from_slice(&text)?;
        fs::remove_dir_all(out)?;
        let what = test["what"].as_str().unwrap_or_default();
        let bytes: Vec<u8> = super::seeds::bytes(&test["stdout"]);
        let result = match test["class"].as_str() {
            Some("exit") => Ok(shown(what, &bytes)),
            // A false finding is a wrong result.
            Some("fault") => Ok(format!("fault {what}")),
            class => Err(format!("{} {what}", class.unwrap_or("no class"))),
        };
        Ok(End { result })
    }

    /// Runs it natively, in a folder.
    pub fn natively(program: &Path, arguments: &[&str], folder: &Path) -> Result<String> {
        let mut native = Command::new(program);
        let done = native.args(arguments).current_dir(folder).output().with_context(|| format!("cannot start `{}`", program.display()))?;
        Ok(shown(&done.status.code().map_or_else(|| done.status.to_string(), |code| code.to_string()), &done.stdout))
    }
}

fn shown(status: &str, stdout: &[u8]) -> String {
    format!("{}exit {status}", String::from_utf8_lossy(stdout))
}
