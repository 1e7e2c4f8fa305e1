//! The process: its end, its ids, limits and signals.

use std::ops::Range;
use std::rc::Rc;

use wryneck_exec::processes::running;
use wryneck_exec::threads::Status;
use wryneck_exec::{Cx, LedgerKind, PathEnd, Stop, Value, memory};
use wryneck_expr::ExprId;

use super::signals::{self, NEVER_BLOCKED, SIGNALS};
use super::{Done, Sys, children};
use crate::errno::{EAGAIN, EFAULT, EINVAL, ENOSYS, EPERM, ESRCH, Halt};
use crate::libc::stdlib::failed;
use crate::threads;
use crate::written;

/// The process id.
pub(super) const PID: u64 = 4242;

/// The status that a process ends with: the low eight bits of this, concretised.
fn status(cx: &mut Cx<'_>, status: ExprId) -> Result<u8, Stop> {
    let low = cx.core.pool.extract(status, 0, 8);
    Ok(cx.concretise(Value::Sym(low), "exit status")? as u8)
}

/// The end of a process with this status, of which the low eight bits count.
pub fn exited(cx: &mut Cx<'_>, with: ExprId) -> Result<Stop, Stop> {
    let status = status(cx, with)?;
    Ok(children::exit(cx, status))
}

/// exit(status): the end of the last thread, and so of the process; of others see [`crate::threads`].
pub fn exit_thread(s: &mut Sys<'_, '_>) -> Done {
    if s.cx.state.has_threads() && !s.cx.core.config.machine_code {
        return Err(PathEnd::Unsupported("the end of one of several threads by the system call `exit`".into()).into());
    }
    exit(s)
}

pub fn exit(s: &mut Sys<'_, '_>) -> Done {
    let with = s.cx.expr(s.args[0], 32);
    let status = status(s.cx, with)?;
    written::strings(s)?;
    Err(children::exit(s.cx, status).into())
}

/// The id of this process, or of another one; `known` where it is not input.
fn id(s: &mut Sys<'_, '_>, what: &str, least: u64, known: u64) -> Done {
    if s.notes() {
        s.symbolic = Some(s.volatile_pid(what, least, known - least));
    }
    Ok(known)
}

/// The process, and its one thread.
pub fn getpid(s: &mut Sys<'_, '_>) -> Done {
    let pid = children::pid(running(s.cx.state));
    id(s, "process id", 1, pid)
}

/// The thread: of the first one the process.
pub fn gettid(s: &mut Sys<'_, '_>) -> Done {
    let thread = threads::id(s.cx, s.cx.state.thread()) - children::pid(running(s.cx.state));
    Ok(getpid(s)? + thread)
}

pub fn getppid(s: &mut Sys<'_, '_>) -> Done {
    let me = running(s.cx.state);
    let parent = s.world().processes.all.get(me as usize).map(|process| process.parent);
    // A child whose parent has ended belongs to the first process of the system.
    let known = if me == 0 { PID - 1 } else { parent.flatten().map_or(1, children::pid) };
    id(s, "parent's process id", 0, known)
}

pub fn getpgrp(s: &mut Sys<'_, '_>) -> Done {
    id(s, "process group", 0, PID)
}

/// getpgid(process), getsid(process): all processes of a path are in the first one's group and session.
pub fn getpgid(s: &mut Sys<'_, '_>) -> Done {
    let process = s.int(0)?;
    let all = s.world().processes.all.len().max(1) as u64;
    if process != 0 && !(PID..PID + all).contains(&(process as u64)) {
        return Err(ESRCH.into());
    }
    id(s, "process group", 0, PID)
}

/// setpgid(process, group): succeeds and changes nothing, which the ledger says.
pub fn setpgid(s: &mut Sys<'_, '_>) -> Done {
    s.fails("`setpgid` changes no group");
    Ok(0)
}

/// setsid(): succeeds; whether the process leads a group already is not known.
pub fn setsid(s: &mut Sys<'_, '_>) -> Done {
    if running(s.cx.state) > 0 {
        s.fails("`setsid` changes no session");
    }
    Ok(children::pid(running(s.cx.state)))
}

/// User and group ids, real and effective.
pub fn user(s: &mut Sys<'_, '_>) -> Done {
    Ok(s.linux.input.user.into())
}

/// Calls that succeed and change nothing here.
pub fn zero(_: &mut Sys<'_, '_>) -> Done {
    Ok(0)
}

