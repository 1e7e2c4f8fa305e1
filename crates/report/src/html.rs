//! A run as one HTML page, which needs no other file and no network: findings, coverage, the tree of paths, tests, ledger, time.
//!
//! Findings, tables of files and the ledger are elements. Tests, sources and the tree are data (JSON in the page), drawn by the page's script,
//! so that 10,000 tests load as fast as one. All text goes through [`crate::shown`], then through the escapes of HTML or of JSON in HTML.
//! The page's own policy forbids it to load anything.

mod data;
mod inputs;

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::report::{FileCoverage, Report};
use crate::run::{Class, EndCount, Finding, LedgerRow, Place, Run, Status};
use crate::{annotate, shown, terminal, units};

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// Findings that are shown; of so many the decisions and all frames, too, and how many of each.
const MOST_FINDINGS: usize = 500;
const WHOLE_FINDINGS: usize = 40;
const MOST_STEPS: usize = 100;
const MOST_FRAMES: usize = 24;
/// Lines of source before and after a place.
const AROUND: u32 = 3;
/// Ends and entries of the ledger that are shown, files of the coverage, and functions of each.
const MOST_ROWS: usize = 400;
/// Functions of all files.
const MOST_FUNCTIONS: usize = 4000;

/// Writes the page.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let report = shown::report(report);
    out.write_all(page(&report).into_string().as_bytes())
}

