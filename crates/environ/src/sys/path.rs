//! File paths: read from the program, and walked name by name as the kernel does (`fs/namei.c`), over the files of this path of execution
//! and, below them, the host's.
//!
//! Walking changes nothing: a host file stays the host's until [`Sys::adopt`]. Walking decides only whether a name equals that of a file
//! created under a symbolic name. Before that, [`super::spelling`] has decided which file a symbolic path leads to.

use std::rc::Rc;

use wryneck_exec::{LedgerKind, PathEnd, Value, heap_calls, seed};
use wryneck_expr::ExprId;

use super::Sys;
use super::file::device;
use crate::errno::{EACCES, EFAULT, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, Halt};
use crate::input::{Stat, mode};
use crate::state::{Node, NodeId, NodeKind, ROOT};

/// The directory a relative path starts at: the working directory.
pub const AT_FDCWD: i32 = -100;
pub const PATH_MAX: usize = 4096;
pub const NAME_MAX: usize = 255;
/// Symbolic links followed on one walk.
const MAX_LINKS: u32 = 40;

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// One that this path of execution knows.
    Node(NodeId),
    /// One of the host: its path there, and what `lstat` says.
    Host(Rc<[u8]>, Stat),
}

/// The last part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    Name,
    Root,
    Dot,
    DotDot,
}

/// What a walk does with a symbolic link that the last name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    Yes,
    /// Only if a slash follows it.
    No,
    /// Never: the name itself is meant. `makes`: also where there is none, which otherwise fails like a directory that is not there.
    Name {
        makes: bool,
    },
    /// To open a file that may have to be made: a slash after its name is `EISDIR`. `follow`: as in [`Follow::Yes`].
    Make {
        follow: bool,
    },
}

/// A path as the program gave it: its bytes, and the directory a relative one starts at.
#[derive(Clone, Debug)]
pub struct Given {
    at: i32,
    name: Vec<u8>,
}

impl Given {
    /// A path from the working directory.
    pub fn here(name: &[u8]) -> Given {
        Given { at: AT_FDCWD, name: name.to_vec() }
    }

    pub fn from(at: i32, name: Vec<u8>) -> Given {
        Given { at, name }
    }

    pub fn name(&self) -> &[u8] {
        &self.name
    }
}

/// Where a walk ended.
#[derive(Clone, Debug)]
pub struct Found {
    /// The directories, each with its name in the one before: from one that is a node to the one with the last name.
    way: Vec<(Vec<u8>, Place)>,
    pub name: Vec<u8>,
    pub last: Last,
    /// A slash follows the last name.
    pub slash: bool,
    /// See [`Found::entry`].
    place: Option<Place>,
}

impl Found {
    /// The directory that has the last name, or is the path's end.
    pub fn directory(&self) -> &Place {
        &self.way.last().expect("a walk starts somewhere").1
    }

    /// The file, if there is one. Only here does the kernel look for the last name, which may be too long.
    pub fn entry(&self) -> Result<Option<&Place>, Halt> {
        if self.name.len() > NAME_MAX { Err(ENAMETOOLONG.into()) } else { Ok(self.place.as_ref()) }
    }

    /// The file, which must be there.
    pub fn there(&self) -> Result<&Place, Halt> {
        self.entry()?.ok_or(ENOENT.into())
    }
}

/// `name` seen from the directory `base` (absolute).
fn below(base: &[u8], name: &[u8]) -> Rc<[u8]> {
    let base = if base == b"/" { &b""[..] } else { base };
    [base, b"/", name].concat().into()
}

/// Splits a path at its first slashes: the first part, and what comes after the slashes, if there are any.
fn first_part(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(end) = path.iter().position(|b| *b == b'/') else { return (path, None) };
    (&path[..end], Some(skip_slashes(&path[end..])))
}

fn skip_slashes(path: &[u8]) -> &[u8] {
    &path[path.iter().take_while(|b| **b == b'/').count()..]
}

/// What the ledger calls a system call without a row.
pub fn name_of_unknown(number: u64) -> String {
    match NAMES.binary_search_by_key(&number, |(n, _)| *n) {
        Ok(i) => format!("{} ({number})", NAMES[i].1),
        Err(_) => format!("number {number}"),
    }
}

/// Names of the system calls programs most often make and we do not model.
#[rustfmt::skip]
static NAMES: &[(u64, &str)] = &[
    (15, "rt_sigreturn"), (29, "shmget"), 
    (98, "getrusage"), (100, "times"),
    (132, "utime"), (161, "chroot"), (165, "mount"), (187, "readahead"),
    (213, "epoll_create"), (232, "epoll_wait"), (233, "epoll_ctl"), 
    (275, "splice"), (276, "tee"), (435, "clone3"),
];

