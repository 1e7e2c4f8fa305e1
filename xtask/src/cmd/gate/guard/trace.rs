//! The native path of a run: the places in the source (lines and columns) of the program's own functions, in their order, as the CPU steps through them (`ptrace`).
//!
//! Places, not instructions: a `switch` is one decision for all labels that lead to one statement, and the compiler makes a row of comparisons of it.
//!
//! The C library is left out: where it is called, the run goes on freely until the call returns. Its string functions look at addresses, which differ from run
//! to run, and models stand for many of them. What follows the return of `main` is left out, too.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use anyhow::{Context, Result, bail, ensure};

use crate::bitcode::{NativeMusl, symbols};
use crate::process;

/// Where a program's own functions are.
pub struct Own {
    main: u64,
    /// First address and the one after the last, sorted.
    ranges: Vec<(u64, u64)>,
    /// By first address, sorted: file, line and column.
    places: Vec<(u64, [u32; 3])>,
}

/// How a traced run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// `None`: a signal ended it.
    pub code: Option<i32>,
    /// Of all places, in order.
    pub digest: String,
    pub places: u64,
}

const LLVM_DWARFDUMP: &str = "llvm-dwarfdump-22";

/// More instructions than this are no run of these programs.
const MOST: u64 = 50_000_000;
/// The instruction that stops a traced process.
const STOP: u8 = 0xcc;

impl Own {
    /// The functions of a static program that have no name of the C library's.
    pub fn of(program: &Path) -> Result<Own> {
        let library: BTreeSet<String> =
            symbols(&NativeMusl::debian()?.lib.join("libc.a"))?.into_iter().filter(|s| s.is_code).map(|s| s.name).collect();
        let own: Vec<_> = symbols(program)?
            .into_iter()
            .filter(|s| s.is_code && s.size > 0 && !library.contains(&s.name) && !s.name.starts_with('_'))
            .collect();
        let main = own.iter().find(|s| s.name == "main").context("the program has no `main`")?.address;
        let mut ranges: Vec<(u64, u64)> = own.iter().map(|s| (s.address, s.address + s.size)).collect();
        ranges.sort_unstable();
        let places = places(program)?;
        ensure!(places.iter().any(|(address, _)| *address == main), "`{}` has no debug information", program.display());
        Ok(Own { main, ranges, places })
    }

    fn place(&self, address: u64) -> Option<[u32; 3]> {
        let after = self.places.partition_point(|(start, _)| *start <= address);
        Some(self.places[after.checked_sub(1)?].1)
    }

    fn has(&self, address: u64) -> bool {
        let after = self.ranges.partition_point(|(start, _)| *start <= address);
        after > 0 && address < self.ranges[after - 1].1
    }
}

/// The rows of a program's line table. Of rows for one address the last one counts.
fn places(program: &Path) -> Result<Vec<(u64, [u32; 3])>> {
    let listed = process::output(Command::new(LLVM_DWARFDUMP).arg("--debug-line").arg(program))?;
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        let mut number = || words.next()?.parse().ok();
        let (line, column, file) = (number()?, number()?, number()?);
        Some((address, [file, line, column]))
    };
    let rows: BTreeMap<u64, [u32; 3]> = listed.lines().filter_map(row).collect();
    Ok(rows.into_iter().collect())
}