fn page(report: &Report) -> Markup {
    let run = &report.run;
    let words: Vec<_> = run.command.iter().map(|w| units::shell_word(w)).collect();
    let command = words.join(" ");
    let (data, text_of) = data::of(report);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
                title { (verdict(run)) " - wryneck" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { div {
                    h1 { (command) }
                    p.verdict { (verdict(run)) }
                    (tiles(report))
                } }
                nav { div {
                    a href="#findings" { "Findings" } a href="#paths" { "Paths" } a href="#coverage" { "Coverage" }
                    a href="#tests" { "Tests" } a href="#ledger" { "Ledger" } a href="#time" { "Time" }
                } }
                main {
                    (rules(run))
                    (findings(report))
                    (paths(report))
                    (coverage(report, &text_of))
                    (tests(report))
                    (ledger(run))
                    (time(run))
                    footer { "wryneck " (report.version) ", run folder " code { (run.folder) } }
                }
                script id="data" type="application/json" { (PreEscaped(data)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// The last line of the summary.
fn verdict(run: &Run) -> String {
    let mut text = Vec::new();
    // Memory can be written.
    let _ = terminal::write_conclusion(&mut text, run);
    let text = String::from_utf8_lossy(&text);
    text.lines().rev().find(|line| !line.starts_with("  ")).unwrap_or_default().to_owned()
}

/// The verdicts on rules, as the summary has them; nothing where no rule was checked.
fn rules(run: &Run) -> Markup {
    let mut text = Vec::new();
    let _ = terminal::write_rules(&mut text, run);
    html! {
        @if !text.is_empty() {
            section #rules { h2 { "Rules" } pre { (String::from_utf8_lossy(&text)) } }
        }
    }
}

fn tiles(report: &Report) -> Markup {
    let (run, totals) = (&report.run, &report.run.totals);
    let found = run.standing().count();
    html! {
        div.tiles {
            div.tile { b class=[(found > 0).then_some("bad")] style="background:none" { (found) } span { (if found == 1 { "finding" } else { "findings" }) } }
            div.tile { b { (number(totals.paths)) } span { "paths" } }
            @if run.lines.all > 0 {
                div.tile { b { (percent(run.lines.covered, run.lines.all)) } span { "of " (number(run.lines.all)) " lines ran" } }
            }
            div.tile { b { (number(totals.tests)) } span { "tests" } }
            @if run.status != Status::Unfinished {
                div.tile { b { (units::seconds(run.seconds)) } span { (units::count(totals.paths as f64 / run.seconds.max(1e-6))) " paths/s" } }
                div.tile { b { (units::bytes(totals.memory)) } span { "memory at most" } }
            }
        }
    }
}

fn number(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group)).collect();
    groups.join(",")
}

fn percent(part: u64, all: u64) -> String {
    percent_of(part as f64 / all.max(1) as f64)
}

fn percent_of(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A part of a bar.
fn part(class: &str, share: f64) -> Markup {
    html! { i class=(class) style=(format!("width:{:.2}%", (100.0 * share).clamp(0.0, 100.0))) {} }
}

fn findings(report: &Report) -> Markup {
    let all = &report.run.findings;
    let numbered = || (1..).zip(all).take(MOST_FINDINGS);
    html! {
        h2 id="findings" { "Findings" }
        @if all.is_empty() { p.card { "No finding." } }
        @for (n, finding) in numbered().filter(|(_, f)| !f.is_denied()) { (one_finding(report, n, finding)) }
        @if report.run.denied() > 0 {
            p.soft { "The native program ended otherwise on the inputs below. These do not count as findings." }
        }
        @for (n, finding) in numbered().filter(|(_, f)| f.is_denied()) { (one_finding(report, n, finding)) }
        @if all.len() > MOST_FINDINGS { p.soft { "And " (number((all.len() - MOST_FINDINGS) as u64)) " more: " code { "wryneck show --findings" } } }
    }
}

fn one_finding(report: &Report, number: usize, f: &Finding) -> Markup {
    let run = &report.run;
    let (mark, kind) = match f.kind.id.strip_prefix("rule:") {
        Some(rule) => ("violation", rule),
        None => ("fault", f.kind.id.as_str()),
    };
    html! {
        article.card.finding id={ "finding-" (number) } {
            header {
                span.badge.bad { (mark) " " (kind) }
                h3 { (f.message) }
                span.soft { "finding " (number) ", CWE-" (f.kind.cwe) }
            }
            @let (frames, has_steps) = if number <= WHOLE_FINDINGS { (MOST_FRAMES, !f.steps.is_empty()) } else { (1, false) };
            @for (depth, place) in f.stack.iter().take(frames).enumerate() {
                @if depth == 0 { (frame(report, f, depth, place, "at")) }
                @else { details { summary { (position(place, "by")) } (frame_body(report, f, depth, place)) } }
            }
            @if f.stack.len() > frames { p.soft { "by " (terminal::plural((f.stack.len() - frames) as u64, "more call")) } }
            @if has_steps { (steps(report, f)) }
            dl {
                dt { "inputs" }
                dd { @if f.inputs.is_empty() { "it happens on every input" } @else { (inputs::table(&f.inputs)) } }
                @if f.count > 1 { dt { "paths" } dd { (f.count) " end so" } }
                @if let Some(native) = &f.native {
                    @let (words, why) = native.words();
                    dt { "natively" }
                    dd { span.badge.(if words == "reproduced" { "good" } else { "warn" }) { (words) } @if !why.is_empty() { " " (why) } }
                }
                @if let Some(test) = &f.test {
                    dt { "replay" }
                    dd {
                        code { "wryneck replay " (units::shell_word(&format!("{}/{test}", run.folder))) }
                        @if data::is_linked(report, test) { " " a href={ "#" (test) } { "its test" } }
                    }
                }
            }
        }
    }
}

fn position(place: &Place, word: &str) -> Markup {
    html! {
        span.soft { (word) " " }
        @if place.file.is_empty() { code { (place.function) } span.soft { " (no debug information)" } }
        @else { code { (place.text()) } " in " code { (place.function) } }
    }
}

fn frame(report: &Report, f: &Finding, depth: usize, place: &Place, word: &str) -> Markup {
    html! { div { (position(place, word)) } (frame_body(report, f, depth, place)) }
}

fn frame_body(report: &Report, f: &Finding, depth: usize, place: &Place) -> Markup {
    html! {
        @match annotate::changed(&report.sources, f).filter(|_| depth == 0) {
            Some((kept, why)) => { pre { span.here { span.n { (place.line) } (kept) } } p.soft { "The source " (why) "." } }
            None => (excerpt(report, place)),
        }
        @if depth == 0 && !f.code.is_empty() {
            pre { @for line in &f.code {
                span.(if line.here { "here" } else { "there" }) { (format!("{:#10x}  {}  {}", line.address, line.place, line.text)) }
            } }
        }
        @if let Some(variables) = f.variables.get(depth).filter(|all| !all.is_empty()) {
            p.mono style="margin:.2rem 0" {
                span.soft { "variables: " }
                @for (i, v) in variables.iter().enumerate() { @if i > 0 { ", " } (v.name) span.soft { " = " } (v.value) }
            }
        }
    }
}

/// The lines around a place, with what ran.
fn excerpt(report: &Report, place: &Place) -> Markup {
    let covered = report.coverage.iter().find(|c| c.file == place.file);
    let class = |line: u32| match covered.and_then(|c| c.lines.binary_search_by_key(&line, |l| l.0).ok().map(|i| c.lines[i].1)) {
        _ if line == place.line => "here",
        Some(true) => "ran",
        Some(false) => "never",
        None => "none",
    };
    let lines: Vec<(u32, &str)> = (place.line.saturating_sub(AROUND)..=place.line.saturating_add(AROUND))
        .filter_map(|line| Some((line, report.sources.line(&place.file, line)?)))
        .collect();
    html! {
        @if place.line > 0 && !lines.is_empty() {
            pre { @for (line, text) in lines { span.(class(line)) { span.n { (line) } (text) } } }
        }
    }
}

fn steps(report: &Report, f: &Finding) -> Markup {
    html! {
        details open[f.steps.len() <= 12] {
            summary { "The way there: " (terminal::plural(f.steps.len() as u64, "decision")) }
            @let earlier = f.steps.len().saturating_sub(MOST_STEPS);
            @if earlier > 0 { p.soft { "Not shown: " (terminal::plural(earlier as u64, "earlier decision")) } }
            ol.steps start=(earlier + 1) { @for step in f.steps.iter().skip(earlier) {
                li {
                    code { (step.place.text()) } " in " code { (step.place.function) } ": "
                    @if !step.library.is_empty() { code { (step.library) } " " }
                    (step.decision)
                    @if step.count > 1 { span.soft { " (" (step.count) " times)" } }
                    @if let Some(line) = report.sources.line(&step.place.file, step.place.line) { " " div.mono.soft { (line.trim()) } }
                }
            } }
        }
    }
}

/// The class of an end in the page's colours.
fn colour(class: &str) -> &'static str {
    match class {
        "exit" => "exit",
        "fault" => "fault",
        _ => "gap",
    }
}

fn paths(report: &Report) -> Markup {
    let run = &report.run;
    let all: u64 = run.ends.iter().map(|end| end.count).sum();
    let rows = |end: &EndCount| {
        let class = colour(end.class.name());
        html! { tr {
            td { span.key.(class) {} (end.class.name()) " " (end.what) }
            td.num { (number(end.count)) } td.num { (percent(end.count, all)) }
            td { div.bar { (part(class, end.count as f64 / all.max(1) as f64)) } }
        } }
    };
    html! {
        h2 id="paths" { "Paths" }
        div.card {
            table { thead { tr { th { "end" } th.num { "paths" } th.num { "share" } th { } } } tbody { @for end in run.ends.iter().take(MOST_ROWS) { (rows(end)) } } }
            @if run.ends.len() > MOST_ROWS { p.soft { "and " (run.ends.len() - MOST_ROWS) " more kinds of ends" } }
            @if run.ends.iter().any(|e| e.class == Class::Unsupported) { p.soft { code { "unsupported" } " is a gap of this tool, not a defect of the program" } }
        }
        @if data::shows_tree(report) {
            @let (shown, all) = (report.tree.nodes.iter().filter(|node| node.test.is_some()).count(), report.tests.len());
            div.card {
                div.tools {
                    span {
                        "The tree of the paths " @if shown < all { "of " (number(shown as u64)) " tests" } @else { "with a test" }
                        ". Each row is a fork, at the line that is named there. The width of a box is its number of paths."
                    }
                    span.keys {
                        span { span.key.inner {} "fork" } span { span.key.exit {} "exit" } span { span.key.fault {} "fault" } span { span.key.gap {} "other" }
                    }
                    button.more id="tree-up" style="margin:0" hidden { "Zoom out" }
                }
                canvas id="tree-canvas" tabindex="0" role="application" aria-label="tree of paths: arrow keys move, Enter opens" aria-describedby="hover" {}
                div.mono id="hover" aria-live="polite" {}
                p.soft style="margin:0" { "Click a fork to zoom in, the top row to zoom out, and the end of a path to see its test. Arrow keys and Enter do the same." }
            }
        }
    }
}

fn coverage(report: &Report, text_of: &[Option<usize>]) -> Markup {
    let all = &report.coverage;
    let functions = all.iter().scan(MOST_FUNCTIONS, |left, file| {
        let rows = file.functions.len().min(MOST_ROWS).min(*left);
        *left -= rows;
        Some(rows)
    });
    html! {
        h2 id="coverage" { "Coverage" }
        @if all.is_empty() {
            p.card {
                @if report.run.status == Status::Unfinished { "The run has not ended: its coverage is not written yet." }
                @else { "None is recorded; compile with " code { "-g" } " to have lines." }
            }
        }
        @for ((file, text), functions) in all.iter().zip(text_of).zip(functions).take(MOST_ROWS) {
            div.card { (one_file(file, *text, functions)) }
        }
        @if all.len() > MOST_ROWS { p.soft { "and " (number((all.len() - MOST_ROWS) as u64)) " more files" } }
    }
}

/// A file's share of lines; its text is drawn by the script. `functions`: how many of them have a row.
fn one_file(file: &FileCoverage, text: Option<usize>, functions: usize) -> Markup {
    let (covered, all) = (file.covered() as u64, file.lines.len() as u64);
    let entered = file.functions.iter().filter(|f| f.entered).count();
    let head = html! {
        code { (file.file) } @if file.library { span.soft { " (C library)" } }
        span.soft { " " (number(covered)) " of " (terminal::plural(all, "line")) " (" (percent(covered, all)) ")"
            @if !file.functions.is_empty() { ", " (entered) " of " (terminal::plural(file.functions.len() as u64, "function")) " entered" } }
        div.bar style="margin:.35rem 0" { (part("ran", covered as f64 / all.max(1) as f64)) }
    };
    html! {
        @match text {
            Some(index) => details data-file=(index) {
                summary { (head) }
                p.soft.legend { code { "+" } " ran, " code { "-" } " never ran" }
                pre.listing tabindex="0" {}
            },
            None => (head),
        }
        @if file.functions.len() > 1 && functions > 0 {
            details {
                summary.soft { "functions" }
                table { tbody { @for (i, function) in file.functions.iter().enumerate().take(functions) {
                    @let lines = file.lines_of(i);
                    @let ran = lines.iter().filter(|l| l.1).count() as u64;
                    tr { td.mono { (function.name) } td.num { "line " (function.line) }
                        td { @if function.entered { (ran) " of " (terminal::plural(lines.len() as u64, "line")) } @else { span.badge.bad { "never entered" } } } }
                } } }
                @if file.functions.len() > functions { p.soft { "and " (number((file.functions.len() - functions) as u64)) " more" } }
            }
        }
    }
}

fn tests(report: &Report) -> Markup {
    let left_out = report.tests.len().saturating_sub(data::MOST_TESTS);
    html! {
        h2 { "Tests" }
        div.card id="tests" {
            @if report.tests.is_empty() { "No test was written." }
            @else {
                div.tools {
                    input id="test-search" type="search" placeholder="Search: a test, an end such as fault, a value" aria-label="search tests";
                    span.soft id="test-count" aria-live="polite" {}
                }
                table.wide {
                    thead { tr { th { button { "test" } } th { button { "end" } } th.num { button { "instructions" } } th.num { button { "decisions" } } } }
                    tbody id="test-rows" {}
                }
                button.more id="test-more" hidden { "Show more" }
                @if left_out > 0 { p.soft { "and " (number(left_out as u64)) " more in the run folder" } }
            }
        }
    }
}

fn ledger(run: &Run) -> Markup {
    let (losses, others): (Vec<&LedgerRow>, Vec<&LedgerRow>) = run.ledger.iter().partition(|row| row.loses());
    let part = |title: &str, rows: &[&LedgerRow]| {
        html! { @if !rows.is_empty() {
            div.card {
                h3 { (title) }
                table { tbody { @for row in rows.iter().take(MOST_ROWS) {
                    tr { td { (row.kind) @if !row.flag.is_empty() { span.soft { " (change: " code { (row.flag) } ")" } } } td { (row.what) } td.num { (number(row.count)) } }
                } } }
                @if rows.len() > MOST_ROWS { p.soft { "and " (rows.len() - MOST_ROWS) " more" } }
            }
        } }
    };
    html! {
        h2 id="ledger" { "Ledger" }
        @if run.ledger.is_empty() { p.card { "Nothing was skipped, bounded or given up." } }
        (part("Left out or guessed", &losses))
        (part("Fixed or noted without loss", &others))
    }
}

fn time(run: &Run) -> Markup {
    let totals = &run.totals;
    let solver = (totals.solver_seconds / run.seconds.max(1e-9)).min(1.0);
    html! {
        h2 id="time" { "Time" }
        div.card {
            @if run.status == Status::Unfinished { "The run has not ended: its times are not written yet." }
            @else {
                div.bar style="height:1rem" { (part("solver", solver)) (part("rest", 1.0 - solver)) }
                dl {
                    dt { span.key.solver {} "solver" } dd { (units::seconds(totals.solver_seconds)) " (" (percent_of(solver)) "), " (number(totals.solver_calls)) " calls for " (number(totals.queries)) " queries" }
                    dt { span.key.rest {} "the rest" } dd { (units::seconds((run.seconds - totals.solver_seconds).max(0.0))) " (" (percent_of(1.0 - solver)) "), " (number(totals.instructions)) " instructions, " (number(totals.decisions)) " decisions" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
