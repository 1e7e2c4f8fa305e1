//! The summary people read: what happened → where → why it is feasible → how to replay it; then what was left out.
//! Every fact is in the words: the command may colour them.

use std::io::{self, Write};

use crate::annotate;
use crate::report::Sources;
use crate::rules::{self, Verdict};
use crate::run::{Class, CodeLine, Finding, Goal, InputValue, LedgerRow, Pruning, Reached, Run, Status};
use crate::shown;
use crate::units;

/// Bytes of an input that a message shows; the test file has all of them.
const SHOWN_BYTES: usize = 48;
/// Frames of a call stack that a message shows.
const SHOWN_FRAMES: usize = 12;
/// Entries of the ledger shown per kind in a summary.
const SHOWN_ENTRIES: usize = 8;

/// Writes the summary.
pub fn write(out: &mut dyn Write, run: &Run) -> io::Result<()> {
    let run = &shown::run(run);
    write_findings(out, run, None)?;
    write_ends(out, run)?;
    write_totals(out, run)?;
    write_ledger(out, run, SHOWN_ENTRIES)?;
    write_verdict(out, run)
}

/// Writes the findings; apart from them, last, those that their native replay denies. With `sources`, more of each.
pub(crate) fn write_findings(out: &mut dyn Write, run: &Run, sources: Option<&Sources>) -> io::Result<()> {
    let numbered = || (1..).zip(&run.findings);
    for (number, finding) in numbered().filter(|(_, f)| !f.is_denied()) {
        write_finding(out, run, number, finding, sources)?;
    }
    if run.denied() > 0 {
        writeln!(out, "The native program ended otherwise on the inputs below. These do not count as findings.\n")?;
    }
    for (number, finding) in numbered().filter(|(_, f)| f.is_denied()) {
        write_finding(out, run, number, finding, sources)?;
    }
    Ok(())
}

/// Writes a finding: with `sources`, more of the source and the decisions on the way.
fn write_finding(out: &mut dyn Write, run: &Run, number: u32, f: &Finding, sources: Option<&Sources>) -> io::Result<()> {
    let denied = if f.is_denied() { "not reproduced: " } else { "" };
    match f.kind.id.strip_prefix("rule:") {
        Some(rule) => writeln!(out, "{denied}violation[{rule}]: {}", f.message)?,
        None => writeln!(out, "{denied}fault[{}]: {}", f.kind.id, f.message)?,
    }
    for (depth, place) in f.stack.iter().take(SHOWN_FRAMES).enumerate() {
        let arrow = if depth == 0 { "-->" } else { " by" };
        match place.file.is_empty() {
            true => writeln!(out, "  {arrow} `{}`{} (no debug information)", place.function, address(f, depth))?,
            false => writeln!(out, "  {arrow} {} in `{}`", place.text(), place.function)?,
        }
        match (sources, &f.source_line) {
            (Some(sources), _) => annotate::write(out, sources, f, depth)?,
            (None, Some(line)) if depth == 0 => writeln!(out, "      {} | {}", place.line, line.trim_end())?,
            (None, _) => {}
        }
        if depth == 0 {
            write_code(out, &f.code)?;
        }
        if sources.is_some() {
            annotate::write_variables(out, f, depth)?;
        }
    }
    if f.stack.len() > SHOWN_FRAMES {
        writeln!(out, "   by {} more calls", f.stack.len() - SHOWN_FRAMES)?;
    }
    if sources.is_some() {
        annotate::write_steps(out, f)?;
    }
    match f.inputs.is_empty() {
        true => writeln!(out, "  = on every input")?,
        false => writeln!(out, "  = when {}", inputs(&f.inputs))?,
    }
    if f.count > 1 {
        writeln!(out, "  = {} paths end so", f.count)?;
    }
    if let Some(native) = &f.native {
        match native.words() {
            (verdict, "") => writeln!(out, "  = natively: {verdict}")?,
            (verdict, why) => writeln!(out, "  = natively: {verdict} ({why})")?,
        }
    }
    if let Some(test) = &f.test {
        writeln!(out, "  = replay: wryneck replay {}", units::shell_word(&format!("{}/{test}", run.folder)))?;
    }
    writeln!(out, "  = finding {number}, CWE-{}", f.kind.cwe)?;
    writeln!(out)
}

/// Where in memory a fault's instruction is, if that is known.
fn address(f: &Finding, depth: usize) -> String {
    let here = f.code.iter().find(|line| line.here && depth == 0);
    here.map_or(String::new(), |line| format!(" at {:#x}", line.address))
}

