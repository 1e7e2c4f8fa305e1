//! Files: opening, creating, truncating, permissions, times. The host's files are only read; a change affects this path alone.

use std::rc::Rc;

use wryneck_exec::PathEnd;
use wryneck_expr::ExprId;

use super::fd::{O_ACCMODE, O_CLOEXEC, O_PATH, O_RDONLY};
use super::maps;
use super::path::{AT_FDCWD, Follow, Found};
use super::stat::{AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW};
use super::{Done, Sys};
use crate::errno::{EACCES, EBADF, EEXIST, EFAULT, EINVAL, EISDIR, ELOOP, ENODEV, ENOENT, ENOTDIR, ENXIO, EOPNOTSUPP, EPERM, ESPIPE, Halt};
use crate::input::{Stat, mode};
use crate::state::{Node, NodeId, NodeKind, key};

const O_CREAT: u32 = 0o100;
const O_EXCL: u32 = 0o200;
const O_NOCTTY: u32 = 0o400;
const O_TRUNC: u32 = 0o1000;
const O_DIRECTORY: u32 = 0o200_000;
const O_NOFOLLOW: u32 = 0o400_000;
const O_LARGEFILE: u32 = 0o100_000;
const O_TMPFILE: u32 = 0o20_000_000;
/// Inode numbers of files made on a path begin here.
pub const FIRST_INO: u64 = 1 << 20;
/// Most bytes of a file, as ext4 has it.
pub const MAX_FILE: u64 = 0xfff_ffff_f000;

/// What `stat` says of a new file.
pub fn new_meta(ino: u64, permissions: u32, time: i64) -> Stat {
    let now = (time, 0);
    Stat { dev: 1, ino, nlink: 1, mode: permissions, uid: 1000, gid: 1000, rdev: 0, size: 0, atime: now, mtime: now, ctime: now }
}

/// Files of the host that are devices, and what they do here.
pub fn device(path: &[u8]) -> Option<NodeKind> {
    match path {
        b"/dev/null" => Some(NodeKind::Null),
        b"/dev/full" => Some(NodeKind::Full),
        b"/dev/zero" | b"/dev/random" | b"/dev/urandom" => Some(NodeKind::Endless),
        _ => None,
    }
}

/// Who `chown` gives a file to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NewOwner {
    Old,
    Id(u32),
    /// 32 bits.
    Symbolic(ExprId),
}

impl Sys<'_, '_> {
    /// The clock, in seconds and nanoseconds. Looking does not move it here.
    fn stamp(&self) -> (i64, i64) {
        let ticks = self.world().ticks;
        (self.linux.input.time + (ticks / 1_000_000) as i64, (ticks % 1_000_000 * 1000) as i64)
    }

    /// The content, or the entries, of a file change now.
    pub fn touch(&mut self, node: NodeId) {
        let now = self.stamp();
        let node = self.change().node_mut(node);
        (node.meta.mtime, node.meta.ctime) = (now, now);
        node.symbolic.mtime = None;
    }

    /// A new file, without a name.
    fn new_node(&mut self, directory: NodeId, kind: NodeKind, permissions: u32) -> NodeId {
        let (now, user) = (self.stamp(), self.linux.input.user);
        let world = self.change();
        let ino = FIRST_INO + world.nodes.len() as u64;
        let mut meta = new_meta(ino, permissions & 0o7777 & !world.own.umask, 0);
        meta.dev = world.node(directory).meta.dev;
        (meta.uid, meta.gid, meta.atime, meta.mtime, meta.ctime) = (user, user, now, now, now);
        if kind == NodeKind::Directory {
            (meta.nlink, meta.size) = (2, 4096);
        }
        world.add_node(Node { parent: directory, ..Node::new(kind, meta) })
    }

    /// Makes a new file where a walk found none.
    pub fn create(&mut self, found: &Found, kind: NodeKind, permissions: u32) -> Result<NodeId, Halt> {
        let directory = self.adopt_directory(found)?;
        let id = self.new_node(directory, kind, permissions);
        self.set_entry(directory, &found.name, Some(id));
        Ok(id)
    }

    /// Changes what a name in a directory stands for; a directory's links are counted.
    pub fn set_entry(&mut self, directory: NodeId, name: &[u8], new: Option<NodeId>) {
        self.touch(directory);
        let coming = self.coming.clone();
        let world = self.change();
        if new.is_some() && name == key(world.names.len()) {
            Rc::make_mut(&mut world.names).push(coming);
        }
        world.set_name(directory, name, new);
        if let Some(id) = new
            && world.node(id).kind == NodeKind::Directory
        {
            world.node_mut(id).parent = directory;
            let links = &mut world.node_mut(directory).meta.nlink;
            *links += u64::from(*links > 1);
        }
    }

