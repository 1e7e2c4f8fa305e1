//! Names: link, symlink, readlink, unlink, rename, with the kernel's order of checks (`fs/namei.c`).

use wryneck_exec::PathEnd;

use super::path::{AT_FDCWD, Follow, Found, Last, Place, descriptor_named};
use super::stat::AT_EMPTY_PATH;
use super::{Done, Sys};
use crate::errno::{EACCES, EBUSY, EEXIST, EINVAL, EISDIR, ENOENT, ENOTDIR, ENOTEMPTY, EPERM, Halt};
use crate::input::mode;
use crate::state::{NodeId, NodeKind};

const AT_REMOVEDIR: u32 = 0x200;
const AT_SYMLINK_FOLLOW: u32 = 0x400;
const NOREPLACE: u32 = 1;
const EXCHANGE: u32 = 2;

impl Sys<'_, '_> {
    /// Whether a name may be made where a walk ended: in a directory that is not removed and that this user may change.
    pub fn may_make(&self, found: &Found) -> Result<(), Halt> {
        let directory = self.stat_of(found.directory());
        match () {
            () if directory.nlink == 0 => Err(ENOENT.into()),
            () if !self.permits(&directory, 3) => Err(EACCES.into()),
            () => Ok(()),
        }
    }

    /// As [`Sys::may_make`], where nothing may be of that name; only a directory's may end in a slash.
    pub fn may_create(&self, found: &Found, directory: bool) -> Result<(), Halt> {
        match found.entry()? {
            Some(_) => Err(EEXIST.into()),
            None if found.slash && !directory => Err(ENOENT.into()),
            None => self.may_make(found),
        }
    }

    /// Whether the name of a file may be removed: by a user who may change its directory, and who owns one of them if it is sticky.
    pub fn may_remove(&self, found: &Found, directory: bool) -> Result<(), Halt> {
        let (above, file, user) = (self.stat_of(found.directory()), self.stat_of(found.there()?), self.linux.input.user);
        if !self.permits(&above, 3) {
            return Err(EACCES.into());
        }
        if above.mode & 0o1000 != 0 && ![0, above.uid, file.uid].contains(&user) && user != 0 {
            return Err(EPERM.into());
        }
        match (directory, file.mode & mode::KIND == mode::DIRECTORY) {
            (true, false) => Err(ENOTDIR.into()),
            (false, true) => Err(EISDIR.into()),
            _ => Ok(()),
        }
    }

    /// Removes the name of a file; the file lives on while it is open or has another.
    pub fn remove(&mut self, found: &Found) -> Result<(), Halt> {
        let directory = self.adopt_directory(found)?;
        let (place, stat) = (found.there()?, self.stat_of(found.there()?));
        match (place, stat.mode & mode::KIND) {
            (Place::Host(..), mode::DIRECTORY) => self.take_link_from(directory),
            // Nothing else leads to it.
            (Place::Host(..), _) if stat.nlink < 2 => {}
            _ => {
                let id = self.node_of(found)?;
                self.unlinked(directory, id);
            }
        }
        self.set_entry(directory, &found.name, None);
        Ok(())
    }

    /// A file has one name less, a directory none.
    fn unlinked(&mut self, directory: NodeId, id: NodeId) {
        self.take_link(directory, id);
        let file = self.change().node_mut(id);
        file.meta.nlink = if file.kind == NodeKind::Directory { 0 } else { file.meta.nlink.saturating_sub(1) };
    }

    /// A directory loses a file, which takes its `..` along if it is one itself.
    fn take_link(&mut self, directory: NodeId, id: NodeId) {
        if self.world().node(id).kind == NodeKind::Directory {
            self.take_link_from(directory);
        }
    }

    /// Some file systems do not count the links of a directory: there is one for ever.
    fn take_link_from(&mut self, directory: NodeId) {
        let links = &mut self.change().node_mut(directory).meta.nlink;
        *links -= u64::from(*links > 1);
    }

    fn unlink_at(&mut self, at: i32, path: usize) -> Done {
        let found = self.path(at, self.args[path], Follow::Name { makes: false })?;
        if found.last != Last::Name {
            return Err(EISDIR.into());
        }
        let kind = self.kind_of(found.there()?);
        if found.slash {
            return Err(if kind == mode::DIRECTORY { EISDIR } else { ENOTDIR }.into());
        }
        self.may_remove(&found, false)?;
        self.remove(&found)?;
        Ok(0)
    }

