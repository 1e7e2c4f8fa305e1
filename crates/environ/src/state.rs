//! The environment's data on a path: descriptors, files, directories, clock, masks. Forks share everything large.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use wryneck_exec::{Cx, PathData};
use wryneck_expr::{Evaluator, ExprId, Model, Pool, Remap};

use crate::content::{Byte, Content};
use crate::epolls::Epoll;
use crate::input::{Stat, mode};
use crate::observed::Observed;
use crate::processes::{Own, Processes};
pub use crate::sockets::{Connection, Socket, SocketState};
use crate::threads::Threads;

/// Index into [`World::nodes`].
pub type NodeId = u32;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    Regular,
    Directory,
    /// A symbolic link.
    Link,
    /// `taken` bytes have been read; so many open files can still write, and read.
    Pipe {
        taken: u64,
        writers: u32,
        readers: u32,
    },
    /// Standard output and error: write only.
    Output,
    /// `/dev/null` and its like: reads nothing, keeps nothing.
    Null,
    /// `/dev/zero`, `/dev/urandom`: endless.
    Endless,
    /// `/dev/full`: endless, and without room for what is written.
    Full,
    /// See [`World::sockets`].
    Socket,
    /// `eventfd`: its counter, and whether a read takes one of it or all.
    Event {
        count: u64,
        semaphore: bool,
    },
    /// See [`World::epolls`].
    Epoll,
}

/// What a path knows of a directory better than the host: a node by its name there, or that there is nothing of that name. A
/// symbolic name stands here by its [`key`].
pub type Entries = BTreeMap<Rc<[u8]>, Option<NodeId>>;

/// What of a file's metadata is symbolic, until the program sets it to something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymbolicMeta {
    /// Kind and permissions, 32 bits.
    pub mode: Option<ExprId>,
    /// Owners, 32 bits each.
    pub uid: Option<ExprId>,
    pub gid: Option<ExprId>,
    /// Seconds, 64 bits.
    pub atime: Option<ExprId>,
    pub mtime: Option<ExprId>,
}

impl SymbolicMeta {
    fn all(&mut self) -> impl Iterator<Item = &mut ExprId> {
        [&mut self.mode, &mut self.uid, &mut self.gid, &mut self.atime, &mut self.mtime].into_iter().flatten()
    }
}

/// A file that this path has opened, made or changed: an inode. Names are in directories alone, so that a file may have several.
#[derive(Clone)]
pub struct Node {
    pub kind: NodeKind,
    pub content: Content,
    /// The length that the content began with is input.
    pub any_length: bool,
    /// Size and kind in it are not used: see [`Node::stat`]. Of a directory that was removed, no links.
    pub meta: Stat,
    pub symbolic: SymbolicMeta,
    /// Of a symbolic link, where it leads.
    pub target: Rc<[u8]>,
    /// Of a directory.
    pub entries: Rc<Entries>,
    /// The directory that `..` is.
    pub parent: NodeId,
    /// Its path on the host, if the host has it; what the host has below it shows through.
    pub host: Option<Rc<[u8]>>,
}

impl Node {
    /// A file without content or names.
    pub fn new(kind: NodeKind, meta: Stat) -> Node {
        Node {
            kind,
            content: Content::default(),
            any_length: false,
            meta,
            symbolic: SymbolicMeta::default(),
            target: Rc::from(&b""[..]),
            entries: Rc::default(),
            parent: ROOT,
            host: None,
        }
    }

    /// Calls `f` with every expression in the file.
    fn for_each_expr(&self, f: &mut dyn FnMut(ExprId)) {
        self.content.for_each_expr(f);
        self.symbolic.clone().all().for_each(|e| f(*e));
    }

