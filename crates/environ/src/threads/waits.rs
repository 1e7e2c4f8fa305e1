//! Waiting for what others do: condition variables, barriers, semaphores, and the futex with which the rest of the C library waits.
//!
//! Of a barrier, word 2 is the number of threads less one, word 3 how many have come. Of a semaphore, word 0 is its value.

use wryneck_exec::ground::memory::NULL_PAGE;
use wryneck_exec::threads::{ThreadId, meet, observe, publish};
use wryneck_exec::{Cx, PathEnd, Reply, Stop, Value, memory};

use super::exclusion::{self, Got, How, c11};
use super::{
    For, Stage, answer, done, go_on, kernel, mine, next, ready, release, set_word, span_at, stage, time_at, turn, wait, waiting, wake, word,
};
use crate::Linux;
use crate::errno::{EAGAIN, EFAULT, EINVAL, EOVERFLOW, ETIMEDOUT, Errno};
use crate::sig::Args;
use crate::state::World;
use crate::sys::is_null;

const CONDITION_BYTES: u64 = 48;
const BARRIER_BYTES: u64 = 32;
const SEMAPHORE_BYTES: u64 = 32;
const MOST: u32 = i32::MAX as u32;

/// What a thread gets that came last to a barrier: `PTHREAD_BARRIER_SERIAL_THREAD`.
const SERIAL: u64 = u32::MAX as u64;

/// Waits for a condition. The error, if the time comes or there is one.
fn condition(cx: &mut Cx<'_>, args: &Args<'_>, until: Option<u64>) -> Result<Got, Stop> {
    let at = exclusion::object(cx, args.value(0), CONDITION_BYTES)?;
    let mutex = exclusion::mutex(cx, args.value(1))?;
    match stage(cx) {
        Stage::Fresh | Stage::Chosen | Stage::Tries => {
            if let Some(reply) = turn(cx)? {
                return Ok(Got::Waits(reply));
            }
            if let Some(errno) = exclusion::may_give(cx, mutex, "wait for a condition without holding")? {
                return Ok(Got::Answer(Some(errno)));
            }
            // Those that wait for the mutex may have it.
            let waking = if exclusion::is_held_once(cx, mutex)? { waiting(cx, For::Mutex, mutex) } else { Vec::new() };
            let reply = wait(cx, For::Condition.on(at, until.is_some()), until, Stage::Woken, &waking)?;
            exclusion::give(cx, mutex)?;
            Ok(Got::Waits(reply))
        }
        stage @ (Stage::Woken | Stage::TimedOut) => match exclusion::take(cx, mutex, How::Wait, stage)? {
            Got::Answer(None) => Ok(Got::Answer((stage == Stage::TimedOut).then_some(ETIMEDOUT))),
            other => Ok(other),
        },
    }
}

fn until(linux: &Linux, cx: &mut Cx<'_>, pointer: Value) -> Result<Result<Option<u64>, Errno>, Stop> {
    if is_null(cx, pointer)? {
        return Ok(Ok(None));
    }
    Ok(time_at(linux, cx, pointer)?.map(Some))
}

pub fn condition_wait(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    match condition(cx, args, None)? {
        Got::Answer(errno) => Ok(answer(cx, errno)),
        Got::Waits(reply) => Ok(reply),
    }
}

pub fn condition_timedwait(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let until = match until(linux, cx, args.value(2))? {
        Ok(until) => until,
        Err(errno) => return Ok(answer(cx, Some(errno))),
    };
    match condition(cx, args, until)? {
        Got::Answer(errno) => Ok(answer(cx, errno)),
        Got::Waits(reply) => Ok(reply),
    }
}

pub fn cnd_wait(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    match condition(cx, args, None)? {
        Got::Answer(errno) => Ok(done(cx, c11(errno))),
        Got::Waits(reply) => Ok(reply),
    }
}

pub fn cnd_timedwait(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let until = match until(linux, cx, args.value(2))? {
        Ok(until) => until,
        Err(errno) => return Ok(done(cx, c11(Some(errno)))),
    };
    match condition(cx, args, until)? {
        Got::Answer(errno) => Ok(done(cx, c11(errno))),
        Got::Waits(reply) => Ok(reply),
    }
}

