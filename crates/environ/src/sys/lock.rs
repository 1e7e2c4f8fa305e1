//! Locks of open files: flock.

use wryneck_exec::PathEnd;

use super::fd::O_ACCMODE;
use super::{Done, Sys};
use crate::errno::{EAGAIN, EBADF, EINVAL, EOVERFLOW, Halt, RESTARTS};
use crate::state::Lock;

/// The bytes of `struct flock`.
const SIZE: u64 = 32;

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
    let this = world.own.fds[fd as usize].map(|fd| fd.open as usize);
    let others = world.opens.iter().enumerate().filter(|(i, o)| o.refs > 0 && o.node == open.node && Some(*i) != this);
    let blocked = others.map(|(_, o)| o.lock).any(|lock| lock.excludes(wanted));
    if blocked && operation & NO_WAIT == 0 && !matches!(open.lock, Lock::None) {
        // The kernel gives up the old lock before it waits for another kind; then the call is made again.
        s.change().open_of_mut(fd).ok_or(EBADF)?.lock = Lock::None;
        return Err(Halt::Switch(s.cx.state.thread()));
    }
    if blocked && operation & NO_WAIT == 0 {
        s.wait(None, RESTARTS, "a wait for a lock that nobody else can give up")?;
    }
    // The kernel gives up the old lock before it asks for another kind.
    let new = if blocked { Lock::None } else { wanted };
    if !blocked || open.lock != wanted {
        s.change().open_of_mut(fd).ok_or(EBADF)?.lock = new;
    }
    if blocked { Err(EAGAIN.into()) } else { Ok(0) }
}

/// F_GETLK, F_SETLK and F_SETLKW of an open file with these flags. No other process has locks: a good request succeeds, and F_GETLK answers
/// F_UNLCK. `bases`: where the file begins, is read and written, and ends.
pub fn record(s: &mut Sys<'_, '_>, flags: u32, bases: [u64; 3], command: i32) -> Done {
    const GETLK: i32 = 5;
    if wryneck_exec::processes::are_several(s.cx.state) {
        return Err(PathEnd::Unsupported("a lock of a part of a file among several processes".into()).into());
    }
    const UNLOCKED: u16 = 2;
    let addr = s.block(s.args[2], SIZE, command == GETLK)?;
    let field = |s: &mut Sys<'_, '_>, at: u64, bytes: u64| s.number_in_memory(addr + at, bytes, super::STRUCTURE);
    let (kind, whence) = (field(s, 0, 2)? as u16, field(s, 2, 2)? as u16);
    if command == GETLK && kind >= UNLOCKED {
        return Err(EINVAL.into());
    }
    let base = *bases.get(whence as usize).ok_or(EINVAL)? as i64;
    let (start, len) = (field(s, 8, 8)? as i64, field(s, 16, 8)? as i64);
    let start = base.checked_add(start).ok_or(EOVERFLOW)?;
    if start < 0 || len < 0 && start + len < 0 {
        return Err(EINVAL.into());
    }
    if len > 0 && start.checked_add(len - 1).is_none() {
        return Err(EOVERFLOW.into());
    }
    match (kind, flags & O_ACCMODE) {
        (0, 1 | 3) | (1, 0 | 3) if command != GETLK => return Err(EBADF.into()),
        (0..=UNLOCKED, _) => {}
        _ => return Err(EINVAL.into()),
    }
    if command == GETLK {
        s.put(addr, &UNLOCKED.to_le_bytes())?;
    }
    Ok(0)
}
