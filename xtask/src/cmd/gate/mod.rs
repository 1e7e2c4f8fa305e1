//! The gates: measurements that decide whether the tool does what it says, each resumable or short, none with a fixed answer.

pub mod bounds;
mod complete;
mod concrete;
mod coreutils;
mod corpus;
mod crashes;
mod csmith;
mod ends;
mod exceptions;
pub mod explore;
mod facts;
mod faults;
mod files;
mod foreign;
mod goals;
mod guard;
mod host;
mod hostile;
mod kills;
mod lift;
mod limits;
mod loops;
mod machine;
mod memory;
mod mutants;
mod numbers;
mod one_byte;
mod outsiders;
mod pointers;
mod probe;
mod prune;
mod relevant;
mod resume;
mod same;
mod seeds;
mod soak;
mod speed;
mod strangers;
mod summaries;
mod threads;
mod torture;
mod twenty;
mod two_bytes;
mod watched;

use anyhow::Result;
use clap::Subcommand;

use crate::{random_floats, random_hashes};

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    gate: Gate,
}

#[derive(Subcommand)]
enum Gate {
    /// Random C programs: the results of all inputs run natively equal the results of the emitted tests
    Complete(complete::Args),
    /// Programs of unmodified builds: path ends, coverage, replays
    Corpus(corpus::Args),
    /// Every program of coreutils: no internal error, replays, coverage against gcov's
    Coreutils(coreutils::Args),
    /// Crashes that KLEE's authors found in coreutils 6.10: at least two of three are found
    Crashes(crashes::Args),
    /// Programs of csmith at -O0 and -O2: status and output equal the native ones
    Csmith(csmith::Args),
    /// Random C++ programs of exceptions: ends and outputs of all inputs equal the native ones
    Exceptions(exceptions::Args),
    /// Static facts broken on purpose: what checks facts notices
    Facts(facts::Args),
    /// Planted faults: found, reproduced, confirmed by gcc's sanitizers and valgrind; their repaired twins clean
    Faults(faults::Args),
    /// Random sequences of file-system calls: the same results as on the real kernel
    Files(files::Args),
    /// Floating point: random functions of 16 input bits end as natively for all inputs
    Floats(two_bytes::Args),
    /// Hashed tables: random functions of 16 input bits end as natively for all inputs
    Hashes(two_bytes::Args),
    /// Programs that read and print numbers are explored to the end, as natively
    Numbers(numbers::Args),
    /// Executables that nobody prepared (static glibc, busybox, shared libraries): to their ends as natively
    Foreign(foreign::Args),
    /// Goals: secrets and lines that `run --find` reaches, and the native program too
    Goals(goals::Args),
    /// Guard: a clean hit never faults natively, a planted crash is refused; kills, mutated stores
    Guard(guard::Args),
    /// Loops of C as gcc vectorises them: as machine code they print what they print natively
    Loops(loops::Args),
    /// Hostile programs: none has an effect outside of its replay, whoever runs the tool; unconfined each has
    Hostile(hostile::Args),
    /// Kills at random moments, and readers on the database: nothing found is lost, nothing is left behind
    Kills(kills::Args),
    /// Lifted machine code against the CPU: every mnemonic of coreutils and libc.so.6 from random states
    Lift(lift::Args),
    /// Hard programs under small limits of time and memory
    Limits(limits::Args),
    /// Twenty programs of coreutils as machine code against their bitcode: paths a second, replays
    Machine(machine::Args),
    /// The memory of a long run, as a curve
    Memory(memory::Args),
    /// Mutated bitcode files: an answer for each, never a crash or a hang
    Mutants(mutants::Args),
    /// Interpreters and parsers of Debian: no false alarm, every finding replayed, limits kept
    Outsiders(outsiders::Args),
    /// Random C programs full of pointers looked up by input: results of all native inputs equal those of the tests; no false fault
    Pointers(pointers::Args),
    /// Functions with a planted error that must happen, and their twins: as bitcode and as objects
    Probe(probe::Args),
    /// Mutants of library functions: found by `wryneck probe`
    ProbeMutants(probe::mutants::Args),
    /// Unique paths and branch coverage of pointer-rich functions, under-constrained and not, with a picture (paper 2, Figure 3)
    ProbePaths(probe::paths::Args),
    /// All functions of four libraries: how many finish, how fast, what must go wrong in them
    ProbeSweep(probe::sweep::Args),
    /// Pruning: random programs show the event sequences of all their inputs, pruned or not; the published algorithm loses some
    Prune(prune::Args),
    /// Relevant paths of unoptimised executables: at most three times those of their bitcode
    Relevant(relevant::Args),
    /// Stops at random moments: after `--resume` to the end, all is as if the run had not been stopped
    Resume(resume::Args),
    /// The same results of two builds, or of one worker and several, on explorations to their end
    Same(same::Args),
    /// Signals: programs with handlers, timers and masks end for all inputs as natively
    Signals(one_byte::Args),
    /// The host's own programs, as Debian ships them: each path's test ends as natively
    Host(host::Args),
    /// gcc's C torture tests end as natively
    Torture(torture::Args),
    /// Processes: programs with children end for all inputs as natively
    Processes(one_byte::Args),
    /// A long run: flat memory, lasting speed
    Soak(soak::Args),
    /// Concrete speed against native, start-up, small symbolic runs
    Speed(speed::Args),
    /// Files from strangers: crafted and mutated run folders, tests, rules, summaries, caches: nothing runs, nothing is written, no hang, no panic
    Strangers(strangers::Args),
    /// Summaries of the C library: what each call leaves behind for each other one is seen pruned, too
    Summaries(summaries::Args),
    /// Threads: random programs replayed natively under the schedule of each test: same ends, outputs, orders
    Threads(threads::Args),
    /// Twenty programs of coreutils: path ends, coverage, replays
    Twenty(twenty::Args),
}

