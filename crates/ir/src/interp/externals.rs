//! Functions nobody defines: the trait that answers them, and a handful of libc's.

use super::memory::{Kind, Memory};
use super::{Fault, Stop};

/// A call that leaves the program.
pub struct ExternalCall<'a> {
    pub name: &'a str,
    /// The arguments' limbs, one argument after the other, and their widths in bits.
    pub args: &'a [u64],
    pub widths: &'a [u32],
    pub ret_width: u32,
    pub memory: &'a mut Memory,
}

/// What an external function did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Returned these limbs (missing ones are 0).
    Return(Vec<u64>),
    /// Ended the program.
    Exit(i32),
    /// Nobody knows the function.
    Unknown,
}

/// Answers calls of functions nobody defines.
pub trait Externals {
    fn call(&mut self, call: ExternalCall) -> Result<Answer, Fault>;
}

impl<F: FnMut(ExternalCall) -> Result<Answer, Fault>> Externals for F {
    fn call(&mut self, call: ExternalCall) -> Result<Answer, Fault> {
        self(call)
    }
}

/// A handful of libc: allocation, byte strings, and output, which is collected.
#[derive(Default)]
pub struct Libc {
    /// What was written to standard output and error.
    pub output: Vec<u8>,
}

type Function = fn(&mut Libc, &mut Memory, &[u64]) -> Result<Answer, Fault>;

fn returns(value: u64) -> Result<Answer, Fault> {
    Ok(Answer::Return(vec![value]))
}

/// By name. Arguments are one limb each; missing ones are 0 (`a[0]` to `a[2]` always exist).
const FUNCTIONS: &[(&str, Function)] = &[
    ("_exit", |_, _, a| Ok(Answer::Exit(a[0] as i32 & 0xff))),
    ("abort", |_, _, _| Err(Fault::Abort)),
    ("calloc", |_, m, a| returns(a[0].checked_mul(a[1]).map_or(0, |size| heap(m, size)))),
    ("exit", |_, _, a| Ok(Answer::Exit(a[0] as i32 & 0xff))),
    ("free", |_, m, a| if a[0] == 0 { returns(0) } else { m.free(a[0]).and_then(|()| returns(0)) }),
    ("malloc", |_, m, a| returns(heap(m, a[0]))),
    ("memcpy", copy),
    ("memmove", copy),
    ("memset", |_, m, a| {
        m.read(a[0], a[2])?;
        m.write(a[0], &vec![a[1] as u8; a[2] as usize]).and_then(|()| returns(a[0]))
    }),
    ("putchar", |libc, _, a| {
        libc.output.push(a[0] as u8);
        returns(a[0] & 0xff)
    }),
    ("puts", |libc, m, a| {
        libc.output.extend(m.string(a[0])?);
        libc.output.push(b'\n');
        returns(1)
    }),
    ("realloc", realloc),
    ("strlen", |_, m, a| returns(m.string(a[0])?.len() as u64)),
    ("write", |libc, m, a| {
        libc.output.extend(m.read(a[1], a[2])?);
        returns(a[2])
    }),
];

fn heap(memory: &mut Memory, size: u64) -> u64 {
    memory.allocate(Kind::Heap, size, 16).unwrap_or(0)
}

fn copy(_: &mut Libc, memory: &mut Memory, a: &[u64]) -> Result<Answer, Fault> {
    let bytes = memory.read(a[1], a[2])?.to_vec();
    memory.write(a[0], &bytes)?;
    returns(a[0])
}

fn realloc(_: &mut Libc, memory: &mut Memory, a: &[u64]) -> Result<Answer, Fault> {
    let new = heap(memory, a[1]);
    if a[0] != 0 && new != 0 {
        let size = memory.heap_size(a[0]).ok_or(Fault::BadFree { address: a[0] })?;
        let bytes = memory.read(a[0], size.min(a[1]))?.to_vec();
        memory.write(new, &bytes)?;
        memory.free(a[0])?;
    }
    returns(new)
}

impl Externals for Libc {
    fn call(&mut self, call: ExternalCall) -> Result<Answer, Fault> {
        let Some((_, function)) = FUNCTIONS.iter().find(|(name, _)| *name == call.name) else {
            return Ok(Answer::Unknown);
        };
        let mut args = call.args.to_vec();
        args.resize(args.len().max(3), 0);
        function(self, call.memory, &args)
    }
}

impl Stop {
    /// The exit status, if the program ended itself.
    pub fn status(&self) -> Option<i32> {
        match self {
            Stop::Exit(status) => Some(*status),
            Stop::Fault { .. } | Stop::Limit => None,
        }
    }
}
