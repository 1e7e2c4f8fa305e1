//! Locks: mutexes of all kinds, spin locks, read-write locks; and C11's mutexes, which are mutexes with other answers.
//!
//! Of a mutex, word 0 is its kind, word 1 the thread that holds it, from 1 on, word 5 how often more it does. Of a read-write lock, word 0 is the
//! number of readers or [`WRITER`], word 1 the thread that writes.

use wryneck_exec::threads::{ThreadId, observe, publish};
use wryneck_exec::{Cx, FaultKind, PathEnd, Reply, Stop, Value, memory, pointer};

use super::{For, Stage, answer, done, name, set_word, stage, time_at, turn, wait, waiting, wake, word};
use crate::Linux;
use crate::errno::{EAGAIN, EBUSY, EDEADLK, EPERM, ETIMEDOUT, Errno};
use crate::sig::Args;

const MUTEX_BYTES: u64 = 40;
const KINDS: u32 = 3;
const RECURSIVE: u32 = 1;
const ERROR_CHECK: u32 = 2;
const OWNER: u64 = 1;
const COUNT: u64 = 5;

const LOCK_BYTES: u64 = 56;
const WRITER: u32 = 0x7fff_ffff;
/// Where readers publish, from the lock's address on: other readers do not come after them.
const READERS: u64 = 1;

/// How a lock is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Try,
    Wait,
    Until(u64),
}

/// What came of an attempt: the answer, or the thread waits.
pub(super) enum Got {
    Answer(Option<Errno>),
    Waits(Reply),
}

fn me(cx: &Cx<'_>) -> u32 {
    cx.state.thread() + 1
}

fn peek(cx: &Cx<'_>, at: u64) -> Option<u32> {
    let mut bytes = [0; 4];
    cx.state.memory.space.read(at, &mut bytes).then(|| u32::from_le_bytes(bytes))
}

fn holder(cx: &Cx<'_>, word: Option<u32>) -> Option<ThreadId> {
    word?.checked_sub(1).filter(|thread| (*thread as usize) < cx.state.statuses().len())
}

/// The thread that holds a mutex.
pub(super) fn owner(cx: &Cx<'_>, at: u64) -> Option<ThreadId> {
    holder(cx, peek(cx, at + 4 * OWNER))
}

/// The thread that holds a read-write lock to write.
pub(super) fn writer(cx: &Cx<'_>, at: u64) -> Option<ThreadId> {
    if peek(cx, at)? == WRITER { holder(cx, peek(cx, at + 4)) } else { None }
}

/// Takes a mutex, or waits for it; then the call comes back at this stage.
pub(super) fn take(cx: &mut Cx<'_>, at: u64, how: How, then: Stage) -> Result<Got, Stop> {
    let (kind, owner, me) = (word(cx, at, 0)? & KINDS, word(cx, at, OWNER)?, me(cx));
    if owner == 0 {
        set_word(cx, at, OWNER, me)?;
        set_word(cx, at, COUNT, 0)?;
        observe(cx, at);
        return Ok(Got::Answer(None));
    }
    if owner == me && kind == RECURSIVE {
        let count = word(cx, at, COUNT)?;
        if count >= i32::MAX as u32 {
            return Ok(Got::Answer(Some(EAGAIN)));
        }
        set_word(cx, at, COUNT, count + 1)?;
        return Ok(Got::Answer(None));
    }
    match how {
        How::Try => Ok(Got::Answer(Some(EBUSY))),
        How::Wait | How::Until(_) if owner == me && kind == ERROR_CHECK => Ok(Got::Answer(Some(EDEADLK))),
        How::Until(_) if stage(cx) == Stage::TimedOut => Ok(Got::Answer(Some(ETIMEDOUT))),
        How::Until(until) => wait(cx, For::Mutex.on(at, true), Some(until), then, &[]).map(Got::Waits),
        How::Wait => wait(cx, For::Mutex.on(at, false), None, then, &[]).map(Got::Waits),
    }
}

