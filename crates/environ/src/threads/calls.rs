//! Threads that wait in a system call: for a pipe to be filled, a connection, a signal. Only another thread can end such a wait, or the time.
//!
//! The kernel's state does not say what each thread waits for. So such a thread stays [`Status::Ready`](wryneck_exec::threads::Status), at
//! [`Stage::Tries`]: it makes its call again when it is its turn. It has its turn once after each step of a thread that did not only try. So the path
//! ends where all threads have tried in vain, and a native replay, which knows as little, follows the same order.

use wryneck_exec::threads::{ThreadId, Wait, observe, publish};
use wryneck_exec::{Cx, Stop, Value};

use super::{For, Stage, Thread, go_on, needs_until, next, park, stage, threads};
use crate::state::{NodeKind, World};

/// System calls that wait for signals: `pause`, `rt_sigtimedwait` and `rt_sigsuspend`.
const OF_SIGNALS: [u64; 3] = [34, 128, 130];

fn tries<'c>(cx: &'c Cx<'_>, thread: ThreadId) -> Option<&'c Thread> {
    World::of(cx).own.threads.all.get(thread as usize).filter(|thread| thread.stage == Stage::Tries)
}

/// Whether a thread that does not wait otherwise may have its turn: it is at no system call that it has tried since something was done.
pub(super) fn may_try(cx: &Cx<'_>, thread: ThreadId) -> bool {
    tries(cx, thread).is_none_or(|thread| stage(cx) != Stage::Tries || thread.tried.0 < World::of(cx).own.threads.steps)
}

/// Whether a thread waits in a system call that ends by itself at some time.
pub(super) fn is_timed(cx: &Cx<'_>, thread: ThreadId) -> bool {
    tries(cx, thread).is_some_and(|thread| thread.until < u64::MAX)
}

/// What a thread waits for, if it waits in a system call.
pub(super) fn wait_of(cx: &Cx<'_>, thread: ThreadId) -> Option<Wait> {
    tries(cx, thread).map(|thread| For::Call.on(thread.tried.1, thread.until < u64::MAX))
}

/// Whether what a thread waits for may come from outside of the program: a signal, or in a program with sockets of the internet anything.
pub(super) fn is_from_outside(cx: &Cx<'_>, wait: Wait) -> bool {
    wait.kind == For::Call as u32 && (OF_SIGNALS.contains(&wait.on) || World::of(cx).has_internet())
}

/// The running thread waits in the system call of this number, until a time or for ever: which thread goes on, perhaps itself. `None`: its time has
/// come. `file`: the open file that it waits for. May decide, so nothing may have changed in this call.
pub(crate) fn others_first(cx: &mut Cx<'_>, until: Option<u64>, number: u64, file: Option<u32>) -> Result<Option<ThreadId>, Stop> {
    let me = cx.state.thread();
    // It began to wait when it made the call for the first time.
    let begun = tries(cx, me).map(|thread| thread.until);
    let until = begun.unwrap_or(until.unwrap_or(u64::MAX));
    if until <= World::of(cx).ticks {
        return Ok(None);
    }
    let timed = until < u64::MAX;
    if timed && begun.is_none() {
        needs_until(cx, me, until);
    }
    let next = next(cx, Some(For::Call.on(number, timed)), &[])?;
    go_on(cx, next);
    let threads = threads(cx);
    let steps = threads.steps;
    let mine = threads.thread(me);
    (mine.stage, mine.until, mine.tried, mine.file) = (Stage::Tries, until, (steps, number), file);
    Ok(Some(next.thread))
}

/// The running thread sleeps in the system call of this number until a time: which thread goes on, perhaps itself. `None`: its time has come. May decide,
/// as [`others_first`].
pub(crate) fn sleep(cx: &mut Cx<'_>, until: u64, number: u64) -> Result<Option<ThreadId>, Stop> {
    // A time that has come is that of the call's beginning.
    if stage(cx) == Stage::TimedOut || until <= World::of(cx).ticks {
        return Ok(None);
    }
    park(cx, For::Time.on(number, true), Some(until), Stage::Chosen, &[]).map(Some)
}

/// The open file for which the running thread waits in its system call, if it does for that of a descriptor.
pub(crate) fn awaited_file(cx: &Cx<'_>) -> Option<u32> {
    tries(cx, cx.state.thread())?.file
}

/// What a system call orders, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Orders {
    /// What comes after it in the thread that reads from its descriptor, the first argument, is after what comes before it in the one that writes there.
    OfDescriptor,
    /// The same, whatever its descriptor is open on.
    ByDescriptor,
    /// The same, of signals, of processes, and of descriptors that it waits for.
    Any,
}

const ORDERING: &[(&str, Orders)] = &[
    ("accept", Orders::ByDescriptor),
    ("accept4", Orders::ByDescriptor),
    ("close", Orders::OfDescriptor),
    ("connect", Orders::Any),
    ("dup2", Orders::Any),
    ("dup3", Orders::Any),
    ("epoll_pwait", Orders::ByDescriptor),
    ("epoll_pwait2", Orders::ByDescriptor),
    ("epoll_wait", Orders::ByDescriptor),
    ("flock", Orders::ByDescriptor),
    ("kill", Orders::Any),
    ("poll", Orders::Any),
    ("ppoll", Orders::Any),
    ("pselect6", Orders::Any),
    ("read", Orders::OfDescriptor),
    ("readv", Orders::OfDescriptor),
    ("recvfrom", Orders::OfDescriptor),
    ("recvmsg", Orders::OfDescriptor),
    ("rt_sigqueueinfo", Orders::Any),
    ("rt_sigtimedwait", Orders::Any),
    ("select", Orders::Any),
    ("sendfile", Orders::Any),
    ("sendmsg", Orders::OfDescriptor),
    ("sendto", Orders::OfDescriptor),
    ("shutdown", Orders::OfDescriptor),
    ("tgkill", Orders::Any),
    ("tkill", Orders::Any),
    ("wait4", Orders::Any),
    ("waitid", Orders::Any),
    ("write", Orders::OfDescriptor),
    ("writev", Orders::OfDescriptor),
];

fn ordering(call: &str) -> Option<Orders> {
    ORDERING.iter().find(|(name, _)| *name == call).map(|(_, orders)| *orders)
}

/// Whether a call waits for the file that its first argument is open on.
pub(crate) fn is_of_descriptor(call: &str) -> bool {
    ordering(call).is_some_and(|orders| orders != Orders::Any)
}

/// Whether what a system call of several threads does orders them, if it succeeds. Asked before it is made: it may close its descriptor.
pub(crate) fn orders(cx: &Cx<'_>, call: &str, descriptor: Value) -> bool {
    match (ordering(call), descriptor) {
        (None, _) | (Some(Orders::OfDescriptor), Value::Sym(_)) => false,
        (Some(Orders::Any | Orders::ByDescriptor), _) => true,
        (Some(Orders::OfDescriptor), Value::Bits(descriptor)) => {
            let world = World::of(cx);
            let node = world.open_of(descriptor as i32).map(|open| &world.nodes[open.node as usize].kind);
            matches!(node, Some(NodeKind::Pipe { .. } | NodeKind::Socket | NodeKind::Event { .. }))
        }
    }
}

/// A system call that orders threads has succeeded. It orders all such calls, so it hides races and makes none.
pub(crate) fn ordered(cx: &mut Cx<'_>) {
    /// No address.
    const STREAMS: u64 = u64::MAX >> 1;
    observe(cx, STREAMS);
    publish(cx, STREAMS);
}
