//! Files by name: open, stat, rename, unlink, permissions. What the host has is read only; what changes, changes on this path alone.

use std::rc::Rc;

use wryneck_exec::PathEnd;

use super::fd::{O_ACCMODE, O_APPEND, O_CLOEXEC, O_NONBLOCK, O_RDONLY};
use super::path::{AT_FDCWD, Found, Resolved};
use super::{Done, Sys};
use crate::content::Content;
use crate::errno::{EACCES, EBADF, EEXIST, EFAULT, EINVAL, EISDIR, ELOOP, ENOENT, ENOTDIR, ENOTEMPTY, EOPNOTSUPP, EPERM, Halt};
use crate::input::{Stat, mode};
use crate::state::{Node, NodeId, NodeKind};

const O_CREAT: u32 = 0o100;
const O_EXCL: u32 = 0o200;
const O_TRUNC: u32 = 0o1000;
const O_DIRECTORY: u32 = 0o200_000;
const O_NOFOLLOW: u32 = 0o400_000;
const O_TMPFILE: u32 = 0o20_000_000;
const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
const AT_REMOVEDIR: u32 = 0x200;
const AT_EMPTY_PATH: u32 = 0x1000;
/// Inode numbers of files made on a path begin here.
pub const FIRST_INO: u64 = 1 << 20;
const BLOCK: u64 = 4096;

/// What `stat` says of a new file.
pub fn new_meta(ino: u64, permissions: u32, time: i64) -> Stat {
    let now = (time, 0);
    Stat { dev: 1, ino, nlink: 1, mode: permissions, uid: 1000, gid: 1000, rdev: 0, size: 0, atime: now, mtime: now, ctime: now }
}

/// Files of the host that are devices, and what they do here.
fn device(path: &[u8]) -> Option<NodeKind> {
    match path {
        b"/dev/null" => Some(NodeKind::Null),
        b"/dev/zero" | b"/dev/full" | b"/dev/random" | b"/dev/urandom" => Some(NodeKind::Endless),
        _ => None,
    }
}

impl Sys<'_, '_> {
    /// Whether this user may do what `want` (4 read, 2 write, 1 execute) says.
    fn permits(&self, stat: &Stat, want: u32) -> bool {
        let user = self.linux.input.user;
        let shift = if stat.uid == user {
            6
        } else if stat.gid == user {
            3
        } else {
            0
        };
        let any_execute = stat.mode & 0o111 != 0 || stat.mode & mode::KIND == mode::DIRECTORY;
        if user == 0 { want & 1 == 0 || any_execute } else { (stat.mode >> shift) & want == want }
    }

    /// A file of the host becomes one that this path knows, so that it can be opened or changed.
    fn adopt(&mut self, path: &[u8], stat: Stat) -> Result<NodeId, Halt> {
        let (kind, content) = match (stat.mode & mode::KIND, device(path)) {
            (_, Some(kind)) => (kind, Content::default()),
            (mode::REGULAR, None) => (NodeKind::Regular, Content::captured(self.linux.captured.file(path)?)),
            (mode::DIRECTORY, None) => (NodeKind::Directory, Content::default()),
            _ => return Err(PathEnd::Unsupported(format!("open of the device `{}`", String::from_utf8_lossy(path))).into()),
        };
        let node = Node { kind, content, meta: stat, path: path.into(), from_host: true };
        let world = self.change();
        let id = world.add_node(node);
        world.set_name(path, Some(id));
        Ok(id)
    }

    /// The node of something found, adopted if it is the host's.
    pub fn node_of(&mut self, found: &Found) -> Result<NodeId, Halt> {
        match found {
            Found::Node(id) => Ok(*id),
            Found::Host(stat, path) => self.adopt(path, *stat),
        }
    }

    /// Makes a new file or directory and its name.
    pub fn create(&mut self, path: &[u8], kind: NodeKind, permissions: u32) -> NodeId {
        let (time, user) = (self.linux.input.time, self.linux.input.user);
        let world = self.change();
        let ino = FIRST_INO + world.nodes.len() as u64;
        let mut meta = new_meta(ino, permissions & 0o7777 & !world.umask, time);
        (meta.uid, meta.gid) = (user, user);
        let id = world.add_node(Node { kind, content: Content::default(), meta, path: path.into(), from_host: false });
        world.set_name(path, Some(id));
        id
    }

