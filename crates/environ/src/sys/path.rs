//! Paths: read from the program, made absolute, and what they lead to on this path of execution.
//!
//! A path with symbolic bytes is compared with the name of each symbolic file, and with `.`, `..` and `/`, one decision each. Of
//! other paths with a slash, and of names of new files, a path of execution keeps one; any other name does not exist. The ledger says
//! so each time. `.` and `..` are resolved by text.

use wryneck_exec::{LedgerKind, Value};
use wryneck_expr::ExprId;

use super::Sys;
use crate::errno::{EBADF, EFAULT, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, Halt};
use crate::input::{Stat, mode};
use crate::state::{NodeId, NodeKind};

/// The directory a relative path starts at: the working directory.
pub const AT_FDCWD: i32 = -100;
const PATH_MAX: usize = 4096;
/// Symbolic links followed one after another.
const MAX_LINKS: u32 = 40;

/// What a path leads to.
#[derive(Clone, Debug)]
pub enum Found {
    /// A file this path of execution knows.
    Node(NodeId),
    /// A file of the host, as captured, and its path.
    Host(Stat, Vec<u8>),
}

/// An absolute path without `.`, `..`, and empty parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    pub path: Vec<u8>,
    /// It ended in a slash, so it must be a directory.
    pub directory: bool,
}

/// `name` seen from the directory `base` (absolute).
pub fn join(base: &[u8], name: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    let base = if name.starts_with(b"/") { &b""[..] } else { base };
    for part in base.split(|b| *b == b'/').chain(name.split(|b| *b == b'/')) {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut path = Vec::new();
    for part in parts {
        path.push(b'/');
        path.extend(part);
    }
    if path.is_empty() {
        path.push(b'/');
    }
    path
}

/// The directory of an absolute path, and the name in it.
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let at = path.iter().rposition(|b| *b == b'/').unwrap_or(0);
    (if at == 0 { b"/" } else { &path[..at] }, &path[at + 1..])
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
    (15, "rt_sigreturn"), (23, "select"), (25, "mremap"), (26, "msync"), (29, "shmget"), (34, "pause"), (37, "alarm"), (38, "setitimer"),
    (40, "sendfile"), (41, "socket"), (42, "connect"), (43, "accept"), (44, "sendto"), (45, "recvfrom"), (46, "sendmsg"), (47, "recvmsg"),
    (48, "shutdown"), (49, "bind"), (50, "listen"), (53, "socketpair"), (54, "setsockopt"), (55, "getsockopt"), (56, "clone"), (57, "fork"),
    (58, "vfork"), (59, "execve"), (61, "wait4"), (73, "flock"), (86, "link"), (88, "symlink"), (98, "getrusage"), (100, "times"),
    (109, "setpgid"), (132, "utime"), (133, "mknod"), (137, "statfs"), (138, "fstatfs"), (161, "chroot"), (165, "mount"), (187, "readahead"),
    (213, "epoll_create"), (232, "epoll_wait"), (233, "epoll_ctl"), (247, "waitid"), (265, "linkat"), (266, "symlinkat"), (270, "pselect6"),
    (271, "ppoll"), (275, "splice"), (276, "tee"), (285, "fallocate"), (326, "copy_file_range"), (435, "clone3"),
];

impl Sys<'_, '_> {
    /// The path string at a pointer, absolute, seen from the directory `at`.
    pub fn path(&mut self, at: i32, pointer: Value) -> Result<Resolved, Halt> {
        self.path_for(at, pointer, false)
    }

    /// As [`Sys::path`]; `makes` if a file is to be made where there is none.
    pub fn path_for(&mut self, at: i32, pointer: Value, makes: bool) -> Result<Resolved, Halt> {
        if matches!(pointer, Value::Bits(addr) if addr < wryneck_exec::memory::NULL_PAGE) {
            return Err(EFAULT.into());
        }
        let bytes = self.cx.c_string(pointer)?;
        let concrete: Option<Vec<u8>> = bytes.iter().map(|b| self.cx.core.pool.as_u64(*b).map(|b| b as u8)).collect();
        let Some(name) = concrete else {
            return self.symbolic_path(&bytes, at, makes);
        };
        self.resolve(&name, at)
    }

    fn resolve(&mut self, name: &[u8], at: i32) -> Result<Resolved, Halt> {
        if name.is_empty() {
            return Err(ENOENT.into());
        }
        if name.len() >= PATH_MAX {
            return Err(ENAMETOOLONG.into());
        }
        let base = if name.starts_with(b"/") { b"/".to_vec() } else { self.directory(at)? };
        let directory = name.ends_with(b"/") || name.ends_with(b"/.") || name == b"." || name == b"..";
        Ok(Resolved { path: join(&base, name), directory })
    }

    fn directory(&self, at: i32) -> Result<Vec<u8>, Halt> {
        if at == AT_FDCWD {
            return Ok(self.world().working_directory.to_vec());
        }
        let (_, node) = self.opened(at)?;
        match node.kind {
            NodeKind::Directory => Ok(node.path.to_vec()),
            NodeKind::Regular | NodeKind::Pipe { .. } | NodeKind::Output | NodeKind::Null | NodeKind::Endless => Err(ENOTDIR.into()),
        }
    }

