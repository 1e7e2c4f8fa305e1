//! Attributes of files: stat and its family, access, statfs.

use std::ops::Range;

use wryneck_exec::{PathEnd, memory};
use wryneck_expr::ExprId;

use super::path::{AT_FDCWD, Follow, Place};
use super::seen::Touched;
use super::{Done, Sys};
use crate::errno::{EACCES, EINVAL, Halt};
use crate::input::{Stat, mode};
use crate::observed::question;
use crate::state::{NodeId, NodeKind, SymbolicMeta};

pub const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
pub const AT_EMPTY_PATH: u32 = 0x1000;
const AT_EACCESS: u32 = 0x200;
const BLOCK: u64 = 4096;

/// What `stat` tells of a file.
struct Told {
    stat: Stat,
    symbolic: SymbolicMeta,
    /// What the world is asked for the rest, where facts are noted.
    question: Option<(Vec<u8>, Touched)>,
}

impl Sys<'_, '_> {
    /// Whether this user may do what `want` (4 read, 2 write, 1 execute) says.
    pub fn permits(&self, stat: &Stat, want: u32) -> bool {
        let user = self.linux.input.user;
        let shift = if stat.uid == user {
            6
        } else if stat.gid == user {
            3
        } else {
            0
        };
        let any_execute = stat.mode & 0o111 != 0 || stat.mode & mode::KIND == mode::DIRECTORY;
        let permits = if user == 0 { want & 1 == 0 || any_execute } else { (stat.mode >> shift) & want == want };
        if !permits {
            self.linux.captured.note_unknown("whether this user may do that: groups and access lists are not known");
        }
        permits
    }

    /// Whether the path at a pointer is empty, so that with `AT_EMPTY_PATH` the descriptor itself is meant.
    pub fn is_empty_path(&mut self, path: usize, flags: u32) -> Result<bool, Halt> {
        if flags & AT_EMPTY_PATH == 0 {
            return Ok(false);
        }
        let addr = self.block(self.args[path], 1, false)?;
        let first = memory::read_bytes(self.cx, addr, 1)?;
        let first = memory::joined(self.cx, &first);
        let pool = &mut self.cx.core.pool;
        let zero = pool.bits(8, 0);
        let empty = pool.eq(first, zero);
        Ok(self.cx.decide(empty)?)
    }

    /// The file that a descriptor stands for; the working directory if it is none.
    pub fn place_of(&self, fd: i32) -> Result<Place, Halt> {
        Ok(Place::Node(if fd == AT_FDCWD { self.world().own.working_directory } else { self.opened_any(fd)?.0.node }))
    }

    fn stat_at(&mut self, at: i32, path: usize, flags: u32) -> Result<Told, Halt> {
        if self.is_empty_path(path, flags)? {
            return Ok(self.told_of(&self.place_of(at)?));
        }
        let follow = if flags & AT_SYMLINK_NOFOLLOW == 0 { Follow::Yes } else { Follow::No };
        let found = self.path(at, self.args[path], follow)?;
        Ok(self.told_of(found.there()?))
    }

    fn told_of(&self, place: &Place) -> Told {
        match place {
            Place::Node(id) => self.told_of_node(*id),
            Place::Host(path, stat) => {
                let question = self.linux.captured.log.is_some().then(|| (question("lstat", path), Touched::default()));
                Told { stat: *stat, symbolic: SymbolicMeta::default(), question }
            }
        }
    }

    fn told_of_node(&self, id: NodeId) -> Told {
        let node = self.world().node(id);
        let content = node.kind == NodeKind::Regular;
        let touched = Touched { opened: content || node.kind == NodeKind::Directory, content, any_length: node.any_length };
        let question = self.question_of_node(id).map(|question| (question, touched));
        Told { stat: node.stat(), symbolic: node.symbolic, question }
    }

    fn put_stat(&mut self, i: usize, told: &Told) -> Done {
        let addr = self.block(self.args[i], 144, true)?;
        let bytes = stat_bytes(&told.stat);
        self.put(addr, &bytes)?;
        if let Some((question, touched)) = &told.question {
            self.put_seen(addr, &bytes, question, *touched)?;
        }
        let SymbolicMeta { mode, uid, gid, atime, mtime } = told.symbolic;
        self.put_symbolic(addr, [(24, mode), (28, uid), (32, gid), (72, atime), (88, mtime)])
    }

    /// Writes expressions into a structure, each at its offset.
    fn put_symbolic(&mut self, addr: u64, fields: [(u64, Option<ExprId>); 5]) -> Done {
        for (offset, e) in fields.into_iter().filter_map(|(offset, e)| Some((offset, e?))) {
            self.put_expr(addr + offset, e)?;
        }
        Ok(0)
    }