/// Calls that a libc tries and can do without.
pub fn no_such(_: &mut Sys<'_, '_>) -> Done {
    Err(ENOSYS.into())
}

pub fn umask(s: &mut Sys<'_, '_>) -> Done {
    let new = s.int(0)? as u32 & 0o777;
    Ok(std::mem::replace(&mut s.change().own.umask, new).into())
}

/// Whether a process id names this process, or a group that it is in.
pub(super) fn is_own(pid: i32) -> Result<(), Halt> {
    match i64::from(pid) {
        0 | -1 => Ok(()),
        p if p.unsigned_abs() == PID => Ok(()),
        1 => Err(EPERM.into()),
        _ => Err(ESRCH.into()),
    }
}

/// kill(pid, signal).
pub fn kill(s: &mut Sys<'_, '_>) -> Done {
    let (pid, signal) = (s.int(0)?, s.int(1)?);
    if children::send(s, pid, signal, (signals::BY_KILL, 0))? { Ok(0) } else { signals::send_to_process(s, signal) }
}

/// tkill(thread, signal).
pub fn tkill(s: &mut Sys<'_, '_>) -> Done {
    let signal = s.int(1)?;
    send_to(s, 0, signal)
}

/// tgkill(process, thread, signal).
pub fn tgkill(s: &mut Sys<'_, '_>) -> Done {
    let signal = s.int(2)?;
    send_to(s, 1, signal)
}

/// Sends a signal to the thread that argument `i` names: the running one where there is no other.
fn send_to(s: &mut Sys<'_, '_>, i: usize, signal: i32) -> Done {
    if s.cx.state.has_threads() && s.cx.core.config.machine_code {
        let thread = s.int(i)?;
        let all = s.cx.state.statuses();
        let named = (0..).zip(all).find(|(number, _)| threads::id(s.cx, *number) as i32 == thread);
        return match named {
            None | Some((_, Status::Ended)) => Err(ESRCH.into()),
            Some((number, _)) if number == s.cx.state.thread() => signals::send_to_thread(s, signal),
            Some(_) if signal == 0 => Ok(0),
            Some(_) => Err(PathEnd::Unsupported("a signal for another thread".into()).into()),
        };
    }
    signals::send_to_thread(s, signal)
}

/// rt_sigaction(signal, new, old, size): `struct k_sigaction` is handler, flags, restorer, mask.
pub fn rt_sigaction(s: &mut Sys<'_, '_>) -> Done {
    let signal = s.int(0)?;
    let new = if s.is_null(1)? { None } else { Some(s.words(s.args[1], 4)?) };
    if !(1..=SIGNALS).contains(&signal) || new.is_some() && NEVER_BLOCKED >> (signal - 1) & 1 != 0 {
        return Err(EINVAL.into());
    }
    let old = s.world().own.handlers.get(&(signal as u32)).copied().unwrap_or_default();
    if !s.is_null(2)? {
        let addr = s.block(s.args[2], 32, true)?;
        s.put(addr, &old.map(u64::to_le_bytes).concat())?;
    }
    if let Some(new) = new {
        s.cx.state.jumped |= new[0] > 1 && signals::comes_unseen(signal);
        if signals::is_of_faults(signal) && new[0] > 1 && s.cx.core.monitor.is_some() {
            let what = "a fault ends its path, though the program handles its signal";
            s.cx.core.ledger.note(LedgerKind::Assumption, what);
        }
        let world = s.change();
        Rc::make_mut(&mut world.own.handlers).insert(signal as u32, [new[0], new[1], new[2], new[3] & !NEVER_BLOCKED]);
        world.forget_ignored(signal as u32);
    }
    Ok(0)
}

/// rt_sigprocmask(how, new, old, size).
pub fn rt_sigprocmask(s: &mut Sys<'_, '_>) -> Done {
    let how = s.int(0)?;
    let old = s.world().own.signal_mask;
    let new = if s.is_null(1)? { None } else { Some(s.words(s.args[1], 1)?[0]) };
    let mask = match (how, new) {
        (_, None) => old,
        (0, Some(new)) => old | new,
        (1, Some(new)) => old & !new,
        (2, Some(new)) => new,
        _ => return Err(EINVAL.into()),
    };
    if !s.is_null(2)? {
        let addr = s.block(s.args[2], 8, true)?;
        s.put(addr, &old.to_le_bytes())?;
    }
    s.change().own.signal_mask = mask & !NEVER_BLOCKED;
    Ok(0)
}