impl Sys<'_, '_> {
    /// The path string at a pointer, seen from the directory `at`, to be walked likewise. Decides.
    pub fn given(&mut self, at: i32, pointer: Value, follow: Follow) -> Result<Given, Halt> {
        let bytes = self.string(pointer)?;
        let name = match self.concrete(&bytes) {
            Some(name) => name,
            None => match self.named(&bytes)? {
                Some(name) => name,
                None => self.symbolic_path(at, &bytes, follow)?,
            },
        };
        if name.len() >= PATH_MAX { Err(ENAMETOOLONG.into()) } else { Ok(Given { at, name }) }
    }

    /// The input's name, if there is one and the path takes it. What that asserts is noted: which file a name leads to is the world's.
    fn named(&mut self, bytes: &[ExprId]) -> Result<Option<Vec<u8>>, Halt> {
        let before = self.cx.state.path.len();
        let name = seed::seeded_string(self.cx, bytes)?;
        if name.is_some() {
            self.linux.captured.note_named(before..self.cx.state.path.len());
        }
        Ok(name)
    }

    /// The string at a pointer, up to its first byte that is surely zero.
    pub fn string(&mut self, pointer: Value) -> Result<Vec<ExprId>, Halt> {
        if matches!(pointer, Value::Bits(addr) if addr < wryneck_exec::ground::memory::NULL_PAGE) {
            return Err(EFAULT.into());
        }
        Ok(heap_calls::c_string(self.cx, pointer)?)
    }

    pub fn concrete(&self, bytes: &[ExprId]) -> Option<Vec<u8>> {
        bytes.iter().map(|b| self.cx.core.pool.as_u64(*b).map(|b| b as u8)).collect()
    }

    /// Reads and walks a path.
    pub fn path(&mut self, at: i32, pointer: Value, follow: Follow) -> Result<Found, Halt> {
        let given = self.given(at, pointer, follow)?;
        self.walk(&given, follow)
    }

    fn start(&self, given: &Given) -> Result<NodeId, Halt> {
        match (given.name.first(), given.at) {
            (Some(b'/'), _) => Ok(ROOT),
            (_, AT_FDCWD) => Ok(self.world().own.working_directory),
            (_, fd) => {
                let (open, node) = self.opened_any(fd)?;
                if node.kind == NodeKind::Directory { Ok(open.node) } else { Err(ENOTDIR.into()) }
            }
        }
    }

