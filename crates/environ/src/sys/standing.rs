//! What a process asks about its standing: priority and scheduling, what it has used, whose it is; and memory that it locks.

use wryneck_exec::processes::running;

use super::{Done, Sys, children, fd};
use crate::errno::{EINVAL, EPERM, ESRCH, Halt};

/// A process without a nice value, as `getpriority` says it.
const USUAL_PRIORITY: u64 = 20;
/// `SCHED_FIFO`, `SCHED_RR`; and `SCHED_OTHER`, `SCHED_BATCH`, `SCHED_IDLE`, `SCHED_DEADLINE`.
const OF_REAL_TIME: [i32; 2] = [1, 2];
const OTHERS: [i32; 4] = [0, 3, 5, 6];

/// Whether argument `i` names the running process.
fn is_own(s: &mut Sys<'_, '_>, i: usize) -> Result<(), Halt> {
    let process = s.int(i)?;
    if process < 0 {
        return Err(EINVAL.into());
    }
    if process == 0 || process as u64 == children::pid(running(s.cx.state)) { Ok(()) } else { Err(ESRCH.into()) }
}

/// getpriority(kind, who): of a process, a group, or a user.
pub fn getpriority(s: &mut Sys<'_, '_>) -> Done {
    match s.int(0)? {
        0 => is_own(s, 1)?,
        1 | 2 => {}
        _ => return Err(EINVAL.into()),
    }
    Ok(USUAL_PRIORITY)
}

/// sched_getscheduler(process).
pub fn sched_getscheduler(s: &mut Sys<'_, '_>) -> Done {
    is_own(s, 0)?;
    Ok(0)
}

/// sched_getparam(process, parameters).
pub fn sched_getparam(s: &mut Sys<'_, '_>) -> Done {
    is_own(s, 0)?;
    let addr = s.block(s.args[1], 4, true)?;
    s.put(addr, &[0; 4])?;
    Ok(0)
}

fn bound(s: &mut Sys<'_, '_>, of_real_time: u64) -> Done {
    match s.int(0)? {
        policy if OF_REAL_TIME.contains(&policy) => Ok(of_real_time),
        policy if OTHERS.contains(&policy) => Ok(0),
        _ => Err(EINVAL.into()),
    }
}

/// sched_get_priority_max(policy).
pub fn most_priority(s: &mut Sys<'_, '_>) -> Done {
    bound(s, 99)
}

/// sched_get_priority_min(policy).
pub fn least_priority(s: &mut Sys<'_, '_>) -> Done {
    bound(s, 1)
}

/// getrusage(whose, usage).
pub fn getrusage(s: &mut Sys<'_, '_>) -> Done {
    if !matches!(s.int(0)?, -1..=1) {
        return Err(EINVAL.into());
    }
    put_usage(s, 1, "what the program has used (`struct rusage`) is nothing")?;
    Ok(0)
}

/// Writes that nothing was used at argument `i`; `what`: that in words.
pub fn put_usage(s: &mut Sys<'_, '_>, i: usize, what: &'static str) -> Result<(), Halt> {
    const SIZE: u64 = 144;
    s.fails(what);
    let addr = s.block(s.args[i], SIZE, true)?;
    s.put(addr, &[0; SIZE as usize])
}

/// getresuid(real, effective, saved), and getresgid.
pub fn getresuid(s: &mut Sys<'_, '_>) -> Done {
    let user = s.linux.input.user.to_le_bytes();
    for i in 0..3 {
        let addr = s.block(s.args[i], 4, true)?;
        s.put(addr, &user)?;
    }
    Ok(0)
}

/// setuid(user), setreuid, setresuid, and the same of groups: to who it is. A privileged process may do more.
pub fn set_ids(s: &mut Sys<'_, '_>, count: usize) -> Done {
    let user = s.linux.input.user;
    for i in 0..count {
        let asked = s.int(i)?;
        if asked as u32 != user && (asked != -1 || count == 1) {
            s.fails("a process cannot become another user or group");
            return Err(EPERM.into());
        }
    }
    Ok(0)
}

/// mlock(address, size) and its kin: nothing is swapped out here.
pub fn lock_memory(_: &mut Sys<'_, '_>) -> Done {
    Ok(0)
}

/// mlockall(flags).
pub fn lock_all(s: &mut Sys<'_, '_>) -> Done {
    if (1..8).contains(&s.int(0)?) { Ok(0) } else { Err(EINVAL.into()) }
}

/// close_range(first, last, flags).
pub fn close_range(s: &mut Sys<'_, '_>) -> Done {
    /// `CLOSE_RANGE_UNSHARE`: descriptors are shared among threads alone. `CLOSE_RANGE_CLOEXEC`.
    const UNSHARES: u32 = 2;
    const ON_EXEC: u32 = 4;
    let (first, last, flags) = (s.int(0)? as u32, s.int(1)? as u32, s.int(2)? as u32);
    if flags & !(UNSHARES | ON_EXEC) != 0 || first > last {
        return Err(EINVAL.into());
    }
    let count = s.world().own.fds.len() as u32;
    for number in first..count.min(last.saturating_add(1)) {
        let number = number as usize;
        match &mut s.change().own.fds[number] {
            None => {}
            Some(fd) if flags & ON_EXEC != 0 => fd.close_on_exec = true,
            Some(_) => {
                fd::release(s.change(), number);
                s.change().moved(number);
            }
        }
    }
    Ok(0)
}