fn signal_some(cx: &mut Cx<'_>, args: &Args<'_>, most: usize) -> Result<Reply, Stop> {
    let at = exclusion::object(cx, args.value(0), CONDITION_BYTES)?;
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let mut those = waiting(cx, For::Condition, at);
    those.truncate(most);
    release(cx, &those);
    Ok(answer(cx, None))
}

/// Wakes the thread that has waited longest.
pub fn condition_signal(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    signal_some(cx, args, 1)
}

pub fn condition_broadcast(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    signal_some(cx, args, usize::MAX)
}

pub fn barrier_wait(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let at = exclusion::object(cx, args.value(0), BARRIER_BYTES)?;
    if stage(cx) == Stage::Woken {
        return Ok(answer(cx, None));
    }
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let (others, came) = (word(cx, at, 2)? & MOST, word(cx, at, 3)?);
    if came < others {
        let reply = wait(cx, For::Barrier.on(at, false), None, Stage::Woken, &[])?;
        set_word(cx, at, 3, came + 1)?;
        publish(cx, at);
        return Ok(reply);
    }
    set_word(cx, at, 3, 0)?;
    publish(cx, at);
    let those = waiting(cx, For::Barrier, at);
    meet(cx, at, &those);
    release(cx, &those);
    Ok(done(cx, SERIAL))
}

/// -1, with errno set.
fn fails(cx: &mut Cx<'_>, errno: Errno) -> Result<Reply, Stop> {
    if let Some(at) = super::life::errno_at(cx) {
        memory::write_concrete(cx, at, &errno.0.to_le_bytes())?;
    }
    Ok(done(cx, u64::from(u32::MAX)))
}

fn semaphore(cx: &mut Cx<'_>, args: &Args<'_>, how: How) -> Result<Reply, Stop> {
    let at = exclusion::object(cx, args.value(0), SEMAPHORE_BYTES)?;
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let value = word(cx, at, 0)?;
    if value > 0 && value <= MOST {
        set_word(cx, at, 0, value - 1)?;
        observe(cx, at);
        return Ok(answer(cx, None));
    }
    match how {
        How::Try => fails(cx, EAGAIN),
        How::Until(_) if stage(cx) == Stage::TimedOut => fails(cx, ETIMEDOUT),
        How::Until(until) => wait(cx, For::Semaphore.on(at, true), Some(until), Stage::Chosen, &[]),
        How::Wait => wait(cx, For::Semaphore.on(at, false), None, Stage::Chosen, &[]),
    }
}

pub fn semaphore_wait(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    semaphore(cx, args, How::Wait)
}

pub fn semaphore_trywait(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    semaphore(cx, args, How::Try)
}

pub fn semaphore_timedwait(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    match time_at(linux, cx, args.value(1))? {
        Ok(until) => semaphore(cx, args, How::Until(until)),
        Err(errno) => fails(cx, errno),
    }
}

pub fn semaphore_post(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let at = exclusion::object(cx, args.value(0), SEMAPHORE_BYTES)?;
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let value = word(cx, at, 0)? & MOST;
    if value == MOST {
        return fails(cx, EOVERFLOW);
    }
    set_word(cx, at, 0, value + 1)?;
    publish(cx, at);
    let those = waiting(cx, For::Semaphore, at);
    wake(cx, &those);
    Ok(answer(cx, None))
}

const FUTEX: u64 = 202;
const SCHED_YIELD: u64 = 24;

/// Called before a function by which threads synchronise: another thread may go on first. A decision, while the path may deviate.
pub fn before(_: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    match turn(cx)? {
        Some(reply) => Ok(reply),
        None => Ok(done(cx, 0)),
    }
}

/// What a system call is among several threads, if it is something else there: waiting, and letting others go first.
pub fn system_call(linux: &Linux, cx: &mut Cx<'_>, number: u64, args: &[Value]) -> Result<Option<Reply>, Stop> {
    match number {
        // A wait with a limit ends without others, too.
        FUTEX if cx.state.has_threads() || cx.core.config.machine_code && args[3] != Value::Bits(0) && waits(args[1]) => {
            futex(linux, cx, args)
        }
        SCHED_YIELD if cx.state.has_threads() => yields(cx),
        _ if cx.core.config.machine_code => kernel::system_call(cx, number, args),
        _ => Ok(None),
    }
}