    fn open_at(&mut self, at: i32, path: usize, flags: u32, permissions: u32) -> Done {
        let mut flags = flags;
        if flags & O_PATH != 0 {
            flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        }
        let (creates, unnamed) = (flags & O_CREAT != 0, flags & O_TMPFILE == O_TMPFILE);
        if creates && flags & O_DIRECTORY != 0 || unnamed && flags & O_ACCMODE == 0 {
            return Err(EINVAL.into());
        }
        let exclusive = creates && flags & O_EXCL != 0;
        let stays = flags & O_NOFOLLOW != 0;
        let follow = if creates { Follow::Make { follow: !exclusive && !stays } } else { self.follow_unless(stays) };
        let given = self.given(at, self.args[path], follow)?;
        if given.name() == maps::PATH && self.has_maps() && flags & O_ACCMODE == O_RDONLY {
            return self.open_maps(flags);
        }
        let found = self.walk(&given, follow)?;
        let node = match found.entry()? {
            Some(_) if exclusive => return Err(EEXIST.into()),
            Some(_) if unnamed => self.open_unnamed(&found, permissions)?,
            Some(_) => self.open_existing(&found, flags)?,
            None if creates => {
                self.may_make(&found)?;
                self.create(&found, NodeKind::Regular, permissions)?
            }
            None => return Err(ENOENT.into()),
        };
        let large = if flags & O_PATH == 0 { O_LARGEFILE } else { 0 };
        let kept = flags & !(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC) | large;
        self.open_on(node, kept, flags & O_CLOEXEC != 0)
    }

    fn follow_unless(&self, no: bool) -> Follow {
        if no { Follow::No } else { Follow::Yes }
    }

    /// `O_TMPFILE`: a file without a name, on the file system of a directory.
    fn open_unnamed(&mut self, found: &Found, permissions: u32) -> Result<NodeId, Halt> {
        if self.kind_of(found.there()?) != mode::DIRECTORY {
            return Err(ENOTDIR.into());
        }
        if !self.permits(&self.stat_of(found.there()?), 3) {
            return Err(EACCES.into());
        }
        let directory = self.node_of(found)?;
        let node = self.new_node(directory, NodeKind::Regular, permissions);
        self.change().node_mut(node).meta.nlink = 0;
        Ok(node)
    }

    fn open_existing(&mut self, found: &Found, flags: u32) -> Result<NodeId, Halt> {
        let stat = self.stat_of(found.there()?);
        let kind = stat.mode & mode::KIND;
        let wants = match flags & O_ACCMODE {
            0 => 4,
            1 => 2,
            _ => 6,
        };
        let wants = if flags & O_TRUNC != 0 { wants | 2 } else { wants };
        if kind == mode::DIRECTORY && flags & O_CREAT != 0 {
            return Err(EISDIR.into());
        }
        if kind != mode::DIRECTORY && flags & O_DIRECTORY != 0 {
            return Err(ENOTDIR.into());
        }
        if flags & O_PATH != 0 {
            return self.node_of(found);
        }
        match kind {
            mode::LINK => return Err(ELOOP.into()),
            mode::DIRECTORY if wants & 2 != 0 => return Err(EISDIR.into()),
            _ if !self.permits(&stat, wants) => return Err(EACCES.into()),
            mode::SOCKET => return Err(ENXIO.into()),
            _ => {}
        }
        let node = self.node_of(found)?;
        if flags & O_TRUNC != 0 && self.world().node(node).kind == NodeKind::Regular {
            self.resize(node, 0)?;
        }
        Ok(node)
    }

    fn chmod_node(&mut self, node: NodeId, permissions: u32) -> Done {
        self.may_own(node)?;
        let now = self.stamp();
        let node = self.change().node_mut(node);
        node.meta.mode = (node.meta.mode & mode::KIND) | (permissions & 0o7777);
        node.meta.ctime = now;
        node.symbolic.mode = None;
        Ok(0)
    }

    /// Only the owner and the superuser change permissions and times.
    fn may_own(&self, node: NodeId) -> Result<(), Halt> {
        let user = self.linux.input.user;
        if user == 0 || self.world().node(node).meta.uid == user { Ok(()) } else { Err(EPERM.into()) }
    }

