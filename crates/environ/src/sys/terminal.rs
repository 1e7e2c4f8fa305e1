//! Terminals: there is none, and every request returns so.

use super::{Done, Sys};
use crate::errno::ENOTTY;
use crate::state::NodeKind;

/// ioctl(descriptor, request, argument): FIONREAD of what can be read; everything else is for devices.
pub fn ioctl(s: &mut Sys<'_, '_>) -> Done {
    const FIONREAD: u32 = 0x541b;
    let (fd, request) = (s.int(0)?, s.int(1)? as u32);
    let (open, node) = s.opened(fd)?;
    let there = match node.kind {
        NodeKind::Regular => node.content.len().saturating_sub(open.offset),
        NodeKind::Pipe { taken, .. } => node.content.len() - taken,
        NodeKind::Directory | NodeKind::Link | NodeKind::Output | NodeKind::Null | NodeKind::Endless => return Err(ENOTTY.into()),
    };
    if request != FIONREAD {
        return Err(ENOTTY.into());
    }
    let addr = s.block(s.args[2], 4, true)?;
    s.put(addr, &(there as u32).to_le_bytes())?;
    Ok(0)
}
