//! Why a path stopped: a closed list. A path end is data; by itself it is no error of the engine.

use std::fmt;

/// Why a path ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// The program ended itself with this status (0-255).
    Exit(u8),
    /// The program did something wrong.
    Fault(Fault),
    /// The program met something that we, or a front end, cannot express. A gap of the tool, not a defect of the program.
    Unsupported(String),
    /// A bound the user set (or its default) was reached.
    Limit(Limit),
    /// The path was left without a verdict on purpose: an assumption of the program does not hold here.
    Assumed,
    /// Our own defect, reported as such.
    Internal(String),
}

/// A bound that ended a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    Time,
    Memory,
    /// One path holds too much of the memory.
    PathMemory,
    /// The run folder is full.
    Disk,
    Depth,
    Forks,
    Instructions,
    Loop,
    /// The solver did not decide within its budget whether the path can go on.
    Solver,
    /// Too many objects for one symbolic pointer.
    Resolutions,
    /// Too many targets of one computed jump.
    Targets,
    /// A lazily made object would grow beyond its bound.
    ObjectSize,
    /// What was to be reached is reached.
    Goal,
    /// The user asked to stop.
    Interrupted,
}

/// A defect of the analysed program, at the path's last position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// What happened, in a sentence without the place: `write of 4 bytes at offset 16 of `a` (16 bytes)`.
    pub message: String,
}

macro_rules! fault_kinds {
    ($($(#[$doc:meta])* $name:ident $id:literal $cwe:literal;)*) => {
        /// The kinds of fault the engine decides itself, since they split paths.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultKind { $($(#[$doc])* $name,)* }
        impl FaultKind {
            pub const ALL: &'static [FaultKind] = &[$(FaultKind::$name),*];
            /// The name users see: in messages, files, SARIF.
            pub fn id(self) -> &'static str { match self { $(FaultKind::$name => $id),* } }
            /// Common Weakness Enumeration number.
            pub fn cwe(self) -> u16 { match self { $(FaultKind::$name => $cwe),* } }
        }
    };
}

fault_kinds! {
    OutOfBoundsRead "out-of-bounds-read" 125;
    OutOfBoundsWrite "out-of-bounds-write" 787;
    UseAfterFree "use-after-free" 416;
    /// An address of a local variable used after its function returned.
    UseAfterReturn "use-after-return" 562;
    DoubleFree "double-free" 415;
    InvalidFree "invalid-free" 763;
    NullDereference "null-dereference" 476;
    /// An address that belongs to no object.
    WildPointer "wild-pointer" 822;
    ReadOnlyWrite "read-only-write" 123;
    BadCallTarget "bad-call-target" 824;
    DivisionByZero "division-by-zero" 369;
    /// MIN / -1.
    DivisionOverflow "division-overflow" 190;
    ShiftTooFar "shift-too-far" 1335;
    /// A signed result that its type cannot hold.
    SignedOverflow "signed-overflow" 190;
    /// An unsigned result that wraps around.
    UnsignedOverflow "unsigned-overflow" 190;
    /// A conversion that changes the value.
    LossyConversion "lossy-conversion" 197;
    AssertionFailed "assertion-failed" 617;
    Abort "abort" 705;
    /// An exception that nobody catches, or that leaves a function which must not throw.
    Uncaught "uncaught-exception" 248;
    /// A panic of Rust that ends the program: only the standard library's start catches it.
    Panic "panic" 248;
    /// Memory that no pointer leads to when the program exits.
    MemoryLeak "memory-leak" 401;
    /// A function is about to return elsewhere than to its call.
    OverwrittenReturn "overwritten-return-address" 121;
    StackOverflow "stack-overflow" 674;
    /// A trap instruction, or code the compiler took for unreachable.
    Trap "trap" 248;
    /// A branch, an address or output depends on memory that was never written.
    UninitialisedRead "uninitialised-read" 457;
    /// Two threads access the same memory, one of them to write, and nothing orders the two.
    DataRace "data-race" 362;
    /// Every thread waits for another.
    Deadlock "deadlock" 833;
    /// A lock is given back that the thread does not hold.
    UnheldLock "unheld-lock" 832;
    /// What the program itself reported through an intrinsic.
    Reported "reported" 710;
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl PathEnd {
    pub fn fault(kind: FaultKind, message: impl Into<String>) -> PathEnd {
        PathEnd::Fault(Fault { kind, message: message.into() })
    }
    /// Exit or fault: the program itself decided the end.
    pub fn is_complete(&self) -> bool {
        matches!(self, PathEnd::Exit(_) | PathEnd::Fault(_))
    }
}

impl Limit {
    /// The name users see, and the flag that changes the bound.
    pub fn name_and_flag(self) -> (&'static str, &'static str) {
        match self {
            Limit::Time => ("time", "--max-time"),
            Limit::Memory => ("memory", "--max-memory"),
            Limit::PathMemory => ("memory-of-one-path", "--max-memory"),
            Limit::Disk => ("disk", "--max-disk"),
            Limit::Depth => ("depth", "--max-depth"),
            Limit::Forks => ("forks", "--max-forks"),
            Limit::Instructions => ("instructions", "--max-instructions"),
            Limit::Loop => ("loop", "--loop-limit"),
            Limit::Solver => ("solver", "--solver-timeout"),
            Limit::Resolutions => ("resolutions", "--max-resolutions"),
            Limit::Targets => ("targets", "--max-targets"),
            Limit::ObjectSize => ("object-size", "--object-bytes"),
            Limit::Goal => ("goal", "--find"),
            Limit::Interrupted => ("interrupted", ""),
        }
    }
}