    pub fn stat(&self) -> Stat {
        let kind = match self.kind {
            NodeKind::Regular => mode::REGULAR,
            NodeKind::Directory => mode::DIRECTORY,
            NodeKind::Link => mode::LINK,
            NodeKind::Pipe { .. } | NodeKind::Output => mode::FIFO,
            NodeKind::Null | NodeKind::Endless | NodeKind::Full => mode::CHARACTER,
            NodeKind::Socket => mode::SOCKET,
            NodeKind::Event { .. } | NodeKind::Epoll => 0,
        };
        let size = match self.kind {
            NodeKind::Regular => self.content.len(),
            NodeKind::Directory => self.meta.size,
            NodeKind::Link => self.target.len() as u64,
            _ => 0,
        };
        Stat { mode: kind | (self.meta.mode & !mode::KIND), size, ..self.meta }
    }
}

/// An open file description: what `dup` shares.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Open {
    pub node: NodeId,
    /// Bytes; of a directory, entries.
    pub offset: u64,
    /// The flags `open` was given, without those that act once.
    pub flags: u32,
    /// Descriptors that stand for it.
    pub refs: u32,
    /// By `flock`.
    pub lock: Lock,
}

/// What an open file asks of the others of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lock {
    None,
    Shared,
    Exclusive,
}

impl Lock {
    pub fn excludes(self, wanted: Lock) -> bool {
        match (self, wanted) {
            (Lock::None, _) | (_, Lock::None) | (Lock::Shared, Lock::Shared) => false,
            (Lock::Exclusive, _) | (_, Lock::Exclusive) => true,
        }
    }
}

/// A descriptor.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Fd {
    /// Index into [`World::opens`].
    pub open: u32,
    pub close_on_exec: bool,
}

/// The path data of the environment.
#[derive(Clone)]
pub struct World {
    /// What belongs to the running process.
    pub own: Own,
    pub opens: Vec<Open>,
    pub nodes: Vec<Rc<Node>>,
    /// What nodes of the kind [`NodeKind::Socket`] are.
    pub sockets: Rc<BTreeMap<NodeId, Socket>>,
    /// Clients that have not connected yet: ports, and the sockets that the program will accept.
    pub clients: Rc<Vec<(u16, NodeId)>>,
    /// Datagrams that have not been received yet: ports, from which port, and pipes that hold them.
    pub datagrams: Rc<Vec<(u16, u16, NodeId)>>,
    /// What nodes of the kind [`NodeKind::Epoll`] are.
    pub epolls: Rc<BTreeMap<NodeId, Epoll>>,
    /// Calls that may yet fail though they need not.
    pub may_fail: u32,
    /// Microseconds the clock has moved on.
    pub ticks: u64,
    /// Bytes of randomness given out.
    pub random: u64,
    /// What the program was given, in words, by address.
    pub given: Rc<BTreeMap<u64, Rc<str>>>,
    /// Descriptor 1 or 2 was closed by the program itself or replaced, or one of 0 to 2 was used when closed.
    pub standard_moved: bool,
    /// Descriptor 0 was closed by the program itself or replaced.
    pub input_moved: bool,
    /// A system call was given a descriptor that was not open.
    pub bad_descriptor: bool,
    /// Symbolic names of files made on this path: 8-bit bytes, zeros after the name. Each differs from all others in its directory.
    pub names: Rc<Vec<Rc<[ExprId]>>>,
    pub processes: Rc<Processes>,
    /// The program has made memory that its children would share.
    pub shares_memory: bool,
    /// What this path asked of the world outside, in its order; empty unless facts are noted.
    pub observed: Rc<Vec<Observed>>,
}

/// What stands for a symbolic name, an index into [`World::names`], in [`Entries`] and in paths. A real name has no zero byte.
pub fn key(index: usize) -> Vec<u8> {
    format!("\0{index}").into_bytes()
}

pub const STDOUT: NodeId = 1;
pub const STDERR: NodeId = 2;
pub const ROOT: NodeId = 3;

