//! What can be wrong with a program's files, or with our set-up, before anything runs.

/// Why a program cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    #[error("not an ELF file for 64 bits: {0}")]
    NotElf(object::read::Error),
    #[error("the ELF file is for machine {0}, which is not lifted")]
    UnknownCpu(u16),
    #[error("the ELF file is no executable (its type is {0})")]
    NotExecutable(u16),
    #[error("the ELF file is damaged: {0}")]
    Damaged(object::read::Error),
    #[error("the segment at {base:#x} has {file} bytes in the file and {memory} in memory")]
    BadSegment { base: u64, file: u64, memory: u64 },
    #[error("the segments at {0:#x} and {1:#x} overlap")]
    Overlap(u64, u64),
    #[error("the loader `{0}` wants a loader itself")]
    Interpreter(String),
    #[error("SLEIGH: {0}")]
    Sleigh(#[from] crate::sleigh::DecodeError),
    #[error("the CPU has no register `{0}`")]
    NoRegister(String),
    #[error("`{0:02x?}` has no user-defined operation")]
    NoUserOp(&'static [u8]),
    #[error("the function of machine code: {0}")]
    Build(#[from] wryneck_ir::build::BuildError),
}
