//! A run folder for people: findings with their source and the way there, how paths ended, what ran and what never did, the ledger.

use std::io::{self, Write};

use crate::report::{FileCoverage, Report};
use crate::run::Status;
use crate::{annotate, shown, terminal, units};

/// Files named when no source fits.
const NAMED: usize = 12;

/// A part of what is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Section {
    Findings,
    Ends,
    Coverage,
    Ledger,
    /// A source file with what ran of it; the end of its name is enough.
    Source(String),
}

impl Section {
    /// What is shown unless something else is asked for.
    pub const ALL: [Section; 4] = [Section::Findings, Section::Ends, Section::Coverage, Section::Ledger];
}

/// Writes sections in the order they are given; after all of them, the verdict.
pub fn write(out: &mut dyn Write, report: &Report, sections: &[Section]) -> io::Result<()> {
    let report = &shown::report(report);
    let whole = *sections == Section::ALL;
    if whole {
        let words: Vec<_> = report.run.command.iter().map(|w| units::shell_word(w)).collect();
        writeln!(out, "{}\n", words.join(" "))?;
    }
    for section in sections {
        match section {
            Section::Findings => write_findings(out, report)?,
            Section::Ends => write_ends(out, report)?,
            Section::Coverage => write_coverage(out, report, if whole { Depth::Files } else { Depth::Functions })?,
            Section::Ledger if report.run.ledger.is_empty() => writeln!(out, "ledger: nothing was skipped, bounded or given up")?,
            Section::Ledger => terminal::write_ledger(out, &report.run, usize::MAX)?,
            Section::Source(name) => write_source(out, report, name)?,
        }
    }
    if whole { terminal::write_verdict(out, &report.run) } else { Ok(()) }
}

fn write_findings(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    if report.run.findings.is_empty() {
        return writeln!(out, "no finding\n");
    }
    terminal::write_findings(out, &report.run, Some(&report.sources))
}

fn write_ends(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    terminal::write_ends(out, &report.run)?;
    match report.run.status {
        // Its counters are written at the end.
        Status::Unfinished => Ok(()),
        Status::Complete | Status::Stopped { .. } => terminal::write_totals(out, &report.run),
    }
}

/// How much is shown of the functions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Files,
    Functions,
}

fn write_coverage(out: &mut dyn Write, report: &Report, depth: Depth) -> io::Result<()> {
    if report.coverage.is_empty() {
        return writeln!(out, "coverage: none is recorded; compile with `-g` to have lines");
    }
    let directory = common_directory(&report.coverage);
    writeln!(out, "coverage{}:", if directory.is_empty() { String::new() } else { format!(" in {directory}") })?;
    for file in &report.coverage {
        let name = &file.file[directory.len()..];
        let entered = file.functions.iter().filter(|f| f.entered).count();
        let lines = share(file.covered(), file.lines.len());
        match file.functions.len() {
            // Every one was inlined.
            0 => writeln!(out, "  {name}: {lines}")?,
            all => writeln!(out, "  {name}: {lines}, {entered} of {} entered", terminal::plural(all as u64, "function"))?,
        }
        if depth == Depth::Functions {
            write_functions(out, file)?;
            write_never(out, file)?;
        }
    }
    match depth {
        Depth::Files => writeln!(out, "  (`--coverage`: functions, and lines that never ran; `--source FILE`: a file line by line)"),
        Depth::Functions => Ok(()),
    }
}

/// The directory that holds all files, with its slash; empty if there is none or a single file.
fn common_directory(files: &[FileCoverage]) -> &str {
    let [first, rest @ ..] = files else { return "" };
    let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let len = rest.iter().map(|f| shared(&first.file, &f.file)).min().unwrap_or(0);
    let end = first.file.as_bytes()[..len].iter().rposition(|b| *b == b'/').map_or(0, |at| at + 1);
    if end > 1 { &first.file[..end] } else { "" }
}

fn write_functions(out: &mut dyn Write, file: &FileCoverage) -> io::Result<()> {
    let width = file.functions.iter().map(|f| f.name.chars().count()).max().unwrap_or(0).min(48);
    for (i, function) in file.functions.iter().enumerate() {
        let lines = file.lines_of(i);
        let covered = lines.iter().filter(|(_, ran)| *ran).count();
        let how = if function.entered { share(covered, lines.len()) } else { "never entered".to_owned() };
        writeln!(out, "  {:>6}  {:<width$}  {how}", function.line, function.name)?;
    }
    Ok(())
}