    fn open_at(&mut self, at: i32, path: usize, flags: u32, permissions: u32) -> Done {
        let at = self.path_for(at, self.args[path], flags & O_CREAT != 0)?;
        if let Some(fd) = standard_stream(&at.path) {
            self.opened(fd)?;
            let world = self.change();
            let node = world.open_of(fd).ok_or(EBADF)?.node;
            return Ok(world.open_node(node, flags & (O_ACCMODE | O_APPEND), flags & O_CLOEXEC != 0) as u64);
        }
        if flags & O_TMPFILE == O_TMPFILE {
            return Err(EOPNOTSUPP.into());
        }
        let follow = flags & O_NOFOLLOW == 0 && flags & (O_CREAT | O_EXCL) != O_CREAT | O_EXCL;
        let node = match self.find(&at, follow) {
            Ok(_) if flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL => return Err(EEXIST.into()),
            Ok(found) => self.open_existing(&found, flags)?,
            Err(Halt::Errno(e)) if e == ENOENT && flags & O_CREAT != 0 => {
                if at.directory {
                    return Err(EISDIR.into());
                }
                let path = if follow { self.follow(&at.path)? } else { at.path };
                self.check_parent(&path)?;
                self.may_change_entry(&path)?;
                self.create(&path, NodeKind::Regular, permissions)
            }
            Err(halt) => return Err(halt),
        };
        let kept = flags & (O_ACCMODE | O_APPEND | O_NONBLOCK | O_DIRECTORY);
        Ok(self.change().open_node(node, kept, flags & O_CLOEXEC != 0) as u64)
    }

    fn open_existing(&mut self, found: &Found, flags: u32) -> Result<NodeId, Halt> {
        let stat = self.stat_of(found);
        let access = match flags & O_ACCMODE {
            O_RDONLY => 4,
            1 => 2,
            _ => 6,
        };
        match stat.mode & mode::KIND {
            mode::LINK => return Err(ELOOP.into()),
            mode::DIRECTORY if access & 2 != 0 || flags & O_CREAT != 0 => return Err(EISDIR.into()),
            mode::DIRECTORY => {}
            _ if flags & O_DIRECTORY != 0 => return Err(ENOTDIR.into()),
            _ => {}
        }
        if !self.permits(&stat, access) {
            return Err(EACCES.into());
        }
        let node = self.node_of(found)?;
        if flags & O_TRUNC != 0 && access & 2 != 0 && self.world().node(node).kind == NodeKind::Regular {
            self.change().node_mut(node).content.truncate(0);
        }
        Ok(node)
    }

    fn stat_at(&mut self, at: i32, path: usize, flags: u32) -> Result<Stat, Halt> {
        if flags & AT_EMPTY_PATH != 0 {
            let addr = self.cx.block_address(self.args[path], 1, false)?;
            if self.cx.read_bytes(addr, 1)?.first().and_then(|b| self.cx.core.pool.as_u64(*b)) == Some(0) {
                return self.stat_fd(at);
            }
        }
        let at = self.path(at, self.args[path])?;
        if let Some(fd) = standard_stream(&at.path) {
            return self.stat_fd(fd);
        }
        let found = self.find(&at, flags & AT_SYMLINK_NOFOLLOW == 0)?;
        Ok(self.stat_of(&found))
    }

    fn stat_fd(&self, fd: i32) -> Result<Stat, Halt> {
        if fd == AT_FDCWD {
            let here = Resolved { path: self.world().working_directory.to_vec(), directory: true };
            return Ok(self.stat_of(&self.find(&here, true)?));
        }
        Ok(self.opened(fd)?.1.stat())
    }

    fn put_stat(&mut self, i: usize, stat: &Stat) -> Done {
        let addr = self.block(self.args[i], 144, true)?;
        self.put(addr, &stat_bytes(stat))?;
        Ok(0)
    }

    fn unlink_at(&mut self, at: i32, path: usize) -> Done {
        let at = self.path(at, self.args[path])?;
        let found = self.find(&at, false)?;
        if self.stat_of(&found).mode & mode::KIND == mode::DIRECTORY {
            return Err(EISDIR.into());
        }
        self.may_change_entry(&at.path)?;
        if let Found::Node(id) = found {
            let links = &mut self.change().node_mut(id).meta.nlink;
            *links = links.saturating_sub(1);
        }
        self.change().set_name(&at.path, None);
        Ok(0)
    }

