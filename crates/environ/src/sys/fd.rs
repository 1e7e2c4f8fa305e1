//! Descriptors: reading, writing, seeking, duplicating, pipes.

use std::rc::Rc;

use wryneck_exec::{PathEnd, Value};

use super::{Done, Sys};
use crate::content::{Byte, Content};
use crate::errno::{EBADF, EINVAL, EISDIR, EMFILE, ENXIO, ESPIPE, Halt};
use crate::state::{Fd, Node, NodeKind, Open};

/// Access mode bits of `open`'s flags.
pub const O_ACCMODE: u32 = 3;
pub const O_RDONLY: u32 = 0;
pub const O_WRONLY: u32 = 1;
pub const O_APPEND: u32 = 0o2000;
pub const O_NONBLOCK: u32 = 0o4000;
pub const O_CLOEXEC: u32 = 0o2_000_000;
/// Descriptors a process may have.
const MAX_FDS: usize = 1024;
/// Most bytes one call moves, as on Linux.
const MAX_COUNT: u64 = 0x7fff_f000;

impl Sys<'_, '_> {
    fn readable(&self, fd: i32) -> Result<(Open, &Node), Halt> {
        let (open, node) = self.opened(fd)?;
        if open.flags & O_ACCMODE == O_WRONLY {
            return Err(EBADF.into());
        }
        if node.kind == NodeKind::Directory {
            return Err(EISDIR.into());
        }
        Ok((open, node))
    }

    fn writable(&self, fd: i32) -> Result<(Open, &Node), Halt> {
        let (open, node) = self.opened(fd)?;
        if open.flags & O_ACCMODE == O_RDONLY {
            return Err(EBADF.into());
        }
        Ok((open, node))
    }

    /// Only what has offsets can be read or written at one.
    fn may_seek(&self, fd: i32, at: Option<u64>) -> Result<(), Halt> {
        match self.opened(fd)?.1.kind {
            NodeKind::Pipe { .. } | NodeKind::Output if at.is_some() => Err(ESPIPE.into()),
            _ => Ok(()),
        }
    }

    /// The smaller of a count and what there is: only as many values as differ are tried for a symbolic count.
    fn count(&mut self, count: Value, there: u64) -> Result<u64, Halt> {
        let count = self.cx.expr(count, 64);
        let pool = &mut self.cx.core.pool;
        let limit = pool.bits(64, there);
        let less = pool.ult(count, limit);
        let count = pool.ite(less, count, limit);
        Ok(self.cx.concretise(Value::Sym(count), "bytes to read or write")?)
    }

    /// Reads into blocks of the program, one after another; `at` is where, if not at the descriptor's offset.
    fn read_into(&mut self, fd: i32, blocks: &[(Value, Value)], at: Option<u64>) -> Done {
        self.may_seek(fd, at)?;
        let (open, node) = self.readable(fd)?;
        let (kind, id) = (node.kind, open.node);
        let start = match kind {
            NodeKind::Pipe { taken, .. } => taken,
            _ => at.unwrap_or(open.offset),
        };
        let there = match kind {
            NodeKind::Regular | NodeKind::Pipe { .. } => node.content.len().saturating_sub(start),
            NodeKind::Endless => MAX_COUNT,
            NodeKind::Output | NodeKind::Null | NodeKind::Directory => 0,
        };
        if let NodeKind::Pipe { writers: 1.., .. } = kind
            && there == 0
        {
            return Err(PathEnd::Unsupported("a read of an empty pipe that nobody else can fill".into()).into());
        }
        let mut total = 0;
        let mut targets = Vec::new();
        for (pointer, count) in blocks {
            let n = self.count(*count, there - total)?;
            targets.push((self.block(*pointer, n, true)?, n));
            total += n;
        }
        let bytes = match kind {
            NodeKind::Endless => vec![Byte::Concrete(0); total as usize],
            _ => self.world().node(id).content.read(start, total),
        };
        let mut rest = &bytes[..];
        for (addr, n) in targets {
            let (part, after) = rest.split_at(n as usize);
            if n > 0 {
                self.put_bytes(addr, part)?;
            }
            rest = after;
        }
        let world = self.change();
        if let Some(taken) = world.node_mut_if_pipe(id) {
            *taken += total;
        } else if at.is_none() {
            world.open_of_mut(fd).ok_or(EBADF)?.offset = start + total;
        }
        Ok(total)
    }

