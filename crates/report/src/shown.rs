//! Text from programs, files and databases, made safe to print: what would drive a terminal, hide text or turn it around is written as `\u001b`.
//!
//! Two lines of defence. [`Escaped`] is under everything that is printed, so nothing can forget it; it leaves line ends, which the tool writes, too.
//! [`run`] and [`report`] are what people are shown: copies whose every string is one line, so no name begins a line that looks like the tool's own.
//! They take each structure apart by name: a new field does not compile until it is decided on here. The notation is also JSON's, so what
//! is printed as JSON stays the same data.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::report::{FileCoverage, FunctionCoverage, Report, Sources, Test, Tree};
use crate::rules::RuleResult;
use crate::run::{
    CodeLine, EndCount, Finding, Goal, InputValue, Kind, LedgerRow, Native, Place, Pruning, Reached, Run, Status, Step, Variable,
};

/// Ranges of characters that are not printed as they are, sorted: controls, those without a shape, those that change the direction of text.
static HIDDEN: &[(char, char)] = &[
    ('\u{0}', '\u{1f}'),
    ('\u{7f}', '\u{9f}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Whether a character is not printed as it is.
pub fn is_hidden(c: char) -> bool {
    // Nearly all text.
    if (' '..='~').contains(&c) {
        return false;
    }
    let after = HIDDEN.partition_point(|(first, _)| *first <= c);
    after.checked_sub(1).is_some_and(|at| c <= HIDDEN[at].1)
}

fn escape(text: &str, leave: fn(char) -> bool) -> Cow<'_, str> {
    let hidden = |c: char| is_hidden(c) && !leave(c);
    if !text.contains(hidden) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match hidden(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| _ = write!(out, "\\u{unit:04x}")),
            false => out.push(c),
        }
    }
    out.into()
}

/// A name or message, as one line.
pub fn text(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// A line of source: its tabs stay.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, |c| c == '\t')
}

/// A writer that escapes what goes through it, but for line ends and tabs.
pub struct Escaped<W: Write> {
    inner: W,
    /// The beginning of a character whose rest comes.
    begun: Vec<u8>,
}