/// Writes the instructions around a fault, with an arrow before its own.
fn write_code(out: &mut dyn Write, code: &[CodeLine]) -> io::Result<()> {
    let wide = code.iter().map(|line| line.place.len()).max().unwrap_or(0);
    code.iter().try_for_each(|line| {
        let arrow = if line.here { '>' } else { ' ' };
        writeln!(out, "    {arrow} {:#10x}  {:<wide$}  {}", line.address, line.place, line.text)
    })
}

pub(crate) fn inputs(values: &[InputValue]) -> String {
    let shown = |v: &InputValue| {
        let cut = &v.bytes[..v.bytes.len().min(SHOWN_BYTES)];
        let more = if cut.len() < v.bytes.len() { "…" } else { "" };
        match as_number(&v.bytes) {
            Some(n) => format!("{} = {} ({n})", v.name, units::c_string(cut)),
            None => format!("{} = {}{more}", v.name, units::c_string(cut)),
        }
    };
    values.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// The number that bytes of a number's size are, if they are no text.
pub(crate) fn as_number(bytes: &[u8]) -> Option<i64> {
    if matches!(bytes.len(), 1 | 2 | 4 | 8) && !is_text(bytes) { number(bytes) } else { None }
}

/// Whether the bytes are a printable string, zeros after its end included.
fn is_text(bytes: &[u8]) -> bool {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    end > 0 && bytes[..end].iter().all(|b| (b' '..=b'~').contains(b)) && bytes[end..].iter().all(|&b| b == 0)
}

/// Bytes read as a little-endian signed number.
fn number(bytes: &[u8]) -> Option<i64> {
    let mut wide = if bytes.last()? & 0x80 == 0 { [0; 8] } else { [0xff; 8] };
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i64::from_le_bytes(wide))
}

/// Most lines of exit statuses.
const MOST_EXITS: usize = 12;

pub(crate) fn write_ends(out: &mut dyn Write, run: &Run) -> io::Result<()> {
    writeln!(out, "paths: {}", run.totals.paths)?;
    let exits = run.ends.iter().filter(|end| end.class == Class::Exit).count();
    // Programs that return a symbolic number have up to 256 of them; `show --json` has all.
    let shown = if exits > MOST_EXITS { MOST_EXITS - 1 } else { exits };
    let mut met = 0;
    for end in &run.ends {
        met += usize::from(end.class == Class::Exit);
        if end.class != Class::Exit || met <= shown {
            writeln!(out, "  {:>9}  {} {}", end.count, end.class.name(), end.what)?;
        }
    }
    if shown < exits {
        let others: u64 = run.ends.iter().filter(|end| end.class == Class::Exit).skip(shown).map(|end| end.count).sum();
        writeln!(out, "  {others:>9}  exit with {} other statuses", exits - shown)?;
    }
    if run.ends.iter().any(|e| e.class == Class::Unsupported) {
        writeln!(out, "  `unsupported` is a gap of this tool, not a defect of the program")?;
    }
    if run.ends.iter().any(|e| e.class == Class::Internal) {
        writeln!(out, "  `internal` is a defect of this tool; please report it")?;
    }
    Ok(())
}

pub(crate) fn write_totals(out: &mut dyn Write, run: &Run) -> io::Result<()> {
    let t = &run.totals;
    let rate = t.instructions as f64 / run.seconds.max(1e-6);
    writeln!(
        out,
        "work:  {} in {} ({}/s), {} decisions, {} queries, {} solver calls ({} in the solver), {} at most",
        plural(t.instructions, "instruction"),
        units::seconds(run.seconds),
        units::count(rate),
        t.decisions,
        t.queries,
        t.solver_calls,
        units::seconds(t.solver_seconds),
        units::bytes(t.memory),
    )?;
    if run.lines.all > 0 {
        let share = 100.0 * run.lines.covered as f64 / run.lines.all as f64;
        writeln!(out, "lines: {} of {} of the application covered ({share:.1} %)", run.lines.covered, run.lines.all)?;
    }
    let replay = units::shell_word(&run.folder);
    match t.tests {
        0 => writeln!(out, "tests: none written; results in {replay}"),
        n => writeln!(out, "tests: {n} in {replay}; replay: wryneck replay {replay}"),
    }
}

/// Writes the ledger, at most `entries` of each kind.
pub(crate) fn write_ledger(out: &mut dyn Write, run: &Run, entries: usize) -> io::Result<()> {
    let (losses, others): (Vec<&LedgerRow>, Vec<&LedgerRow>) = run.ledger.iter().partition(|row| row.loses());
    write_rows(out, "ledger, what was left out or guessed:", &losses, entries)?;
    write_rows(out, "ledger, what was fixed or noted without loss:", &others, entries)
}

