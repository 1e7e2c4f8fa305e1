//! Bounds and switches of an exploration: one table, passed down, never global.
//!
//! There is no time limit here, because the core reads no clock. The caller stops an exploration through [`crate::Control`].

use serde::{Deserialize, Serialize};

macro_rules! options {
    ($($(#[$attribute:meta])* $name:ident: $ty:ty = $default:expr;)*) => {
        /// The table of options.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Config { $($(#[$attribute])* pub $name: $ty,)* }
        impl Default for Config {
            fn default() -> Config { Config { $($name: $default,)* } }
        }
    };
}

/// What reading memory that was never written gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Uninit {
    /// Zero bytes.
    Zero,
    /// A fresh symbolic byte for each, input under the object's name.
    Symbolic,
    /// The same, and the program's own variables of static storage without an initial value are never written, too.
    SymbolicGlobals,
    /// As symbolic, but not input: a path whose branches, addresses or output depend on it faults there.
    Report,
}

/// What calling a function that is defined nowhere gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Undefined {
    /// A fresh symbolic scalar; the call is listed in the ledger.
    Symbolic,
    /// The path ends as unsupported.
    Error,
}

/// How many of the flips that nobody wanted are explored at the end all the same, to see what pruning loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Audit {
    Off,
    /// At least so many, or all there are; more, as long as that takes less than a twentieth of the instructions.
    AtLeast(u64),
}

options! {
    /// Decisions on one path.
    max_depth: u32 = u32::MAX;
    /// Pending flips made in the whole exploration; later ones are dropped and counted.
    max_forks: u64 = u64::MAX;
    /// Instructions over all paths.
    max_instructions: u64 = u64::MAX;
    /// How often one path may take the same back edge under a symbolic condition in one call. In machine code calls and loops are not distinguished at run
    /// time, so this is how often the path may enter the same block by such a condition.
    loop_limit: u32 = u32::MAX;
    /// Bytes of memory after which snapshots are given up for prefixes, and then the exploration goes depth-first. One path may hold half of them.
    max_memory: u64 = 8 << 30;
    /// No other worker shares the process: what it grows by while a path runs is the path's.
    alone: bool = true;
    /// Instructions a path runs before another pending flip may get its turn.
    batch: u64 = 2_000_000;
    /// Objects tried for one symbolic pointer whose base is unknown.
    max_resolutions: u32 = 256;
    /// Targets tried for one symbolic computed jump.
    max_targets: u32 = 1024;
    /// Largest object, in bytes, that is read or written at a symbolic offset without concretising the offset.
    max_symbolic_object: u64 = 4096;
    /// Largest block, in bytes, that is copied or filled at once where its bytes are symbolic; a path that needs more ends.
    max_symbolic_block: u64 = u64::MAX;
    /// Frames of the call stack.
    max_frames: u32 = 16_384;
    /// Bytes of stack.
    stack_size: u64 = 64 << 20;
    /// What runs is machine code. It reads whole words of strings: aligned reads of up to 16 bytes may reach past the ends of objects, where
    /// zeros are read (as Valgrind's `--partial-loads-ok`). And it folds distances into addresses: a constant in a symbolic address need not
    /// lie in the object that is meant.
    machine_code: bool = false;
    /// Strings are compared as one value, where only what comes of it is of interest: the paths through the comparison itself are not told apart.
    compare_whole: bool = false;
    uninit: Uninit = Uninit::Zero;
    /// The searcher `nearest` takes flips first whose condition reads input of which the name begins so; empty: none.
    #[serde(skip)]
    urgent: &'static str = "";
    /// What a function leaves in scratch registers and below the stack pointer of machine code counts as never written, where a model replaces it.
    scratch: bool = false;
    /// How often a path may deviate from the order in which threads run by themselves.
    schedules: u32 = 0;
    /// Look for data races where there are several threads.
    races: bool = true;
    /// Look for lost memory where a path exits.
    leaks: bool = false;
    /// How many accesses out of bounds a path survives.
    keep_going: u32 = 0;
    /// Keep the whole call stack of every allocation, not only its place.
    allocation_stacks: bool = false;
    undefined: Undefined = Undefined::Symbolic;
    /// Conflicts of the SAT search that one query may cost, so that paths do not depend on the clock.
    query_conflicts: u64 = 200_000;
    /// Conflicts after which a query is put off until other paths have had their turn, or avoided where it only looks for the smallest value. Not under pruning.
    query_patience: u64 = 500;
    /// Gates of a query, with floating point above all, above which it is put off in the same way.
    query_gates: u64 = 20_000;
    /// Keep snapshots at pending flips; off, a flip is its prefix and is run again from the start.
    snapshots: bool = true;
    /// Pending items for each path that has ended, above which flips that are near on a path share a snapshot: most of them will not be run soon. 0: always.
    /// Where goals or rules look into snapshots, and where inputs are made as paths use them, each flip has its own.
    own_snapshots: u64 = 8;
    /// Ask cheap facts whether a flip is infeasible as it is made.
    quick_checks: bool = true;
    /// Replace parts of offsets by constants that equalities on the path imply. Pruning turns it off: a slice would not see the dependency.
    implied_values: bool = true;
    /// Make a flip also of a side that cheap facts show infeasible: pruning asks why it is (docs/design/010).
    keep_infeasible_flips: bool = false;
    /// Steps of a path that are recorded to be sliced, of 16 bytes each; of a longer one all flips are explored.
    max_recorded: usize = 1 << 26;
    /// State subsumption: skip a relevant flip if a fully explored state at the same program point agrees on the live-in set.
    subsume: bool = true;
    audit: Audit = Audit::Off;
    /// Hash the state of every path that ends (for tests of determinism).
    hash_states: bool = false;
    /// Nodes in the expression pool above twice the live ones after which everything is compacted.
    compact_above: usize = 4_000_000;
    /// Searchers taking turns, by name; see the table in `search`.
    search: Vec<String> = vec!["default".into()];
    /// Seed of the random searchers.
    seed: u64 = 0;
}
