//! The program's input: arguments, environment, standard input, files; and the trait through which the host's files are read.
//!
//! Nothing here reads the real system. The caller does so once, and may store what was read with the run (docs/design/002).

use std::sync::Arc;

use crate::sym_calls::SymCall;

/// An argument of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    Concrete(Vec<u8>),
    /// `--sym-arg N`: up to this many symbolic bytes.
    Symbolic(u32),
    /// Exactly this many symbolic bytes, none of them zero.
    Exact(u32),
    /// `--sym-args MIN MAX N`: MIN to MAX arguments of up to `len` symbolic bytes; how many is a decision.
    Several {
        min: u32,
        max: u32,
        len: u32,
    },
}

/// A variable of the environment: `NAME=` and then this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvValue {
    Concrete(Vec<u8>),
    /// Up to this many symbolic bytes.
    Symbolic(u32),
    /// This many symbolic bytes, and a symbolic end: what reads the end depends on the length, too.
    Exact(u32),
}

/// Standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    Bytes(Vec<u8>),
    /// A file of symbolic bytes: the fewest and the most; how many is a decision.
    Symbolic(u64, u64),
}

/// A file with symbolic content, in place of the host's or new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymFile {
    /// From the working directory if it is relative. Its directory is the host's.
    pub path: Vec<u8>,
    /// Fewest and most bytes; how many is a decision.
    pub size: (u64, u64),
    /// Permissions that do not decide what this user may do, and times, are symbolic too.
    pub metadata: bool,
}

/// One client of a server: it connects to a port once the program listens there, sends symbolic bytes and then no more. Or one datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymSocket {
    pub port: u16,
    pub size: u32,
    pub datagram: bool,
}

impl SymSocket {
    /// The name of its bytes; of several for a port, the later ones have a number after it.
    pub fn input(self) -> String {
        format!("{}_{}", if self.datagram { "datagram" } else { "socket" }, self.port)
    }
}

/// What execution begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// `main`, through the libc's start-up code if the program has one.
    Main,
    /// `LLVMFuzzerTestOneInput` on up to this many symbolic bytes.
    Fuzzer { max_len: u32 },
    /// Any function, on symbolic arguments; a pointer leads to this many symbolic bytes.
    Function {
        name: String,
        pointee: u64,
        /// Those of machine code; bitcode says itself what it takes.
        parameters: Option<Vec<Parameter>>,
    },
}

/// A parameter of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Not empty.
    pub name: String,
    pub kind: ParameterKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// Its width in bits.
    Scalar(u32),
    Pointer,
    /// A structure of so many bytes: its address is passed.
    ByValue(u64),
    /// The address of variable arguments: there are none.
    Variable,
}

/// What fuzzers call.
pub const FUZZER: &str = "LLVMFuzzerTestOneInput";

impl Entry {
    /// The function that begins, where it is not `main`.
    pub fn function(&self) -> Option<&str> {
        match self {
            Entry::Main => None,
            Entry::Fuzzer { .. } => Some(FUZZER),
            Entry::Function { name, .. } => Some(name),
        }
    }
}

/// How a program of machine code begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The function that all its code is.
    pub function: String,
    /// Its arguments: the CPU's registers.
    pub registers: Vec<u64>,
    /// Which of them is the stack pointer.
    pub stack_pointer: usize,
    /// Its functions of threads are musl's: our models stand in for them.
    pub threads: bool,
    /// No call fails until [`wryneck_ir::LOADED`] is called.
    pub is_loaded_first: bool,
    /// The address after the room for its stack.
    pub stack_end: u64,
    /// Rows of the auxiliary vector that say where the program is.
    pub auxiliary: Vec<(u64, u64)>,
    /// Address of the pointer to its variables, `__environ`, if its symbols tell.
    pub variables: Option<u64>,
}

/// What a program is given.
#[derive(Clone, Debug)]
pub struct ProgramInput {
    pub entry: Entry,
    /// A function that runs before an entry that is not `main`, to set up what that works on. It gets no arguments.
    pub preamble: Option<String>,
    /// An executable of machine code, which begins as under the kernel; what would call its `main` calls the entry.
    pub process: Option<Process>,
    /// Absolute path of an executable of machine code, without symbolic links.
    pub file: Vec<u8>,
    /// The program's name, `argv[0]`.
    pub name: Vec<u8>,
    /// The arguments after the name.
    pub args: Vec<Arg>,
    pub env: Vec<(Vec<u8>, EnvValue)>,
    pub stdin: Stdin,
    pub sym_files: Vec<SymFile>,
    pub named_files: NamedFiles,
    /// Whether attributes of files are symbolic, where facts are noted.
    pub attributes: bool,
    /// Clients, in the order in which they connect.
    pub sym_sockets: Vec<SymSocket>,
    /// Functions whose results are input.
    pub sym_calls: Vec<SymCall>,
    /// Whether the program's constructors run first.
    pub constructors: bool,
    /// `--fail-calls N`: how many calls of a path may fail though they need not.
    pub fail_calls: u32,
    /// Absolute path of the working directory.
    pub working_directory: Vec<u8>,
    /// What `uname` says: system, node, release, version, machine, domain.
    pub uname: [Vec<u8>; 6],
    /// User and group id.
    pub user: u32,
    /// What the clock says first, in seconds since 1970.
    pub time: i64,
}