    fn chmod_at(&mut self, at: i32, path: usize, flags: u32) -> Done {
        if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
            return Err(EINVAL.into());
        }
        let permissions = self.int(path + 1)? as u32;
        let found = self.path(at, self.args[path], self.follow_unless(flags & AT_SYMLINK_NOFOLLOW != 0))?;
        if self.kind_of(found.there()?) == mode::LINK {
            return Err(EOPNOTSUPP.into());
        }
        let node = self.node_of(&found)?;
        self.chmod_node(node, permissions)
    }

    /// Giving a file away needs the superuser.
    fn chown_at(&mut self, at: i32, path: usize, flags: u32) -> Done {
        let ids = self.ids(path + 1)?;
        let node = if self.is_empty_path(path, flags)? {
            self.opened_any(at)?.0.node
        } else {
            let found = self.path(at, self.args[path], self.follow_unless(flags & AT_SYMLINK_NOFOLLOW != 0))?;
            self.node_of(&found)?
        };
        self.chown_node(node, ids)
    }

    /// A user and a group, before a file's node is made: whether there is one is decided.
    fn ids(&mut self, first: usize) -> Result<[NewOwner; 2], Halt> {
        Ok([self.new_owner(first)?, self.new_owner(first + 1)?])
    }

    /// Argument `i` as the number of a user or a group, -1 for none. Only the superuser can use one that is symbolic.
    fn new_owner(&mut self, i: usize) -> Result<NewOwner, Halt> {
        let e = self.cx.expr(self.args[i], 32);
        if self.cx.core.pool.as_u64(e).is_some() || self.linux.input.user != 0 {
            return Ok(match self.int(i)? {
                -1 => NewOwner::Old,
                id => NewOwner::Id(id as u32),
            });
        }
        let pool = &mut self.cx.core.pool;
        let none = pool.bits(32, u32::MAX.into());
        let none = pool.eq(e, none);
        Ok(if self.cx.decide(none)? { NewOwner::Old } else { NewOwner::Symbolic(e) })
    }

    fn chown_node(&mut self, node: NodeId, ids: [NewOwner; 2]) -> Done {
        let now = self.stamp();
        if self.world().node(node).symbolic.mode.is_some() {
            return Err(PathEnd::Unsupported("`chown` of a file with symbolic permissions".into()).into());
        }
        let old = self.world().node(node).meta;
        let changed = ids.iter().zip([old.uid, old.gid]).any(|(id, old)| !matches!(*id, NewOwner::Old) && *id != NewOwner::Id(old));
        if self.linux.input.user != 0 && changed {
            return Err(EPERM.into());
        }
        let Node { meta, symbolic, .. } = self.change().node_mut(node);
        let owners = [(&mut meta.uid, &mut symbolic.uid), (&mut meta.gid, &mut symbolic.gid)];
        for ((owner, symbolic), new) in owners.into_iter().zip(ids) {
            match new {
                NewOwner::Old => {}
                NewOwner::Id(id) => (*owner, *symbolic) = (id, None),
                NewOwner::Symbolic(e) => *symbolic = Some(e),
            }
        }
        meta.ctime = now;
        if meta.mode & 0o111 != 0 {
            meta.mode &= !0o4000;
            if meta.mode & 0o010 != 0 {
                meta.mode &= !0o2000;
            }
        }
        Ok(0)
    }

    /// Makes a regular file so long.
    fn resize(&mut self, node: NodeId, len: u64) -> Result<(), Halt> {
        self.from_mappings(node)?;
        self.change().node_mut(node).content.truncate(len);
        self.touch(node);
        self.to_mappings(node)
    }
}

/// The permissions that a new file gets. The kernel does not look at them where none is made, and callers may leave anything there.
fn permissions(s: &mut Sys<'_, '_>, i: usize, flags: u32) -> Result<u32, Halt> {
    const TEMPORARY: u32 = 0o20_000_000;
    if flags & (O_CREAT | TEMPORARY) == 0 { Ok(0) } else { Ok(s.int(i)? as u32) }
}

pub fn open(s: &mut Sys<'_, '_>) -> Done {
    let flags = s.int(1)? as u32;
    let permissions = permissions(s, 2, flags)?;
    s.open_at(AT_FDCWD, 0, flags, permissions)
}