    /// What a path leads to. Changes nothing; decides where it comes across a symbolic name.
    pub fn walk(&mut self, given: &Given, follow: Follow) -> Result<Found, Halt> {
        if given.name.is_empty() {
            return Err(ENOENT.into());
        }
        self.note_start(&given.name, given.at);
        if let Some(fd) = descriptor_named(&given.name) {
            self.linux.captured.note_unknown("a descriptor that is opened by its name");
            let place = Place::Node(self.world().open_of(fd).ok_or(ENOENT)?.node);
            let way = vec![(Vec::new(), Place::Node(ROOT))];
            return Ok(Found { way, name: given.name.clone(), last: Last::Name, slash: false, place: Some(place) });
        }
        let mut way = vec![(Vec::new(), Place::Node(self.start(given)?))];
        let mut rest = skip_slashes(&given.name).to_vec();
        let mut links = 0;
        loop {
            if rest.is_empty() {
                let place = way.last().map(|(_, place)| place.clone());
                return Ok(Found { way, name: Vec::new(), last: Last::Root, slash: false, place });
            }
            let (part, after) = first_part(&rest);
            let (part, slash, after) = (part.to_vec(), after.is_some(), after.unwrap_or_default().to_vec());
            let directory = way.last().expect("a walk starts somewhere").1.clone();
            self.may_search(&directory)?;
            let last = match &part[..] {
                b"." => Last::Dot,
                b".." => Last::DotDot,
                _ => Last::Name,
            };
            if last != Last::Name {
                if last == Last::DotDot {
                    self.go_up(&mut way);
                }
                if after.is_empty() {
                    let place = way.last().map(|(_, place)| place.clone());
                    return Ok(Found { way, name: part, last, slash, place });
                }
                rest = after;
                continue;
            }
            let is_last = after.is_empty();
            let follows = match follow {
                Follow::Yes => true,
                Follow::No => slash,
                Follow::Name { .. } => false,
                Follow::Make { .. } if is_last && slash => return Err(EISDIR.into()),
                Follow::Make { follow } => follow,
            };
            if part.len() > NAME_MAX {
                if is_last {
                    return Ok(Found { way, name: part, last, slash, place: None });
                }
                return Err(ENAMETOOLONG.into());
            }
            let place = self.entry(&directory, &part)?;
            match &place {
                Some(link) if self.kind_of(link) == mode::LINK && (!is_last || follows) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(ELOOP.into());
                    }
                    let target = self.target_of(link)?;
                    if target.is_empty() {
                        return Err(ENOENT.into());
                    }
                    if target.starts_with(b"/") {
                        way = vec![(Vec::new(), Place::Node(ROOT))];
                    }
                    let mut next = skip_slashes(&target).to_vec();
                    if slash {
                        next.push(b'/');
                        next.extend(after);
                    }
                    rest = skip_slashes(&next).to_vec();
                }
                _ if is_last => {
                    let wrong = slash
                        && !matches!(follow, Follow::Name { .. })
                        && place.as_ref().is_some_and(|p| self.kind_of(p) != mode::DIRECTORY);
                    return if wrong { Err(ENOTDIR.into()) } else { Ok(Found { way, name: part, last, slash, place }) };
                }
                None => return Err(ENOENT.into()),
                Some(directory) if self.kind_of(directory) == mode::DIRECTORY => {
                    way.push((part, directory.clone()));
                    rest = after;
                }
                Some(_) => return Err(ENOTDIR.into()),
            }
        }
    }

    /// `..`: the first of a way is a node, which knows its parent.
    fn go_up(&self, way: &mut Vec<(Vec<u8>, Place)>) {
        match way.as_slice() {
            [(_, Place::Node(id))] => way[0].1 = Place::Node(self.world().node(*id).parent),
            _ => _ = way.pop(),
        }
    }

    /// The file of a name in a directory. Decides if that may be a file's with a symbolic name.
    fn entry(&mut self, directory: &Place, name: &[u8]) -> Result<Option<Place>, Halt> {
        let known = self.known_entry(directory, name)?;
        if name.starts_with(b"\0") {
            return Ok(known);
        }
        self.note_process(directory, name);
        let (Place::Node(id), None | Some(Place::Host(..))) = (directory, &known) else { return Ok(known) };
        for (symbolic, node) in self.symbolic_entries(*id) {
            let same = self.is_name(&symbolic, name);
            if self.cx.decide(same)? {
                return Ok(Some(Place::Node(node)));
            }
        }
        Ok(known)
    }

    /// What the kernel says of processes below `/proc` is said of those of the host, where the program is none.
    fn note_process(&mut self, directory: &Place, name: &[u8]) {
        let of_process = name == b"self" || name == b"thread-self" || name.iter().all(u8::is_ascii_digit);
        let at = match directory {
            Place::Host(path, _) => Some(&**path),
            Place::Node(id) => self.world().node(*id).host.as_deref(),
        };
        if of_process && at == Some(b"/proc".as_slice()) {
            const UNKNOWN: &str = "`/proc` does not know the program's own process";
            // Where facts are noted, no answer below `/proc` is one that can be checked.
            if self.notes() {
                self.cx.core.ledger.note(LedgerKind::FailedModel, UNKNOWN);
            } else {
                self.fails(UNKNOWN);
            }
        }
    }

    /// The files with symbolic names in a directory.
    fn symbolic_entries(&self, directory: NodeId) -> Vec<(Rc<[ExprId]>, NodeId)> {
        let world = self.world();
        if world.names.is_empty() {
            return Vec::new();
        }
        let entries = world.node(directory).entries.iter();
        entries.filter_map(|(name, node)| Some((world.symbolic_name(name)?.clone(), (*node)?))).collect()
    }

    /// As [`Sys::entry`], by the names that are known, keys of symbolic ones among them. Decides nothing.
    fn known_entry(&self, directory: &Place, name: &[u8]) -> Result<Option<Place>, Halt> {
        let host = match directory {
            Place::Host(path, _) => path,
            Place::Node(id) => {
                let node = self.world().node(*id);
                match (node.entries.get(name), &node.host) {
                    (Some(known), _) => return Ok(known.map(Place::Node)),
                    (None, None) => return Ok(None),
                    (None, Some(host)) => host,
                }
            }
        };
        if name.starts_with(b"\0") {
            return Ok(None);
        }
        let path = below(host, name);
        match self.linux.captured.stat(&path, false) {
            Ok(stat) => Ok(Some(self.known(&stat).map_or(Place::Host(path, stat), Place::Node))),
            Err(e) if e == ENOENT => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// The node of a file of the host that has several names, if another one was adopted.
    fn known(&self, stat: &Stat) -> Option<NodeId> {
        if stat.nlink < 2 || stat.mode & mode::KIND == mode::DIRECTORY {
            return None;
        }
        let same = |n: &Rc<Node>| n.host.is_some() && (n.meta.dev, n.meta.ino) == (stat.dev, stat.ino);
        self.world().nodes.iter().position(same).map(|i| i as NodeId)
    }

    pub fn stat_of(&self, place: &Place) -> Stat {
        match place {
            Place::Node(id) => self.world().node(*id).stat(),
            Place::Host(_, stat) => *stat,
        }
    }

    /// One of [`mode`]'s kinds.
    pub fn kind_of(&self, place: &Place) -> u32 {
        self.stat_of(place).mode & mode::KIND
    }

    /// Where a symbolic link leads.
    pub fn target_of(&self, link: &Place) -> Result<Rc<[u8]>, Halt> {
        match link {
            Place::Node(id) => Ok(self.world().node(*id).target.clone()),
            Place::Host(path, _) => Ok(self.linux.captured.link(path)?),
        }
    }

    fn may_search(&self, directory: &Place) -> Result<(), Halt> {
        if self.permits(&self.stat_of(directory), 1) { Ok(()) } else { Err(EACCES.into()) }
    }

    /// The directory at the end of a way becomes a node, and those before it.
    pub fn adopt_directory(&mut self, found: &Found) -> Result<NodeId, Halt> {
        let mut id = ROOT;
        for (name, place) in &found.way {
            id = self.adopt(id, name, place, None)?;
        }
        Ok(id)
    }

    /// The node of what was found; a file of the host becomes one, so that it can be opened or changed.
    pub fn node_of(&mut self, found: &Found) -> Result<NodeId, Halt> {
        let place = found.there()?.clone();
        if let Place::Node(id) = place {
            return Ok(id);
        }
        // Decided before anything changes.
        let len = self.length_of_host(&place)?;
        let directory = self.adopt_directory(found)?;
        // Behind `.` and `..`, the directory itself was meant.
        if found.last == Last::Name { self.adopt(directory, &found.name, &place, len) } else { Ok(directory) }
    }

    /// `len`: the length of a file's content, where that is input.
    fn adopt(&mut self, directory: NodeId, name: &[u8], place: &Place, len: Option<u64>) -> Result<NodeId, Halt> {
        let (path, stat) = match place {
            Place::Node(id) => return Ok(*id),
            Place::Host(path, stat) => (path, stat),
        };
        // Another walk may have adopted it since this one.
        if let Some(Place::Node(id)) = self.known_entry(&Place::Node(directory), name)? {
            return Ok(id);
        }
        let kind = match (stat.mode & mode::KIND, device(path)) {
            (_, Some(kind)) => {
                if matches!(kind, NodeKind::Endless | NodeKind::Full) {
                    self.linux.captured.note_unknown("what a device gives");
                }
                kind
            }
            (mode::REGULAR, None) => NodeKind::Regular,
            (mode::DIRECTORY, None) => NodeKind::Directory,
            (mode::LINK, None) => NodeKind::Link,
            _ => return Err(PathEnd::Unsupported(format!("use of the device `{}`", String::from_utf8_lossy(path))).into()),
        };
        let mut node = Node { parent: directory, host: Some(path.clone()), ..Node::new(kind, *stat) };
        match kind {
            NodeKind::Regular => (node.content, node.any_length) = (self.content_of_host(path, len)?, len.is_some()),
            NodeKind::Link => node.target = self.linux.captured.link(path)?,
            _ => {}
        }
        let world = self.change();
        let id = world.add_node(node);
        world.set_name(directory, name, Some(id));
        Ok(id)
    }

    /// The condition that a string whose bytes may be symbolic is `name`.
    fn is_name(&mut self, bytes: &[ExprId], name: &[u8]) -> ExprId {
        let pool = &mut self.cx.core.pool;
        if name.len() > bytes.len() {
            return pool.bits(1, 0);
        }
        let mut same = pool.bits(1, 1);
        for (i, byte) in bytes.iter().enumerate().take(name.len() + 1) {
            let wanted = pool.bits(8, name.get(i).copied().unwrap_or(0).into());
            let is = pool.eq(*byte, wanted);
            same = pool.and(same, is);
        }
        same
    }
}

/// `/dev/stdin`, `/proc/self/fd/3` and their like: the descriptor they stand for.
pub fn descriptor_named(path: &[u8]) -> Option<i32> {
    match path {
        b"/dev/stdin" => return Some(0),
        b"/dev/stdout" => return Some(1),
        b"/dev/stderr" => return Some(2),
        _ => {}
    }
    let number = [&b"/dev/fd/"[..], b"/proc/self/fd/"].iter().find_map(|directory| path.strip_prefix(*directory))?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart_at_slashes() {
        assert_eq!(first_part(b"a"), (&b"a"[..], None));
        assert_eq!(first_part(b"a//b/c"), (&b"a"[..], Some(&b"b/c"[..])));
        assert_eq!(first_part(b"a/"), (&b"a"[..], Some(&b""[..])));
        assert_eq!((&*below(b"/", b"a"), &*below(b"/a", b"b")), (&b"/a"[..], &b"/a/b"[..]));
    }

    #[test]
    fn names_of_unknown_calls_are_sorted() {
        assert!(NAMES.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
