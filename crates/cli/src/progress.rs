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
    /// Instructions at the last update, for the rate.
    before: (Instant, u64),
}

enum Kind {
    Quiet,
    Plain,
    /// Made at the first update: short runs never draw.
    Live(Option<ProgressBar>),
}

impl Progress {
    pub fn new(quiet: bool) -> Progress {
        let start = Instant::now();
        let (kind, first) = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => (Kind::Quiet, PLAIN),
            (false, true) => (Kind::Live(None), LIVE),
            (false, false) => (Kind::Plain, PLAIN),
        };
        Progress { kind, start, next: start + first, before: (start, 0) }
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
        let rate = (n.instructions.saturating_sub(self.before.1)) as f64 / seconds;
        self.before = (now, n.instructions);
        let text = self.text(now, &n, rate);
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

    fn text(&self, now: Instant, n: &Numbers, rate: f64) -> String {
        let elapsed = (now - self.start).as_secs_f64();
        format!(
            "{}: {} paths, {} findings, {} instructions/s, {:.1} % covered, {} pending, solver {:.0} %, {}",
            units::seconds(elapsed),
            n.paths,
            n.findings,
            units::count(rate),
            100.0 * n.coverage,
            n.pending,
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