    /// Writes blocks of the program, one after another.
    fn write_from(&mut self, fd: i32, blocks: &[(Value, Value)], at: Option<u64>) -> Done {
        self.may_seek(fd, at)?;
        let (open, node) = self.writable(fd)?;
        let kind = node.kind;
        let end = node.content.len();
        let mut bytes = Vec::new();
        for (pointer, count) in blocks {
            let n = self.count(*count, MAX_COUNT - bytes.len() as u64)?;
            if n > 0 {
                let addr = self.block(*pointer, n, false)?;
                bytes.extend(self.get(addr, n)?);
            }
        }
        let total = bytes.len() as u64;
        let world = self.change();
        match kind {
            NodeKind::Null | NodeKind::Endless => {}
            NodeKind::Output | NodeKind::Pipe { .. } => world.node_mut(open.node).content.write(end, &bytes),
            NodeKind::Directory => return Err(EBADF.into()),
            NodeKind::Regular => {
                let start = if open.flags & O_APPEND != 0 { end } else { at.unwrap_or(open.offset) };
                if total > 0 {
                    world.node_mut(open.node).content.write(start, &bytes);
                }
                if at.is_none() {
                    world.open_of_mut(fd).ok_or(EBADF)?.offset = start + total;
                }
            }
        }
        Ok(total)
    }

    fn vectors(&mut self) -> Result<Vec<(Value, Value)>, Halt> {
        let count = self.int(2)?;
        if !(0..=1024).contains(&count) {
            return Err(EINVAL.into());
        }
        let addr = self.block(self.args[1], 16 * count as u64, false)?;
        let bytes = self.cx.read_bytes(addr, 16 * count as u64)?;
        let word = |s: &mut Self, bytes| {
            let e = s.cx.joined(bytes);
            s.cx.value(e)
        };
        Ok(bytes.chunks(16).map(|v| (word(self, &v[..8]), word(self, &v[8..]))).collect())
    }
}

impl crate::state::World {
    /// How far a pipe has been read, to change; `None` if the node is no pipe.
    fn node_mut_if_pipe(&mut self, id: u32) -> Option<&mut u64> {
        if !matches!(self.node(id).kind, NodeKind::Pipe { .. }) {
            return None;
        }
        match &mut self.node_mut(id).kind {
            NodeKind::Pipe { taken, .. } => Some(taken),
            _ => None,
        }
    }
}

pub fn read(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    s.read_into(fd, &[(s.args[1], s.args[2])], None)
}

pub fn readv(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    let blocks = s.vectors()?;
    s.read_into(fd, &blocks, None)
}

pub fn pread(s: &mut Sys<'_, '_>) -> Done {
    let (fd, at) = (s.int(0)?, s.long(3)?);
    if (at as i64) < 0 {
        return Err(EINVAL.into());
    }
    s.read_into(fd, &[(s.args[1], s.args[2])], Some(at))
}

pub fn write(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    s.write_from(fd, &[(s.args[1], s.args[2])], None)
}

pub fn writev(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    let blocks = s.vectors()?;
    s.write_from(fd, &blocks, None)
}

pub fn pwrite(s: &mut Sys<'_, '_>) -> Done {
    let (fd, at) = (s.int(0)?, s.long(3)?);
    if (at as i64) < 0 {
        return Err(EINVAL.into());
    }
    s.write_from(fd, &[(s.args[1], s.args[2])], Some(at))
}

pub fn close(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    s.opened(fd)?;
    close_fd(s, fd);
    Ok(0)
}