/// memfd_create(name, flags): a file in memory. Its name is for `/proc` alone, which has no such files here.
pub fn memfd_create(s: &mut Sys<'_, '_>) -> Done {
    const CLOSE_ON_EXEC: u32 = 1;
    const ALLOW_SEALING: u32 = 2;
    const LONGEST_NAME: usize = 249;
    let flags = s.int(1)? as u32;
    if flags & !(CLOSE_ON_EXEC | ALLOW_SEALING) != 0 {
        return Err(PathEnd::Unsupported(format!("`memfd_create` with the flags {flags:#x}")).into());
    }
    if s.string(s.args[0])?.len() > LONGEST_NAME {
        return Err(EINVAL.into());
    }
    s.open_nameless(NodeKind::Regular, O_LARGEFILE | if flags & CLOSE_ON_EXEC != 0 { O_CLOEXEC } else { 0 })
}

pub fn openat(s: &mut Sys<'_, '_>) -> Done {
    let (at, flags) = (s.int(0)?, s.int(2)? as u32);
    let permissions = permissions(s, 3, flags)?;
    s.open_at(at, 1, flags, permissions)
}

pub fn creat(s: &mut Sys<'_, '_>) -> Done {
    let permissions = s.int(1)? as u32;
    s.open_at(AT_FDCWD, 0, O_CREAT | O_TRUNC | 1, permissions)
}

/// mknod(path, mode, device): a regular file; others are a limit.
pub fn mknod(s: &mut Sys<'_, '_>) -> Done {
    make_node(s, AT_FDCWD, 0)
}

pub fn mknodat(s: &mut Sys<'_, '_>) -> Done {
    let at = s.int(0)?;
    make_node(s, at, 1)
}

fn make_node(s: &mut Sys<'_, '_>, at: i32, path: usize) -> Done {
    let wanted = s.int(path + 1)? as u32;
    if !matches!(wanted & mode::KIND, 0 | mode::REGULAR) {
        return Err(PathEnd::Unsupported("`mknod` of a pipe, a socket or a device".into()).into());
    }
    let found = s.path(at, s.args[path], Follow::Name { makes: true })?;
    s.may_create(&found, false)?;
    s.create(&found, NodeKind::Regular, wanted)?;
    Ok(0)
}

pub fn truncate(s: &mut Sys<'_, '_>) -> Done {
    let len = s.long(1)?;
    if (len as i64) < 0 {
        return Err(EINVAL.into());
    }
    let found = s.path(AT_FDCWD, s.args[0], Follow::Yes)?;
    let stat = s.stat_of(found.there()?);
    match stat.mode & mode::KIND {
        mode::DIRECTORY => return Err(EISDIR.into()),
        mode::REGULAR => {}
        _ => return Err(EINVAL.into()),
    }
    if !s.permits(&stat, 2) {
        return Err(EACCES.into());
    }
    let node = s.node_of(&found)?;
    truncate_node(s, node, len)
}

pub fn ftruncate(s: &mut Sys<'_, '_>) -> Done {
    let (fd, len) = (s.int(0)?, s.long(1)?);
    if (len as i64) < 0 {
        return Err(EINVAL.into());
    }
    let (open, node) = s.opened(fd)?;
    if node.kind != NodeKind::Regular || !matches!(open.flags & O_ACCMODE, 1 | 2) {
        return Err(EINVAL.into());
    }
    truncate_node(s, open.node, len)
}

fn truncate_node(s: &mut Sys<'_, '_>, node: NodeId, len: u64) -> Done {
    if len > MAX_FILE {
        return Err(crate::errno::EFBIG.into());
    }
    s.resize(node, len)?;
    Ok(0)
}

/// fallocate(descriptor, mode, offset, length): room is there; holes and zeroed ranges are zeros.
pub fn fallocate(s: &mut Sys<'_, '_>) -> Done {
    const KEEP_SIZE: u32 = 1;
    const PUNCH_HOLE: u32 = 2;
    const ZERO_RANGE: u32 = 16;
    const KNOWN: u32 = 0x7f;
    let (fd, how, offset, len) = (s.int(0)?, s.int(1)? as u32, s.long(2)?, s.long(3)?);
    let (open, node) = s.opened(fd)?;
    if (offset as i64) < 0 || (len as i64) <= 0 {
        return Err(EINVAL.into());
    }
    if how & !KNOWN != 0 || how & PUNCH_HOLE != 0 && how & (ZERO_RANGE | KEEP_SIZE) != KEEP_SIZE {
        return Err(EOPNOTSUPP.into());
    }
    if !matches!(open.flags & O_ACCMODE, 1 | 2) {
        return Err(EBADF.into());
    }
    match node.kind {
        NodeKind::Regular => {}
        NodeKind::Pipe { .. } | NodeKind::Output => return Err(ESPIPE.into()),
        NodeKind::Directory => return Err(EISDIR.into()),
        _ => return Err(ENODEV.into()),
    }
    let (old, end) = (node.content.len(), offset.saturating_add(len));
    if end > MAX_FILE {
        return Err(crate::errno::EFBIG.into());
    }
    let zeroes = match how & !KEEP_SIZE {
        0 => false,
        PUNCH_HOLE | ZERO_RANGE => true,
        // Ranges collapsed, inserted or unshared: as on a file system that cannot.
        _ => return Err(EOPNOTSUPP.into()),
    };
    s.from_mappings(open.node)?;
    let content = &mut s.change().node_mut(open.node).content;
    if zeroes {
        content.clear(offset, end);
    }
    content.truncate(if how & KEEP_SIZE == 0 { old.max(end) } else { old });
    s.touch(open.node);
    s.to_mappings(open.node)?;
    Ok(0)
}