/// A mapping of a file.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Mapping {
    /// Bytes.
    pub len: u64,
    pub node: NodeId,
    /// Where in the file it begins.
    pub offset: u64,
    /// What the program writes there, the file gets.
    pub shared: bool,
    /// It may be written.
    pub writable: bool,
}

impl World {
    /// The running path's world.
    pub fn of<'c>(cx: &'c Cx<'_>) -> &'c World {
        cx.state.env()
    }

    /// The running path's world, to change: nothing may be decided afterwards.
    pub fn change<'c>(cx: &'c mut Cx<'_>) -> &'c mut World {
        cx.state.dirty = true;
        cx.state.env_mut()
    }

    /// Says what an object is that the program is given, for messages.
    pub fn name_given(&mut self, at: u64, what: impl Into<Rc<str>>) {
        Rc::make_mut(&mut self.given).insert(at, what.into());
    }

    /// The environment's part of what a path left behind.
    pub fn left_by(data: &dyn PathData) -> Option<&World> {
        data.as_any().downcast_ref()
    }

    pub fn add_node(&mut self, node: Node) -> NodeId {
        self.nodes.push(Rc::new(node));
        self.nodes.len() as NodeId - 1
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        Rc::make_mut(&mut self.nodes[id as usize])
    }

    /// What the path wrote to standard output ([`STDOUT`]) or error ([`STDERR`]), under a model.
    pub fn written(&self, which: NodeId, pool: &Pool, model: &Model) -> Vec<u8> {
        let mut eval = Evaluator::default();
        let bytes = self.node(which).content.read(0, u64::MAX).into_iter();
        bytes
            .map(|b| match b {
                Byte::Concrete(b) => b,
                Byte::Symbolic(e) => eval.eval(pool, e, model) as u8,
            })
            .collect()
    }

    /// The lowest descriptor not in use, at least `from`.
    pub fn lowest_free(&self, from: usize) -> usize {
        (from..).find(|&i| self.own.fds.get(i).is_none_or(Option::is_none)).expect("descriptors are fewer than numbers")
    }

    /// A descriptor is closed by the program itself, or open on something new.
    pub fn moved(&mut self, number: usize) {
        self.standard_moved |= matches!(number, 1 | 2);
        self.input_moved |= number == 0;
    }

    /// Puts a descriptor in place.
    pub fn set_fd(&mut self, number: usize, fd: Fd) {
        if self.own.fds.len() <= number {
            self.own.fds.resize(number + 1, None);
        }
        self.own.fds[number] = Some(fd);
    }

    /// Opens a node on the lowest free descriptor.
    pub fn open_node(&mut self, node: NodeId, flags: u32, close_on_exec: bool) -> usize {
        let number = self.lowest_free(0);
        let open = self.opens.len() as u32;
        self.opens.push(Open { node, offset: 0, flags, refs: 1, lock: Lock::None });
        self.set_fd(number, Fd { open, close_on_exec });
        number
    }

    /// The open file a descriptor stands for.
    pub fn open_of(&self, fd: i32) -> Option<&Open> {
        let fd = self.own.fds.get(usize::try_from(fd).ok()?)?.as_ref()?;
        Some(&self.opens[fd.open as usize])
    }

    pub fn open_of_mut(&mut self, fd: i32) -> Option<&mut Open> {
        let fd = (*self.own.fds.get(usize::try_from(fd).ok()?)?)?;
        Some(&mut self.opens[fd.open as usize])
    }

    /// Makes a name in a directory stand for a node, or for nothing.
    pub fn set_name(&mut self, directory: NodeId, name: &[u8], node: Option<NodeId>) {
        Rc::make_mut(&mut self.node_mut(directory).entries).insert(name.into(), node);
    }

    /// The bytes of the symbolic name that a name of a directory is the key of.
    pub fn symbolic_name(&self, name: &[u8]) -> Option<&Rc<[ExprId]>> {
        let index = std::str::from_utf8(name.strip_prefix(b"\0")?).ok()?;
        self.names.get(index.parse::<usize>().ok()?)
    }