/// Whether an operation of `futex` waits.
fn waits(operation: Value) -> bool {
    matches!(operation, Value::Bits(operation) if matches!(operation & 0x7f, 0 | 9))
}

/// A system call that others went before, or that the thread waited in, has been made.
pub fn made(cx: &mut Cx<'_>) {
    if stage(cx) != Stage::Fresh {
        mine(cx).stage = Stage::Fresh;
    }
}

/// The others go first; then the call is made.
fn yields(cx: &mut Cx<'_>) -> Result<Option<Reply>, Stop> {
    // The call may decide for how long: nothing may have changed by then.
    if stage(cx) != Stage::Fresh {
        return Ok(None);
    }
    if ready(cx, &[]).is_empty() {
        return Ok(None);
    }
    let next = next(cx, None, &[])?;
    mine(cx).stage = Stage::Chosen;
    go_on(cx, next);
    Ok(Some(Reply::Switch(next.thread)))
}

fn futex(linux: &Linux, cx: &mut Cx<'_>, args: &[Value]) -> Result<Option<Reply>, Stop> {
    let number = |cx: &mut Cx<'_>, i: usize| cx.concretise(args[i], "an argument of `futex`");
    let (operation, value) = (number(cx, 1)? & 0x7f, number(cx, 2)? as u32);
    let wrong = match args[0] {
        Value::Bits(at) if at % 4 != 0 => Some(EINVAL),
        Value::Bits(at) if at < NULL_PAGE => Some(EFAULT),
        // FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET: no bit is meant.
        _ if matches!(operation, 9 | 10) && number(cx, 5)? as u32 == 0 => Some(EINVAL),
        _ => None,
    };
    if let Some(errno) = wrong {
        return Ok(Some(done(cx, errno.negated())));
    }
    let at = memory::block_address(cx, args[0], 4, true)?;
    match operation {
        // FUTEX_WAIT, FUTEX_WAIT_BITSET
        0 | 9 => match stage(cx) {
            Stage::Woken => {
                observe(cx, at);
                Ok(Some(done(cx, 0)))
            }
            Stage::TimedOut => Ok(Some(done(cx, ETIMEDOUT.negated()))),
            Stage::Fresh | Stage::Chosen | Stage::Tries => {
                if word(cx, at, 0)? != value {
                    return Ok(Some(done(cx, EAGAIN.negated())));
                }
                let until = match (args[3], operation) {
                    (Value::Bits(0), _) => None,
                    // That of FUTEX_WAIT_BITSET is a time, that of FUTEX_WAIT how long.
                    (time, 9) => Some(time_at(linux, cx, time)?),
                    (time, _) => Some(span_at(cx, time)?.map(|span| World::of(cx).ticks.saturating_add(span as u64))),
                };
                match until.transpose() {
                    Err(errno) => Ok(Some(done(cx, errno.negated()))),
                    Ok(Some(until)) if until <= World::of(cx).ticks => Ok(Some(done(cx, ETIMEDOUT.negated()))),
                    Ok(until) => wait(cx, For::Futex.on(at, until.is_some()), until, Stage::Woken, &[]).map(Some),
                }
            }
        },
        // FUTEX_CMP_REQUEUE
        4 if word(cx, at, 0)? != number(cx, 5)? as u32 => Ok(Some(done(cx, EAGAIN.negated()))),
        // FUTEX_WAKE, FUTEX_REQUEUE, FUTEX_WAKE_BITSET: those that are requeued are woken, which they may always be.
        1 | 3 | 4 | 10 => {
            let mut those: Vec<ThreadId> = waiting(cx, For::Futex, at);
            if !matches!(operation, 3 | 4) {
                those.truncate(value as usize);
            }
            publish(cx, at);
            release(cx, &those);
            Ok(Some(done(cx, those.len() as u64)))
        }
        _ => Err(PathEnd::Unsupported(format!("operation {operation} of `futex` among several threads")).into()),
    }
}