fn close_fd(s: &mut Sys<'_, '_>, fd: i32) {
    let world = s.change();
    let Some(Fd { open, .. }) = world.fds.get_mut(fd as usize).and_then(Option::take) else { return };
    let open = &mut world.opens[open as usize];
    open.refs -= 1;
    let (node, last, writes) = (open.node, open.refs == 0, open.flags & O_ACCMODE != O_RDONLY);
    if last
        && writes
        && matches!(world.node(node).kind, NodeKind::Pipe { .. })
        && let NodeKind::Pipe { writers, .. } = &mut world.node_mut(node).kind
    {
        *writers -= 1;
    }
}

pub fn lseek(s: &mut Sys<'_, '_>) -> Done {
    let (fd, offset, whence) = (s.int(0)?, s.long(1)? as i64, s.int(2)?);
    let (open, node) = s.opened(fd)?;
    let base = match (node.kind, whence) {
        (NodeKind::Pipe { .. } | NodeKind::Output, _) => return Err(ESPIPE.into()),
        (NodeKind::Null | NodeKind::Endless, _) => return Ok(0),
        (_, 0) => 0,
        (_, 1) => open.offset as i64,
        (NodeKind::Regular, 2) => node.content.len() as i64,
        // SEEK_DATA, SEEK_HOLE: the file has no holes.
        (NodeKind::Regular, 3 | 4) => {
            let len = node.content.len() as i64;
            if !(0..len).contains(&offset) {
                return Err(ENXIO.into());
            }
            if whence == 3 { 0 } else { len - offset }
        }
        (NodeKind::Regular | NodeKind::Directory, _) => return Err(EINVAL.into()),
    };
    let to = base.checked_add(offset).filter(|to| *to >= 0).ok_or(EINVAL)? as u64;
    s.change().open_of_mut(fd).ok_or(EBADF)?.offset = to;
    Ok(to)
}

pub fn dup(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    duplicate(s, fd, 0, false)
}

/// Duplicates on the lowest free descriptor at least `from`.
fn duplicate(s: &mut Sys<'_, '_>, fd: i32, from: usize, close_on_exec: bool) -> Done {
    s.opened(fd)?;
    let number = s.world().lowest_free(from);
    if number >= MAX_FDS {
        return Err(EMFILE.into());
    }
    put_duplicate(s, fd, number, close_on_exec)
}

fn put_duplicate(s: &mut Sys<'_, '_>, fd: i32, number: usize, close_on_exec: bool) -> Done {
    let world = s.change();
    let Some(Some(old)) = world.fds.get(fd as usize).copied() else { return Err(EBADF.into()) };
    world.opens[old.open as usize].refs += 1;
    world.set_fd(number, Fd { open: old.open, close_on_exec });
    Ok(number as u64)
}

pub fn dup2(s: &mut Sys<'_, '_>) -> Done {
    let (fd, to) = (s.int(0)?, s.int(1)?);
    s.opened(fd)?;
    if fd == to { Ok(to as u64) } else { duplicate_to(s, fd, to, false) }
}

pub fn dup3(s: &mut Sys<'_, '_>) -> Done {
    let (fd, to, flags) = (s.int(0)?, s.int(1)?, s.int(2)? as u32);
    if fd == to || flags & !O_CLOEXEC != 0 {
        return Err(EINVAL.into());
    }
    s.opened(fd)?;
    duplicate_to(s, fd, to, flags & O_CLOEXEC != 0)
}

fn duplicate_to(s: &mut Sys<'_, '_>, fd: i32, to: i32, close_on_exec: bool) -> Done {
    let to = usize::try_from(to).ok().filter(|to| *to < MAX_FDS).ok_or(EBADF)?;
    close_fd(s, to as i32);
    put_duplicate(s, fd, to, close_on_exec)
}