    /// The directory of a name must let this user change it.
    pub fn may_change_entry(&self, path: &[u8]) -> Result<(), Halt> {
        let parent = Resolved { path: super::path::split(path).0.to_vec(), directory: true };
        let stat = self.stat_of(&self.find(&parent, true)?);
        if self.permits(&stat, 2) { Ok(()) } else { Err(EACCES.into()) }
    }

    fn rename_at(&mut self, (from_at, from): (i32, usize), (to_at, to): (i32, usize)) -> Done {
        let from = self.path(from_at, self.args[from])?;
        let to = self.path_for(to_at, self.args[to], true)?;
        let found = self.find(&from, false)?;
        let directory = self.stat_of(&found).mode & mode::KIND == mode::DIRECTORY;
        self.may_change_entry(&from.path)?;
        self.may_change_entry(&to.path)?;
        if let Ok(target) = self.find(&to, false) {
            match (directory, self.stat_of(&target).mode & mode::KIND == mode::DIRECTORY) {
                (false, true) => return Err(EISDIR.into()),
                (true, false) => return Err(ENOTDIR.into()),
                (true, true) if from.path != to.path => return Err(ENOTEMPTY.into()),
                _ => {}
            }
        }
        if from.path == to.path {
            return Ok(0);
        }
        if directory {
            return Err(PathEnd::Unsupported("rename of a directory".into()).into());
        }
        let node = self.node_of(&found)?;
        let world = self.change();
        world.set_name(&from.path, None);
        world.set_name(&to.path, Some(node));
        world.node_mut(node).path = to.path.as_slice().into();
        Ok(0)
    }

    fn access_at(&mut self, at: i32, path: usize, want: u32) -> Done {
        if want & !7 != 0 {
            return Err(EINVAL.into());
        }
        let at = self.path(at, self.args[path])?;
        let stat = self.stat_of(&self.find(&at, true)?);
        if self.permits(&stat, want) { Ok(0) } else { Err(EACCES.into()) }
    }

    fn readlink_at(&mut self, at: i32, path: usize) -> Done {
        let at = self.path(at, self.args[path])?;
        let size = self.int(path + 2)?;
        if size <= 0 {
            return Err(EINVAL.into());
        }
        let stat = self.stat_of(&self.find(&at, false)?);
        if stat.mode & mode::KIND != mode::LINK {
            return Err(EINVAL.into());
        }
        let target: Rc<[u8]> = self.linux.captured.link(&at.path)?;
        let n = target.len().min(size as usize);
        let addr = self.block(self.args[path + 1], n as u64, true)?;
        self.put(addr, &target[..n])?;
        Ok(n as u64)
    }

    fn chmod_node(&mut self, node: NodeId, permissions: u32) -> Done {
        let user = self.linux.input.user;
        if user != 0 && self.world().node(node).meta.uid != user {
            return Err(EPERM.into());
        }
        let meta = &mut self.change().node_mut(node).meta;
        meta.mode = (meta.mode & mode::KIND) | (permissions & 0o7777);
        Ok(0)
    }

    fn chmod_at(&mut self, at: i32, path: usize) -> Done {
        let at = self.path(at, self.args[path])?;
        let permissions = self.int(path + 1)? as u32;
        let found = self.find(&at, true)?;
        let node = self.node_of(&found)?;
        self.chmod_node(node, permissions)
    }

    /// The file must be there; giving it away needs the superuser.
    fn chown_at(&mut self, at: i32, path: usize) -> Done {
        let at = self.path(at, self.args[path])?;
        let stat = self.stat_of(&self.find(&at, true)?);
        self.may_chown(&stat, path + 1)
    }

    fn may_chown(&mut self, stat: &Stat, first: usize) -> Done {
        let same = |new: i32, old: u32| new == -1 || new as u32 == old;
        let (uid, gid) = (self.int(first)?, self.int(first + 1)?);
        let allowed = self.linux.input.user == 0 || (same(uid, stat.uid) && same(gid, stat.gid));
        if allowed { Ok(0) } else { Err(EPERM.into()) }
    }