/// Which files of the host have symbolic content, where facts are noted. Of the others the content is a fact.
#[derive(Clone, Debug, Default)]
pub struct NamedFiles {
    /// The largest one, in bytes; 0: none.
    pub most: u64,
    /// Files of at most so many bytes have a symbolic length up to that; 0: none.
    pub up_to: u64,
    /// Absolute paths of files that are not, as [`matches`] takes them.
    pub concrete: Vec<String>,
}

impl NamedFiles {
    /// Whether the file at an absolute path, of so many bytes, is symbolic.
    pub fn has(&self, path: &[u8], bytes: usize) -> bool {
        self.has_any_length(path, bytes) || (1..=self.most).contains(&(bytes as u64)) && self.is_free(path)
    }

    /// Whether its length is symbolic, too.
    pub fn has_any_length(&self, path: &[u8], bytes: usize) -> bool {
        self.up_to > 0 && bytes as u64 <= self.up_to && self.is_free(path)
    }

    fn is_free(&self, path: &[u8]) -> bool {
        !self.concrete.iter().any(|pattern| matches(pattern, path))
    }
}

/// Whether a text is what a pattern says: a `*` at its end stands for anything.
pub fn matches(pattern: &str, text: &[u8]) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => text.starts_with(beginning.as_bytes()),
        None => text == pattern.as_bytes(),
    }
}

impl Default for ProgramInput {
    fn default() -> ProgramInput {
        ProgramInput {
            entry: Entry::Main,
            preamble: None,
            process: None,
            file: Vec::new(),
            name: b"program".to_vec(),
            args: Vec::new(),
            env: Vec::new(),
            stdin: Stdin::Bytes(Vec::new()),
            sym_files: Vec::new(),
            named_files: NamedFiles::default(),
            attributes: true,
            sym_sockets: Vec::new(),
            sym_calls: Vec::new(),
            constructors: true,
            fail_calls: 0,
            working_directory: b"/".to_vec(),
            uname: ["Linux", "wryneck", "6.1.0", "#1 SMP", "x86_64", "(none)"].map(|s| s.as_bytes().to_vec()),
            user: 1000,
            time: 1_700_000_000,
        }
    }
}

/// Kinds of file, as `st_mode` has them.
pub mod mode {
    pub const FIFO: u32 = 0o010000;
    pub const SOCKET: u32 = 0o140000;
    pub const CHARACTER: u32 = 0o020000;
    pub const DIRECTORY: u32 = 0o040000;
    pub const REGULAR: u32 = 0o100000;
    pub const LINK: u32 = 0o120000;
    pub const KIND: u32 = 0o170000;
}

/// What `stat` says of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    pub dev: u64,
    pub ino: u64,
    pub nlink: u64,
    /// Kind and permissions, see [`mode`].
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub rdev: u64,
    /// Bytes.
    pub size: u64,
    /// Seconds and nanoseconds.
    pub atime: (i64, i64),
    pub mtime: (i64, i64),
    pub ctime: (i64, i64),
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    pub name: Vec<u8>,
    pub ino: u64,
    /// Its kind, one of [`mode`].
    pub kind: u32,
}

/// The real file system, read only. Paths are absolute; errors are error numbers. The same question must get the same answer
/// all through an exploration (the environment asks once per path and keeps the answer).
pub trait Host {
    /// `follow`: of what a symbolic link leads to.
    fn stat(&self, path: &[u8], follow: bool) -> Result<Stat, i32>;
    /// Shared, since files may be large.
    fn read_file(&self, path: &[u8]) -> Result<Arc<Vec<u8>>, i32>;
    /// Without `.` and `..`, in any order.
    fn list_dir(&self, path: &[u8]) -> Result<Vec<DirEntry>, i32>;
    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, i32>;
    /// The answer to a question about the world (`observed.rs`); `None`: nobody can say.
    fn seen(&self, _question: &[u8]) -> Option<Vec<u8>> {
        None
    }
    /// What stands for the content of a file in a fact.
    fn digest(&self, content: &[u8]) -> Vec<u8> {
        content.to_vec()
    }
}

/// A host with nothing but directories on the way to the working directory.
pub struct NoHost;

impl Host for NoHost {
    fn stat(&self, path: &[u8], _: bool) -> Result<Stat, i32> {
        match path {
            b"/" => Ok(Stat { dev: 1, ino: 1, nlink: 2, mode: mode::DIRECTORY | 0o755, size: 4096, ..Stat::default() }),
            _ => Err(2),
        }
    }
    fn read_file(&self, _: &[u8]) -> Result<Arc<Vec<u8>>, i32> {
        Err(2)
    }
    fn list_dir(&self, path: &[u8]) -> Result<Vec<DirEntry>, i32> {
        if path == b"/" { Ok(Vec::new()) } else { Err(2) }
    }
    fn read_link(&self, _: &[u8]) -> Result<Vec<u8>, i32> {
        Err(22)
    }
}
