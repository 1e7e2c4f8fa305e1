//! Waiting for descriptors: poll, ppoll. There is no other process, so what is not ready at once never will be.

use wryneck_exec::Value;

use super::fd::{MAX_FDS, O_ACCMODE, O_RDONLY, PIPE_ROOM};
use super::socket::STREAM;
use super::{Done, Sys};
use crate::errno::{EINTR, EINVAL};
use crate::state::{NodeId, NodeKind, SocketState};

impl Sys<'_, '_> {
    /// What `poll` would say of a descriptor. Pipes are all that is not always ready.
    fn ready(&self, fd: i32, wanted: u16) -> u16 {
        const ALWAYS: u16 = event::IN | event::OUT | event::READ_NORMAL | event::WRITE_NORMAL;
        let Ok((open, node)) = self.opened(fd) else { return event::INVALID };
        if node.kind == NodeKind::Socket {
            return self.socket_ready(open.node, wanted);
        }
        let NodeKind::Pipe { taken, writers, readers } = node.kind else { return wanted & ALWAYS };
        let (held, mut events) = (node.content.len() - taken, 0);
        if open.flags & O_ACCMODE == O_RDONLY {
            events |= if held > 0 { wanted & (event::IN | event::READ_NORMAL) } else { 0 };
            events |= if writers == 0 { event::HANG_UP } else { 0 };
        } else {
            events |= if held < PIPE_ROOM { wanted & (event::OUT | event::WRITE_NORMAL) } else { 0 };
            events |= if readers == 0 { event::ERROR } else { 0 };
        }
        events
    }

    /// The same of a socket (`unix_poll` of the kernel).
    fn socket_ready(&self, node: NodeId, wanted: u16) -> u16 {
        let world = self.world();
        let readable = wanted & (event::IN | event::READ_NORMAL);
        let writable = wanted & (event::OUT | event::WRITE_NORMAL | event::WRITE_BAND);
        let connection = match &world.socket(node).state {
            SocketState::Fresh if world.socket(node).kind == STREAM => return writable | event::HANG_UP,
            SocketState::Fresh | SocketState::Closed => return writable,
            SocketState::Listening { pending, .. } => return if pending.is_empty() { 0 } else { readable },
            SocketState::Connected(connection) => connection,
        };
        let (mut events, mut no_more) = (0, 0);
        match world.node(connection.receives).kind {
            NodeKind::Pipe { writers: 1.., .. } => events |= if world.waiting(connection.receives) > 0 { readable } else { 0 },
            _ => {
                events |= readable | wanted & event::READ_HANG_UP;
                no_more += 1;
            }
        }
        match connection.sends.map(|pipe| (pipe, world.node(pipe).kind)) {
            Some((pipe, NodeKind::Pipe { readers: 1.., .. })) => events |= if world.waiting(pipe) < PIPE_ROOM { writable } else { 0 },
            _ => {
                events |= writable;
                no_more += 1;
            }
        }
        events | if no_more == 2 { event::HANG_UP } else { 0 } | if connection.reset { event::ERROR } else { 0 }
    }

    /// Fills in an array of `struct pollfd`; how many descriptors are ready.
    fn poll_all(&mut self) -> Done {
        let count = self.long(1)?;
        if count > MAX_FDS as u64 {
            return Err(EINVAL.into());
        }
        let entries = self.words(self.args[0], count)?;
        let addr = self.block(self.args[0], 8 * count, true)?;
        let mut ready = 0;
        for (i, entry) in (0..).zip(entries) {
            let (fd, wanted) = (entry as u32 as i32, (entry >> 32) as u16);
            let events = if fd < 0 { 0 } else { self.ready(fd, wanted) };
            ready += u64::from(events != 0);
            self.put(addr + 8 * i + 6, &events.to_le_bytes())?;
        }
        Ok(ready)
    }

    /// Nothing becomes ready during a wait, because there is no other process. `time`: microseconds.
    fn wait_in_vain(&mut self, time: Option<u64>) -> Done {
        let until = time.map(|time| self.world().ticks.saturating_add(time));
        self.wait(until, EINTR, "a wait for descriptors that nobody else can make ready")?;
        Ok(0)
    }
}

/// Events.
mod event {
    pub const IN: u16 = 1;
    pub const OUT: u16 = 4;
    pub const ERROR: u16 = 8;
    pub const HANG_UP: u16 = 16;
    pub const INVALID: u16 = 32;
    pub const READ_NORMAL: u16 = 64;
    pub const WRITE_NORMAL: u16 = 256;
    pub const WRITE_BAND: u16 = 512;
    pub const READ_HANG_UP: u16 = 0x2000;
}

/// poll(descriptors, count, milliseconds).
pub fn poll(s: &mut Sys<'_, '_>) -> Done {
    let time = s.int(2)?;
    match s.poll_all()? {
        0 => s.wait_in_vain(u64::try_from(time).ok().map(|ms| 1000 * ms)),
        ready => Ok(ready),
    }
}

/// ppoll(descriptors, count, time, signals).
pub fn ppoll(s: &mut Sys<'_, '_>) -> Done {
    let time = if s.args[2] == Value::Bits(0) { None } else { Some(s.words(s.args[2], 2)?) };
    match s.poll_all()? {
        0 => s.wait_in_vain(time.map(|t| t[0].saturating_mul(1_000_000).saturating_add(t[1] / 1000))),
        ready => Ok(ready),
    }
}
