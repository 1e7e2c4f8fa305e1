//! Source beside what is said of it: the line of a fault with its neighbours and a mark under its column, the lines of the calls that
//! lead there, the decisions on the way, and whole files with what never ran.
//!
//! A source that has changed since the run is not shown as if it were the one that ran: the line kept in the run folder must agree.

use std::io::{self, Write};

use crate::report::{FileCoverage, Sources};
use crate::run::{Finding, Place, Step};

/// Lines shown before and after a fault's.
const AROUND: u32 = 3;
/// Decisions shown at the beginning and at the end of a way.
const FIRST_STEPS: usize = 12;
const LAST_STEPS: usize = 24;

/// Writes the source of a frame of a finding's stack: some lines around the innermost, only its own of the others.
pub(crate) fn write(out: &mut dyn Write, sources: &Sources, f: &Finding, depth: usize) -> io::Result<()> {
    let place = &f.stack[depth];
    let now = sources.line(&place.file, place.line);
    if depth > 0 {
        return now.map_or(Ok(()), |line| write_line(out, place.line, line));
    }
    if let Some((kept, why)) = changed(sources, f) {
        write_line(out, place.line, kept)?;
        write_mark(out, place, kept, &f.message)?;
        return writeln!(out, "  = the source {why}");
    }
    let Some(now) = now else { return Ok(()) };
    for number in place.line.saturating_sub(AROUND).max(1)..=place.line.saturating_add(AROUND) {
        let Some(line) = sources.line(&place.file, number) else { break };
        write_line(out, number, line)?;
        if number == place.line {
            write_mark(out, place, now, &f.message)?;
        }
    }
    Ok(())
}

/// The line of a fault as it was when the program ran, and what became of its source, if that has another line there now.
pub(crate) fn changed<'f>(sources: &Sources, f: &'f Finding) -> Option<(&'f str, &'static str)> {
    let (place, kept) = (f.stack.first()?, f.source_line.as_deref()?);
    match sources.line(&place.file, place.line) {
        Some(now) if now == kept => None,
        Some(_) => Some((kept, "has changed since the run")),
        None => Some((kept, "is not there any more")),
    }
}

/// Writes the variables of a frame of a finding's stack.
pub(crate) fn write_variables(out: &mut dyn Write, f: &Finding, depth: usize) -> io::Result<()> {
    let variables = f.variables.get(depth).map(Vec::as_slice).unwrap_or_default();
    let words: Vec<_> = variables.iter().map(|v| format!("{} = {}", v.name, v.value)).collect();
    if words.is_empty() { Ok(()) } else { writeln!(out, "      with {}", words.join(", ")) }
}

fn write_line(out: &mut dyn Write, number: u32, line: &str) -> io::Result<()> {
    writeln!(out, "{:>8} | {}", number, line.trim_end())
}

/// A mark under a place's column, if it is known and in the line. Tabs stay tabs, so that it stands where it should.
fn write_mark(out: &mut dyn Write, place: &Place, line: &str, message: &str) -> io::Result<()> {
    let Some(before) = (place.column as usize).checked_sub(1).and_then(|end| line.get(..end)) else { return Ok(()) };
    let blank: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    writeln!(out, "{:>8} | {blank}^ {message}", "")
}

/// Writes the decisions on the way to a finding; of a long way its beginning and its end.
pub(crate) fn write_steps(out: &mut dyn Write, f: &Finding) -> io::Result<()> {
    if f.steps.is_empty() {
        return Ok(());
    }
    writeln!(out, "  = decided on the way there:")?;
    let left_out = f.steps.len().saturating_sub(FIRST_STEPS + LAST_STEPS);
    for (i, step) in f.steps.iter().enumerate() {
        if left_out > 1 && i >= FIRST_STEPS && i < FIRST_STEPS + left_out {
            if i == FIRST_STEPS {
                writeln!(out, "      … {left_out} more …")?;
            }
            continue;
        }
        writeln!(out, "      {}", step_text(step))?;
    }
    Ok(())
}

/// A decision as a line: place (its file without directories, which the call stack names), function, how it was decided, how often.
fn step_text(step: &Step) -> String {
    let times = if step.count > 1 { format!(" ({} times)", step.count) } else { String::new() };
    let file = step.place.file.rsplit('/').next().unwrap_or_default().to_owned();
    let place = match file.is_empty() {
        true => format!("`{}`", step.place.function),
        false => format!("{} in `{}`", Place { file, ..step.place.clone() }.text(), step.place.function),
    };
    format!("{place}: {}{times}", what(step))
}

/// How a decision was decided, and by which library function.
pub(crate) fn what(step: &Step) -> String {
    match step.library.is_empty() {
        true => step.decision.clone(),
        false => format!("`{}` {}", step.library, step.decision),
    }
}

/// Writes a whole file: `+` before lines that ran, `-` before those that never did, nothing before lines without code.
pub(crate) fn write_file(out: &mut dyn Write, coverage: &FileCoverage, sources: &Sources) -> io::Result<()> {
    let Some(lines) = sources.file(&coverage.file) else {
        return writeln!(out, "the source `{}` is not there", coverage.file);
    };
    let mut marks = coverage.lines.iter().peekable();
    for (number, line) in (1_u32..).zip(lines) {
        let mark = match marks.next_if(|(l, _)| *l == number) {
            Some((_, true)) => '+',
            Some((_, false)) => '-',
            None => ' ',
        };
        writeln!(out, "{number:>6} {mark} | {}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::golden;

    fn shown(finding: &Finding, sources: &Sources) -> String {
        let mut out = Vec::new();
        write(&mut out, sources, finding, 0).expect("memory can be written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_changed_source_is_told() {
        let mut report = golden();
        let finding = report.run.findings.remove(0);
        assert!(shown(&finding, &report.sources).contains("       7 |     a[i] = 1;\n         |          ^ write of 1 byte"));
        report.sources.add("t.c".into(), &crate::report::tests::SOURCE.replace("\n\n", "\n"));
        let text = shown(&finding, &report.sources);
        assert!(text.contains("a[i] = 1;") && text.ends_with("  = the source has changed since the run\n"), "{text}");
        assert!(shown(&finding, &Sources::default()).ends_with("  = the source is not there any more\n"));
    }

    #[test]
    fn marks_stand_under_their_column_behind_tabs() {
        let place = Place { column: 3, ..Place::default() };
        let mut out = Vec::new();
        write_mark(&mut out, &place, "\t\tx = 1;", "here").expect("memory can be written");
        assert_eq!(String::from_utf8_lossy(&out), "         | \t\t^ here\n");
        write_mark(&mut Vec::new(), &Place { column: 90, ..place }, "é", "beyond").expect("nothing is written");
    }

    #[test]
    fn a_long_way_is_cut_in_its_middle() {
        let mut finding = golden().run.findings.remove(0);
        finding.steps = vec![finding.steps[0].clone(); 100];
        let mut out = Vec::new();
        write_steps(&mut out, &finding).expect("memory can be written");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text.lines().count(), 1 + FIRST_STEPS + 1 + LAST_STEPS);
        assert!(text.contains("… 64 more …") && text.contains("t.c:11:7 in `main`: `strchr` looks at the input (3 times)"), "{text}");
    }
}