/// Whether the running thread may give a mutex back: what to answer if not. A thread that does not hold it must not, unless the mutex says so.
pub(super) fn may_give(cx: &mut Cx<'_>, at: u64, what: &str) -> Result<Option<Errno>, Stop> {
    let (kind, owner) = (word(cx, at, 0)? & KINDS, word(cx, at, OWNER)?);
    if owner == me(cx) {
        return Ok(None);
    }
    if kind != 0 {
        return Ok(Some(EPERM));
    }
    let object = pointer::describe_address(cx, at);
    let by = match holder(cx, Some(owner)) {
        Some(thread) => format!("{} holds", name(thread)),
        None => "no thread holds".into(),
    };
    Err(PathEnd::fault(FaultKind::UnheldLock, format!("{what} the mutex {object}, which {by}")).into())
}

/// Gives a mutex back that the running thread holds.
pub(super) fn give(cx: &mut Cx<'_>, at: u64) -> Result<(), Stop> {
    let count = word(cx, at, COUNT)?;
    if count > 0 {
        return set_word(cx, at, COUNT, count - 1);
    }
    set_word(cx, at, OWNER, 0)?;
    publish(cx, at);
    let those = waiting(cx, For::Mutex, at);
    wake(cx, &those);
    Ok(())
}

/// Whether giving a mutex back once makes it free.
pub(super) fn is_held_once(cx: &mut Cx<'_>, at: u64) -> Result<bool, Stop> {
    Ok(word(cx, at, COUNT)? == 0)
}

/// Locks a mutex, with errors as numbers.
fn lock(cx: &mut Cx<'_>, args: &Args<'_>, how: How) -> Result<Got, Stop> {
    let at = memory::block_address(cx, args.value(0), MUTEX_BYTES, true)?;
    match turn(cx)? {
        Some(reply) => Ok(Got::Waits(reply)),
        None => take(cx, at, how, Stage::Chosen),
    }
}

fn posix(cx: &mut Cx<'_>, got: Got) -> Reply {
    match got {
        Got::Answer(errno) => answer(cx, errno),
        Got::Waits(reply) => reply,
    }
}

/// C11's `thrd_success`, `thrd_busy`, `thrd_error`, `thrd_timedout`, as musl numbers them.
pub(super) fn c11(errno: Option<Errno>) -> u64 {
    match errno {
        None => 0,
        Some(EBUSY) => 1,
        Some(ETIMEDOUT) => 4,
        Some(_) => 2,
    }
}

fn standard(cx: &mut Cx<'_>, got: Got) -> Reply {
    match got {
        Got::Answer(errno) => done(cx, c11(errno)),
        Got::Waits(reply) => reply,
    }
}

pub fn mutex_lock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let got = lock(cx, args, How::Wait)?;
    Ok(posix(cx, got))
}

pub fn mutex_trylock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let got = lock(cx, args, How::Try)?;
    Ok(posix(cx, got))
}

fn lock_until(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Got, Stop> {
    match time_at(linux, cx, args.value(1))? {
        Ok(until) => lock(cx, args, How::Until(until)),
        Err(errno) => Ok(Got::Answer(Some(errno))),
    }
}

pub fn mutex_timedlock(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let got = lock_until(linux, args, cx)?;
    Ok(posix(cx, got))
}

pub fn mtx_lock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let got = lock(cx, args, How::Wait)?;
    Ok(standard(cx, got))
}

pub fn mtx_trylock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let got = lock(cx, args, How::Try)?;
    Ok(standard(cx, got))
}

pub fn mtx_timedlock(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let got = lock_until(linux, args, cx)?;
    Ok(standard(cx, got))
}

/// `pthread_mutex_unlock` and `mtx_unlock`.
pub fn mutex_unlock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let at = memory::block_address(cx, args.value(0), MUTEX_BYTES, true)?;
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let refused = may_give(cx, at, "unlock of")?;
    if refused.is_none() {
        give(cx, at)?;
    }
    Ok(match args.call.name.starts_with("mtx_") {
        true => done(cx, c11(refused)),
        false => answer(cx, refused),
    })
}

fn spin(cx: &mut Cx<'_>, args: &Args<'_>, how: How) -> Result<Reply, Stop> {
    let at = memory::block_address(cx, args.value(0), 4, true)?;
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let me = me(cx);
    match (word(cx, at, 0)?, how) {
        (0, _) => {
            set_word(cx, at, 0, me)?;
            observe(cx, at);
            Ok(answer(cx, None))
        }
        (_, How::Try) => Ok(answer(cx, Some(EBUSY))),
        (_, How::Wait | How::Until(_)) => wait(cx, For::Spin.on(at, false), None, Stage::Chosen, &[]),
    }
}