    fn link_at(&mut self, (from_at, from): (i32, usize), (to_at, to): (i32, usize), flags: u32) -> Done {
        if flags & !(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH) != 0 {
            return Err(EINVAL.into());
        }
        let follow = if flags & AT_SYMLINK_FOLLOW != 0 { Follow::Yes } else { Follow::No };
        let itself = self.is_empty_path(from, flags)?;
        let source = if itself { None } else { Some(self.given(from_at, self.args[from], follow)?) };
        let made = Follow::Name { makes: true };
        let target = self.given(to_at, self.args[to], made)?;
        let source = source.map(|given| self.walk(&given, follow)).transpose()?;
        let old = match &source {
            Some(found) => found.there()?.clone(),
            None => self.place_of(from_at)?,
        };
        let new = self.walk(&target, made)?;
        self.may_create(&new, false)?;
        let stat = self.stat_of(&old);
        match () {
            () if stat.mode & mode::KIND == mode::DIRECTORY => return Err(EPERM.into()),
            () if self.linux.input.user != 0 && stat.uid != self.linux.input.user && !self.permits(&stat, 6) => return Err(EPERM.into()),
            () if stat.nlink == 0 && !itself => return Err(ENOENT.into()),
            () => {}
        }
        let node = match (old, source) {
            (Place::Node(id), _) => id,
            (Place::Host(..), Some(found)) => self.node_of(&found)?,
            (Place::Host(..), None) => return Err(ENOENT.into()),
        };
        let directory = self.adopt_directory(&new)?;
        self.change().node_mut(node).meta.nlink += 1;
        self.set_entry(directory, &new.name, Some(node));
        Ok(0)
    }

    fn symlink_at(&mut self, target: usize, at: i32, path: usize) -> Done {
        let target = self.text(self.args[target])?;
        if target.is_empty() {
            return Err(ENOENT.into());
        }
        let found = self.path(at, self.args[path], Follow::Name { makes: true })?;
        self.may_create(&found, false)?;
        let node = self.create(&found, NodeKind::Link, 0o777)?;
        let node = self.change().node_mut(node);
        node.target = target.into();
        node.meta.mode = 0o777;
        Ok(0)
    }

    fn readlink_at(&mut self, at: i32, path: usize) -> Done {
        let size = self.int(path + 2)?;
        if size <= 0 {
            return Err(EINVAL.into());
        }
        let (itself, wrong) = (self.is_empty_path(path, AT_EMPTY_PATH)? && at != AT_FDCWD, EINVAL);
        let (place, wrong) = match itself {
            true => (self.place_of(at)?, ENOENT),
            false => {
                let given = self.given(at, self.args[path], Follow::No)?;
                if descriptor_named(given.name()).is_some() {
                    return Err(PathEnd::Unsupported("`readlink` of a descriptor".into()).into());
                }
                if let Some(file) = self.own_file(given.name()) {
                    return self.put_target(path, size, &file);
                }
                (self.walk(&given, Follow::No)?.there()?.clone(), wrong)
            }
        };
        if self.kind_of(&place) != mode::LINK {
            return Err(wrong.into());
        }
        let target = self.target_of(&place)?;
        self.put_target(path, size, &target)
    }

    /// What a link of this name leads to, if it leads to an executable that runs. A replay runs the same file, and other programs are built for it.
    fn own_file(&self, name: &[u8]) -> Option<Vec<u8>> {
        let input = &self.linux.input;
        let is_it = name == b"/proc/self/exe" && input.process.is_some() && !input.file.is_empty() && !self.notes();
        is_it.then(|| input.file.clone())
    }

    /// Gives so many bytes of a link's target at most, to the buffer behind the argument that is the path.
    fn put_target(&mut self, path: usize, size: i32, target: &[u8]) -> Done {
        let n = target.len().min(size as usize);
        let addr = self.block(self.args[path + 1], n as u64, true)?;
        self.put(addr, &target[..n])?;
        Ok(n as u64)
    }

