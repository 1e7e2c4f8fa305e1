//! Descriptors: reading, writing, seeking, duplicating.

use std::rc::Rc;

use wryneck_exec::{PathEnd, Value, memory};

use super::file::MAX_FILE;
use super::pipe::PAGE;
use super::{Done, Sys, lock};
use crate::content::Byte;
use crate::epolls::Told;
use crate::errno::{EAGAIN, EBADF, ECONNRESET, EFBIG, EINVAL, EISDIR, EMFILE, ENOSPC, ENXIO, ESPIPE, Halt, RESTARTS};
use crate::state::{Fd, Node, NodeId, NodeKind, Open, World};

/// Access mode bits of `open`'s flags.
pub const O_ACCMODE: u32 = 3;
pub const O_RDONLY: u32 = 0;
pub const O_WRONLY: u32 = 1;
pub const O_APPEND: u32 = 0o2000;
pub const O_NONBLOCK: u32 = 0o4000;
pub const O_CLOEXEC: u32 = 0o2_000_000;
pub const O_PATH: u32 = 0o10_000_000;
/// `O_DIRECT`, `O_NOATIME`, `FASYNC`: what `F_SETFL` changes beside the two above.
const SETTABLE: u32 = O_APPEND | O_NONBLOCK | 0o40_000 | 0o1_000_000;
/// Bytes a pipe holds.
pub const PIPE_ROOM: u64 = 65536;
/// Descriptors a process may have.
pub const MAX_FDS: usize = 1024;
/// Most bytes one call moves, as on Linux.
const MAX_COUNT: u64 = 0x7fff_f000;

/// How bytes are received, where not as `read` does.
#[derive(Clone, Copy, Default)]
pub struct Receive {
    pub dont_wait: bool,
    /// They stay where they are.
    pub peek: bool,
    /// Until there are as many as asked for.
    pub all: bool,
}

/// How bytes are sent, where not as `write` does.
#[derive(Clone, Copy, Default)]
pub struct Send {
    pub dont_wait: bool,
    pub no_signal: bool,
}

impl Sys<'_, '_> {
    pub fn readable(&self, fd: i32) -> Result<(Open, &Node), Halt> {
        let (open, node) = self.opened(fd)?;
        if !matches!(open.flags & O_ACCMODE, O_RDONLY | 2) {
            return Err(EBADF.into());
        }
        Ok((open, node))
    }

    pub fn writable(&self, fd: i32) -> Result<(Open, &Node), Halt> {
        let (open, node) = self.opened(fd)?;
        if !matches!(open.flags & O_ACCMODE, O_WRONLY | 2) {
            return Err(EBADF.into());
        }
        Ok((open, node))
    }

    /// Only what has offsets can be read or written at one.
    fn may_seek(&self, fd: i32, at: Option<u64>) -> Result<(), Halt> {
        match self.opened(fd)?.1.kind {
            NodeKind::Pipe { .. } | NodeKind::Output | NodeKind::Socket | NodeKind::Event { .. } | NodeKind::Epoll if at.is_some() => {
                Err(ESPIPE.into())
            }
            _ => Ok(()),
        }
    }

    /// The smaller of a count and what there is: only as many values as differ are tried for a symbolic count.
    pub fn count(&mut self, count: Value, there: u64) -> Result<u64, Halt> {
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
        if nothing_asked(blocks) && self.readable(fd)?.1.kind == NodeKind::Socket {
            return Ok(0);
        }
        self.receive(fd, blocks, at, Receive::default())
    }

