//! epoll: descriptors that are watched by an open file of its own. What may be ready is a list, as in the kernel ([`crate::epolls`]): a wait
//! takes it, asks each file ([`super::poll`]), drops those that are not ready, and puts back those that are watched by level.

use super::fd::{MAX_FDS, O_CLOEXEC};
use super::poll::event;
use super::{Done, Sys};
use crate::content::Byte;
use crate::epolls::{AT_EDGES, EXCLUSIVE, Epoll, Key, NO_EVENTS, ONCE, Told, Watch};
use crate::errno::{EBADF, EEXIST, EINVAL, ELOOP, EMFILE, ENOENT, EPERM, Halt};
use crate::input::{Stat, mode};
use crate::state::{Node, NodeId, NodeKind};

/// Read and write.
const BOTH_WAYS: u32 = 2;
/// Bytes of `struct epoll_event`, which is packed.
const EVENT: u64 = 12;
/// Operations of `epoll_ctl`.
const ADD: i32 = 1;
const REMOVE: i32 = 2;
const MODIFY: i32 = 3;
/// How deep instances may watch one another.
const DEEPEST: usize = 4;
/// What an exclusive watch may wait for.
const OF_EXCLUSIVE: u32 = (event::IN | event::OUT | event::ERROR | event::HANG_UP) as u32 | 1 << 29 | AT_EDGES | EXCLUSIVE;

impl Sys<'_, '_> {
    /// A file without a place, for what is open but has no name.
    pub(super) fn open_nameless(&mut self, kind: NodeKind, flags: u32) -> Done {
        if self.world().lowest_free(0) >= MAX_FDS {
            return Err(EMFILE.into());
        }
        let time = self.linux.input.time;
        let world = self.change();
        let (mode, nlink) = if kind == NodeKind::Regular { (mode::REGULAR | 0o777, 0) } else { (0o600, 1) };
        let meta = Stat { nlink, ..super::file::new_meta(super::file::FIRST_INO + world.nodes.len() as u64, mode, time) };
        let node = world.add_node(Node::new(kind, meta));
        if kind == NodeKind::Epoll {
            std::rc::Rc::make_mut(&mut world.epolls).insert(node, Epoll::default());
        }
        self.open_on(node, BOTH_WAYS | (flags & !O_CLOEXEC), flags & O_CLOEXEC != 0)
    }

    /// The open file of a descriptor and its number, and its node.
    fn watched(&self, fd: i32) -> Result<(Key, NodeId), Halt> {
        let (open, _) = self.opened(fd)?;
        let index = self.world().own.fds[fd as usize].ok_or(EBADF)?.open;
        Ok(((index, fd), open.node))
    }

    /// What a watch has to tell now.
    fn events_of(&self, watch: &Watch) -> u16 {
        self.ready_of(&self.world().opens[watch.key.0 as usize], watch.wanted()) & watch.wanted()
    }

    /// Whether an instance has something to tell.
    pub(super) fn has_events(&self, node: NodeId) -> bool {
        let epoll = self.world().epoll(node);
        epoll.ready.iter().any(|key| epoll.watch(*key).is_some_and(|watch| self.events_of(watch) != 0))
    }

    /// How many instances are below this one in a row; more than may be, if `top` is among them.
    fn depth(&self, node: NodeId, top: NodeId, so_far: usize) -> usize {
        let world = self.world();
        let below = world.epoll(node).watches.iter().map(|watch| world.opens[watch.key.0 as usize].node);
        let depths = below.filter(|below| world.node(*below).kind == NodeKind::Epoll).map(|below| match () {
            () if below == top || so_far > DEEPEST => DEEPEST + 1,
            () => 1 + self.depth(below, top, so_far + 1),
        });
        depths.max().unwrap_or(0)
    }

    /// How many instances are above this one in a row.
    fn height(&self, node: NodeId) -> usize {
        let world = self.world();
        let watches = |epoll: &Epoll| epoll.watches.iter().any(|watch| world.opens[watch.key.0 as usize].node == node);
        world.epolls.iter().filter(|(_, epoll)| watches(epoll)).map(|(above, _)| 1 + self.height(*above)).max().unwrap_or(0)
    }

    /// Reads the `struct epoll_event` at argument 3.
    fn event(&mut self) -> Result<(u32, [Byte; 8]), Halt> {
        let at = self.block(self.args[3], EVENT, false)?;
        let events = self.number_in_memory(at, 4, "events to watch")? as u32;
        let mut data = [Byte::Concrete(0); 8];
        data.copy_from_slice(&self.get(at + 4, 8)?);
        Ok((events, data))
    }