pub fn chmod(s: &mut Sys<'_, '_>) -> Done {
    s.chmod_at(AT_FDCWD, 0, 0)
}

pub fn fchmodat(s: &mut Sys<'_, '_>) -> Done {
    let at = s.int(0)?;
    s.chmod_at(at, 1, 0)
}

pub fn fchmodat2(s: &mut Sys<'_, '_>) -> Done {
    let (at, flags) = (s.int(0)?, s.int(3)? as u32);
    s.chmod_at(at, 1, flags)
}

pub fn fchmod(s: &mut Sys<'_, '_>) -> Done {
    let (fd, permissions) = (s.int(0)?, s.int(1)? as u32);
    let node = s.opened(fd)?.0.node;
    s.chmod_node(node, permissions)
}

pub fn chown(s: &mut Sys<'_, '_>) -> Done {
    s.chown_at(AT_FDCWD, 0, 0)
}

pub fn lchown(s: &mut Sys<'_, '_>) -> Done {
    s.chown_at(AT_FDCWD, 0, AT_SYMLINK_NOFOLLOW)
}

pub fn fchownat(s: &mut Sys<'_, '_>) -> Done {
    let (at, flags) = (s.int(0)?, s.int(4)? as u32);
    s.chown_at(at, 1, flags)
}

pub fn fchown(s: &mut Sys<'_, '_>) -> Done {
    let (fd, ids) = (s.int(0)?, s.ids(1)?);
    let node = s.opened(fd)?.0.node;
    s.chown_node(node, ids)
}

/// utimensat(directory, path, times, flags): of access and of change; the kernel's clock where there are none.
pub fn utimensat(s: &mut Sys<'_, '_>) -> Done {
    const NOW: i64 = (1 << 30) - 1;
    const OMIT: i64 = (1 << 30) - 2;
    let (at, flags) = (s.int(0)?, s.int(3)? as u32);
    let nothing = wryneck_exec::Value::Bits(0);
    let wanted = if s.args[2] == nothing { [0, NOW as u64, 0, NOW as u64].to_vec() } else { s.words(s.args[2], 4)? };
    let wanted = [(wanted[0] as i64, wanted[1] as i64), (wanted[2] as i64, wanted[3] as i64)];
    if wanted.iter().all(|(_, ns)| *ns == OMIT) {
        return Ok(0);
    }
    if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(EINVAL.into());
    }
    let node = match s.args[1] == nothing {
        true if at == AT_FDCWD => return Err(EFAULT.into()),
        true if flags != 0 => return Err(EINVAL.into()),
        true => s.opened(at)?.0.node,
        false => {
            let found = s.path(at, s.args[1], s.follow_unless(flags & AT_SYMLINK_NOFOLLOW != 0))?;
            s.node_of(&found)?
        }
    };
    if wanted.iter().any(|(_, ns)| !matches!(*ns, 0..1_000_000_000 | NOW | OMIT)) {
        return Err(EINVAL.into());
    }
    let may_now = wanted.iter().all(|(_, ns)| *ns == NOW) && s.permits(&s.world().node(node).stat(), 2);
    if !may_now {
        s.may_own(node)?;
    }
    let now = s.stamp();
    let Node { meta, symbolic, .. } = s.change().node_mut(node);
    let times = [(&mut meta.atime, &mut symbolic.atime), (&mut meta.mtime, &mut symbolic.mtime)];
    for ((time, symbolic), wanted) in times.into_iter().zip(wanted) {
        if wanted.1 != OMIT {
            *time = if wanted.1 == NOW { now } else { wanted };
            *symbolic = None;
        }
    }
    meta.ctime = now;
    Ok(0)
}
