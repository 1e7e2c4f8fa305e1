//! Directories: the working directory, making and removing, listing.

use std::collections::BTreeMap;

use super::path::{AT_FDCWD, Resolved, split};
use super::{Done, Sys};
use crate::errno::{EBADF, EEXIST, EINVAL, ENOENT, ENOTDIR, ENOTEMPTY, ERANGE, Halt};
use crate::input::{DirEntry, mode};
use crate::state::NodeKind;

pub fn getcwd(s: &mut Sys<'_, '_>) -> Done {
    let size = s.long(1)?;
    let mut path = s.world().working_directory.to_vec();
    path.push(0);
    if size < path.len() as u64 {
        return Err(ERANGE.into());
    }
    let addr = s.block(s.args[0], path.len() as u64, true)?;
    s.put(addr, &path)?;
    Ok(path.len() as u64)
}

pub fn chdir(s: &mut Sys<'_, '_>) -> Done {
    let mut at = s.path(AT_FDCWD, s.args[0])?;
    at.directory = true;
    s.find(&at, true)?;
    s.change().working_directory = at.path.into();
    Ok(0)
}

pub fn fchdir(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    if s.opened(fd)?.1.kind != NodeKind::Directory {
        return Err(ENOTDIR.into());
    }
    let path = s.path_of(fd)?;
    s.change().working_directory = path.into();
    Ok(0)
}

pub fn mkdir(s: &mut Sys<'_, '_>) -> Done {
    let permissions = s.int(1)? as u32;
    make_at(s, AT_FDCWD, 0, permissions)
}

pub fn mkdirat(s: &mut Sys<'_, '_>) -> Done {
    let (at, permissions) = (s.int(0)?, s.int(2)? as u32);
    make_at(s, at, 1, permissions)
}

fn make_at(s: &mut Sys<'_, '_>, at: i32, path: usize, permissions: u32) -> Done {
    let at = s.path_for(at, s.args[path], true)?;
    match s.find(&Resolved { directory: false, ..at.clone() }, false) {
        Ok(_) => return Err(EEXIST.into()),
        Err(Halt::Errno(e)) if e == ENOENT => {}
        Err(halt) => return Err(halt),
    }
    s.check_parent(&at.path)?;
    s.may_change_entry(&at.path)?;
    let node = s.create(&at.path, NodeKind::Directory, permissions);
    let meta = &mut s.change().node_mut(node).meta;
    (meta.nlink, meta.size) = (2, 4096);
    Ok(0)
}

pub fn rmdir(s: &mut Sys<'_, '_>) -> Done {
    remove_at(s, AT_FDCWD, 0)
}

pub fn remove_at(s: &mut Sys<'_, '_>, at: i32, path: usize) -> Done {
    let at = s.path(at, s.args[path])?;
    let found = s.find(&at, false)?;
    if s.stat_of(&found).mode & mode::KIND != mode::DIRECTORY {
        return Err(ENOTDIR.into());
    }
    if at.path == b"/" || !list(s, &at.path)?.is_empty() {
        return Err(ENOTEMPTY.into());
    }
    s.may_change_entry(&at.path)?;
    s.change().set_name(&at.path, None);
    Ok(0)
}

/// The entries of a directory but `.` and `..`, by name: the host's, changed as this path changed them.
fn list(s: &Sys<'_, '_>, path: &[u8]) -> Result<Vec<DirEntry>, Halt> {
    let world = s.world();
    let made_here = world.names.get(path).is_some_and(|n| n.is_some_and(|id| !world.node(id).from_host));
    let mut entries = BTreeMap::new();
    if !made_here {
        for entry in s.linux.captured.dir(path)?.iter() {
            entries.insert(entry.name.clone(), entry.clone());
        }
    }
    for (full, node) in world.names.iter().filter(|(full, _)| full.len() > 1 && split(full).0 == path) {
        let name = split(full).1.to_vec();
        match node {
            None => {
                entries.remove(&name);
            }
            Some(id) => {
                let stat = world.node(*id).stat();
                entries.insert(name.clone(), DirEntry { name, ino: stat.ino, kind: stat.mode & mode::KIND });
            }
        }
    }
    Ok(entries.into_values().collect())
}

pub fn getdents64(s: &mut Sys<'_, '_>) -> Done {
    let (fd, size) = (s.int(0)?, s.long(2)?);
    let (open, node) = s.opened(fd)?;
    if node.kind != NodeKind::Directory {
        return Err(ENOTDIR.into());
    }
    let (path, ino) = (node.path.clone(), node.meta.ino);
    let dot = |name: &[u8]| DirEntry { name: name.to_vec(), ino, kind: mode::DIRECTORY };
    let mut entries = vec![dot(b"."), dot(b"..")];
    entries.extend(list(s, &path)?);
    let mut out = Vec::new();
    let mut next = open.offset;
    for entry in entries.iter().skip(open.offset as usize) {
        let len = (19 + entry.name.len() + 1).next_multiple_of(8);
        if (out.len() + len) as u64 > size {
            break;
        }
        next += 1;
        let start = out.len();
        out.extend(entry.ino.to_le_bytes());
        out.extend(next.to_le_bytes());
        out.extend((len as u16).to_le_bytes());
        out.push((entry.kind >> 12) as u8);
        out.extend(&entry.name);
        out.resize(start + len, 0);
    }
    if out.is_empty() && entries.len() as u64 > open.offset {
        return Err(EINVAL.into());
    }
    let addr = s.block(s.args[1], out.len() as u64, true)?;
    if !out.is_empty() {
        s.put(addr, &out)?;
    }
    s.change().open_of_mut(fd).ok_or(EBADF)?.offset = next;
    Ok(out.len() as u64)
}