impl<W: Write> Escaped<W> {
    pub fn new(inner: W) -> Escaped<W> {
        Escaped { inner, begun: Vec::new() }
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        self.inner.write_all(escape(text, |c| matches!(c, '\n' | '\t')).as_bytes())
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let joined;
        let mut rest = match self.begun.is_empty() {
            true => bytes,
            false => {
                joined = [std::mem::take(&mut self.begun), bytes.to_vec()].concat();
                &joined
            }
        };
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.put(text)?;
                    return Ok(bytes.len());
                }
                Err(error) => {
                    let (valid, bad) = rest.split_at(error.valid_up_to());
                    self.put(std::str::from_utf8(valid).unwrap_or_default())?;
                    let Some(len) = error.error_len() else {
                        self.begun = bad.to_vec();
                        return Ok(bytes.len());
                    };
                    self.put("\u{fffd}")?;
                    rest = &bad[len..];
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn own(text_of: &str) -> String {
    text(text_of).into_owned()
}

fn all(texts: &[String]) -> Vec<String> {
    texts.iter().map(|t| own(t)).collect()
}

/// A run as it is shown. Words of commands stay as they are: [`crate::units::shell_word`] quotes them so that a shell reads them back.
pub fn run(run: &Run) -> Run {
    let Run { command, folder, status, seconds, ends, findings, ledger, totals, lines, rules, pruning, goal } = run;
    Run {
        command: command.clone(),
        folder: folder.clone(),
        status: match status {
            Status::Complete => Status::Complete,
            Status::Stopped { limit, flag, pending } => Status::Stopped { limit: own(limit), flag: own(flag), pending: *pending },
            Status::Unfinished => Status::Unfinished,
        },
        seconds: *seconds,
        ends: ends.iter().map(|EndCount { class, what, count }| EndCount { class: *class, what: own(what), count: *count }).collect(),
        findings: findings.iter().map(finding).collect(),
        ledger: ledger.iter().map(ledger_row).collect(),
        totals: totals.clone(),
        lines: lines.clone(),
        rules: rules.iter().map(rule).collect(),
        pruning: pruning.as_ref().map(|pruning| Pruning { lost: all(&pruning.lost), ..pruning.clone() }),
        goal: goal.as_ref().map(|goal| Goal { wanted: all(&goal.wanted), reached: goal.reached.as_ref().map(reached) }),
    }
}

fn reached(reached: &Reached) -> Reached {
    Reached { goal: own(&reached.goal), test: reached.test.clone(), end: own(&reached.end) }
}

/// A report as it is shown.
pub fn report(report: &Report) -> Report {
    let Report { run: of, version, directory, coverage, tests, tree, sources } = report;
    Report {
        run: run(of),
        version: own(version),
        directory: own(directory),
        coverage: coverage.iter().map(file).collect(),
        tests: tests.iter().map(test).collect(),
        tree: Tree { nodes: tree.nodes.clone(), places: tree.places.iter().map(place).collect() },
        sources: shown_sources(sources),
    }
}

fn shown_sources(sources: &Sources) -> Sources {
    sources.map(own, |l| line(l).into_owned())
}

fn file(FileCoverage { file, library, lines, functions }: &FileCoverage) -> FileCoverage {
    let function =
        |FunctionCoverage { name, line, entered }: &FunctionCoverage| FunctionCoverage { name: own(name), line: *line, entered: *entered };
    FileCoverage { file: own(file), library: *library, lines: lines.clone(), functions: functions.iter().map(function).collect() }
}

fn test(Test { file, class, what, instructions, depth, inputs }: &Test) -> Test {
    let inputs = inputs.as_ref().map(|values| values.iter().map(input).collect());
    Test { file: file.clone(), class: own(class), what: own(what), instructions: *instructions, depth: *depth, inputs }
}

fn input(InputValue { name, bytes }: &InputValue) -> InputValue {
    InputValue { name: own(name), bytes: bytes.clone() }
}

fn ledger_row(LedgerRow { kind, what, count, flag }: &LedgerRow) -> LedgerRow {
    LedgerRow { kind: own(kind), what: own(what), count: *count, flag: own(flag) }
}

fn rule(RuleResult { id, summary, verdict, relevant, why, assumptions }: &RuleResult) -> RuleResult {
    let assumptions = assumptions.iter().map(|text| own(text)).collect();
    RuleResult { id: own(id), summary: own(summary), verdict: *verdict, relevant: *relevant, why: own(why), assumptions }
}

fn place(Place { function, file, line, column }: &Place) -> Place {
    Place { function: own(function), file: own(file), line: *line, column: *column }
}

fn finding(finding: &Finding) -> Finding {
    let Finding { kind, message, stack, inputs, count, test, source_line, code, variables, native, steps } = finding;
    let variable = |Variable { name, value }: &Variable| Variable { name: own(name), value: own(value) };
    let instruction = |CodeLine { address, place, text, here }: &CodeLine| CodeLine {
        address: *address,
        place: own(place),
        text: own(text),
        here: *here,
    };
    let step = |Step { place: at, library, decision, depth, count }: &Step| Step {
        place: place(at),
        library: own(library),
        decision: own(decision),
        depth: *depth,
        count: *count,
    };
    Finding {
        kind: Kind { id: own(&kind.id), cwe: kind.cwe },
        message: own(message),
        stack: stack.iter().map(place).collect(),
        inputs: inputs.iter().map(input).collect(),
        count: *count,
        test: test.clone(),
        source_line: source_line.as_ref().map(|l| line(l).into_owned()),
        code: code.iter().map(instruction).collect(),
        variables: variables.iter().map(|frame| frame.iter().map(variable).collect()).collect(),
        native: native.as_ref().map(|native| match native {
            Native::Reproduced => Native::Reproduced,
            Native::NotReproduced(how) => Native::NotReproduced(own(how)),
            Native::NotReplayable(why) => Native::NotReplayable(own(why)),
            Native::Inconclusive(why) => Native::Inconclusive(own(why)),
            Native::NotReplayed(why) => Native::NotReplayed(own(why)),
        }),
        steps: steps.iter().map(step).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::golden;
    use crate::show::{self, Section};
    use crate::{format, jsonl, terminal};

    /// Ends a line, forges one, drives the terminal, hides, turns text around.
    const HOSTILE: &str = "a\nno finding; every path was explored\r\u{1b}[2J\u{9b}1m\u{202e}b\u{200b}\u{e0041}\u{7f}";

    /// The golden report with the hostile text in every string there is.
    fn hostile() -> Report {
        let text = serde_json::to_value(HOSTILE).expect("a string");
        let mut value = serde_json::to_value(&golden().run).expect("it has a form");
        fn fill(value: &mut serde_json::Value, text: &serde_json::Value) {
            match value {
                serde_json::Value::Array(all) => all.iter_mut().for_each(|v| fill(v, text)),
                serde_json::Value::Object(map) => {
                    map.iter_mut().filter(|(k, _)| !["class", "verdict"].contains(&k.as_str())).for_each(|(_, v)| fill(v, text))
                }
                serde_json::Value::String(_) => *value = text.clone(),
                _ => {}
            }
        }
        fill(&mut value["findings"][0]["stack"], &text);
        fill(&mut value["findings"][0]["steps"], &text);
        fill(&mut value["findings"][0]["variables"], &text);
        let finding = &value["findings"][0];
        let mut report = golden();
        let f = &mut report.run.findings[0];
        f.stack = serde_json::from_value(finding["stack"].clone()).expect("places");
        f.steps = serde_json::from_value(finding["steps"].clone()).expect("steps");
        f.variables = serde_json::from_value(finding["variables"].clone()).expect("variables");
        f.message = HOSTILE.into();
        f.kind.id = HOSTILE.into();
        f.source_line = Some(HOSTILE.into());
        f.native = Some(Native::NotReproduced(HOSTILE.into()));
        f.inputs[0].name = HOSTILE.into();
        f.test = Some(HOSTILE.into());
        f.code = vec![CodeLine { address: 1, place: HOSTILE.into(), text: HOSTILE.into(), here: true }];
        report.run.folder = HOSTILE.into();
        report.run.command = vec![HOSTILE.into()];
        report.run.ends[0].what = HOSTILE.into();
        report.run.ledger[0] = LedgerRow { kind: HOSTILE.into(), what: HOSTILE.into(), count: 1, flag: HOSTILE.into() };
        report.run.status = Status::Stopped { limit: HOSTILE.into(), flag: HOSTILE.into(), pending: 1 };
        report.directory = HOSTILE.into();
        report.coverage[0].file = HOSTILE.into();
        report.coverage[0].functions[0].name = HOSTILE.into();
        report.sources.add(HOSTILE.into(), HOSTILE);
        report
    }

    fn bad(text: &str) -> Option<char> {
        text.chars().find(|c| is_hidden(*c) && !matches!(c, '\n' | '\t'))
    }

    #[test]
    fn no_name_ends_a_line_or_drives_the_terminal() {
        assert!(HIDDEN.windows(2).all(|w| w[0].1 < w[1].0));
        let report = hostile();
        let mut out = Vec::new();
        terminal::write(&mut out, &report.run).expect("memory can be written");
        for sections in [&Section::ALL[..], &[Section::Source("a".into())], &[Section::Source(HOSTILE.into()), Section::Coverage]] {
            show::write(&mut out, &report, sections).expect("memory can be written");
        }
        let text = String::from_utf8(out).expect("UTF-8");
        assert_eq!(bad(&text), None, "{text}");
        assert!(text.lines().all(|l| !l.starts_with("no finding; every")), "{text}");
        assert!(
            text.contains("a\\u000ano finding; every path was explored\\u000d\\u001b[2J\\u009b1m\\u202eb\\u200b\\udb40\\udc41\\u007f"),
            "{text}"
        );
    }

    #[test]
    fn formats_stay_what_they_are() {
        let report = hostile();
        let write = |name: &str| {
            let mut out = Escaped::new(Vec::new());
            (format(name).expect("there is one").write)(&mut out, &report).expect("memory can be written");
            String::from_utf8(out.inner).expect("UTF-8")
        };
        for name in ["html", "json", "jsonl", "lcov", "sarif"] {
            assert_eq!(bad(&write(name)), None, "{name}");
        }
        let json: serde_json::Value = serde_json::from_str(&write("json")).expect("one object");
        assert_eq!(json["findings"][0]["message"], HOSTILE);
        serde_json::from_str::<serde_json::Value>(&write("sarif")).expect("one object");
        let lcov = write("lcov");
        assert!(lcov.lines().all(|l| l == "end_of_record" || l.split_once(':').is_some_and(|(k, _)| k.len() <= 4)), "{lcov}");
        let mut plain = Vec::new();
        jsonl::write(&mut plain, &report).expect("memory can be written");
        assert!(String::from_utf8_lossy(&plain).lines().all(|l| serde_json::from_str::<serde_json::Value>(l).is_ok()));
    }

    #[test]
    fn characters_may_come_in_pieces() {
        let mut out = Escaped::new(Vec::new());
        for byte in "é\u{202e}\u{1b}\n\t€".bytes().chain([0xff]).chain("z".bytes()) {
            out.write_all(&[byte]).expect("memory can be written");
        }
        assert_eq!(String::from_utf8_lossy(&out.inner), "é\\u202e\\u001b\n\t€\u{fffd}z");
    }
}