    /// The absolute path of a directory, with keys for symbolic names; `None` if it was removed.
    pub fn path_of(&self, directory: NodeId) -> Option<Vec<u8>> {
        let (mut parts, mut at) = (Vec::new(), directory);
        while at != ROOT {
            let parent = self.node(at).parent;
            parts.push(self.node(parent).entries.iter().find(|(_, node)| **node == Some(at))?.0.clone());
            at = parent;
        }
        let mut path = Vec::new();
        for part in parts.iter().rev() {
            path.push(b'/');
            path.extend(&**part);
        }
        if path.is_empty() {
            path.push(b'/');
        }
        Some(path)
    }
}

impl World {
    /// The threads of all processes.
    fn all_threads(&self) -> impl Iterator<Item = &Rc<Threads>> {
        [&self.own.threads].into_iter().chain(self.processes.threads())
    }
}

impl PathData for World {
    fn for_each_expr(&self, f: &mut dyn FnMut(ExprId)) {
        for node in &self.nodes {
            node.for_each_expr(f);
        }
        self.names.iter().flat_map(|name| name.iter()).for_each(|e| f(*e));
        self.epolls.values().flat_map(Epoll::exprs).for_each(&mut *f);
        self.all_threads().for_each(|threads| threads.for_each_expr(f));
    }
    fn remap(&mut self, map: &Remap) {
        for node in &mut self.nodes {
            let mut any = false;
            node.for_each_expr(&mut |_| any = true);
            if any {
                let node = Rc::make_mut(node);
                node.content.remap(map);
                for e in node.symbolic.all() {
                    *e = map.get(*e).expect("every expression of path data is a root of a compaction");
                }
            }
        }
        if !self.names.is_empty() {
            let kept = |e: &ExprId| map.get(*e).expect("every expression of path data is a root of a compaction");
            self.names = Rc::new(self.names.iter().map(|name| name.iter().map(kept).collect()).collect());
        }
        if self.epolls.values().any(|epoll| epoll.exprs().next().is_some()) {
            for byte in Rc::make_mut(&mut self.epolls).values_mut().flat_map(Epoll::data_mut) {
                if let Byte::Symbolic(e) = byte {
                    *e = map.get(*e).expect("every expression of path data is a root of a compaction");
                }
            }
        }
        let mut any = false;
        self.all_threads().for_each(|threads| threads.for_each_expr(&mut |_| any = true));
        if any {
            Rc::make_mut(&mut self.own.threads).remap(map);
            Rc::make_mut(&mut self.processes).threads_mut().for_each(|threads| Rc::make_mut(threads).remap(map));
        }
    }
    fn hash_into(&self, mut h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64) {
        self.opens.hash(&mut h);
        self.sockets.hash(&mut h);
        (&self.clients, &self.datagrams).hash(&mut h);
        (self.standard_moved, self.input_moved, self.bad_descriptor).hash(&mut h);
        self.own.hash(&mut h);
        (self.may_fail, self.ticks, self.random).hash(&mut h);
        for node in &self.nodes {
            node.kind.hash(&mut h);
            node.entries.hash(&mut h);
            node.target.hash(&mut h);
            (node.host.as_ref(), node.parent, node.meta.mode, node.meta.nlink).hash(&mut h);
            node.symbolic.clone().all().for_each(|e| h.write_u64(hash_expr(*e)));
            node.content.hash_into(h, hash_expr);
        }
        self.names.iter().flat_map(|name| name.iter()).for_each(|e| h.write_u64(hash_expr(*e)));
        for (node, epoll) in self.epolls.iter() {
            node.hash(&mut h);
            epoll.hash_into(h, hash_expr);
        }
        (&self.processes, self.shares_memory).hash(&mut h);
        self.all_threads().for_each(|threads| threads.hash_into(h, hash_expr));
    }
}
