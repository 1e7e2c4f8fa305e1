//! The oracle of machine code is the CPU: real instructions run natively and lifted from the same random states, and must
//! leave the same registers, flags and memory behind, or the same fault.
//!
//! Suggested reading order: [`state`], [`encodings`], [`case`] (an instruction and the states that suit it), [`native`], [`lifted`] (by the
//! reference interpreter), [`engine`] (with values that are symbolic), [`compare`] (what the manual leaves undefined).

#![forbid(unsafe_code)]

pub mod case;
pub mod compare;
pub mod encodings;
pub mod engine;
pub mod lifted;
pub mod native;
pub mod random;
pub mod state;

pub use case::Case;
pub use compare::{differences, disagreement};
pub use engine::{Engine, Inputs};
pub use lifted::{Answer, Lifter};
pub use native::Native;
pub use random::Random;
pub use state::State;

/// Why the oracle cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    #[error("the native harness: {0}")]
    Harness(std::io::Error),
    #[error("gcc does not build the native harness")]
    NotBuilt,
    #[error("the native harness ended with {status} on {code:02x?}")]
    Ended { code: Vec<u8>, status: std::process::ExitStatus },
    #[error("{0}")]
    Machine(#[from] wryneck_machine::MachineError),
    #[error("the lifted instruction: {0}")]
    Build(#[from] wryneck_ir::build::BuildError),
    #[error("the lifted instruction is malformed: {0}")]
    Malformed(String),
}
