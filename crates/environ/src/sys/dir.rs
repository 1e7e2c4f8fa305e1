//! Directories: the working directory, creating, removing and listing directories.

use std::collections::BTreeMap;
use wryneck_exec::seed;

use super::path::{AT_FDCWD, Follow, Last, Place};
use super::{Done, Sys};
use crate::content::Byte;
use crate::errno::{EACCES, EBADF, EBUSY, EINVAL, ENOENT, ENOTDIR, ENOTEMPTY, ERANGE, Halt};
use crate::input::{DirEntry, mode};
use crate::state::{Node, NodeId, NodeKind};

pub fn getcwd(s: &mut Sys<'_, '_>) -> Done {
    let size = s.long(1)?;
    let world = s.world();
    let path = world.path_of(world.own.working_directory).ok_or(ENOENT)?;
    let mut path = s.spelled_out(&path)?;
    path.push(0);
    if size < path.len() as u64 {
        return Err(ERANGE.into());
    }
    let addr = s.block(s.args[0], path.len() as u64, true)?;
    s.put(addr, &path)?;
    Ok(path.len() as u64)
}

pub fn chdir(s: &mut Sys<'_, '_>) -> Done {
    let found = s.path(AT_FDCWD, s.args[0], Follow::Yes)?;
    let stat = s.stat_of(found.there()?);
    if stat.mode & mode::KIND != mode::DIRECTORY {
        return Err(ENOTDIR.into());
    }
    if !s.permits(&stat, 1) {
        return Err(EACCES.into());
    }
    let node = s.node_of(&found)?;
    s.change().own.working_directory = node;
    Ok(0)
}

pub fn fchdir(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    let (open, node) = s.opened_any(fd)?;
    if node.kind != NodeKind::Directory {
        return Err(ENOTDIR.into());
    }
    if !s.permits(&node.stat(), 1) {
        return Err(EACCES.into());
    }
    s.change().own.working_directory = open.node;
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
    let found = s.path(at, s.args[path], Follow::Name { makes: true })?;
    s.may_create(&found, true)?;
    s.create(&found, NodeKind::Directory, permissions & 0o1777)?;
    Ok(0)
}

pub fn rmdir(s: &mut Sys<'_, '_>) -> Done {
    remove_at(s, AT_FDCWD, 0)
}

pub fn remove_at(s: &mut Sys<'_, '_>, at: i32, path: usize) -> Done {
    let found = s.path(at, s.args[path], Follow::Name { makes: false })?;
    match found.last {
        Last::Name => {}
        Last::DotDot => return Err(ENOTEMPTY.into()),
        Last::Dot => return Err(EINVAL.into()),
        Last::Root => return Err(EBUSY.into()),
    }
    found.there()?;
    s.may_remove(&found, true)?;
    let empty = match found.there()? {
        Place::Node(id) => list(s, *id)?.is_empty(),
        Place::Host(path, _) => s.linux.captured.dir(path)?.is_empty(),
    };
    if !empty {
        return Err(ENOTEMPTY.into());
    }
    s.remove(&found)?;
    Ok(0)
}

/// The entries of a directory but `.` and `..`, by name or the key of a symbolic one: the host's, changed as this path changed them.
pub fn list(s: &Sys<'_, '_>, directory: NodeId) -> Result<Vec<DirEntry>, Halt> {
    let world = s.world();
    let node = world.node(directory);
    if s.linux.captured.log.is_some() {
        return in_host_order(s, node);
    }
    let mut entries = BTreeMap::new();
    if let Some(host) = &node.host {
        for entry in s.linux.captured.dir(host)?.iter() {
            entries.insert(entry.name.clone(), entry.clone());
        }
    }
    for (name, known) in node.entries.iter() {
        let name = name.to_vec();
        match known {
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

/// As [`list`], in the order in which the host lists them; what the path made comes last.
fn in_host_order(s: &Sys<'_, '_>, node: &Node) -> Result<Vec<DirEntry>, Halt> {
    let world = s.world();
    let mut entries = match &node.host {
        Some(host) => s.linux.captured.dir(host)?.to_vec(),
        None => Vec::new(),
    };
    let mut places: BTreeMap<Vec<u8>, usize> = entries.iter().enumerate().map(|(i, entry)| (entry.name.clone(), i)).collect();
    let mut gone = Vec::new();
    for (name, known) in node.entries.iter() {
        match (known, places.get(&**name)) {
            (None, Some(place)) => gone.push(*place),
            (None, None) => {}
            (Some(id), place) => {
                let stat = world.node(*id).stat();
                let entry = DirEntry { name: name.to_vec(), ino: stat.ino, kind: stat.mode & mode::KIND };
                match place {
                    Some(place) => entries[*place] = entry,
                    None => {
                        places.insert(name.to_vec(), entries.len());
                        entries.push(entry);
                    }
                }
            }
        }
    }
    gone.sort_unstable();
    gone.into_iter().rev().for_each(|place| drop(entries.remove(place)));
    Ok(entries)
}

pub fn getdents64(s: &mut Sys<'_, '_>) -> Done {
    let (fd, size) = (s.int(0)?, s.long(2)?);
    let (open, node) = s.opened(fd)?;
    if node.kind != NodeKind::Directory {
        return Err(ENOTDIR.into());
    }
    if node.meta.nlink == 0 {
        return Err(ENOENT.into());
    }
    let (ino, above) = (node.meta.ino, s.world().node(node.parent).meta.ino);
    let dot = |name: &[u8], ino| DirEntry { name: name.to_vec(), ino, kind: mode::DIRECTORY };
    let mut entries = list(s, open.node)?;
    let [(first, ino), (second, above)] = s.dots(open.node).unwrap_or([(0, ino), (1, above)]);
    let mut dots = [(first, dot(b".", ino)), (second, dot(b"..", above))];
    dots.sort_by_key(|(place, _)| *place);
    for (place, dot) in dots {
        entries.insert(place.min(entries.len()), dot);
    }
    let mut out = Vec::new();
    let mut next = open.offset;
    for entry in entries.iter().skip(open.offset as usize) {
        let name: Vec<Byte> = match s.world().symbolic_name(&entry.name) {
            Some(name) => name.iter().map(|e| Byte::Symbolic(*e)).collect(),
            None => entry.name.iter().map(|b| Byte::Concrete(*b)).collect(),
        };
        let len = (19 + name.len() + 1).next_multiple_of(8);
        if (out.len() + len) as u64 > size {
            break;
        }
        next += 1;
        let start = out.len();
        let concrete = |bytes: &[u8]| bytes.iter().map(|b| Byte::Concrete(*b)).collect::<Vec<_>>();
        out.extend(concrete(&entry.ino.to_le_bytes()));
        out.extend(match s.linux.captured.log {
            // The kernel's places are its own: nobody knows them before a run.
            Some(_) => seed::seeded_input(s.cx, "a place in a directory", &next.to_le_bytes()).into_iter().map(Byte::Symbolic).collect(),
            None => concrete(&next.to_le_bytes()),
        });
        out.extend(concrete(&[&(len as u16).to_le_bytes()[..], &[(entry.kind >> 12) as u8]].concat()));
        out.extend(name);
        out.resize(start + len, Byte::Concrete(0));
    }
    if out.is_empty() && entries.len() as u64 > open.offset {
        return Err(EINVAL.into());
    }
    let addr = s.block(s.args[1], out.len() as u64, true)?;
    if !out.is_empty() {
        s.put_bytes(addr, &out)?;
    }
    s.change().open_of_mut(fd).ok_or(EBADF)?.offset = next;
    Ok(out.len() as u64)
}