pub fn fcntl(s: &mut Sys<'_, '_>) -> Done {
    let (fd, command) = (s.int(0)?, s.int(1)?);
    let (open, _) = s.opened(fd)?;
    match command {
        // F_DUPFD, F_DUPFD_CLOEXEC
        0 | 1030 => {
            let from = s.int(2)?;
            let from = usize::try_from(from).ok().filter(|from| *from < MAX_FDS).ok_or(EINVAL)?;
            duplicate(s, fd, from, command == 1030)
        }
        // F_GETFD, F_SETFD
        1 => Ok(u64::from(s.world().fds[fd as usize].is_some_and(|fd| fd.close_on_exec))),
        2 => {
            let on = s.int(2)? & 1 != 0;
            if let Some(fd) = &mut s.change().fds[fd as usize] {
                fd.close_on_exec = on;
            }
            Ok(0)
        }
        // F_GETFL, F_SETFL
        3 => Ok(open.flags.into()),
        4 => {
            let new = s.int(2)? as u32 & (O_APPEND | O_NONBLOCK);
            let open = s.change().open_of_mut(fd).ok_or(EBADF)?;
            open.flags = (open.flags & !(O_APPEND | O_NONBLOCK)) | new;
            Ok(0)
        }
        // F_GETLK, F_SETLK, F_SETLKW: nobody else locks anything.
        5..=7 => Ok(0),
        _ => Err(EINVAL.into()),
    }
}

pub fn pipe(s: &mut Sys<'_, '_>) -> Done {
    make_pipe(s, 0)
}

pub fn pipe2(s: &mut Sys<'_, '_>) -> Done {
    let flags = s.int(1)? as u32;
    if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
        return Err(EINVAL.into());
    }
    make_pipe(s, flags)
}

fn make_pipe(s: &mut Sys<'_, '_>, flags: u32) -> Done {
    let addr = s.block(s.args[0], 8, true)?;
    let time = s.linux.input.time;
    let world = s.change();
    let meta = super::file::new_meta(super::file::FIRST_INO + world.nodes.len() as u64, 0o600, time);
    let kind = NodeKind::Pipe { taken: 0, writers: 1 };
    let node = world.add_node(Node { kind, content: Content::default(), meta, path: Rc::from(&b""[..]), from_host: false });
    let on_exec = flags & O_CLOEXEC != 0;
    let read = world.open_node(node, O_RDONLY | (flags & O_NONBLOCK), on_exec);
    let write = world.open_node(node, O_WRONLY | (flags & O_NONBLOCK), on_exec);
    let numbers = [read as u32, write as u32].map(u32::to_le_bytes).concat();
    s.put(addr, &numbers)?;
    Ok(0)
}

/// Everything asked for is ready at once; a descriptor that is not open says so.
pub fn poll(s: &mut Sys<'_, '_>) -> Done {
    const IN_OR_OUT: u16 = 1 | 4;
    const INVALID: u16 = 32;
    let count = s.long(1)?;
    if count > MAX_FDS as u64 {
        return Err(EINVAL.into());
    }
    let entries = s.words(s.args[0], count)?;
    let addr = s.block(s.args[0], 8 * count, true)?;
    let mut ready = 0;
    for (i, entry) in (0..).zip(entries) {
        let (fd, wanted) = (entry as u32 as i32, (entry >> 32) as u16);
        let events = match s.opened(fd) {
            _ if fd < 0 => 0,
            Ok(_) => wanted & IN_OR_OUT,
            Err(_) => INVALID,
        };
        ready += u64::from(events != 0);
        s.put(addr + 8 * i + 6, &events.to_le_bytes())?;
    }
    Ok(ready)
}

/// fsync, fdatasync, fadvise64: nothing to do but to look at the descriptor.
pub fn sync(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    let (_, node) = s.opened(fd)?;
    match node.kind {
        NodeKind::Pipe { .. } | NodeKind::Output if s.name == "fadvise64" => Err(ESPIPE.into()),
        NodeKind::Pipe { .. } | NodeKind::Output => Err(EINVAL.into()),
        _ => Ok(0),
    }
}