pub fn spin_lock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    spin(cx, args, How::Wait)
}

pub fn spin_trylock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    spin(cx, args, How::Try)
}

pub fn spin_unlock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let at = memory::block_address(cx, args.value(0), 4, true)?;
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let (holds, me) = (word(cx, at, 0)?, me(cx));
    if holds != me {
        let message = "unlock of a spin lock that the running thread does not hold";
        return Err(PathEnd::fault(FaultKind::UnheldLock, message).into());
    }
    set_word(cx, at, 0, 0)?;
    publish(cx, at);
    let those = waiting(cx, For::Spin, at);
    wake(cx, &those);
    Ok(answer(cx, None))
}

/// Takes a read-write lock, to write or to read.
fn share(cx: &mut Cx<'_>, args: &Args<'_>, writes: bool, how: How) -> Result<Reply, Stop> {
    let at = memory::block_address(cx, args.value(0), LOCK_BYTES, true)?;
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let (held, me) = (word(cx, at, 0)?, me(cx));
    let free = if writes { held == 0 } else { held < WRITER };
    if free {
        if held == WRITER - 1 {
            return Ok(answer(cx, Some(EAGAIN)));
        }
        set_word(cx, at, 0, if writes { WRITER } else { held + 1 })?;
        observe(cx, at);
        if writes {
            set_word(cx, at, 1, me)?;
            observe(cx, at + READERS);
        }
        return Ok(answer(cx, None));
    }
    if how == How::Try {
        return Ok(answer(cx, Some(EBUSY)));
    }
    if held == WRITER && word(cx, at, 1)? == me {
        return Ok(answer(cx, Some(EDEADLK)));
    }
    let kind = if writes { For::WriteLock } else { For::ReadLock };
    match how {
        How::Until(_) if stage(cx) == Stage::TimedOut => Ok(answer(cx, Some(ETIMEDOUT))),
        How::Until(until) => wait(cx, kind.on(at, true), Some(until), Stage::Chosen, &[]),
        How::Try | How::Wait => wait(cx, kind.on(at, false), None, Stage::Chosen, &[]),
    }
}

fn share_until(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>, writes: bool) -> Result<Reply, Stop> {
    match time_at(linux, cx, args.value(1))? {
        Ok(until) => share(cx, args, writes, How::Until(until)),
        Err(errno) => Ok(answer(cx, Some(errno))),
    }
}

pub fn read_lock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    share(cx, args, false, How::Wait)
}

pub fn try_read_lock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    share(cx, args, false, How::Try)
}

pub fn timed_read_lock(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    share_until(linux, args, cx, false)
}

pub fn write_lock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    share(cx, args, true, How::Wait)
}

pub fn try_write_lock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    share(cx, args, true, How::Try)
}

pub fn timed_write_lock(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    share_until(linux, args, cx, true)
}

pub fn read_write_unlock(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let at = memory::block_address(cx, args.value(0), LOCK_BYTES, true)?;
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let held = word(cx, at, 0)?;
    let writes = held == WRITER;
    if held == 0 || writes && word(cx, at, 1)? != me(cx) {
        let object = pointer::describe_address(cx, at);
        let by = if held == 0 { "no thread holds".to_owned() } else { "another thread holds".into() };
        return Err(PathEnd::fault(FaultKind::UnheldLock, format!("unlock of the read-write lock {object}, which {by}")).into());
    }
    set_word(cx, at, 0, if writes { 0 } else { held - 1 })?;
    if writes {
        set_word(cx, at, 1, 0)?;
    }
    publish(cx, if writes { at } else { at + READERS });
    if writes || held == 1 {
        let mut those = waiting(cx, For::WriteLock, at);
        those.extend(waiting(cx, For::ReadLock, at));
        wake(cx, &those);
    }
    Ok(answer(cx, None))
}

/// The address of an object of so many bytes.
pub(super) fn object(cx: &mut Cx<'_>, pointer: Value, bytes: u64) -> Result<u64, Stop> {
    memory::block_address(cx, pointer, bytes, true)
}

/// A mutex's address.
pub(super) fn mutex(cx: &mut Cx<'_>, pointer: Value) -> Result<u64, Stop> {
    object(cx, pointer, MUTEX_BYTES)
}
