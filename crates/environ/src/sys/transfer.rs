//! Copying between descriptors: sendfile, copy_file_range.

use wryneck_exec::PathEnd;

use super::fd::{O_APPEND, PIPE_ROOM};
use super::{Done, Sys};
use crate::errno::{EBADF, EINVAL, EISDIR, ESPIPE, Halt};
use crate::state::NodeKind;

/// Most bytes that one call copies between files; more is a short copy.
const MAX_TRANSFER: u64 = 1 << 24;

impl Sys<'_, '_> {
    /// Copies from a regular file to another or to a pipe; offsets are at pointers, or the descriptors' own.
    fn transfer(&mut self, (from, from_at): (i32, usize), (to, to_at): (i32, Option<usize>), count: usize) -> Done {
        let (from_open, source) = self.readable(from)?;
        let (from_kind, len) = (source.kind, source.content.len());
        if !self.is_null(from_at)? && matches!(from_kind, NodeKind::Pipe { .. } | NodeKind::Output | NodeKind::Socket) {
            return Err(ESPIPE.into());
        }
        let (to_open, target) = self.writable(to)?;
        if target.kind == NodeKind::Socket {
            return Err(PathEnd::Unsupported("a transfer from a file to a socket".into()).into());
        }
        let (kind, end) = (target.kind, target.content.len());
        if let NodeKind::Pipe { readers: 0, .. } = kind {
            self.room_in_pipe(1, 0, 0, to_open.flags, false)?;
        }
        let to_pipe = matches!(kind, NodeKind::Pipe { .. });
        let appends = to_open.flags & O_APPEND != 0 && !to_pipe;
        if from_kind != NodeKind::Regular {
            let nothing = self.is_null(count)? && (to_pipe || from_kind == NodeKind::Directory && !appends);
            return if nothing { Ok(0) } else { Err(EINVAL.into()) };
        }
        if appends || !(to_pipe || matches!(kind, NodeKind::Regular | NodeKind::Output | NodeKind::Null)) {
            return Err(EINVAL.into());
        }
        let given = |s: &mut Self, i: usize| -> Result<Option<u64>, Halt> {
            Ok(if s.is_null(i)? { None } else { s.words(s.args[i], 1)?.first().copied() })
        };
        let start = given(self, from_at)?;
        let target_start = to_at.map_or(Ok(None), |i| given(self, i))?;
        let from_start = start.unwrap_or(from_open.offset);
        let mut total = self.count(self.args[count], len.saturating_sub(from_start).min(MAX_TRANSFER))?;
        let asked = total;
        if let NodeKind::Pipe { taken, readers, .. } = kind {
            total = self.room_in_pipe(total, PIPE_ROOM - (end - taken).min(PIPE_ROOM), readers, to_open.flags, false)?;
        }
        self.from_mappings(from_open.node)?;
        let bytes = self.world().node(from_open.node).content.read(from_start, total);
        let to_start = target_start.unwrap_or(to_open.offset);
        if to_at.is_some() && from_open.node == to_open.node && from_start.abs_diff(to_start) < asked {
            return Err(EINVAL.into());
        }
        match kind {
            NodeKind::Regular if total > 0 => self.write_at(to_open.node, to_start, &bytes)?,
            NodeKind::Output | NodeKind::Pipe { .. } => {
                let world = self.change();
                world.node_mut(to_open.node).content.write(end, &bytes);
                if to_pipe && total > 0 {
                    world.has_bytes(to_open.node);
                }
            }
            _ => {}
        }
        for (fd, at, given, next) in [(from, Some(from_at), start, from_start + total), (to, to_at, target_start, to_start + total)] {
            match (at, given) {
                (Some(i), Some(_)) => {
                    let addr = self.block(self.args[i], 8, true)?;
                    self.put(addr, &next.to_le_bytes())?;
                }
                _ => self.change().open_of_mut(fd).ok_or(EBADF)?.offset = next,
            }
        }
        Ok(total)
    }
}

/// sendfile(to, from, offset, count).
pub fn sendfile(s: &mut Sys<'_, '_>) -> Done {
    let (to, from) = (s.int(0)?, s.int(1)?);
    s.transfer((from, 2), (to, None), 3)
}

/// copy_file_range(from, offset, to, offset, count, flags).
pub fn copy_file_range(s: &mut Sys<'_, '_>) -> Done {
    let (from, to, flags) = (s.int(0)?, s.int(2)?, s.int(5)?);
    if flags != 0 {
        return Err(EINVAL.into());
    }
    let kinds = [s.opened(from)?.1.kind, s.opened(to)?.1.kind];
    if kinds.contains(&NodeKind::Directory) {
        return Err(EISDIR.into());
    }
    if kinds.iter().any(|kind| *kind != NodeKind::Regular) {
        return Err(EINVAL.into());
    }
    if s.writable(to)?.0.flags & O_APPEND != 0 {
        return Err(EBADF.into());
    }
    s.transfer((from, 1), (to, Some(3)), 4)
}