    /// A path with symbolic bytes: one of the names that are there, decided one by one; one with a slash, of which this path of
    /// execution keeps the one in its model; else a name that is not there, which is fixed likewise where it is to be made.
    fn symbolic_path(&mut self, bytes: &[ExprId], at: i32, makes: bool) -> Result<Resolved, Halt> {
        let pool = &mut self.cx.core.pool;
        let nul = pool.bits(8, 0);
        let empty = pool.eq(bytes[0], nul);
        if self.cx.decide(empty)? {
            return Err(ENOENT.into());
        }
        for name in self.names_here() {
            let same = self.is_name(bytes, &name);
            if self.cx.decide(same)? {
                return self.resolve(&name, at);
            }
        }
        let pool = &mut self.cx.core.pool;
        let slash = pool.bits(8, b'/'.into());
        let mut slashes = pool.bits(1, 0);
        for byte in bytes {
            let is = pool.eq(*byte, slash);
            slashes = pool.or(slashes, is);
        }
        if self.cx.decide(slashes)? || makes {
            let mut name = Vec::new();
            for byte in bytes {
                name.push(self.cx.pin(*byte, "other names of a symbolic path, with a slash or of a new file")? as u8);
            }
            name.truncate(name.iter().position(|b| *b == 0).unwrap_or(name.len()));
            return self.resolve(&name, at);
        }
        self.cx.core.ledger.note(LedgerKind::Assumption, "a symbolic name that is no symbolic file's does not exist");
        self.cx.state.approximated = true;
        Err(ENOENT.into())
    }

    /// The names that a relative path of one part may have: symbolic files, files this path of execution made, and directories.
    fn names_here(&self) -> Vec<Vec<u8>> {
        let letters = (b'A'..=b'Z').take(self.linux.input.sym_files as usize).map(|letter| vec![letter]);
        let mut names: Vec<_> = letters.chain([&b"."[..], b"..", b"/"].map(<[u8]>::to_vec)).collect();
        let world = self.world();
        for path in world.names.keys() {
            let (directory, name) = split(path);
            if directory == &*world.working_directory && !names.iter().any(|n| n == name) {
                names.push(name.to_vec());
            }
        }
        names
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

    /// The path behind symbolic links; only the host has any. Links on the way to the last name are the host's to follow.
    pub fn follow(&self, path: &[u8]) -> Result<Vec<u8>, Halt> {
        let mut path = path.to_vec();
        for _ in 0..MAX_LINKS {
            if self.world().names.contains_key(path.as_slice()) {
                return Ok(path);
            }
            match self.linux.captured.stat(&path, false) {
                Ok(stat) if stat.mode & mode::KIND == mode::LINK => {}
                _ => return Ok(path),
            }
            path = join(split(&path).0, &self.linux.captured.link(&path)?);
        }
        Err(ELOOP.into())
    }

    /// What a resolved path leads to.
    pub fn find(&self, at: &Resolved, follow: bool) -> Result<Found, Halt> {
        let found = if follow { self.find_name(&self.follow(&at.path)?)? } else { self.find_name(&at.path)? };
        if at.directory && self.stat_of(&found).mode & mode::KIND != mode::DIRECTORY {
            return Err(ENOTDIR.into());
        }
        Ok(found)
    }

    fn find_name(&self, path: &[u8]) -> Result<Found, Halt> {
        let world = self.world();
        if let Some(known) = world.names.get(path) {
            return known.map(Found::Node).ok_or(ENOENT.into());
        }
        // A directory that this path of execution removed or made hides what the host has below it.
        let mut above = path;
        while above.len() > 1 {
            above = split(above).0;
            match world.names.get(above) {
                Some(None) => return Err(ENOENT.into()),
                Some(Some(node)) => {
                    let node = world.node(*node);
                    if node.kind != NodeKind::Directory {
                        return Err(ENOTDIR.into());
                    }
                    if !node.from_host {
                        return Err(ENOENT.into());
                    }
                }
                None => {}
            }
        }
        Ok(Found::Host(self.linux.captured.stat(path, false)?, path.to_vec()))
    }

    pub fn stat_of(&self, found: &Found) -> Stat {
        match found {
            Found::Node(id) => self.world().node(*id).stat(),
            Found::Host(stat, _) => *stat,
        }
    }

    /// The directory a new name would be in must be one.
    pub fn check_parent(&self, path: &[u8]) -> Result<(), Halt> {
        let parent = Resolved { path: split(path).0.to_vec(), directory: true };
        self.find(&parent, true).map(|_| ())
    }

    /// The path a descriptor stands for; `EBADF` if it is none.
    pub fn path_of(&self, fd: i32) -> Result<Vec<u8>, Halt> {
        let world = self.world();
        let open = world.open_of(fd).ok_or(EBADF)?;
        Ok(world.node(open.node).path.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_by_text() {
        for (base, name, path) in
            [("/a/b", "c", "/a/b/c"), ("/a/b", "../c", "/a/c"), ("/a/b", "/c//d/.", "/c/d"), ("/", "../..", "/"), ("/a", ".", "/a")]
        {
            assert_eq!(join(base.as_bytes(), name.as_bytes()), path.as_bytes());
        }
        assert_eq!(split(b"/a"), (&b"/"[..], &b"a"[..]));
        assert_eq!(split(b"/a/b"), (&b"/a"[..], &b"b"[..]));
    }

    #[test]
    fn names_of_unknown_calls_are_sorted() {
        assert!(NAMES.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