pub fn run(args: &Args) -> Result<()> {
    match &args.gate {
        Gate::Complete(args) => complete::run(args),
        Gate::Corpus(args) => corpus::run(args),
        Gate::Coreutils(args) => coreutils::run(args),
        Gate::Crashes(args) => crashes::run(args),
        Gate::Csmith(args) => csmith::run(args),
        Gate::Exceptions(args) => exceptions::run(args),
        Gate::Facts(args) => facts::run(args),
        Gate::Faults(args) => faults::run(args),
        Gate::Files(args) => files::run(args),
        Gate::Floats(args) => two_bytes::run("floats", random_floats::program, args),
        Gate::Hashes(args) => two_bytes::run("hashes", random_hashes::program, args),
        Gate::Numbers(args) => numbers::run(args),
        Gate::Foreign(args) => foreign::run(args),
        Gate::Goals(args) => goals::run(args),
        Gate::Guard(args) => guard::run(args),
        Gate::Loops(args) => loops::run(args),
        Gate::Hostile(args) => hostile::run(args),
        Gate::Kills(args) => kills::run(args),
        Gate::Lift(args) => lift::run(args),
        Gate::Limits(args) => limits::run(args),
        Gate::Machine(args) => machine::run(args),
        Gate::Memory(args) => memory::run(args),
        Gate::Mutants(args) => mutants::run(args),
        Gate::Outsiders(args) => outsiders::run(args),
        Gate::Pointers(args) => pointers::run(args),
        Gate::Probe(args) => probe::run(args),
        Gate::ProbeMutants(args) => probe::mutants::run(args),
        Gate::ProbePaths(args) => probe::paths::run(args),
        Gate::ProbeSweep(args) => probe::sweep::run(args),
        Gate::Prune(args) => prune::run(args),
        Gate::Relevant(args) => relevant::run(args),
        Gate::Resume(args) => resume::run(args),
        Gate::Same(args) => same::run(args),
        Gate::Signals(args) => one_byte::run("signals", 40, args),
        Gate::Host(args) => host::run(args),
        Gate::Torture(args) => torture::run(args),
        Gate::Processes(args) => one_byte::run("processes", 30, args),
        Gate::Soak(args) => soak::run(args),
        Gate::Speed(args) => speed::run(args),
        Gate::Strangers(args) => strangers::run(args),
        Gate::Summaries(args) => summaries::run(args),
        Gate::Threads(args) => threads::run(args),
        Gate::Twenty(args) => twenty::run(args),
    }
}

/// The tool under test: `target/release/wryneck`, or what `WRYNECK` names.
fn wryneck() -> std::path::PathBuf {
    std::env::var_os("WRYNECK").map_or_else(|| "target/release/wryneck".into(), Into::into)
}
