//! What cannot be done: errors of the whole file, gaps at one place of the program, and notes about its data.
//!
//! Three channels that are never mixed: a [`ReadError`] ends the job; an [`Unsupported`] becomes an `unsupported`
//! instruction where it stands and costs only the paths that reach it; a [`Note`] says that something was left out that
//! no path can be charged with.

use serde::Serialize;

/// Why a file cannot be lowered at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read `{path}`: {why}")]
    Io { path: String, why: String },
    #[error("cannot write `{path}`: {why}")]
    Write { path: String, why: String },
    #[error("the file is empty")]
    Empty,
    #[error("this is {what}, not LLVM bitcode")]
    NotBitcode { what: &'static str },
    #[error("the bitcode is truncated: {why}")]
    Truncated { why: String },
    #[error("the bitcode was written by `{producer}`, newer than LLVM {reader} that reads it: {why}")]
    Newer { producer: String, reader: u32, why: String },
    #[error("LLVM cannot read the file: {why}")]
    Malformed { why: String },
    #[error("LLVM's verifier rejects the module: {why}")]
    Invalid { why: String },
    #[error("the module is for target `{triple}`; only x86-64 with 64-bit little-endian pointers is lowered")]
    WrongTarget { triple: String },
    #[error("LLVM gave up: {why}")]
    Fatal { why: String },
    #[error("the lowered module is not well formed: {why}")]
    Internal { why: String },
}

impl ReadError {
    /// The variant's name in diagnostics.
    pub fn kind(&self) -> &'static str {
        match self {
            ReadError::Io { .. } => "io",
            ReadError::Write { .. } => "write",
            ReadError::Empty => "empty",
            ReadError::NotBitcode { .. } => "not-bitcode",
            ReadError::Truncated { .. } => "truncated",
            ReadError::Newer { .. } => "newer-llvm",
            ReadError::Malformed { .. } => "malformed",
            ReadError::Invalid { .. } => "invalid",
            ReadError::WrongTarget { .. } => "wrong-target",
            ReadError::Fatal { .. } => "fatal",
            ReadError::Internal { .. } => "internal",
        }
    }
    /// What the user can do about it.
    pub fn help(&self) -> &'static str {
        match self {
            ReadError::Io { .. } => "check that the file exists and can be read",
            ReadError::Write { .. } => "check that the folder exists, can be written and has room",
            ReadError::Empty | ReadError::NotBitcode { .. } => {
                "compile with `clang -c -emit-llvm`, or give a `.c`, `.rs`, `.bc` or `.ll` file"
            }
            ReadError::Truncated { .. } | ReadError::Malformed { .. } | ReadError::Invalid { .. } | ReadError::Fatal { .. } => {
                "make the file again with clang 14 to 22 or a rustc built on LLVM 22 or older"
            }
            ReadError::Newer { .. } => "compile with clang 22 or older",
            ReadError::WrongTarget { .. } => "compile with `--target=x86_64-linux-gnu`",
            ReadError::Internal { .. } => "this is a defect of wryneck-lower; please report it with the file",
        }
    }
}

/// What the IR cannot express at one place of the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    #[error("type `{0}`")]
    Type(String),
    #[error("a value of {bits} bits; at most 65535 are lowered")]
    TooWide { bits: u64 },
    #[error("an aggregate value of {leaves} members; at most 1023 words are lowered")]
    TooManyLeaves { leaves: u64 },
    #[error("a variable of {bytes} bytes; addresses have 47 bits")]
    TooLarge { bytes: u64 },
    #[error("arithmetic on `{0}`")]
    Float(String),
    #[error("instruction `{0}`")]
    Instruction(&'static str),
    #[error("intrinsic {0}")]
    Intrinsic(String),
    #[error("inline assembly `{0}`")]
    Asm(String),
    #[error("indirect function `{0}`")]
    Ifunc(String),
    #[error("a constant of an unknown kind")]
    Constant,
    #[error("an argument passed with `{0}`")]
    Passing(&'static str),
}

/// Something about the module's data that the IR leaves out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Note {
    #[error("{bytes} bytes at offset {offset} of `{global}` hold a constant that is neither a number nor an address; they are zero")]
    Initializer { global: String, offset: u64, bytes: u64 },
    #[error("`{global}` has {bytes} bytes, more than addresses reach; it is left undefined")]
    TooLarge { global: String, bytes: u64 },
    #[error("assembly at the top level is left out; it begins `{first_line}`")]
    ModuleAsm { first_line: String },
    #[error("`{0}` is chosen at load time by a resolver; calls of it are unsupported")]
    Ifunc(String),
    #[error("`{0}` stands for something other than a symbol plus an offset; it is left undefined")]
    Alias(String),
}

impl Note {
    /// The variant's name in diagnostics.
    pub fn kind(&self) -> &'static str {
        match self {
            Note::Initializer { .. } => "initializer",
            Note::TooLarge { .. } => "too-large",
            Note::ModuleAsm { .. } => "module-asm",
            Note::Ifunc(_) => "ifunc",
            Note::Alias(_) => "alias",
        }
    }
}

/// One line of JSON on the error output: `level` is `error` or `note`.
#[derive(Serialize)]
pub struct Diagnostic<'a> {
    pub level: &'a str,
    pub kind: &'a str,
    pub message: &'a str,
    pub help: &'a str,
}

impl Diagnostic<'_> {
    /// The line, without its end.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("four strings always serialise")
    }
}
