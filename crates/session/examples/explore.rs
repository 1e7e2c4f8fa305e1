//! Explores a C file from Rust and prints its findings: `cargo run --release -p wryneck-session --example explore -- FILE.c [--sym-arg N …]`.

use std::time::Duration;

use wryneck_session::{Options, Plan, explore};

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    findings(&words)?.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// The findings of a target and the words after it, a line each.
pub fn findings(words: &[String]) -> anyhow::Result<Vec<String>> {
    let Some((target, words)) = words.split_first() else { anyhow::bail!("no target is given") };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let run = explore(&Plan::of(target, &words), Options { time: Some(Duration::from_secs(60)), ..Options::default() })?;
    let line = |finding: &wryneck_report::Finding| {
        let input = finding.inputs.iter().map(|input| format!("{}={}", input.name, String::from_utf8_lossy(&input.bytes)));
        let input: Vec<String> = input.collect();
        format!("{}: {} ({}) with {}", finding.kind.id, finding.message, finding.stack[0].text(), input.join(" "))
    };
    Ok(run.findings.iter().map(line).collect())
}
