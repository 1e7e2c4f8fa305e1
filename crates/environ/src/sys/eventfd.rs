//! eventfd: a counter that is read and written as 8 bytes.

use wryneck_exec::{PathEnd, Value};

use super::fd::{O_CLOEXEC, O_NONBLOCK};
use super::poll::event;
use super::{Done, Sys};
use crate::epolls::Told;
use crate::errno::{EAGAIN, EINVAL, RESTARTS};
use crate::state::{NodeId, NodeKind, Open};

/// `EFD_SEMAPHORE`: a read takes one.
const SEMAPHORE: u32 = 1;
/// Bytes of the counter.
const COUNTER: u64 = 8;

impl Sys<'_, '_> {
    /// Reads the counter, which must not be zero.
    pub(super) fn receive_count(&mut self, open: &Open, blocks: &[(Value, Value)]) -> Done {
        let NodeKind::Event { count, semaphore } = self.world().node(open.node).kind else { return Err(EINVAL.into()) };
        if self.asked(blocks)? < COUNTER {
            return Err(EINVAL.into());
        }
        if count == 0 {
            if open.flags & O_NONBLOCK == 0 {
                self.wait(None, RESTARTS, "a read of an `eventfd` that nobody else can count up")?;
            }
            return Err(EAGAIN.into());
        }
        let taken = if semaphore { 1 } else { count };
        let (mut targets, mut left) = (Vec::new(), COUNTER);
        for (pointer, size) in blocks {
            let n = self.count(*size, left)?;
            targets.push((self.block(*pointer, n, true)?, n));
            left -= n;
        }
        let bytes = taken.to_le_bytes();
        let mut rest = &bytes[..];
        for (addr, n) in targets {
            let (part, after) = rest.split_at(n as usize);
            if n > 0 {
                self.put(addr, part)?;
            }
            rest = after;
        }
        self.set_count(open.node, count - taken, semaphore, event::OUT);
        Ok(COUNTER)
    }

    /// Adds to the counter.
    pub(super) fn send_count(&mut self, open: &Open, blocks: &[(Value, Value)]) -> Done {
        let NodeKind::Event { count, semaphore } = self.world().node(open.node).kind else { return Err(EINVAL.into()) };
        let [(pointer, size)] = blocks else {
            return Err(PathEnd::Unsupported("a write of several blocks to an `eventfd`".into()).into());
        };
        if self.cx.concretise(*size, "bytes to read or write")? != COUNTER {
            return Err(EINVAL.into());
        }
        let addr = self.block(*pointer, COUNTER, false)?;
        self.output(addr, COUNTER)?;
        let more = self.words(*pointer, 1)?[0];
        if more == u64::MAX {
            return Err(EINVAL.into());
        }
        if u64::MAX - count <= more {
            if open.flags & O_NONBLOCK == 0 {
                self.wait(None, RESTARTS, "a write to an `eventfd` that nobody else can count down")?;
            }
            return Err(EAGAIN.into());
        }
        self.set_count(open.node, count + more, semaphore, event::IN);
        Ok(COUNTER)
    }

    fn set_count(&mut self, node: NodeId, count: u64, semaphore: bool, events: u16) {
        let world = self.change();
        world.node_mut(node).kind = NodeKind::Event { count, semaphore };
        world.tell(node, Told::All, events);
    }
}

/// What `poll` says of a counter.
pub(super) fn ready(count: u64) -> u16 {
    let readable = if count > 0 { event::IN } else { 0 };
    readable | if count < u64::MAX - 1 { event::OUT } else { 0 }
}

/// eventfd(count).
pub fn eventfd(s: &mut Sys<'_, '_>) -> Done {
    let count = s.int(0)? as u32;
    s.open_nameless(NodeKind::Event { count: count.into(), semaphore: false }, 0)
}

/// eventfd2(count, flags).
pub fn eventfd2(s: &mut Sys<'_, '_>) -> Done {
    let (count, flags) = (s.int(0)? as u32, s.int(1)? as u32);
    if flags & !(O_CLOEXEC | O_NONBLOCK | SEMAPHORE) != 0 {
        return Err(EINVAL.into());
    }
    s.open_nameless(NodeKind::Event { count: count.into(), semaphore: flags & SEMAPHORE != 0 }, flags & !SEMAPHORE)
}
