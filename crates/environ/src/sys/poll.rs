//! Waiting for descriptors: poll, ppoll, select, pselect. There is no other process, so what is not ready at once never will be.

use wryneck_exec::Value;
use wryneck_exec::memory::writable_range;

use super::fd::{MAX_FDS, O_ACCMODE, O_RDONLY, PIPE_ROOM};
use super::socket::STREAM;
use super::time::{MICROS, micros};
use super::{Done, Sys, eventfd};
use crate::errno::{EBADF, EINVAL, Halt};
use crate::state::{NodeId, NodeKind, Open, SocketState};

/// A set of descriptors: its address and its words.
type Set = (u64, Vec<u64>);

impl Sys<'_, '_> {
    /// What `poll` would say of a descriptor.
    fn ready(&self, fd: i32, wanted: u16) -> u16 {
        self.opened(fd).map_or(event::INVALID, |(open, _)| self.ready_of(&open, wanted))
    }

    /// The same of an open file. Most files are always ready; standard output is the end of a pipe that others read.
    pub(super) fn ready_of(&self, open: &Open, wanted: u16) -> u16 {
        const ALWAYS: u16 = event::IN | event::OUT | event::READ_NORMAL | event::WRITE_NORMAL;
        let node = self.world().node(open.node);
        let (taken, writers, readers) = match node.kind {
            NodeKind::Pipe { taken, writers, readers } => (taken, writers, readers),
            NodeKind::Socket => return self.socket_ready(open.node, wanted),
            NodeKind::Output => return wanted & (event::OUT | event::WRITE_NORMAL),
            NodeKind::Event { count, .. } => return wanted & eventfd::ready(count),
            NodeKind::Epoll if !self.has_events(open.node) => return 0,
            NodeKind::Epoll => return wanted & (event::IN | event::READ_NORMAL),
            _ => return wanted & ALWAYS,
        };
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
            SocketState::Fresh if world.next_datagram(node).is_some() => return writable | readable,
            SocketState::Fresh | SocketState::Closed | SocketState::Outside => return writable,
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

    /// Fills in an array of `struct pollfd`: how many descriptors are ready. If none is, it waits before. `time`: microseconds; `mask`: of signals, meanwhile.
    fn poll_all(&mut self, time: Option<u64>, mask: Option<u64>) -> Done {
        let count = self.long(1)?;
        if count > MAX_FDS as u64 {
            return Err(EINVAL.into());
        }
        let entries = self.words(self.args[0], count)?;
        let addr = self.block(self.args[0], 8 * count, true)?;
        let events_of = |entry: u64| {
            let (fd, wanted) = (entry as u32 as i32, (entry >> 32) as u16);
            if fd < 0 { 0 } else { self.ready(fd, wanted) }
        };
        let all: Vec<u16> = entries.into_iter().map(events_of).collect();
        let ready = all.iter().filter(|events| **events != 0).count() as u64;
        let waited = if ready == 0 { self.wait_in_vain(time, mask)? } else { Ok(0) };
        for (i, events) in (0..).zip(all) {
            self.put(addr + 8 * i + 6, &events.to_le_bytes())?;
        }
        waited.map(|_| ready)
    }

    /// Waits while no descriptor is ready: what the call gives where none became so. `Err`: the call is not over, because others go on first, or its path
    /// ends. May decide which thread goes on, so nothing may have changed by then. `time`: microseconds; `mask`: of signals, meanwhile.
    pub(super) fn wait_in_vain(&mut self, time: Option<u64>, mask: Option<u64>) -> Result<Done, Halt> {
        let until = time.map(|time| self.world().ticks.saturating_add(time));
        match self.wait_masked(until, mask, "a wait for descriptors that nobody else can make ready") {
            Err(halt @ (Halt::Stop(_) | Halt::Switch(_))) => Err(halt),
            waited => Ok(waited.map(|()| 0)),
        }
    }

    /// Makes a call with a time at argument `i`. If that has come, nothing is left of it there. The kernel does not mind if it cannot write that.
    fn with_rest(&mut self, i: usize, time: Option<u64>, call: impl FnOnce(&mut Self) -> Done) -> Done {
        let addr = self.long(i)?;
        let done = call(self);
        if time.is_some() && matches!(done, Ok(0)) && writable_range(self.cx, addr, 16) {
            self.put(addr, &[0; 16])?;
        }
        done
    }

    /// How many descriptors the kernel's table has room for: it grows with the numbers.
    fn table(&self) -> u64 {
        match self.world().own.fds.len() as u64 {
            0..=64 => 64,
            count => 128 * ((count - 1) / 128 + 1).next_power_of_two(),
        }
    }

    /// Which descriptors of three sets are ready, and how many that are; the sets' words and addresses.
    fn select_all(&mut self) -> Result<(u64, Vec<Set>), Halt> {
        let count = u64::try_from(self.int(0)?).map_err(|_| EINVAL)?.min(self.table());
        let words = count.div_ceil(64);
        let mut sets: Vec<Option<Set>> = Vec::new();
        for i in 1..4 {
            let given = words > 0 && !self.is_null(i)?;
            sets.push(if given { Some((self.block(self.args[i], 8 * words, true)?, self.words(self.args[i], words)?)) } else { None });
        }
        const WANTED: [u16; 3] = [event::READABLE, event::WRITABLE, event::INVALID];
        const ALL: u16 = event::IN | event::OUT | event::READ_NORMAL | event::WRITE_NORMAL | event::WRITE_BAND;
        let (mut total, mut found) = (0, vec![vec![0; words as usize]; 3]);
        for fd in 0..count {
            let (word, bit) = ((fd / 64) as usize, 1 << (fd % 64));
            let in_sets: Vec<usize> = (0..3).filter(|i| sets[*i].as_ref().is_some_and(|(_, words)| words[word] & bit != 0)).collect();
            if in_sets.is_empty() {
                continue;
            }
            let events = if self.world().open_of(fd as i32).is_some() { self.ready(fd as i32, ALL) } else { return Err(EBADF.into()) };
            for i in in_sets.into_iter().filter(|i| events & WANTED[*i] != 0) {
                found[i][word] |= bit;
                total += 1;
            }
        }
        let sets = sets.into_iter().zip(found).filter_map(|(set, found)| Some((set?.0, found)));
        Ok((total, sets.collect()))
    }

    /// Waits for descriptors of three sets. `time`: microseconds.
    fn select(&mut self, time: Option<u64>, mask: Option<u64>) -> Done {
        let (ready, sets) = self.select_all()?;
        if ready == 0 {
            self.wait_in_vain(time, mask)??;
        }
        for (addr, words) in sets {
            self.put(addr, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?;
        }
        Ok(ready)
    }
}

/// Events.
pub mod event {
    pub const IN: u16 = 1;
    pub const URGENT: u16 = 2;
    pub const OUT: u16 = 4;
    pub const ERROR: u16 = 8;
    pub const HANG_UP: u16 = 16;
    pub const INVALID: u16 = 32;
    pub const READ_NORMAL: u16 = 64;
    pub const READ_BAND: u16 = 128;
    pub const WRITE_NORMAL: u16 = 256;
    pub const WRITE_BAND: u16 = 512;
    pub const READ_HANG_UP: u16 = 0x2000;
    /// What `select` takes for readable and for writable.
    pub const READABLE: u16 = IN | READ_NORMAL | READ_BAND | HANG_UP | ERROR | INVALID;
    pub const WRITABLE: u16 = OUT | WRITE_NORMAL | WRITE_BAND | ERROR | INVALID;
}

/// poll(descriptors, count, milliseconds).
pub fn poll(s: &mut Sys<'_, '_>) -> Done {
    let time = s.int(2)?;
    s.poll_all(u64::try_from(time).ok().map(|ms| 1000 * ms), None)
}

/// ppoll(descriptors, count, time, signals).
pub fn ppoll(s: &mut Sys<'_, '_>) -> Done {
    let time = s.limit(2)?;
    let mask = if s.is_null(3)? { None } else { Some(s.words(s.args[3], 1)?[0]) };
    s.with_rest(2, time, |s| s.poll_all(time, mask))
}

/// select(count, readable, writable, exceptional, time).
pub fn select(s: &mut Sys<'_, '_>) -> Done {
    let mut time = None;
    if !s.is_null(4)? {
        let pair = s.words(s.args[4], 2)?;
        let more = u64::try_from(pair[1] as i64).map_err(|_| EINVAL)?;
        // A second of microseconds and more is fine.
        time = Some(micros(pair[0], 0, MICROS)?.saturating_add(more));
    }
    s.with_rest(4, time, |s| s.select(time, None))
}

/// pselect6(count, readable, writable, exceptional, time, signals): these are the address of a mask and its size.
pub fn pselect6(s: &mut Sys<'_, '_>) -> Done {
    let time = s.limit(4)?;
    let signals = if s.is_null(5)? { 0 } else { s.words(s.args[5], 1)?[0] };
    let mask = if signals == 0 { None } else { Some(s.words(Value::Bits(signals), 1)?[0]) };
    s.with_rest(4, time, |s| s.select(time, mask))
}