    fn truncate_node(&mut self, node: NodeId, len: u64) -> Done {
        if (len as i64) < 0 || self.world().node(node).kind != NodeKind::Regular {
            return Err(EINVAL.into());
        }
        self.change().node_mut(node).content.truncate(len);
        Ok(0)
    }
}

/// `/dev/stdin` and its like: the descriptor they stand for.
fn standard_stream(path: &[u8]) -> Option<i32> {
    match path {
        b"/dev/stdin" | b"/dev/fd/0" | b"/proc/self/fd/0" => Some(0),
        b"/dev/stdout" | b"/dev/fd/1" | b"/proc/self/fd/1" => Some(1),
        b"/dev/stderr" | b"/dev/fd/2" | b"/proc/self/fd/2" => Some(2),
        _ => None,
    }
}

/// `struct stat` of x86-64.
fn stat_bytes(s: &Stat) -> Vec<u8> {
    let mut out = Vec::with_capacity(144);
    for word in [s.dev, s.ino, s.nlink] {
        out.extend(word.to_le_bytes());
    }
    for half in [s.mode, s.uid, s.gid, 0] {
        out.extend(half.to_le_bytes());
    }
    for word in [s.rdev, s.size, BLOCK, s.size.div_ceil(512)] {
        out.extend(word.to_le_bytes());
    }
    for (seconds, nanoseconds) in [s.atime, s.mtime, s.ctime] {
        out.extend(seconds.to_le_bytes());
        out.extend(nanoseconds.to_le_bytes());
    }
    out.resize(144, 0);
    out
}

/// `struct statx`.
fn statx_bytes(s: &Stat) -> Vec<u8> {
    let device = |d: u64| [((d >> 8) & 0xfff) as u32, ((d & 0xff) | ((d >> 12) & 0xfff00)) as u32];
    let mut out = Vec::with_capacity(256);
    out.extend(0x7ffu32.to_le_bytes());
    out.extend((BLOCK as u32).to_le_bytes());
    out.extend(0u64.to_le_bytes());
    for half in [s.nlink as u32, s.uid, s.gid, s.mode] {
        out.extend(half.to_le_bytes());
    }
    for word in [s.ino, s.size, s.size.div_ceil(512), 0] {
        out.extend(word.to_le_bytes());
    }
    for (seconds, nanoseconds) in [s.atime, s.ctime, s.ctime, s.mtime] {
        out.extend(seconds.to_le_bytes());
        out.extend(nanoseconds.to_le_bytes());
    }
    for half in device(s.rdev).into_iter().chain(device(s.dev)) {
        out.extend(half.to_le_bytes());
    }
    out.resize(256, 0);
    out
}

pub fn open(s: &mut Sys<'_, '_>) -> Done {
    let (flags, permissions) = (s.int(1)? as u32, s.int(2)? as u32);
    s.open_at(AT_FDCWD, 0, flags, permissions)
}

pub fn openat(s: &mut Sys<'_, '_>) -> Done {
    let (at, flags, permissions) = (s.int(0)?, s.int(2)? as u32, s.int(3)? as u32);
    s.open_at(at, 1, flags, permissions)
}

pub fn creat(s: &mut Sys<'_, '_>) -> Done {
    let permissions = s.int(1)? as u32;
    s.open_at(AT_FDCWD, 0, O_CREAT | O_TRUNC | 1, permissions)
}

pub fn stat(s: &mut Sys<'_, '_>) -> Done {
    let stat = s.stat_at(AT_FDCWD, 0, 0)?;
    s.put_stat(1, &stat)
}

pub fn lstat(s: &mut Sys<'_, '_>) -> Done {
    let stat = s.stat_at(AT_FDCWD, 0, AT_SYMLINK_NOFOLLOW)?;
    s.put_stat(1, &stat)
}

pub fn fstat(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    let stat = s.opened(fd)?.1.stat();
    s.put_stat(1, &stat)
}

pub fn newfstatat(s: &mut Sys<'_, '_>) -> Done {
    let (at, flags) = (s.int(0)?, s.int(3)? as u32);
    let stat = s.stat_at(at, 1, flags)?;
    s.put_stat(2, &stat)
}

