//! Progress: one live line on a terminal, a plain line every few seconds elsewhere, nothing with `--quiet`. It goes to standard error, so
//! that standard output has results alone.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use wryneck_report::units;
use wryneck_session::collector::Numbers;

use crate::allocator;
use crate::output;

/// Between updates of a live line.
const LIVE: Duration = Duration::from_millis(200);
/// Between plain lines.
const PLAIN: Duration = Duration::from_secs(5);

/// Shows progress now and then.
pub struct Progress {
    kind: Kind,
    start: Instant,
    next: Instant,
    /// Seconds that the run may take.
    limit: Option<f64>,
    /// When it was last shown, and instructions and paths then, for the rates.
    before: (Instant, u64, u64),
    /// The coverage, and when it last grew.
    covered: (f64, Instant),
}

enum Kind {
    Quiet,
    Plain,
    /// Made at the first update: short runs never draw.
    Live(Option<ProgressBar>),
}

impl Progress {
    pub fn new(quiet: bool, limit: Option<f64>) -> Progress {
        let start = Instant::now();
        let (kind, first) = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => (Kind::Quiet, PLAIN),
            (false, true) => (Kind::Live(None), LIVE),
            (false, false) => (Kind::Plain, PLAIN),
        };
        Progress { kind, start, next: start + first, limit, before: (start, 0, 0), covered: (0.0, start) }
    }

    /// Shows the numbers if it is time.
    pub fn update(&mut self, now: Instant, numbers: impl FnOnce() -> Numbers) {
        if now < self.next || matches!(self.kind, Kind::Quiet) {
            return;
        }
        allocator::undisturbed(|| self.show(now, numbers));
    }

    fn show(&mut self, now: Instant, numbers: impl FnOnce() -> Numbers) {
        let n = numbers();
        let seconds = (now - self.before.0).as_secs_f64().max(1e-6);
        let rate = |is: u64, was: u64| is.saturating_sub(was) as f64 / seconds;
        let rates = (rate(n.instructions, self.before.1), rate(n.paths, self.before.2));
        self.before = (now, n.instructions, n.paths);
        if n.coverage > self.covered.0 {
            self.covered = (n.coverage, now);
        }
        let text = self.text(now, &n, rates);
        match &mut self.kind {
            Kind::Quiet => {}
            Kind::Plain => {
                output::say("progress", text);
                self.next = now + PLAIN;
            }
            Kind::Live(bar) => {
                let style = || ProgressStyle::with_template("{spinner} {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
                let bar = bar.get_or_insert_with(|| ProgressBar::new_spinner().with_style(style()));
                bar.set_message(text);
                bar.tick();
                self.next = now + LIVE;
            }
        }
    }

    fn text(&self, now: Instant, n: &Numbers, (instructions, paths): (f64, f64)) -> String {
        let elapsed = (now - self.start).as_secs_f64();
        let limit = self.limit.map_or(String::new(), |limit| format!(" of {}", units::seconds(limit)));
        let since = (now - self.covered.1).as_secs_f64();
        let stale = if since < 1.0 { "growing".to_owned() } else { format!("nothing new for {}", units::seconds(since)) };
        format!(
            "{}{limit}: {} paths, {} paths/s, {} findings, {:.1} % covered, {stale}, {} pending, {} instructions/s, solver {:.0} %, {}",
            units::seconds(elapsed),
            n.paths,
            units::count(paths),
            n.findings,
            100.0 * n.coverage,
            n.pending,
            units::count(instructions),
            100.0 * n.solver.as_secs_f64() / elapsed.max(1e-6),
            units::bytes(n.memory),
        )
    }

    /// Shows a line at once, above the live line if there is one.
    pub fn tell(&mut self, kind: &str, text: &str) {
        match &self.kind {
            Kind::Quiet => {}
            Kind::Live(Some(bar)) => allocator::undisturbed(|| bar.suspend(|| output::say(kind, text))),
            Kind::Live(None) | Kind::Plain => allocator::undisturbed(|| output::say(kind, text)),
        }
    }

    /// Takes the live line away.
    pub fn done(&mut self) {
        if let Kind::Live(Some(bar)) = &self.kind {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_rates_coverage_and_the_limit() {
        let mut progress = Progress::new(true, Some(60.0));
        let now = progress.start + Duration::from_secs(12);
        progress.covered = (0.5, now - Duration::from_secs(4));
        let numbers = Numbers { paths: 90, findings: 2, coverage: 0.5, pending: 7, ..Numbers::default() };
        let text = progress.text(now, &numbers, (2_500_000.0, 30.0));
        assert!(
            text.starts_with("12.0 s of 60.0 s: 90 paths, 30 paths/s, 2 findings, 50.0 % covered, nothing new for 4.00 s, 7 pending"),
            "{text}"
        );
        progress.covered.1 = now;
        progress.limit = None;
        let text = progress.text(now, &numbers, (0.0, 0.0));
        assert!(text.starts_with("12.0 s: 90 paths") && text.contains("50.0 % covered, growing,"), "{text}");
    }
}