    /// Waits for events. `time`: microseconds; `mask`: of signals, meanwhile.
    fn wait_for_events(&mut self, time: Option<u64>, mask: Option<u64>) -> Done {
        let (fd, most) = (self.int(0)?, self.int(2)?);
        let (_, node) = self.watched(fd)?;
        if !(1..=i32::MAX / EVENT as i32).contains(&most) || self.world().node(node).kind != NodeKind::Epoll {
            return Err(EINVAL.into());
        }
        let epoll = self.world().epoll(node);
        let (mut told, mut again, mut once) = (Vec::new(), Vec::new(), Vec::new());
        let mut list = epoll.ready.iter();
        while told.len() < most as usize * EVENT as usize {
            let Some(key) = list.next() else { break };
            let Some(watch) = epoll.watch(*key) else { continue };
            let events = self.events_of(watch);
            if events == 0 {
                continue;
            }
            told.extend(u32::from(events).to_le_bytes().map(Byte::Concrete));
            told.extend(watch.data);
            if watch.events & ONCE != 0 {
                once.push(*key);
            } else if watch.events & AT_EDGES == 0 {
                again.push(*key);
            }
        }
        let ready = list.copied().chain(again).collect();
        let waited = if told.is_empty() { Some(self.wait_in_vain(time, mask)?) } else { None };
        let at = if told.is_empty() { 0 } else { self.block(self.args[1], told.len() as u64, true)? };
        let epoll = self.change().epoll_mut(node);
        epoll.ready = ready;
        for key in once {
            if let Some(watch) = epoll.watch_mut(key) {
                watch.events &= NO_EVENTS;
            }
        }
        if let Some(waited) = waited {
            return waited;
        }
        self.put_bytes(at, &told)?;
        Ok(told.len() as u64 / EVENT)
    }

    /// The mask of signals that is argument 4, its size argument 5.
    fn mask_of_wait(&mut self) -> Result<Option<u64>, Halt> {
        if self.is_null(4)? {
            return Ok(None);
        }
        if self.long(5)? != 8 {
            return Err(EINVAL.into());
        }
        Ok(Some(self.words(self.args[4], 1)?[0]))
    }

    fn milliseconds(&mut self) -> Result<Option<u64>, Halt> {
        let time = self.int(3)?;
        Ok(u64::try_from(time).ok().map(|ms| 1000 * ms))
    }
}

/// epoll_create(size).
pub fn epoll_create(s: &mut Sys<'_, '_>) -> Done {
    if s.int(0)? <= 0 {
        return Err(EINVAL.into());
    }
    s.open_nameless(NodeKind::Epoll, 0)
}

/// epoll_create1(flags).
pub fn epoll_create1(s: &mut Sys<'_, '_>) -> Done {
    let flags = s.int(0)? as u32;
    if flags & !O_CLOEXEC != 0 {
        return Err(EINVAL.into());
    }
    s.open_nameless(NodeKind::Epoll, flags)
}

/// epoll_ctl(instance, operation, descriptor, event).
pub fn epoll_ctl(s: &mut Sys<'_, '_>) -> Done {
    let (instance, operation, fd) = (s.int(0)?, s.int(1)?, s.int(2)?);
    let (events, data) = if operation == REMOVE { (0, [Byte::Concrete(0); 8]) } else { s.event()? };
    let ((own, _), node) = s.watched(instance)?;
    let (key, file) = s.watched(fd)?;
    let kind = s.world().node(file).kind;
    let can_wait = matches!(kind, NodeKind::Pipe { .. } | NodeKind::Output | NodeKind::Socket | NodeKind::Event { .. } | NodeKind::Epoll);
    if !can_wait {
        return Err(EPERM.into());
    }
    if own == key.0 || s.world().node(node).kind != NodeKind::Epoll {
        return Err(EINVAL.into());
    }
    let is_exclusive = operation != REMOVE && events & EXCLUSIVE != 0;
    if is_exclusive && (operation == MODIFY || operation == ADD && (kind == NodeKind::Epoll || events & !OF_EXCLUSIVE != 0)) {
        return Err(EINVAL.into());
    }
    if operation == ADD && kind == NodeKind::Epoll {
        let depth = s.depth(file, node, 0);
        if depth > DEEPEST || depth + 1 + s.height(node) > DEEPEST {
            return Err(ELOOP.into());
        }
    }
    let known = s.world().epoll(node).watch(key).copied();
    let order = known.map_or_else(|| s.world().next_watch(), |known| known.order);
    let watch = Watch { key, events: events | u32::from(event::ERROR | event::HANG_UP), order, data };
    match (operation, known) {
        (ADD, None) => s.change().epoll_mut(node).watches.push(watch),
        (ADD, Some(_)) => return Err(EEXIST.into()),
        (REMOVE | MODIFY, None) => return Err(ENOENT.into()),
        (MODIFY, Some(known)) if known.events & EXCLUSIVE == 0 => {
            if let Some(known) = s.change().epoll_mut(node).watch_mut(key) {
                *known = watch;
            }
        }
        (REMOVE, Some(_)) => {
            s.change().epoll_mut(node).remove(|other| other == key);
            return Ok(0);
        }
        _ => return Err(EINVAL.into()),
    }
    if s.events_of(&watch) != 0 {
        let world = s.change();
        world.epoll_mut(node).may_be_ready(key);
        world.tell(node, Told::All, event::IN);
    }
    Ok(0)
}

/// epoll_wait(instance, events, count, milliseconds).
pub fn epoll_wait(s: &mut Sys<'_, '_>) -> Done {
    let time = s.milliseconds()?;
    s.wait_for_events(time, None)
}

/// epoll_pwait(instance, events, count, milliseconds, signals, size).
pub fn epoll_pwait(s: &mut Sys<'_, '_>) -> Done {
    let (mask, time) = (s.mask_of_wait()?, s.milliseconds()?);
    s.wait_for_events(time, mask)
}

/// epoll_pwait2(instance, events, count, time, signals, size).
pub fn epoll_pwait2(s: &mut Sys<'_, '_>) -> Done {
    let (time, mask) = (s.limit(3)?, s.mask_of_wait()?);
    s.wait_for_events(time, mask)
}
