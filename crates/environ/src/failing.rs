//! Injected failures (`--fail-calls N`): a full disk, a broken disk, an interrupt, short transfers, no memory.
//!
//! Up to N calls fail on a path. While fewer have failed, each call that could fail is a decision on an input of its own, one byte
//! `fail_NAME`: 0 for success, an error number, or [`SHORT`]. So a test records what failed, and a native replay fails the same calls in
//! the same order.

use wryneck_exec::{Cx, Stop, Value, inputs};

use crate::errno::{EINTR, EIO, EMFILE, ENOMEM, ENOSPC, Errno};
use crate::state::{NodeKind, World};
use crate::sys::Sys;

/// A transfer of one byte, or of one block of a vector.
pub const SHORT: u8 = 255;

/// When a call is known to get as far as to what may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// The first argument is an open descriptor; that can be read; that can be written.
    Open,
    Readable,
    Writable,
}

struct Row {
    name: &'static str,
    needs: Needs,
    errors: &'static [Errno],
}

const READ: &[Errno] = &[EIO, EINTR];
const WRITE: &[Errno] = &[ENOSPC, EIO, EINTR];

macro_rules! rows {
    ($($name:literal $needs:ident $errors:expr;)*) => {
        static ROWS: &[Row] = &[$(Row { name: $name, needs: Needs::$needs, errors: $errors }),*];
    };
}

// One more call: a row, sorted by name, and the same in `runtime/replay.c`.
rows! {
    "close" Open &[EIO];
    "creat" Nothing &[EMFILE];
    "dup" Open &[EMFILE];
    "fallocate" Writable &[ENOSPC];
    "fdatasync" Open &[EIO];
    "fsync" Open &[EIO];
    "ftruncate" Writable &[EIO];
    "getdents64" Open &[EIO];
    "link" Nothing &[EIO];
    "linkat" Nothing &[EIO];
    "mkdir" Nothing &[EIO];
    "mkdirat" Nothing &[EIO];
    "mmap" Nothing &[ENOMEM];
    "mremap" Nothing &[ENOMEM];
    "open" Nothing &[EMFILE];
    "openat" Nothing &[EMFILE];
    "pipe" Nothing &[EMFILE];
    "pipe2" Nothing &[EMFILE];
    "pread64" Readable READ;
    "pwrite64" Writable WRITE;
    "read" Readable READ;
    "readv" Readable READ;
    "rename" Nothing &[EIO];
    "renameat" Nothing &[EIO];
    "renameat2" Nothing &[EIO];
    "rmdir" Nothing &[EIO];
    "symlink" Nothing &[EIO];
    "symlinkat" Nothing &[EIO];
    "unlink" Nothing &[EIO];
    "unlinkat" Nothing &[EIO];
    "write" Writable WRITE;
    "writev" Writable WRITE;
}

/// What was decided of a call; [`Fate::seal`] makes the input when nothing more is to be decided.
pub struct Fate {
    /// `None`: nothing was to be decided.
    input: Option<String>,
    code: u8,
}

impl Fate {
    const FREE: Fate = Fate { input: None, code: 0 };

    /// The error number to give, if the call fails.
    pub fn error(&self) -> Option<Errno> {
        (self.code != 0 && self.code != SHORT).then_some(Errno(self.code.into()))
    }

    pub fn is_short(&self) -> bool {
        self.code == SHORT
    }

    /// Records what was decided.
    pub fn seal(self, cx: &mut Cx<'_>) {
        if let Some(name) = self.input {
            inputs::new_input(cx, &name, 1);
            World::change(cx).may_fail -= u32::from(self.code != 0);
        }
    }
}

/// Decides whether a call works (0) or what becomes of it. Changes nothing.
fn decide(cx: &mut Cx<'_>, name: &str, codes: impl IntoIterator<Item = u8>) -> Result<Fate, Stop> {
    let name = format!("fail_{name}");
    let codes: Vec<u8> = [0].into_iter().chain(codes).collect();
    let code = choose_byte(cx, &name, &codes)?;
    Ok(Fate { input: Some(name), code })
}

/// Which of these an input byte is that comes next under a name; the first one comes first. A decision. The caller makes the input when nothing more is to be
/// decided.
pub fn choose_byte(cx: &mut Cx<'_>, name: &str, codes: &[u8]) -> Result<u8, Stop> {
    let byte = inputs::coming_input(cx, name, 1)[0];
    let pool = &mut cx.core.pool;
    let mut conds = Vec::new();
    let mut any = pool.bits(1, 0);
    for code in codes {
        let code = pool.bits(8, (*code).into());
        let is = pool.eq(byte, code);
        any = pool.or(any, is);
        conds.push(is);
    }
    cx.assume(any)?;
    let chosen = cx.choose(&conds, &[])?;
    Ok(codes[chosen])
}

/// Whether an allocation fails.
pub fn allocation(cx: &mut Cx<'_>) -> Result<Fate, Stop> {
    if World::of(cx).may_fail == 0 { Ok(Fate::FREE) } else { decide(cx, "malloc", [ENOMEM.0 as u8]) }
}

/// What becomes of a system call.
pub fn system_call(s: &mut Sys<'_, '_>, name: &str) -> Result<Fate, Stop> {
    if s.world().may_fail == 0 {
        return Ok(Fate::FREE);
    }
    let Ok(row) = ROWS.binary_search_by(|row| row.name.cmp(name)) else { return Ok(Fate::FREE) };
    let row = &ROWS[row];
    let fd = match s.args[0] {
        Value::Bits(fd) => fd as i32,
        Value::Sym(_) => return Ok(Fate::FREE),
    };
    let gets_there = match row.needs {
        Needs::Nothing => true,
        Needs::Open => s.opened(fd).is_ok(),
        Needs::Readable => s.readable(fd).is_ok_and(|(_, node)| node.kind != NodeKind::Directory),
        Needs::Writable => s.writable(fd).is_ok(),
    };
    if !gets_there || moves(row) && s.args[2] == Value::Bits(0) {
        return Ok(Fate::FREE);
    }
    let short = moves(row) && may_be_short(s, fd, row);
    decide(s.cx, name, row.errors.iter().map(|e| e.0 as u8).chain(short.then_some(SHORT)))
}

/// Whether the call moves bytes, as many as its third argument says.
fn moves(row: &Row) -> bool {
    row.errors == READ || row.errors == WRITE
}

/// Whether there is more than one byte to move, or block.
fn may_be_short(s: &Sys<'_, '_>, fd: i32, row: &Row) -> bool {
    let (Value::Bits(pointer), Value::Bits(2..)) = (s.args[1], s.args[2]) else { return false };
    if row.name.ends_with('v') {
        // A call that moves nothing is no short one.
        let mut first = [0; 8];
        return s.cx.state.memory.space.read(pointer.wrapping_add(8), &mut first) && first != [0; 8];
    }
    row.needs != Needs::Readable || s.opened(fd).is_ok_and(|(open, node)| node.content.len() > open.offset + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_without_repetition() {
        assert!(ROWS.windows(2).all(|w| w[0].name < w[1].name));
    }
}
