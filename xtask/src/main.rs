//! Chores of the repository, one file each under `cmd/`: the C library as bitcode, the corpus, the tidy check.
//!
//! One more chore: a file in `cmd/` with `Args` and `run`, a variant of [`Chore`], an arm of `main`.

mod bitcode;
mod cache;
mod cmd;
mod coreutils;
mod debian;
mod gcov;
mod klee;
mod process;
mod random;
mod random_c;
mod random_floats;
mod random_hashes;
mod random_pointers;
mod random_threads;
mod watched;

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(about = "Chores of the wryneck repository")]
enum Chore {
    /// Measure what the tool is worth
    Bench(cmd::bench::Args),
    /// Prepare what a run needs: musl as bitcode
    Setup(cmd::setup::Args),
    /// Build programs to explore: Debian's coreutils
    Corpus(cmd::corpus::Args),
    /// Measure a gate
    Gate(cmd::gate::Args),
    /// Check the conventions of the workspace
    Tidy(cmd::tidy::Args),
}

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Bench(args) => cmd::bench::run(&args),
        Chore::Setup(args) => cmd::setup::run(&args),
        Chore::Corpus(args) => cmd::corpus::run(&args),
        Chore::Gate(args) => cmd::gate::run(&args),
        Chore::Tidy(args) => cmd::tidy::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