fn write_rows(out: &mut dyn Write, title: &str, rows: &[&LedgerRow], entries: usize) -> io::Result<()> {
    if !rows.is_empty() {
        writeln!(out, "{title}")?;
    }
    for group in rows.chunk_by(|a, b| a.kind == b.kind) {
        let flag = if group[0].flag.is_empty() { String::new() } else { format!("  (change: {})", group[0].flag) };
        writeln!(out, "  {}{flag}", group[0].kind)?;
        for row in group.iter().take(entries) {
            writeln!(out, "  {:>9}  {}", row.count, row.what)?;
        }
        if group.len() > entries {
            writeln!(out, "             and {} more in run.db", group.len() - entries)?;
        }
    }
    Ok(())
}

pub(crate) fn write_verdict(out: &mut dyn Write, run: &Run) -> io::Result<()> {
    write_rules(out, run)?;
    write_conclusion(out, run)
}

/// The verdict on each rule, what it assumes, and what pruning left out.
pub(crate) fn write_rules(out: &mut dyn Write, run: &Run) -> io::Result<()> {
    for rule in &run.rules {
        let paths = plural(run.totals.paths, "path");
        write!(out, "{}: {} ({}): {}; {} of {paths} had an event", rule.verdict.word(), rule.id, rule.summary, rule.why, rule.relevant)?;
        match &run.pruning {
            Some(Pruning { audited, lost, never: Some(1..), .. }) => writeln!(out, "; audited {audited}, {} lost", lost.len())?,
            Some(_) | None => writeln!(out)?,
        }
    }
    if let Some(verified) = run.rules.iter().find(|rule| rule.verdict == Verdict::Verified && !rule.assumptions.is_empty()) {
        writeln!(out, "assumed:")?;
        verified.assumptions.iter().try_for_each(|assumption| writeln!(out, "  {assumption}"))?;
    }
    if let Some(pruning) = &run.pruning {
        write!(out, "pruning: {}{}", if pruning.never.is_none() { "off; " } else { "" }, plural(pruning.sequences, "sequence"))?;
        write!(out, " of events")?;
        if let (Some(relevant), Some(redundant)) = (pruning.relevant, pruning.redundant) {
            write!(out, " on {}, {}", plural(relevant, "relevant path"), plural(redundant, "redundant one"))?;
        }
        if pruning.subsumed > 0 {
            let left_out = if pruning.never.is_none() { "that would only repeat others" } else { "left out behind equal states" };
            write!(out, ", {} {left_out}", plural(pruning.subsumed, "other side"))?;
        }
        if let Some(never) = pruning.never {
            write!(out, ", {} never looked at", plural(never, "other side"))?;
        }
        writeln!(out, "{}", pruning.efficiency().map_or(String::new(), |share| format!("; search efficiency {:.1} %", 100.0 * share)))?;
    }
    if let Some(Pruning { lost, .. }) = &run.pruning {
        lost.iter().try_for_each(|sequence| writeln!(out, "  lost: {sequence}"))?;
    }
    Ok(())
}

/// How many findings there are, and whether all was explored.
pub(crate) fn write_conclusion(out: &mut dyn Write, run: &Run) -> io::Result<()> {
    // Natively the paths of what is denied go on.
    let cut_short = run.denied() > 0 || !run.rules.is_empty() && run.findings.iter().any(rules::may_go_on);
    let all = match &run.pruning {
        Some(Pruning { never: Some(1..), .. }) if cut_short => "every path that can matter was explored up to its fault",
        Some(Pruning { never: Some(1..), .. }) => "every path that can matter was explored",
        Some(_) | None if cut_short => "every path was explored up to its fault",
        Some(_) | None => "every path was explored",
    };
    let mut found = match run.standing().count() {
        0 => "no finding".to_owned(),
        n => plural(n as u64, "finding"),
    };
    if run.denied() > 0 {
        found += &format!(", {} more not reproduced natively", run.denied());
    }
    if let Some(goal) = &run.goal {
        return write_goal(out, run, goal, &found);
    }
    match &run.status {
        Status::Complete if run.is_complete() && run.totals.inputs == Some(0) => {
            writeln!(out, "{found}; {all}; nothing is symbolic (`--sym-arg N` and others make input so, see --help)")
        }
        Status::Complete if run.is_complete() => writeln!(out, "{found}; {all}"),
        // As the verdicts and the exit code have it.
        Status::Complete if !run.rules.is_empty() && run.is_complete_as_assumed() => writeln!(out, "{found}; {all}, as is assumed"),
        Status::Complete => writeln!(out, "{found}; not every path was explored: {}", listed(&run.losses())),
        Status::Unfinished => writeln!(out, "{found}; the run has not ended: it goes on, or it was killed"),
        Status::Stopped { limit, flag, pending } => {
            let change = if flag.is_empty() { String::new() } else { format!(" ({flag})") };
            writeln!(out, "{found}; stopped: {limit}{change}, {} pending", plural(*pending, "path"))
        }
    }
}