    fn rename_at(&mut self, (from_at, from): (i32, usize), (to_at, to): (i32, usize), flags: u32) -> Done {
        if flags & !(NOREPLACE | EXCHANGE) != 0 || flags == NOREPLACE | EXCHANGE {
            return Err(EINVAL.into());
        }
        // That the first name is not there is said only after both directories were found.
        let follow = Follow::Name { makes: true };
        let from = self.given(from_at, self.args[from], follow)?;
        let to = self.given(to_at, self.args[to], follow)?;
        let (old, new) = (self.walk(&from, follow)?, self.walk(&to, follow)?);
        if old.last != Last::Name {
            return Err(EBUSY.into());
        }
        if new.last != Last::Name {
            return Err(if flags & NOREPLACE != 0 { EEXIST } else { EBUSY }.into());
        }
        let directory = self.kind_of(old.there()?) == mode::DIRECTORY;
        let free = new.entry()?.is_none();
        if flags & NOREPLACE != 0 && !free {
            return Err(EEXIST.into());
        }
        if flags & EXCHANGE != 0 {
            let other = self.kind_of(new.there()?) == mode::DIRECTORY;
            if !other && new.slash {
                return Err(ENOTDIR.into());
            }
        }
        if !directory && (old.slash || new.slash && flags & EXCHANGE == 0) {
            return Err(ENOTDIR.into());
        }
        self.replace(&old, &new, directory, flags & EXCHANGE != 0)
    }

    /// The part of renaming that may change things: the files become nodes first, so that they can be compared.
    fn replace(&mut self, old: &Found, new: &Found, directory: bool, exchange: bool) -> Done {
        let node = self.node_of(old)?;
        let (from, to) = (self.adopt_directory(old)?, self.adopt_directory(new)?);
        let target = if new.entry()?.is_some() { Some(self.node_of(new)?) } else { None };
        if self.is_below(to, node) {
            return Err(EINVAL.into());
        }
        if let Some(target) = target
            && self.is_below(from, target)
        {
            return Err(if exchange { EINVAL } else { ENOTEMPTY }.into());
        }
        if target == Some(node) {
            return Ok(0);
        }
        self.may_remove(old, directory)?;
        match target {
            None => self.may_make(new)?,
            Some(_) if exchange => self.may_remove(new, self.kind_of(new.there()?) == mode::DIRECTORY)?,
            Some(_) => self.may_remove(new, directory)?,
        }
        if directory && from != to && !self.permits(&self.world().node(node).stat(), 2) {
            return Err(EACCES.into());
        }
        if let (Some(target), false) = (target, exchange) {
            if directory && !super::dir::list(self, target)?.is_empty() {
                return Err(ENOTEMPTY.into());
            }
            self.unlinked(to, target);
        }
        self.take_link(from, node);
        if let (Some(target), true) = (target, exchange) {
            self.take_link(to, target);
        }
        self.set_entry(from, &old.name, target.filter(|_| exchange));
        self.set_entry(to, &new.name, Some(node));
        Ok(0)
    }

    /// Whether a directory is another, or lies somewhere below it.
    fn is_below(&self, directory: NodeId, other: NodeId) -> bool {
        let (world, mut at) = (self.world(), directory);
        loop {
            let parent = world.node(at).parent;
            match at == other {
                true => return true,
                false if parent == at => return false,
                false => at = parent,
            }
        }
    }
}

pub fn link(s: &mut Sys<'_, '_>) -> Done {
    s.link_at((AT_FDCWD, 0), (AT_FDCWD, 1), 0)
}

pub fn linkat(s: &mut Sys<'_, '_>) -> Done {
    let (from, to, flags) = (s.int(0)?, s.int(2)?, s.int(4)? as u32);
    s.link_at((from, 1), (to, 3), flags)
}

pub fn symlink(s: &mut Sys<'_, '_>) -> Done {
    s.symlink_at(0, AT_FDCWD, 1)
}

pub fn symlinkat(s: &mut Sys<'_, '_>) -> Done {
    let at = s.int(1)?;
    s.symlink_at(0, at, 2)
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
    match flags {
        0 => s.unlink_at(at, 1),
        AT_REMOVEDIR => super::dir::remove_at(s, at, 1),
        _ => Err(EINVAL.into()),
    }
}

pub fn rename(s: &mut Sys<'_, '_>) -> Done {
    s.rename_at((AT_FDCWD, 0), (AT_FDCWD, 1), 0)
}

pub fn renameat(s: &mut Sys<'_, '_>) -> Done {
    let (from, to) = (s.int(0)?, s.int(2)?);
    s.rename_at((from, 1), (to, 3), 0)
}

pub fn renameat2(s: &mut Sys<'_, '_>) -> Done {
    let (from, to, flags) = (s.int(0)?, s.int(2)?, s.int(4)? as u32);
    s.rename_at((from, 1), (to, 3), flags)
}
