//! What a path knows of its epoll instances ([`crate::sys::epoll`]): what each watches, and which of that the kernel has on its list of what
//! may be ready. The list is in the kernel's order, so events come in the order in which they come natively.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use wryneck_expr::ExprId;

use crate::content::Byte;
use crate::state::{NodeId, World};
use crate::sys::fd::{O_ACCMODE, O_RDONLY};
use crate::sys::poll::event;

/// What a watched descriptor is known by: its open file, and its number when it was added.
pub type Key = (u32, i32);

/// Bits of a watch that are no events: exclusive, wakes the system up, once, at edges.
pub const EXCLUSIVE: u32 = 1 << 28;
pub const ONCE: u32 = 1 << 30;
pub const AT_EDGES: u32 = 1 << 31;
pub const NO_EVENTS: u32 = 0xf << 28;

/// A watched descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    pub key: Key,
    pub events: u32,
    /// Grows with each watch that is added, of whatever instance.
    pub order: u32,
    /// What the program wants to be told.
    pub data: [Byte; 8],
}

impl Watch {
    /// The events that are waited for.
    pub fn wanted(&self) -> u16 {
        self.events as u16
    }
}

/// An epoll instance.
#[derive(Clone, Debug, Default)]
pub struct Epoll {
    /// In the order in which they were added.
    pub watches: Vec<Watch>,
    /// What may be ready.
    pub ready: Vec<Key>,
}

impl Epoll {
    pub fn watch(&self, key: Key) -> Option<&Watch> {
        self.watches.iter().find(|watch| watch.key == key)
    }

    pub fn watch_mut(&mut self, key: Key) -> Option<&mut Watch> {
        self.watches.iter_mut().find(|watch| watch.key == key)
    }

    pub fn remove(&mut self, gone: impl Fn(Key) -> bool) {
        self.watches.retain(|watch| !gone(watch.key));
        self.ready.retain(|key| !gone(*key));
    }

    pub fn may_be_ready(&mut self, key: Key) {
        if !self.ready.contains(&key) {
            self.ready.push(key);
        }
    }

    pub fn data_mut(&mut self) -> impl Iterator<Item = &mut Byte> {
        self.watches.iter_mut().flat_map(|watch| &mut watch.data)
    }

    pub fn exprs(&self) -> impl Iterator<Item = ExprId> + '_ {
        let bytes = self.watches.iter().flat_map(|watch| watch.data);
        bytes.filter_map(|byte| match byte {
            Byte::Concrete(_) => None,
            Byte::Symbolic(e) => Some(e),
        })
    }

    pub fn hash_into(&self, mut h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64) {
        self.ready.hash(&mut h);
        for watch in &self.watches {
            (watch.key, watch.events, watch.order).hash(&mut h);
            for byte in watch.data {
                h.write_u64(match byte {
                    Byte::Concrete(b) => b.into(),
                    Byte::Symbolic(e) => hash_expr(e),
                });
            }
        }
    }
}

/// Who is told of what happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Who reads the pipe, or who writes it.
    Readers,
    Writers,
    All,
}

impl World {
    pub fn epoll(&self, node: NodeId) -> &Epoll {
        self.epolls.get(&node).expect("every node of this kind is entered")
    }

    pub fn epoll_mut(&mut self, node: NodeId) -> &mut Epoll {
        Rc::make_mut(&mut self.epolls).get_mut(&node).expect("every node of this kind is entered")
    }

    /// Something happened to a file: watches that wait for one of these events may be ready. Without events: all of them.
    pub fn tell(&mut self, node: NodeId, whom: Told, events: u16) {
        let mut told = Vec::new();
        for (epoll, instance) in self.epolls.iter() {
            let hears = |watch: &&Watch| {
                let open = &self.opens[watch.key.0 as usize];
                let way = match whom {
                    Told::Readers => open.flags & O_ACCMODE == O_RDONLY,
                    Told::Writers => open.flags & O_ACCMODE != O_RDONLY,
                    Told::All => true,
                };
                let waits = watch.events & !NO_EVENTS != 0 && (events == 0 || events & watch.wanted() != 0);
                open.node == node && way && waits
            };
            // The kernel tells the last one first, and exclusive ones at the end.
            let place = |watch: &Watch| if watch.events & EXCLUSIVE != 0 { (1, watch.order) } else { (0, u32::MAX - watch.order) };
            told.extend(instance.watches.iter().filter(hears).map(|watch| (place(watch), *epoll, watch.key)));
        }
        told.sort_unstable();
        for (_, epoll, key) in told {
            self.epoll_mut(epoll).may_be_ready(key);
            self.tell(epoll, Told::All, event::IN);
        }
    }

    /// The order of the next watch.
    pub fn next_watch(&self) -> u32 {
        self.epolls.values().flat_map(|epoll| &epoll.watches).map(|watch| watch.order + 1).max().unwrap_or(0)
    }

    /// The last descriptor of an open file is closed: nobody watches it any more.
    pub fn unwatch(&mut self, open: u32) {
        if self.epolls.values().any(|epoll| epoll.watches.iter().any(|watch| watch.key.0 == open)) {
            Rc::make_mut(&mut self.epolls).values_mut().for_each(|epoll| epoll.remove(|(of, _)| of == open));
        }
    }
}