    /// Writes an expression of whole bytes at a checked address.
    pub fn put_expr(&mut self, addr: u64, e: ExprId) -> Result<(), Halt> {
        let pool = &mut self.cx.core.pool;
        let bytes: Vec<_> = (0..pool.width(e) / 8).map(|i| pool.extract(e, 8 * i, 8)).collect();
        Ok(memory::write_bytes(self.cx, addr, &bytes)?)
    }

    fn access_at(&mut self, at: i32, path: usize, want: u32, flags: u32) -> Done {
        if want & !7 != 0 || flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_EACCESS) != 0 {
            return Err(EINVAL.into());
        }
        let told = self.stat_at(at, path, flags)?;
        let permits = self.permits(&told.stat, want);
        self.note_access(told.question.as_ref().map(|(question, _)| question.as_slice()), want, permits);
        if permits { Ok(0) } else { Err(EACCES.into()) }
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
    let told = s.told_of_node(s.opened_any(fd)?.0.node);
    s.put_stat(1, &told)
}

pub fn newfstatat(s: &mut Sys<'_, '_>) -> Done {
    let (at, flags) = (s.int(0)?, s.int(3)? as u32);
    let stat = s.stat_at(at, 1, flags)?;
    s.put_stat(2, &stat)
}

pub fn statx(s: &mut Sys<'_, '_>) -> Done {
    let (at, flags) = (s.int(0)?, s.int(2)? as u32);
    let mask = s.int(3)? as u32;
    let Told { stat, symbolic: SymbolicMeta { mode, uid, gid, atime, mtime }, question } = s.stat_at(at, 1, flags)?;
    let addr = s.block(s.args[4], 256, true)?;
    let bytes = statx_bytes(&stat);
    s.put(addr, &bytes)?;
    if let Some((question, touched)) = question {
        const SYNC: u32 = 0x6000;
        let question = match question.strip_prefix(b"lstat ") {
            Some(path) => self::question(&format!("statx {mask:x} {:x}", flags & SYNC), path),
            None => question,
        };
        s.put_seen(addr, &bytes, &question, touched)?;
    }
    s.put_symbolic(addr, [(20, uid), (24, gid), (28, mode), (64, atime), (112, mtime)])
}

pub fn access(s: &mut Sys<'_, '_>) -> Done {
    let want = s.int(1)? as u32;
    s.access_at(AT_FDCWD, 0, want, 0)
}

pub fn faccessat(s: &mut Sys<'_, '_>) -> Done {
    let (at, want) = (s.int(0)?, s.int(2)? as u32);
    s.access_at(at, 1, want, 0)
}

pub fn faccessat2(s: &mut Sys<'_, '_>) -> Done {
    let (at, want, flags) = (s.int(0)?, s.int(2)? as u32, s.int(3)? as u32);
    s.access_at(at, 1, want, flags)
}

/// execve(path, …): fails as it does where there is no such program; what another program would do is not explored.
pub fn execve(s: &mut Sys<'_, '_>) -> Done {
    const EXECUTE: u32 = 1;
    let stat = s.stat_at(AT_FDCWD, 0, 0)?.stat;
    if stat.mode & mode::KIND != mode::REGULAR || !s.permits(&stat, EXECUTE) {
        return Err(EACCES.into());
    }
    match super::children::executes(s)? {
        Some(end) => Err(end),
        None => Err(PathEnd::Unsupported("the program becomes another one (`execve`)".into()).into()),
    }
}

/// statfs(path, result): one file system, half full.
pub fn statfs(s: &mut Sys<'_, '_>) -> Done {
    let place = s.path(AT_FDCWD, s.args[0], Follow::Yes)?.there()?.clone();
    put_statfs(s, &place)
}

pub fn fstatfs(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    let place = Place::Node(s.opened_any(fd)?.0.node);
    put_statfs(s, &place)
}

/// `struct statfs`: type, block size, blocks, free, available, files, free ones, id, longest name, fragment, flags.
fn put_statfs(s: &mut Sys<'_, '_>, place: &Place) -> Done {
    /// All but what is free, which any process changes.
    const STAYS: [Range<usize>; 3] = [0..24, 40..48, 56..120];
    const CHANGES: [Range<usize>; 2] = [24..40, 48..56];
    const EXT4: u64 = 0xef53;
    let words: [u64; 15] = [EXT4, BLOCK, 1 << 24, 1 << 23, 1 << 23, 1 << 22, 1 << 21, 1, 255, BLOCK, 0x1020, 0, 0, 0, 0];
    let addr = s.block(s.args[1], 120, true)?;
    if s.notes() {
        let path = match place {
            Place::Host(path, _) => Some(path.clone()),
            Place::Node(id) => s.world().node(*id).host.clone(),
        };
        let question = path.map_or(Vec::new(), |path| question("statfs", &path));
        return s.put_told(addr, &[0; 120], &question, &STAYS, &CHANGES);
    }
    s.put(addr, &words.map(u64::to_le_bytes).concat())?;
    Ok(0)
}
