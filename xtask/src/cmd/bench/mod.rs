//! The benches: what the tool is worth on programs that people use, beside what it would be without one of its parts. They take long and
//! are kept in `docs/results`; they judge nothing that a test could.

mod angr;
mod confine;
mod coverage;
pub mod explore;
mod figure1;
mod fuzzers;
mod guard;
mod history;
mod programs;
mod recording;
mod slices;
mod starts;
mod verify;
mod verisec;

use anyhow::Result;
use clap::Subcommand;

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// Ten small executables to the end, beside angr
    Angr(angr::Args),
    /// What confinement costs a replay
    Confine(confine::Args),
    /// Lines of coreutils covered natively by our tests and by KLEE's
    Coverage(coverage::Args),
    /// The program of paper 1's Figure 1 and its broken variant, pruned and not
    Figure1(figure1::Args),
    /// Lines of libraries covered natively by our inputs, by libFuzzer's, and by those of both side by side
    Fuzzers(fuzzers::Args),
    /// Lookups of guard at three sizes of store, in three orders, and what a hit costs over the native run (paper 4, Table 1 and Figure 7)
    Guard(guard::Args),
    /// Guard's hit rate over a generated shell history, and the growth of path conditions (paper 4, Figures 5 and 6)
    History(history::Args),
    /// Programs of Debian packages: paths a second, what their paths end by, time in the solver
    Programs(programs::Args),
    /// What recording paths and slicing them costs on coreutils
    Recording(recording::Args),
    /// Five programs of coreutils to the end: what pruning keeps, and what a perfect slice would
    Slices(slices::Args),
    /// What the static facts cost at a start, first and later
    Starts(starts::Args),
    /// coreutils under each built-in rule, pruned and not: verdicts and relevant paths
    Verify(verify::Args),
    /// The Verisec suite as bitcode or executables: detection, false alarms, discrimination
    Verisec(verisec::Args),
}

pub fn run(args: &Args) -> Result<()> {
    match &args.bench {
        Bench::Angr(args) => angr::run(args),
        Bench::Confine(args) => confine::run(args),
        Bench::Coverage(args) => coverage::run(args),
        Bench::Figure1(args) => figure1::run(args),
        Bench::Fuzzers(args) => fuzzers::run(args),
        Bench::Guard(args) => guard::run(args),
        Bench::History(args) => history::run(args),
        Bench::Programs(args) => programs::run(args),
        Bench::Recording(args) => recording::run(args),
        Bench::Slices(args) => slices::run(args),
        Bench::Starts(args) => starts::run(args),
        Bench::Verify(args) => verify::run(args),
        Bench::Verisec(args) => verisec::run(args),
    }
}