/// Runs a command step by step.
pub fn run(command: &mut Command, own: &Own) -> Result<Trace> {
    // SAFETY: between fork and exec one system call is made, which is async-signal-safe.
    unsafe {
        command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let child = command.spawn()?;
    let mut process = Process { pid: child.id().cast_signed(), child };
    let traced = process.trace(own);
    if traced.is_err() {
        process.child.kill()?;
        process.child.wait()?;
    }
    traced
}

struct Process {
    pid: i32,
    child: Child,
}

/// What a process did after it went on.
enum Came {
    Stopped(i32),
    Ended(Option<i32>),
}

impl Process {
    fn trace(&mut self, own: &Own) -> Result<Trace> {
        let (mut hasher, mut instructions, mut places, mut line) = (blake3::Hasher::new(), 0, 0, Vec::<[u32; 3]>::new());
        let ended = |code, hasher: &blake3::Hasher, places| Trace { code, digest: hasher.finalize().to_hex()[..16].to_owned(), places };
        // It stops as it becomes the program.
        match self.wait()? {
            Came::Stopped(libc::SIGTRAP) => {}
            _ => bail!("the process does not become the program"),
        }
        if let Some(code) = self.run_to(own.main, None)? {
            return Ok(ended(code, &hasher, places));
        }
        let mut signal = 0;
        loop {
            let registers = self.registers()?;
            if own.has(registers.rip) {
                // What the compiler gives no line belongs to the one before.
                if let Some(place) = own.place(registers.rip).filter(|[_, line, _]| *line > 0) {
                    // Each place counts once as long as the line is the same: how many comparisons a `switch` takes is the compiler's.
                    if line.first().is_some_and(|[file, line, _]| [*file, *line] != place[..2]) {
                        line.clear();
                    }
                    if !line.contains(&place) {
                        place.iter().for_each(|number| _ = hasher.update(&number.to_le_bytes()));
                        line.push(place);
                        places += 1;
                    }
                }
                instructions += 1;
                ensure!(instructions < MOST, "the run does not end");
            } else {
                // A call leads back to where the word on the stack says; else `main` has returned.
                let back = self.peek(registers.rsp);
                let over = if own.has(back) { self.run_to(back, Some(registers.rsp + 8))? } else { Some(self.run_on()?) };
                match over {
                    Some(code) => return Ok(ended(code, &hasher, places)),
                    None => continue,
                }
            }
            match self.go(libc::PTRACE_SINGLESTEP, signal)? {
                Came::Ended(code) => return Ok(ended(code, &hasher, places)),
                Came::Stopped(libc::SIGTRAP) => signal = 0,
                Came::Stopped(other) => signal = other,
            }
        }
    }

    /// Goes on until an address is reached, with this stack pointer if one is given; how the process ended, if it did first.
    fn run_to(&mut self, address: u64, stack: Option<u64>) -> Result<Option<Option<i32>>> {
        let whole = self.peek(address);
        let stops = whole & !0xff | u64::from(STOP);
        let mut signal = 0;
        loop {
            self.poke(address, stops)?;
            match self.go(libc::PTRACE_CONT, signal)? {
                Came::Ended(code) => return Ok(Some(code)),
                Came::Stopped(libc::SIGTRAP) => {
                    signal = 0;
                    let mut registers = self.registers()?;
                    ensure!(registers.rip == address + 1, "the process stops where nothing stops it: {:#x}", registers.rip);
                    registers.rip = address;
                    self.poke(address, whole)?;
                    self.set_registers(&registers)?;
                    if stack.is_none_or(|stack| stack == registers.rsp) {
                        return Ok(None);
                    }
                    // Another call of the same function came back.
                    if let Came::Ended(code) = self.go(libc::PTRACE_SINGLESTEP, 0)? {
                        return Ok(Some(code));
                    }
                }
                Came::Stopped(other) => signal = other,
            }
        }
    }

    /// Goes on to the end.
    fn run_on(&mut self) -> Result<Option<i32>> {
        let mut signal = 0;
        loop {
            match self.go(libc::PTRACE_CONT, signal)? {
                Came::Ended(code) => return Ok(code),
                Came::Stopped(libc::SIGTRAP) => bail!("the process stops where nothing stops it"),
                Came::Stopped(other) => signal = other,
            }
        }
    }

    fn go(&mut self, how: libc::c_uint, signal: i32) -> Result<Came> {
        // SAFETY: a request about a process that this one traces and that is stopped.
        let done = unsafe { libc::ptrace(how, self.pid, 0, libc::c_long::from(signal)) };
        ensure!(done == 0, "cannot go on: {}", std::io::Error::last_os_error());
        self.wait()
    }

    fn wait(&mut self) -> Result<Came> {
        let mut status = 0;
        // SAFETY: waits for a child and writes its status to plain memory.
        let waited = unsafe { libc::waitpid(self.pid, &mut status, 0) };
        ensure!(waited == self.pid, "cannot wait: {}", std::io::Error::last_os_error());
        Ok(match () {
            () if libc::WIFEXITED(status) => Came::Ended(Some(libc::WEXITSTATUS(status))),
            () if libc::WIFSTOPPED(status) => Came::Stopped(libc::WSTOPSIG(status)),
            () => Came::Ended(None),
        })
    }

    fn registers(&self) -> Result<libc::user_regs_struct> {
        // SAFETY: the kernel fills the structure, which is plain memory.
        unsafe {
            let mut registers: libc::user_regs_struct = std::mem::zeroed();
            let done = libc::ptrace(libc::PTRACE_GETREGS, self.pid, 0, &raw mut registers);
            ensure!(done == 0, "cannot read registers: {}", std::io::Error::last_os_error());
            Ok(registers)
        }
    }

    fn set_registers(&mut self, registers: &libc::user_regs_struct) -> Result<()> {
        // SAFETY: the kernel reads the structure.
        let done = unsafe { libc::ptrace(libc::PTRACE_SETREGS, self.pid, 0, &raw const *registers) };
        ensure!(done == 0, "cannot set registers: {}", std::io::Error::last_os_error());
        Ok(())
    }

    /// A word of the process's memory; 0 where there is none.
    fn peek(&self, address: u64) -> u64 {
        // SAFETY: a request about a stopped child; the answer is its word.
        unsafe { libc::ptrace(libc::PTRACE_PEEKDATA, self.pid, address, 0) }.cast_unsigned()
    }

    fn poke(&mut self, address: u64, word: u64) -> Result<()> {
        // SAFETY: changes the memory of a stopped child, which this process started.
        let done = unsafe { libc::ptrace(libc::PTRACE_POKEDATA, self.pid, address, word) };
        ensure!(done == 0, "cannot set a stop: {}", std::io::Error::last_os_error());
        Ok(())
    }
}