/// Writes what came of the search for a goal.
fn write_goal(out: &mut dyn Write, run: &Run, goal: &Goal, found: &str) -> io::Result<()> {
    let wanted = goal.wanted.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
    if let Some(Reached { goal, test, end }) = &goal.reached {
        let test = test.as_ref().map(|test| units::shell_word(&format!("{}/{test}", run.folder)));
        let by = test.as_ref().map_or(String::new(), |test| format!(" by {test}"));
        writeln!(out, "{found}; reached: `{goal}`{by} (its path: {end})")?;
        return test.map_or(Ok(()), |test| writeln!(out, "  as a command line: wryneck replay --shell {test}"));
    }
    match &run.status {
        Status::Complete if run.is_complete() && run.denied() == 0 => {
            writeln!(out, "{found}; {wanted} cannot be reached: every path was explored")
        }
        Status::Complete if run.is_complete_as_assumed() => {
            writeln!(out, "{found}; {wanted} cannot be reached: every path was explored, up to what is assumed or to be avoided")
        }
        Status::Complete => writeln!(out, "{found}; {wanted} was not reached; not every path was explored: {}", listed(&run.losses())),
        Status::Unfinished => writeln!(out, "{found}; {wanted} was not reached yet: the run goes on, or it was killed"),
        Status::Stopped { limit, flag, pending } => {
            let change = if flag.is_empty() { String::new() } else { format!(" ({flag})") };
            writeln!(out, "{found}; {wanted} was not reached; stopped: {limit}{change}, {} pending", plural(*pending, "path"))
        }
    }
}

/// The first few of a list of names, and how many more there are.
fn listed(names: &[String]) -> String {
    const FEW: usize = 3;
    let shown = names.iter().take(FEW).map(|name| match name.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.clone(),
    });
    let mut text = shown.collect::<Vec<_>>().join("; ");
    if names.len() > FEW {
        text += &format!("; and {} more", names.len() - FEW);
    }
    text
}

pub(crate) fn plural(n: u64, noun: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {noun}{s}", if n < 100_000 { n.to_string() } else { units::count(n as f64) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::golden;
    use expect_test::expect;

    fn text(run: &Run) -> String {
        let mut out = Vec::new();
        write(&mut out, run).expect("memory can be written");
        String::from_utf8(out).expect("summaries are UTF-8")
    }

    #[test]
    fn a_summary_tells_what_where_why_and_how_to_replay() {
        expect![[r#"
            fault[out-of-bounds-write]: write of 1 byte at offset 4 of `a` (4 bytes)
              --> t.c:7:10 in `fill`
                  7 |     a[i] = 1;
               by t.c:12:3 in `main`
              = when arg00 = "x\x01\x00"
              = 2 paths end so
              = natively: reproduced
              = replay: wryneck replay wryneck-out-3/test000002.ktest
              = finding 1, CWE-787

            paths: 15
                     12  exit 0
                      2  fault out-of-bounds-write
                      1  unsupported inline assembly
              `unsupported` is a gap of this tool, not a defect of the program
            work:  12.35 M instructions in 1.50 s (8.23 M/s), 90 decisions, 40 queries, 9 solver calls (0.30 s in the solver), 50.00 MiB at most
            lines: 9 of 12 of the application covered (75.0 %)
            tests: 3 in wryneck-out-3; replay: wryneck replay wryneck-out-3
            ledger, what was left out or guessed:
              undefined-function  (change: --undefined)
                      3  gadget
            1 finding; stopped: time (--max-time), 7 paths pending
        "#]].assert_eq(&text(&golden()));
    }

    #[test]
    fn findings_that_the_native_program_denies_are_apart() {
        let mut run = golden();
        run.findings.insert(0, run.findings[0].clone());
        run.findings[0].native = Some(crate::run::Native::NotReproduced("exit 0".into()));
        let text = text(&run);
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("`{words}` is missing in {text}"));
        assert!(at("= finding 2,") < at("The native program ended otherwise"));
        assert!(at("The native program ended otherwise") < at("not reproduced: fault[out-of-bounds-write]"));
        at("1 finding, 1 more not reproduced natively; stopped");
    }

    #[test]
    fn inputs_of_a_number_s_size_are_also_shown_as_numbers() {
        let value = |bytes: &[u8]| inputs(&[InputValue { name: "n".into(), bytes: bytes.into() }]);
        assert_eq!(value(&[0xfe, 0xff, 0xff, 0xff]), r#"n = "\xfe\xff\xff\xff" (-2)"#);
        assert_eq!(value(b"ab"), r#"n = "ab""#);
        assert_eq!(value(b"a\0\0"), r#"n = "a\x00\x00""#);
    }
}