/// No stack of their own for handlers: `SS_DISABLE`.
pub const NO_STACK: [u64; 3] = [0, 2, 0];

/// sigaltstack(new, old): handlers run on the program's own stack, so what is set is only given back.
pub fn sigaltstack(s: &mut Sys<'_, '_>) -> Done {
    let new = if s.is_null(0)? { None } else { Some(s.words(s.args[0], 3)?) };
    let old = s.world().own.signal_stack;
    if !s.is_null(1)? {
        let addr = s.block(s.args[1], 24, true)?;
        s.put(addr, &old.map(u64::to_le_bytes).concat())?;
    }
    match new.as_deref() {
        // The flags have 32 bits, and what lies behind them says nothing.
        Some([_, flags, _]) if *flags as u32 == 2 => s.change().own.signal_stack = NO_STACK,
        Some([_, flags, _]) if *flags as u32 != 0 => return Err(EINVAL.into()),
        Some([address, _, size]) => s.change().own.signal_stack = [*address, 0, *size],
        Some(_) | None => {}
    }
    Ok(0)
}

/// prctl(option, …): the thread's name is kept; others succeed and do nothing, which the ledger says.
pub fn prctl(s: &mut Sys<'_, '_>) -> Done {
    const SET_NAME: i32 = 15;
    const GET_NAME: i32 = 16;
    const GET_DUMPABLE: i32 = 3;
    const HAS_CAPABILITY: i32 = 23;
    /// `CAP_CHECKPOINT_RESTORE`.
    const LAST_CAPABILITY: u64 = 40;
    match s.int(0)? {
        GET_DUMPABLE => return Ok(1),
        // Of the bounding set, which nothing is taken from.
        HAS_CAPABILITY => return if s.long(1)? <= LAST_CAPABILITY { Ok(1) } else { Err(EINVAL.into()) },
        SET_NAME => {
            let bytes = s.string(s.args[1])?;
            let Some(given) = s.concrete(&bytes) else {
                return Err(PathEnd::Unsupported("a name of a thread that is input".into()).into());
            };
            // The kernel keeps 15 bytes and the end.
            let mut name = [0; threads::NAME];
            given.iter().take(threads::NAME - 1).zip(&mut name).for_each(|(byte, to)| *to = *byte);
            threads::set_name(s.cx, name);
        }
        GET_NAME if threads::name_of_running(s.cx).is_some() => {
            let at = s.block(s.args[1], threads::NAME as u64, true)?;
            let name = threads::name_of_running(s.cx).unwrap_or_default();
            s.put(at, &name)?;
        }
        // The kernel's own numbers are smaller, and those of single parts of it larger by far.
        100..0x1000_0000 => return Err(EINVAL.into()),
        _ => s.fails("`prctl` changes nothing and gives nothing back"),
    }
    Ok(0)
}

/// futex(word, operation, value, …): one thread, so a wait that would sleep would sleep for ever.
pub fn futex(s: &mut Sys<'_, '_>) -> Done {
    let (operation, value) = (s.int(1)? & 0x7f, s.int(2)?);
    match operation {
        // FUTEX_WAIT, FUTEX_WAIT_BITSET
        0 | 9 => {
            let addr = s.block(s.args[0], 4, false)?;
            let word = memory::load(s.cx, Value::Bits(addr), 32)?;
            let word = s.cx.concretise(Value::Sym(word), "a futex")?;
            if word as u32 as i32 != value {
                return Err(EAGAIN.into());
            }
            Err(PathEnd::Unsupported("a wait for another thread, and there is none".into()).into())
        }
        // FUTEX_WAKE, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_BITSET
        1 | 3 | 4 | 10 => Ok(0),
        _ => {
            failed(s.cx, "futex");
            Err(ENOSYS.into())
        }
    }
}

pub fn sched_getaffinity(s: &mut Sys<'_, '_>) -> Done {
    let size = s.long(1)?;
    let mask = s.observed(b"processors").unwrap_or_else(|| 1u64.to_le_bytes().to_vec());
    let len = mask.len() as u64;
    if size < len || !size.is_multiple_of(8) {
        return Err(EINVAL.into());
    }
    let addr = s.block(s.args[2], len, true)?;
    s.put(addr, &mask)?;
    Ok(len)
}

pub fn uname(s: &mut Sys<'_, '_>) -> Done {
    const FIELD: usize = 65;
    let addr = s.block(s.args[0], 6 * FIELD as u64, true)?;
    let mut out = Vec::new();
    for text in &s.linux.input.uname {
        let start = out.len();
        out.extend(text.iter().take(FIELD - 1));
        out.resize(start + FIELD, 0);
    }
    s.put(addr, &out)?;
    Ok(0)
}