    /// Reads, from a socket perhaps otherwise than `read` does.
    pub fn receive(&mut self, fd: i32, blocks: &[(Value, Value)], at: Option<u64>, how: Receive) -> Done {
        let (open, node) = self.readable(fd)?;
        if let NodeKind::Event { .. } | NodeKind::Epoll = node.kind {
            return self.receive_count(&open, blocks);
        }
        if self.waits_for_datagram(open.node) {
            if open.flags & O_NONBLOCK == 0 && !how.dont_wait {
                self.wait(None, RESTARTS, super::internet::NO_MORE_DATAGRAMS)?;
            }
            return Err(EAGAIN.into());
        }
        let id = self.read_from(open.node)?;
        let waits = id != open.node || !nothing_asked(blocks);
        let node = self.world().node(id);
        let kind = node.kind;
        if kind == NodeKind::Directory {
            let asked = |(_, count): &(Value, Value)| if let Value::Bits(n) = count { *n } else { 0 };
            let end = blocks.iter().map(asked).try_fold(open.offset, u64::checked_add);
            return Err(if end.is_none_or(|end| end > i64::MAX as u64) { EINVAL } else { EISDIR }.into());
        }
        let start = match kind {
            NodeKind::Pipe { taken, .. } => taken,
            _ => at.unwrap_or(open.offset),
        };
        let there = match kind {
            NodeKind::Regular | NodeKind::Pipe { .. } => node.content.len().saturating_sub(start).min(MAX_COUNT),
            NodeKind::Endless | NodeKind::Full => MAX_COUNT,
            _ => 0,
        };
        if there == 0 && waits && self.take_reset(open.node) {
            return Err(ECONNRESET.into());
        }
        if let NodeKind::Pipe { writers: 1.., .. } = kind
            && there == 0
            && waits
        {
            if open.flags & O_NONBLOCK != 0 || how.dont_wait {
                return Err(EAGAIN.into());
            }
            self.wait(None, RESTARTS, "a read of an empty pipe or socket that nobody else can fill")?;
            return Err(EAGAIN.into());
        }
        let mut total = 0;
        let mut targets = Vec::new();
        for (pointer, count) in blocks {
            let n = self.count(*count, there - total)?;
            targets.push((self.block(*pointer, n, true)?, n));
            total += n;
        }
        if how.all && total == there && matches!(kind, NodeKind::Pipe { writers: 1.., .. }) && self.asked(blocks)? > total {
            self.wait(None, RESTARTS, "a wait for bytes that nobody else can send")?;
            return Err(PathEnd::Unsupported("a wait for bytes that a signal has interrupted".into()).into());
        }
        self.from_mappings(id)?;
        let bytes = match kind {
            NodeKind::Endless | NodeKind::Full => vec![Byte::Concrete(0); total as usize],
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
        if how.peek {
            return Ok(total);
        }
        let full = PIPE_ROOM - PAGE;
        let makes_room = there > full && there - total <= full;
        let world = self.change();
        if let Some(taken) = world.node_mut_if_pipe(id) {
            *taken += total;
            world.take_datagram(open.node);
            if total > 0 && (makes_room || id != open.node) {
                world.has_room(open.node);
            }
        } else if at.is_none() {
            world.open_of_mut(fd).ok_or(EBADF)?.offset = start + total;
        }
        Ok(total)
    }

    /// Bytes that blocks ask for.
    pub(super) fn asked(&mut self, blocks: &[(Value, Value)]) -> Result<u64, Halt> {
        blocks.iter().try_fold(0, |sum, (_, count)| Ok(self.cx.concretise(*count, "bytes to read or write")?.saturating_add(sum)))
    }

    /// Writes blocks of the program, one after another.
    fn write_from(&mut self, fd: i32, blocks: &[(Value, Value)], at: Option<u64>) -> Done {
        self.may_seek(fd, at)?;
        self.send(fd, blocks, at, Send::default())
    }

    /// Writes, to a socket perhaps otherwise than `write` does.
    pub fn send(&mut self, fd: i32, blocks: &[(Value, Value)], at: Option<u64>, how: Send) -> Done {
        let (mut open, node) = self.writable(fd)?;
        if let NodeKind::Event { .. } | NodeKind::Epoll = node.kind {
            return self.send_count(&open, blocks);
        }
        let of = open.node;
        let Some(id) = self.written_to(open.node)? else { return self.room_in_pipe(1, 0, 0, open.flags, how.no_signal) };
        let is_socket = id != open.node;
        open.node = id;
        open.flags |= if how.dont_wait { O_NONBLOCK } else { 0 };
        let node = self.world().node(id);
        let kind = node.kind;
        let end = node.content.len();
        let mut bytes = Vec::new();
        for (pointer, count) in blocks {
            let n = self.count(*count, MAX_COUNT - bytes.len() as u64)?;
            if n > 0 {
                let addr = self.block(*pointer, n, false)?;
                bytes.extend(self.output(addr, n)?);
            }
        }
        memory::note_copied(self.cx, bytes.len() as u64);
        let start = if open.flags & O_APPEND != 0 { end } else { at.unwrap_or(open.offset) };
        let outside = self.world().sends_outside(of).is_some();
        if let NodeKind::Pipe { taken, readers, .. } = kind {
            let room = if outside { MAX_COUNT } else { PIPE_ROOM - (end - taken).min(PIPE_ROOM) };
            if is_socket && readers == 0 {
                // Even of nothing.
                return self.room_in_pipe(1, 0, 0, open.flags, how.no_signal);
            }
            if is_socket && bytes.len() as u64 > room {
                return Err(PathEnd::Unsupported("more than 64 KiB that nobody has read from a socket".into()).into());
            }
            bytes.truncate(self.room_in_pipe(bytes.len() as u64, room, readers, open.flags, how.no_signal)? as usize);
        }
        if kind == NodeKind::Regular && !bytes.is_empty() {
            if start >= MAX_FILE {
                return Err(EFBIG.into());
            }
            bytes.truncate((MAX_FILE - start).min(MAX_COUNT) as usize);
        }
        let total = bytes.len() as u64;
        if kind == NodeKind::Output || outside {
            self.watch_output(open.node, &bytes)?;
        }
        let world = self.change();
        match kind {
            NodeKind::Null | NodeKind::Endless => {}
            // `write` of nothing asks the device; `writev` of nothing does not.
            NodeKind::Full if total > 0 || blocks.len() == 1 => return Err(ENOSPC.into()),
            NodeKind::Full => {}
            NodeKind::Output => world.node_mut(open.node).content.write(end, &bytes),
            NodeKind::Pipe { .. } => {
                world.node_mut(open.node).content.write(end, &bytes);
                if total > 0 {
                    world.has_bytes(of);
                }
            }
            NodeKind::Directory | NodeKind::Link | NodeKind::Socket | NodeKind::Event { .. } | NodeKind::Epoll => return Err(EBADF.into()),
            NodeKind::Regular => {
                // Nothing written does not even go to the end for `O_APPEND`.
                if total > 0 {
                    self.write_at(open.node, start, &bytes)?;
                    if at.is_none() {
                        self.change().open_of_mut(fd).ok_or(EBADF)?.offset = start + total;
                    }
                }
            }
        }
        Ok(total)
    }

    /// Writes to a regular file, and to where it is mapped.
    pub fn write_at(&mut self, node: NodeId, start: u64, bytes: &[Byte]) -> Result<(), Halt> {
        self.from_mappings(node)?;
        self.change().node_mut(node).content.write(start, bytes);
        self.touch(node);
        self.to_mappings(node)
    }

    /// Opens a node on the lowest free descriptor.
    pub fn open_on(&mut self, node: NodeId, flags: u32, close_on_exec: bool) -> Done {
        if self.world().lowest_free(0) >= MAX_FDS {
            return Err(EMFILE.into());
        }
        let number = self.change().open_node(node, flags, close_on_exec);
        self.change().moved(number);
        Ok(number as u64)
    }

    fn vectors(&mut self) -> Result<Vec<(Value, Value)>, Halt> {
        let count = self.int(2)?;
        self.blocks_of(self.args[1], count)
    }

    /// Reads an array of `struct iovec`: address and count of each block.
    pub fn blocks_of(&mut self, vectors: Value, count: i32) -> Result<Vec<(Value, Value)>, Halt> {
        if !(0..=1024).contains(&count) {
            return Err(EINVAL.into());
        }
        let addr = self.block(vectors, 16 * count as u64, false)?;
        let bytes = memory::read_bytes(self.cx, addr, 16 * count as u64)?;
        let word = |s: &mut Self, bytes| {
            let e = memory::joined(s.cx, bytes);
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

/// Whether every block is known to be empty.
fn nothing_asked(blocks: &[(Value, Value)]) -> bool {
    blocks.iter().all(|(_, count)| *count == Value::Bits(0))
}

pub fn read(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    s.read_into(fd, &[(s.args[1], s.args[2])], None)
}

pub fn readv(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    let blocks = s.vectors()?;
    // Even of a directory, which `read` refuses.
    if nothing_asked(&blocks) && matches!(s.opened(fd)?.0.flags & O_ACCMODE, O_RDONLY | 2) {
        return Ok(0);
    }
    s.read_into(fd, &blocks, None)
}

pub fn pread(s: &mut Sys<'_, '_>) -> Done {
    let (fd, at) = (s.int(0)?, s.offset(3)?);
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
    let (fd, at) = (s.int(0)?, s.offset(3)?);
    s.write_from(fd, &[(s.args[1], s.args[2])], Some(at))
}

/// preadv(descriptor, vectors, count, low half of the offset, high half); the low half has all 64 bits.
pub fn preadv(s: &mut Sys<'_, '_>) -> Done {
    let (fd, at) = (s.int(0)?, s.offset(3)?);
    let blocks = s.vectors()?;
    s.read_into(fd, &blocks, Some(at))
}

/// pwritev, as [`preadv`].
pub fn pwritev(s: &mut Sys<'_, '_>) -> Done {
    let (fd, at) = (s.int(0)?, s.offset(3)?);
    let blocks = s.vectors()?;
    s.write_from(fd, &blocks, Some(at))
}

pub fn close(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    s.opened_any(fd)?;
    let by_stdio = is_called_by_stdio(s);
    close_fd(s, fd);
    if !by_stdio {
        s.change().moved(fd as usize);
    }
    Ok(0)
}

/// Whether a stream is being closed: the program does not use it afterwards. Machine code is one function and not told apart.
fn is_called_by_stdio(s: &Sys<'_, '_>) -> bool {
    let image = &s.cx.core.image;
    let frames = s.cx.state.frames.iter().rev().take(2);
    frames.map(|frame| frame.func()).any(|func| image.name(func) == "__stdio_close" || image.is_machine_code(func))
}

fn close_fd(s: &mut Sys<'_, '_>, fd: i32) {
    release(s.change(), fd as usize);
}

/// Closes a descriptor, if it is open.
pub fn release(world: &mut World, number: usize) {
    let Some(Fd { open: index, .. }) = world.own.fds.get_mut(number).and_then(Option::take) else { return };
    let open = &mut world.opens[index as usize];
    open.refs -= 1;
    let (node, last, way) = (open.node, open.refs == 0, open.flags & O_ACCMODE);
    if last {
        world.unwatch(index);
    }
    if last && world.node(node).kind == NodeKind::Epoll {
        Rc::make_mut(&mut world.epolls).remove(&node);
    }
    if last && world.node(node).kind == NodeKind::Socket {
        return world.close_socket(node);
    }
    if last
        && matches!(world.node(node).kind, NodeKind::Pipe { .. })
        && let NodeKind::Pipe { writers, readers, .. } = &mut world.node_mut(node).kind
    {
        *writers -= u32::from(way != O_RDONLY);
        *readers -= u32::from(way == O_RDONLY);
        if (*readers == 0) != (*writers == 0) {
            world.tell(node, Told::All, 0);
        }
    }
}

pub fn lseek(s: &mut Sys<'_, '_>) -> Done {
    let (fd, offset, whence) = (s.int(0)?, s.long(1)? as i64, s.int(2)?);
    let (open, node) = s.opened(fd)?;
    // A directory's offsets are hashes on ext4.
    let limit = if node.kind == NodeKind::Directory { i64::MAX } else { MAX_FILE as i64 };
    let base = match (node.kind, whence) {
        (NodeKind::Pipe { .. } | NodeKind::Output | NodeKind::Socket, _) => return Err(ESPIPE.into()),
        (NodeKind::Null | NodeKind::Endless | NodeKind::Full | NodeKind::Event { .. } | NodeKind::Epoll, _) => return Ok(0),
        (_, 0) => 0,
        (_, 1) => open.offset as i64,
        (NodeKind::Regular, 2) => node.content.len() as i64,
        (NodeKind::Directory, 2) => limit,
        // SEEK_DATA, SEEK_HOLE: the file has no holes.
        (NodeKind::Regular, 3 | 4) => {
            let len = node.content.len() as i64;
            if !(0..len).contains(&offset) {
                return Err(ENXIO.into());
            }
            if whence == 3 { 0 } else { len - offset }
        }
        (NodeKind::Regular | NodeKind::Directory | NodeKind::Link, _) => return Err(EINVAL.into()),
    };
    let to = base.checked_add(offset).filter(|to| (0..=limit).contains(to)).ok_or(EINVAL)? as u64;
    s.change().open_of_mut(fd).ok_or(EBADF)?.offset = to;
    Ok(to)
}

pub fn dup(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    duplicate(s, fd, 0, false)
}

/// Duplicates on the lowest free descriptor at least `from`.
fn duplicate(s: &mut Sys<'_, '_>, fd: i32, from: usize, close_on_exec: bool) -> Done {
    s.opened_any(fd)?;
    let number = s.world().lowest_free(from);
    if number >= MAX_FDS {
        return Err(EMFILE.into());
    }
    put_duplicate(s, fd, number, close_on_exec)
}

fn put_duplicate(s: &mut Sys<'_, '_>, fd: i32, number: usize, close_on_exec: bool) -> Done {
    let world = s.change();
    let Some(Some(old)) = world.own.fds.get(fd as usize).copied() else { return Err(EBADF.into()) };
    world.opens[old.open as usize].refs += 1;
    world.moved(number);
    world.set_fd(number, Fd { open: old.open, close_on_exec });
    Ok(number as u64)
}

pub fn dup2(s: &mut Sys<'_, '_>) -> Done {
    let (fd, to) = (s.int(0)?, s.int(1)?);
    s.opened_any(fd)?;
    if fd == to { Ok(to as u64) } else { duplicate_to(s, fd, to, false) }
}

pub fn dup3(s: &mut Sys<'_, '_>) -> Done {
    let (fd, to, flags) = (s.int(0)?, s.int(1)?, s.int(2)? as u32);
    if fd == to || flags & !O_CLOEXEC != 0 {
        return Err(EINVAL.into());
    }
    s.opened_any(fd)?;
    duplicate_to(s, fd, to, flags & O_CLOEXEC != 0)
}

fn duplicate_to(s: &mut Sys<'_, '_>, fd: i32, to: i32, close_on_exec: bool) -> Done {
    let to = usize::try_from(to).ok().filter(|to| *to < MAX_FDS).ok_or(EBADF)?;
    close_fd(s, to as i32);
    put_duplicate(s, fd, to, close_on_exec)
}

pub fn fcntl(s: &mut Sys<'_, '_>) -> Done {
    let (fd, command) = (s.int(0)?, s.int(1)?);
    let (open, node) = s.opened_any(fd)?;
    if open.flags & O_PATH != 0 && !matches!(command, 0..=3 | 1030) {
        return Err(EBADF.into());
    }
    match command {
        // F_DUPFD, F_DUPFD_CLOEXEC
        0 | 1030 => {
            let from = s.int(2)?;
            let from = usize::try_from(from).ok().filter(|from| *from < MAX_FDS).ok_or(EINVAL)?;
            duplicate(s, fd, from, command == 1030)
        }
        // F_GETFD, F_SETFD
        1 => Ok(u64::from(s.world().own.fds[fd as usize].is_some_and(|fd| fd.close_on_exec))),
        2 => {
            let on = s.int(2)? & 1 != 0;
            if let Some(fd) = &mut s.change().own.fds[fd as usize] {
                fd.close_on_exec = on;
            }
            Ok(0)
        }
        // F_GETFL, F_SETFL
        3 => Ok(open.flags.into()),
        4 => {
            let new = s.int(2)? as u32 & SETTABLE;
            let open = s.change().open_of_mut(fd).ok_or(EBADF)?;
            open.flags = (open.flags & !SETTABLE) | new;
            Ok(0)
        }
        // F_GETLK, F_SETLK, F_SETLKW
        5..=7 => {
            let (flags, offset, end) = (open.flags, open.offset, node.content.len());
            lock::record(s, flags, [0, offset, end], command)
        }
        // Locks of open files, which others of this process can be in the way of.
        36..=38 => Err(PathEnd::Unsupported(format!("command {command} of `fcntl`")).into()),
        // F_GETPIPE_SZ
        1032 if matches!(node.kind, NodeKind::Pipe { .. }) => Ok(PIPE_ROOM),
        1032 => Err(EBADF.into()),
        // Owners, signals, leases, notifications, the size of a pipe, seals, hints.
        8..=11 | 15 | 16 | 1024..=1026 | 1031 | 1033..=1040 => Err(PathEnd::Unsupported(format!("command {command} of `fcntl`")).into()),
        _ => Err(EINVAL.into()),
    }
}

/// fsync, fdatasync, fadvise64: nothing to do but to look at the descriptor.
pub fn sync(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    let (_, node) = s.opened(fd)?;
    match node.kind {
        NodeKind::Pipe { .. } | NodeKind::Output if s.name == "fadvise64" => Err(ESPIPE.into()),
        NodeKind::Socket if s.name == "fadvise64" => Ok(0),
        NodeKind::Pipe { .. } | NodeKind::Output | NodeKind::Socket | NodeKind::Event { .. } | NodeKind::Epoll => Err(EINVAL.into()),
        _ => Ok(0),
    }
}
