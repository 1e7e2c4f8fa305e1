//! What random programs may use, and what their entries are.

/// What a program may use, drawn one by one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Blocks,
    Calls,
    Exits,
    FunctionPointers,
    Gotos,
    Heap,
    Hidden,
    Jumps,
    Loops,
    Pointers,
    Streams,
    Structures,
    Switches,
}

pub const PARTS: [Part; 10] = [
    Part::Blocks,
    Part::Calls,
    Part::Exits,
    Part::FunctionPointers,
    Part::Gotos,
    Part::Heap,
    Part::Loops,
    Part::Pointers,
    Part::Structures,
    Part::Switches,
];

/// What programs of [`Shape::Hidden`] may use besides: all of them do.
pub const HIDDEN: [Part; 2] = [Part::Hidden, Part::Streams];

/// What the entry of a program is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Shape {
    /// Statements, each once.
    #[default]
    Plain,
    /// Statements that are repeated for each byte of input, and forget some of what they know in between: many ways come to equal states.
    Rounds,
    /// Statements that hide what they do: addresses as bytes and numbers, streams and pipes.
    Hidden,
    /// Statements that reach variables of the entry by pointers, or by their names alone, and events that depend on such variables.
    Frames,
    /// Statements that keep pointers in variables and in a table, and store by them: to old objects and to new memory.
    Slots,
    /// Statements that jump out of functions to handlers.
    Jumps,
    /// Statements that set `errno` and the errors of streams, beside output to standard error.
    Errors,
}