fn write_never(out: &mut dyn Write, file: &FileCoverage) -> io::Result<()> {
    let ranges: Vec<_> = file.never_ran().iter().map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
    if ranges.is_empty() {
        return Ok(());
    }
    let mut line = "    never ran:".to_owned();
    for (i, range) in ranges.iter().enumerate() {
        if line.len() > 110 {
            writeln!(out, "{line}")?;
            line = " ".repeat(14);
        }
        line += &format!(" {range}{}", if i + 1 < ranges.len() { "," } else { "" });
    }
    writeln!(out, "{line}")
}

fn share(covered: usize, all: usize) -> String {
    format!("{covered} of {} ({:.1} %)", terminal::plural(all as u64, "line"), 100.0 * covered as f64 / all.max(1) as f64)
}

fn write_source(out: &mut dyn Write, report: &Report, name: &str) -> io::Result<()> {
    let mut any = false;
    for file in report.coverage.iter().filter(|f| is_named(&f.file, name)) {
        any = true;
        writeln!(out, "{}: {}; `+` ran, `-` never ran", file.file, share(file.covered(), file.lines.len()))?;
        annotate::write_file(out, file, &report.sources)?;
    }
    if any {
        return Ok(());
    }
    writeln!(out, "no source `{}` with code; there is:", shown::text(name))?;
    for file in report.coverage.iter().take(NAMED) {
        writeln!(out, "  {}", file.file)?;
    }
    match report.coverage.len().saturating_sub(NAMED) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more"),
    }
}

/// Whether a file's name ends in these parts: `src/t.c` and `t.c` name `/w/src/t.c`, `c` does not.
pub fn is_named(file: &str, name: &str) -> bool {
    let Some(before) = file.strip_suffix(name.trim_start_matches("./")) else { return false };
    !name.is_empty() && (before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::golden;
    use expect_test::expect;

    fn text(report: &Report, sections: &[Section]) -> String {
        let mut out = Vec::new();
        write(&mut out, report, sections).expect("memory can be written");
        String::from_utf8(out).expect("what is shown is UTF-8")
    }

    #[test]
    fn everything_is_shown() {
        expect![[r#"
            wryneck run t.c --sym-arg 2

            fault[out-of-bounds-write]: write of 1 byte at offset 4 of `a` (4 bytes)
              --> t.c:7:10 in `fill`
                   4 | void fill(char *a, int n) {
                   5 |   int i = n;
                   6 |   if (i > 3)
                   7 |     a[i] = 1;
                     |          ^ write of 1 byte at offset 4 of `a` (4 bytes)
                   8 | }
                   9 | 
                  10 | int main(int c, char **v) {
                  with i = 4, a = optimised-out
               by t.c:12:3 in `main`
                  12 |   fill(v[1], c);
              = decided on the way there:
                  t.c:11:7 in `main`: `strchr` looks at the input (3 times)
                  t.c:6:9 in `fill`: goes to line 7
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
            coverage:
              t.c: 6 of 8 lines (75.0 %), 2 of 3 functions entered
              /musl/strchr.c: 1 of 1 line (100.0 %), 1 of 1 function entered
              (`--coverage`: functions, and lines that never ran; `--source FILE`: a file line by line)
            ledger, what was left out or guessed:
              undefined-function  (change: --undefined)
                      3  gadget
            1 finding; stopped: time (--max-time), 7 paths pending
        "#]].assert_eq(&text(&golden(), &Section::ALL));
    }

    #[test]
    fn a_source_is_shown_with_what_never_ran() {
        let shown = text(&golden(), &[Section::Source("t.c".into())]);
        assert!(shown.contains("     3 - | void unused(void) {}\n     4   | void fill"), "{shown}");
        assert!(shown.contains("     7 + |     a[i] = 1;\n"), "{shown}");
        let none = text(&golden(), &[Section::Source("u.c".into())]);
        assert!(none.starts_with("no source `u.c` with code; there is:\n  t.c\n"), "{none}");
        assert!(is_named("/w/src/t.c", "./src/t.c") && !is_named("/w/src/t.c", "c") && !is_named("/w/src/t.c", ""));
    }

    #[test]
    fn a_run_that_has_not_ended_says_so() {
        let mut report = golden();
        report.run.status = Status::Unfinished;
        let shown = text(&report, &Section::ALL);
        assert!(shown.ends_with("1 finding; the run has not ended: it goes on, or it was killed\n") && !shown.contains("work:"), "{shown}");
    }
}