pub fn statx(s: &mut Sys<'_, '_>) -> Done {
    let (at, flags) = (s.int(0)?, s.int(2)? as u32);
    let stat = s.stat_at(at, 1, flags)?;
    let addr = s.block(s.args[4], 256, true)?;
    s.put(addr, &statx_bytes(&stat))?;
    Ok(0)
}

pub fn access(s: &mut Sys<'_, '_>) -> Done {
    let want = s.int(1)? as u32;
    s.access_at(AT_FDCWD, 0, want)
}

pub fn faccessat(s: &mut Sys<'_, '_>) -> Done {
    let (at, want) = (s.int(0)?, s.int(2)? as u32);
    s.access_at(at, 1, want)
}

pub fn readlink(s: &mut Sys<'_, '_>) -> Done {
    s.readlink_at(AT_FDCWD, 0)
}

pub fn readlinkat(s: &mut Sys<'_, '_>) -> Done {
    let at = s.int(0)?;
    s.readlink_at(at, 1)
}

pub fn unlink(s: &mut Sys<'_, '_>) -> Done {
    s.unlink_at(AT_FDCWD, 0)
}

pub fn unlinkat(s: &mut Sys<'_, '_>) -> Done {
    let (at, flags) = (s.int(0)?, s.int(2)? as u32);
    if flags & AT_REMOVEDIR != 0 { super::dir::remove_at(s, at, 1) } else { s.unlink_at(at, 1) }
}

pub fn rename(s: &mut Sys<'_, '_>) -> Done {
    s.rename_at((AT_FDCWD, 0), (AT_FDCWD, 1))
}

/// renameat, and renameat2 without flags.
pub fn renameat(s: &mut Sys<'_, '_>) -> Done {
    if s.name == "renameat2" && s.int(4)? != 0 {
        return Err(EINVAL.into());
    }
    let (from, to) = (s.int(0)?, s.int(2)?);
    s.rename_at((from, 1), (to, 3))
}

pub fn truncate(s: &mut Sys<'_, '_>) -> Done {
    let at = s.path(AT_FDCWD, s.args[0])?;
    let len = s.long(1)?;
    let found = s.find(&at, true)?;
    let stat = s.stat_of(&found);
    if stat.mode & mode::KIND == mode::DIRECTORY {
        return Err(EISDIR.into());
    }
    if !s.permits(&stat, 2) {
        return Err(EACCES.into());
    }
    let node = s.node_of(&found)?;
    s.truncate_node(node, len)
}

pub fn ftruncate(s: &mut Sys<'_, '_>) -> Done {
    let (fd, len) = (s.int(0)?, s.long(1)?);
    let (open, _) = s.opened(fd)?;
    if open.flags & O_ACCMODE == O_RDONLY {
        return Err(EINVAL.into());
    }
    s.truncate_node(open.node, len)
}

pub fn chmod(s: &mut Sys<'_, '_>) -> Done {
    s.chmod_at(AT_FDCWD, 0)
}

pub fn fchmodat(s: &mut Sys<'_, '_>) -> Done {
    let at = s.int(0)?;
    s.chmod_at(at, 1)
}

pub fn fchmod(s: &mut Sys<'_, '_>) -> Done {
    let (fd, permissions) = (s.int(0)?, s.int(1)? as u32);
    let node = s.opened(fd)?.0.node;
    s.chmod_node(node, permissions)
}

pub fn chown(s: &mut Sys<'_, '_>) -> Done {
    s.chown_at(AT_FDCWD, 0)
}

pub fn fchownat(s: &mut Sys<'_, '_>) -> Done {
    let at = s.int(0)?;
    s.chown_at(at, 1)
}

pub fn fchown(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    let stat = s.opened(fd)?.1.stat();
    s.may_chown(&stat, 1)
}

/// The file must be there; its times are not kept.
pub fn utimensat(s: &mut Sys<'_, '_>) -> Done {
    let at = s.int(0)?;
    if s.args[1] == wryneck_exec::Value::Bits(0) {
        return if at == AT_FDCWD { Err(EFAULT.into()) } else { s.opened(at).map(|_| 0) };
    }
    let at = s.path(at, s.args[1])?;
    s.find(&at, true)?;
    Ok(0)
}