/// Bytes that the stack of a process may take.
pub const STACK_BYTES: u64 = 8 << 20;

/// The limits of a process: stack and descriptors bounded, the rest not; or those that the host says: `soft:hard ` for each in hexadecimal.
fn limit(s: &Sys<'_, '_>, resource: i32) -> Result<[u8; 16], Halt> {
    const NONE: u64 = u64::MAX;
    let told = s.observed(b"limits").unwrap_or_default();
    let told = std::str::from_utf8(&told).ok().and_then(|told| told.split(' ').nth(usize::try_from(resource).ok()?)?.split_once(':'));
    let number = |text: &str| u64::from_str_radix(text, 16).unwrap_or(NONE);
    let pair: [u64; 2] = match (told, resource) {
        (Some((soft, hard)), 0..=15) => [number(soft), number(hard)],
        (None, 3) => [STACK_BYTES, NONE],
        (None, 7) => [1024, 1024],
        (None, 0..=15) => [NONE, NONE],
        _ => return Err(EINVAL.into()),
    };
    let mut out = [0; 16];
    out[..8].copy_from_slice(&pair[0].to_le_bytes());
    out[8..].copy_from_slice(&pair[1].to_le_bytes());
    Ok(out)
}

pub fn getrlimit(s: &mut Sys<'_, '_>) -> Done {
    let resource = s.int(0)?;
    let limit = limit(s, resource)?;
    let addr = s.block(s.args[1], 16, true)?;
    s.put(addr, &limit)?;
    Ok(0)
}

/// prlimit64(pid, resource, new, old): new limits are neither kept nor enforced, which the ledger says.
pub fn prlimit64(s: &mut Sys<'_, '_>) -> Done {
    let resource = s.int(1)?;
    let limit = limit(s, resource)?;
    let old = if s.is_null(3)? { None } else { Some(s.block(s.args[3], 16, true)?) };
    if !s.is_null(2)? {
        let new = s.words(s.args[2], 2)?;
        if new.iter().flat_map(|word| word.to_le_bytes()).ne(limit) {
            s.fails("a limit that the program sets is neither kept nor enforced");
        }
    }
    if let Some(addr) = old {
        s.put(addr, &limit)?;
    }
    Ok(0)
}

/// `struct sysinfo`: a machine with 8 GiB, half of it free; where facts are noted, the one that the host says.
pub fn sysinfo(s: &mut Sys<'_, '_>) -> Done {
    const SIZE: usize = 112;
    /// Memory and swap in all, their unit.
    const STAYS: [Range<usize>; 4] = [32..40, 64..72, 88..96, 104..108];
    /// Uptime, load, what is free, processes.
    const CHANGES: [Range<usize>; 4] = [0..32, 40..64, 72..82, 96..104];
    let addr = s.block(s.args[0], SIZE as u64, true)?;
    if s.notes() {
        return s.put_told(addr, &[0; SIZE], b"sysinfo", &STAYS, &CHANGES);
    }
    let uptime_loads_memory: [u64; 6] = [1000, 0, 0, 0, 8 << 30, 4 << 30];
    let mut out: Vec<u8> = uptime_loads_memory.iter().flat_map(|w| w.to_le_bytes()).collect();
    out.resize(SIZE, 0);
    out[80..82].copy_from_slice(&1u16.to_le_bytes());
    out[104..108].copy_from_slice(&1u32.to_le_bytes());
    s.put(addr, &out)?;
    Ok(0)
}

/// getrandom(buffer, length, flags): the same bytes on every path, a new run of them each time.
pub fn getrandom(s: &mut Sys<'_, '_>) -> Done {
    let (len, flags) = (s.long(1)?, s.int(2)?);
    if flags & !7 != 0 {
        return Err(EINVAL.into());
    }
    if len > 1 << 25 {
        return Err(EFAULT.into());
    }
    let addr = s.block(s.args[0], len, true)?;
    if s.notes() {
        s.put_random(addr, len)?;
        return Ok(len);
    }
    let first = s.world().random;
    let byte = |i: u64| (i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
    let bytes: Vec<u8> = (first..first + len).map(byte).collect();
    if len > 0 {
        s.put(addr, &bytes)?;
    }
    s.change().random += len;
    Ok(len)
}
