//! Errors in a program's files, or in our set-up, before anything runs.

/// Why a program cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    #[error("not an ELF file for 64 bits: {0}")]
    NotElf(object::read::Error),
    #[error("the ELF file is for {}: only machine code for x86-64 with addresses of 64 bits is lifted", processor(*.0))]
    UnknownCpu(u16),
    #[error("the ELF file is for {}, with addresses of 32 bits: only machine code for x86-64 with addresses of 64 bits is lifted", processor(*.0))]
    NarrowAddresses(u16),
    #[error("the ELF file is a shared library: name a program that uses it, or build one that is linked statically")]
    SharedLibrary,
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
    #[error("`{object}`: {error}")]
    InObject { object: String, error: Box<MachineError> },
    #[error("it is no relocatable object (its type is {0})")]
    NotObject(u16),
    #[error("`{symbol}` is defined in `{first}` too")]
    Duplicate { symbol: String, first: String },
    #[error("the function `{0}` is to be chosen when the program begins (IFUNC), which is not done for objects")]
    ChosenFunction(String),
    #[error("the section `{name}` has {size} bytes, aligned to {align}")]
    BadSection { name: String, size: u64, align: u64 },
    #[error("the relocation at {offset:#x} of the section `{section}` {what}")]
    Relocation { section: String, offset: u64, what: String },
    #[error("there is no symbol {0}")]
    NoSymbol(usize),
    #[error("the variable `{0}` is defined nowhere")]
    Undefined(String),
    #[error("the variable `{symbol}` is out of the reach of the code at {place:#x}: compile with `-fPIC`")]
    OutOfReach { symbol: String, place: u64 },
    #[error("there is no room for everything the objects define")]
    TooLarge,
    #[error("SLEIGH: {0}")]
    Sleigh(#[from] crate::sleigh::DecodeError),
    #[error("the CPU has no register `{0}`")]
    NoRegister(String),
    #[error("`{0:02x?}` has no user-defined operation")]
    NoUserOp(&'static [u8]),
    #[error("the function of machine code: {0}")]
    Build(#[from] wryneck_ir::build::BuildError),
}

/// The name of a processor by the number that ELF files have for it.
fn processor(machine: u16) -> String {
    const NAMES: [(u16, &str); 11] = [
        (3, "i386"),
        (8, "MIPS"),
        (20, "PowerPC"),
        (21, "PowerPC of 64 bits"),
        (22, "S/390"),
        (40, "ARM"),
        (43, "SPARC of 64 bits"),
        (62, "x86-64"),
        (183, "AArch64"),
        (243, "RISC-V"),
        (258, "LoongArch"),
    ];
    NAMES.iter().find(|(number, _)| *number == machine).map_or_else(|| format!("machine {machine}"), |(_, name)| (*name).to_owned())
}

impl MachineError {
    /// Says in which object.
    pub(crate) fn of(self, object: &str) -> MachineError {
        MachineError::InObject { object: object.to_owned(), error: Box::new(self) }
    }
}
