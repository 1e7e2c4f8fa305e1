//! The engine: explores the paths of a program (docs/design/001 to 006).
//!
//! Its modules form floors: each imports only from itself and from those below it. Suggested reading order, from the bottom:
//!
//! - [`ground`]: memory, prefixes, path ends, configuration, the prepared program;
//! - [`state`]: a path in progress;
//! - [`step`]: running operations. [`cx`] decides and is the only module that forks. Models also use [`memory`], [`mod@pointer`],
//!   [`heap_calls`] and [`inputs`]. [`plugin`] has traits of plug-ins;
//! - [`explore`]: searchers, and replay;
//! - [`relevance`]: pruning, state subsumption, audits;
//! - [`engine`]: the exploration.
//!
//! The crate has no rule, library function or file format, and reads no clock.

pub mod engine;
pub mod explore;
pub mod ground;
pub mod relevance;
pub mod state;
pub mod step;

pub use engine::{Control, Explorer, Left, Outcome, Rest};
pub use explore::frontier::SeedEnd;
pub use explore::fuzz::{Finds, Follow, Fuzzed, Fuzzer, Mutator};
pub use explore::replay::Decided;
pub use explore::search;
pub use ground::config::{Audit, Config};
pub use ground::image::{CodePos, Image};
pub use ground::job::{Deferral, Deferred, Job};
pub use ground::memory::{CALLS_BASE, STACK_TOP};
pub use ground::path_end::{Fault, FaultKind, Limit, PathEnd};
pub use ground::places::{Does, SourcePos};
pub use ground::{
    chain, code, config, digest, globals, image, job, machine_code, path_end, places, prefix, sharing, stacks, thread_locals, tree,
};
pub use relevance::pruner::{Begun, Continuations, Pruner, Subsumer, Traced, Wanted};
pub use relevance::pruning::Pruning;
pub use relevance::{pruning, subsume};
pub use state::{AnyData, Input, PathData, Slot, Slots, State, SubtreeId};
pub use state::{landings::Token, survived, variables};
pub use step::arith::asks_of_operand;
pub use step::core::{Core, Ended, Ledger, LedgerKind, Stats};
pub use step::coverage::LONGEST_COMPARED;
pub use step::cx::{Cx, WITHOUT_BASE};
pub use step::leaks::Leak;
pub use step::loops::operation::{accessed, names_address, orders_values};
pub use step::loops::round::{Exit, Round, all_rounds_of_input, leaves_loop, round_of_input};
pub use step::loops::uses::{Uses, called, sides_write, uses_of_cases, uses_of_inlined, uses_of_loop, uses_of_result};
pub use step::machine::{set_stack_pointer, set_thread_pointer, thread_pointer};
pub use step::plugin::{Call, Environment, Premises, Reply, Stop, Turn, Value};
pub use step::recorder::{Step, Trace, TracedCall};
pub use step::seed::Inputs;
pub use step::{
    core, cx, float, goals, heap_calls, inputs, landing, leaks, memory, plugin, pointer, processes, recorder, scratch, seed, survive,
    threads,
};
