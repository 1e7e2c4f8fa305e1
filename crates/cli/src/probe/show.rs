//! The results in words: findings first, then one table.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::outcome::{Finding, Grade, Native, Outcome, Status};

/// Findings that are printed; the table counts all.
const MOST: usize = 20;

/// One report for each error, however many functions showed it: must errors first, reproduced ones before the others.
pub fn merged(outcomes: &[Outcome]) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    for finding in outcomes.iter().flat_map(|outcome| &outcome.findings) {
        match all.iter_mut().find(|other| other.kind == finding.kind && other.stack[0] == finding.stack[0]) {
            Some(other) => {
                let (paths, mut from) = (other.paths + finding.paths, std::mem::take(&mut other.seen_from));
                from.extend(finding.seen_from.iter().cloned());
                if finding.grade < other.grade {
                    *other = finding.clone();
                }
                from.sort();
                from.dedup();
                (other.paths, other.seen_from) = (paths, from);
            }
            None => all.push(finding.clone()),
        }
    }
    all.sort_by_key(|f| (f.grade, f.native != Native::Reproduced, f.why.len(), f.precondition.len()));
    all
}

pub fn write(outcomes: &[Outcome], out: &mut dyn Write) -> io::Result<()> {
    let findings = merged(outcomes);
    for finding in findings.iter().take(MOST) {
        one(finding, out)?;
    }
    if findings.len() > MOST {
        writeln!(out, "… and {} more findings (`--json` or `--results FILE` has all)\n", findings.len() - MOST)?;
    }
    table(outcomes, &findings, out)
}

fn one(f: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let grade = match f.grade {
        Grade::Must => "must",
        Grade::May => "may",
    };
    writeln!(out, "{grade}[{}]: {}", f.kind, f.message)?;
    for (i, place) in f.stack.iter().enumerate() {
        let at = if place.file.is_empty() { String::new() } else { format!("  {}:{}", place.file, place.line) };
        writeln!(out, "  {} {}{at}", if i == 0 { "at" } else { "by" }, place.function)?;
    }
    let list = |out: &mut dyn Write, head: &str, lines: &[String]| -> io::Result<()> {
        for (i, line) in lines.iter().enumerate() {
            writeln!(out, "  {:<9} {line}", if i == 0 { head } else { "" })?;
        }
        Ok(())
    };
    list(out, "inputs", &f.inputs)?;
    list(out, "requires", &f.precondition)?;
    list(out, "unless", &f.why)?;
    list(out, "ledger", &f.ledger)?;
    match &f.native {
        Native::Reproduced => writeln!(out, "  native    reproduced by its harness under the address sanitizer")?,
        Native::NotReproduced(how) => writeln!(out, "  native    not reproduced: {how}")?,
        Native::NotRun(why) => writeln!(out, "  native    not run: {why}")?,
    }
    if f.seen_from.len() > 1 {
        writeln!(out, "  seen from {}", f.seen_from.join(", "))?;
    }
    writeln!(out)
}

fn table(outcomes: &[Outcome], findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let count = |status: Status| outcomes.iter().filter(|o| o.status == status).count();
    let (exhausted, bounded, unsupported) = (count(Status::Exhausted), count(Status::Bounded), count(Status::Unsupported));
    let sum = |of: &dyn Fn(&Outcome) -> u64| outcomes.iter().map(of).sum::<u64>();
    let mut bounds: BTreeMap<&str, u64> = BTreeMap::new();
    let mut gaps: BTreeMap<&str, u64> = BTreeMap::new();
    for outcome in outcomes {
        outcome.bounded.keys().for_each(|what| *bounds.entry(what).or_default() += 1);
        outcome.unsupported.keys().for_each(|what| *gaps.entry(what).or_default() += 1);
    }
    let paths = sum(&|o| o.paths);
    let havocked = sum(&|o| o.havocked);
    let seconds = sum(&|o| o.milliseconds) as f64 / 1000.0;
    let must = findings.iter().filter(|f| f.grade == Grade::Must).count();
    let share = if paths == 0 { 0.0 } else { 100.0 * havocked as f64 / paths as f64 };
    writeln!(out, "functions   {} analysed: {exhausted} exhausted, {bounded} bounded, {unsupported} unsupported", outcomes.len())?;
    writeln!(
        out,
        "paths       {paths}, {share:.0} % with skipped calls; {seconds:.1} s, {:.2} s a function",
        seconds / outcomes.len().max(1) as f64
    )?;
    let row = |out: &mut dyn Write, head: &str, all: &BTreeMap<&str, u64>| -> io::Result<()> {
        let mut rows: Vec<_> = all.iter().collect();
        rows.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        for (i, (what, functions)) in rows.into_iter().take(10).enumerate() {
            writeln!(out, "{:<11} {functions} functions: {what}", if i == 0 { head } else { "" })?;
        }
        Ok(())
    };
    row(out, "bounded by", &bounds)?;
    row(out, "unsupported", &gaps)?;
    writeln!(out, "findings    {must} must, {} may", findings.len() - must)
}
