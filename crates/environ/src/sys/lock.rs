//! Locks of open files: flock.

use wryneck_exec::PathEnd;

use super::fd::O_ACCMODE;
use super::{Done, Sys};
use crate::errno::{EAGAIN, EBADF, EINVAL};
use crate::state::Lock;

/// flock(descriptor, operation): open files of this process may exclude one another; there is no other process.
pub fn flock(s: &mut Sys<'_, '_>) -> Done {
    const NO_WAIT: i32 = 4;
    let (fd, operation) = (s.int(0)?, s.int(1)?);
    let wanted = match operation & !NO_WAIT {
        1 => Lock::Shared,
        2 => Lock::Exclusive,
        8 => Lock::None,
        _ => return Err(EINVAL.into()),
    };
    let (open, _) = s.opened(fd)?;
    if wanted != Lock::None && open.flags & O_ACCMODE == 3 {
        return Err(EBADF.into());
    }
    let world = s.world();
    let this = world.fds[fd as usize].map(|fd| fd.open as usize);
    let others = world.opens.iter().enumerate().filter(|(i, o)| o.refs > 0 && o.node == open.node && Some(*i) != this);
    let blocked = others.map(|(_, o)| o.lock).any(|lock| lock.excludes(wanted));
    if blocked && operation & NO_WAIT == 0 {
        return Err(PathEnd::Unsupported("a wait for a lock that nobody else can give up".into()).into());
    }
    // The kernel gives up the old lock before it asks for another kind.
    let new = if blocked { Lock::None } else { wanted };
    if !blocked || open.lock != wanted {
        s.change().open_of_mut(fd).ok_or(EBADF)?.lock = new;
    }
    if blocked { Err(EAGAIN.into()) } else { Ok(0) }
}
