//! A few hostile programs from end to end: explored by `wryneck run`, whose finding is replayed, and replayed again by `wryneck replay`.

use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;

use super::arena::Arena;
use super::{Gate, Hostile, SETTINGS, Setting};
use crate::cmd::gate::wryneck;

/// One of each kind that ordinary programs may do, too.
const PROGRAMS: [&str; 4] = ["write", "unlink", "kill", "fifo-write"];

/// How many replays there were. The settings are those of root, who owns the tool's cache.
pub(super) fn run(gate: &Gate, all: &[Hostile], wrong: &mut Vec<String>) -> Result<usize> {
    let tool = wryneck().canonicalize().context("there is no `target/release/wryneck`: build it, or name it by `WRYNECK`")?;
    let mut replays = 0;
    for hostile in all.iter().filter(|hostile| PROGRAMS.contains(&hostile.name.as_str())) {
        let source = fs::canonicalize(&hostile.file)?;
        for (setting, name) in SETTINGS.into_iter().filter(|(setting, _)| setting.user() == 0) {
            let mut arena = Arena::new(gate.base, setting.user())?;
            let out = gate.base.join(format!("out-{}-{name}", hostile.name)).display().to_string();
            let mut launch = setting.prefix();
            launch.extend([gate.own.display().to_string(), "gate".into(), "hostile".into(), "--inside".into()]);
            launch.extend([name.to_owned(), "exec".into(), "--".into(), tool.display().to_string()]);
            let run: Vec<String> = ["run", "--json", "--output", &out].map(str::to_owned).into();
            let words =
                [launch.clone(), run, vec![source.display().to_string()], arena.arguments(), vec!["--sym-arg".into(), "1".into()]].concat();
            let shown = gate.observe(hostile, words, &mut arena)?;
            let json = shown.said.lines().find_map(|line| serde_json::from_str::<Value>(line).ok()).unwrap_or_default();
            let verdict = json["findings"][0]["native"]["verdict"].as_str().unwrap_or("none").to_owned();
            let expected: &[&str] = match setting {
                Setting::Bare => &["not-replayed"],
                Setting::Root | Setting::User | Setting::Container => &["reproduced"],
            };
            if !shown.effects.is_empty() || !expected.contains(&verdict.as_str()) {
                wrong.push(format!(
                    "whole, {name}: `{}`: effects {:?}, verdict `{verdict}`: {}",
                    hostile.name,
                    shown.effects,
                    shown.said.trim()
                ));
            }
            let again = gate.observe(hostile, [launch, vec!["replay".into(), out]].concat(), &mut arena)?;
            if !again.effects.is_empty() || again.said.contains("no confinement") != (setting == Setting::Bare) {
                wrong.push(format!("whole, {name}: `{}`: replay: effects {:?}: {}", hostile.name, again.effects, again.said.trim()));
            }
            replays += 2;
        }
    }
    Ok(replays)
}
