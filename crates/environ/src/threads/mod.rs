//! Threads (docs/threads.md): models of `pthread_*`, of C11's threads and of the futex, on a deterministic scheduler.
//!
//! One thread runs until it waits, yields or ends, or has run for long. What a lock or another object is, lies in the program's memory, as musl
//! lays it out; who waits for what lies here and in the engine's [`Status`]. A model that has to wait says for what ([`wait`]) and runs again
//! when its thread does: [`Stage`] says how far it had come.
//!
//! By `--schedules N` a path may deviate from this order N times: at each synchronisation the thread that goes on is a decision on an input byte
//! called `schedule`, as long as the path may deviate and another thread could run. 0 is the order without deviation. So a schedule is part
//! of a path's input, as other inputs are.

pub(crate) mod calls;
pub mod exclusion;
pub(crate) mod kernel;
pub mod life;
pub(crate) mod machine_code;
pub mod stacks;
pub mod waits;

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use wryneck_exec::processes::{are_several, running};
use wryneck_exec::threads::{Status, ThreadId, Wait, decided, run, set_status};
use wryneck_exec::{CodePos, Cx, FaultKind, LedgerKind, PathEnd, Reply, Stop, Value, inputs, memory, places, pointer};
use wryneck_expr::{ExprId, Remap};

use crate::Linux;
use crate::errno::Errno;
use crate::failing::choose_byte;
use crate::state::World;
use crate::sys::children::{self, pid};
use crate::sys::signals;

/// The functions by which a program comes to have threads, or keys whose destructors run at their ends: its own calls, and those of musl's functions
/// that make threads themselves.
pub const MAKERS: [&str; 10] = [
    "aio_fsync", "aio_read", "aio_write", "lio_listio", "mq_notify", "pthread_create", "pthread_key_create", "thrd_create", "timer_create",
    "tss_create",
];

/// Bytes of a thread's name.
pub const NAME: usize = 16;
/// The name of the inputs that say who goes on.
pub const SCHEDULE: &str = "schedule";

/// Kinds of things that threads wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum For {
    Mutex,
    Spin,
    Condition,
    ReadLock,
    WriteLock,
    Barrier,
    Semaphore,
    /// The end of the thread of this number.
    Thread,
    Futex,
    /// What the system call of this number waits for.
    Call,
    /// A time alone.
    Time,
}

impl For {
    const ALL: [For; 11] = [
        For::Mutex,
        For::Spin,
        For::Condition,
        For::ReadLock,
        For::WriteLock,
        For::Barrier,
        For::Semaphore,
        For::Thread,
        For::Futex,
        For::Call,
        For::Time,
    ];
    const WORDS: [&str; 11] =
        ["mutex", "spin lock", "condition variable", "read-write lock", "read-write lock", "barrier", "semaphore", "", "futex", "", ""];

    pub fn on(self, on: u64, timed: bool) -> Wait {
        Wait { kind: self as u32, on, timed }
    }
}

/// How far a thread has come with its current call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stage {
    /// It has just come to it.
    #[default]
    Fresh,
    /// It is its turn.
    Chosen,
    /// What it waited for has happened.
    Woken,
    TimedOut,
    /// It waits in a system call, which it makes again when it is its turn ([`calls`]).
    Tries,
}

/// What is known of a thread.
#[derive(Clone, Default)]
pub struct Thread {
    stage: Stage,
    /// Its `pthread_t`.
    handle: u64,
    /// The room of its stack, if it runs machine code and is not the first; else 0.
    room: u64,
    /// Bytes of its stack, as the program asked for them; not of the first.
    stack: u64,
    /// Bytes below it that no access may reach.
    guard: u64,
    /// What it returned.
    result: Option<Value>,
    detached: bool,
    joined: bool,
    /// Values of keys that are not null.
    values: BTreeMap<u32, u64>,
    /// Times that the destructors of all its values were called, and the key that is looked at next.
    rounds: u32,
    next_key: u32,
    /// Since when it waits, as a number that grows.
    since: u64,
    /// Until when, in microseconds that the clock has moved on.
    until: u64,
    /// If it waits in a system call: what [`Threads::steps`] was when it made that call, and the call's number.
    tried: (u64, u64),
    /// The open file that it waits for there.
    file: Option<u32>,
    /// Its signals that wait, while another one of machine code makes system calls.
    blocked: Option<u64>,
    /// As it has named itself (`prctl`), with the zero at the end.
    name: Option<[u8; NAME]>,
    /// The address of a word that the kernel clears at its end, or 0.
    cleared: u64,
    /// The address of the list of its locks that others get when it ends (`set_robust_list`), or 0.
    robust: u64,
    /// If the kernel has just made it: how. It is in the call that made it.
    begins: Option<kernel::Asked>,
}

/// The threads of a path, by number.
#[derive(Clone, Default)]
pub struct Threads {
    all: Vec<Thread>,
    /// The thread that the process began with.
    first: ThreadId,
    /// The thread whose mask of signals the process has.
    masked: ThreadId,
    /// Stacks that the program has mapped for threads that the kernel makes.
    mapped: Vec<machine_code::Mapped>,
    /// Destructors of keys, or 0; `None` where a key was deleted.
    keys: Vec<Option<u64>>,
    deviations: u32,
    waits: u64,
    /// Times that a thread has waited or given way, but for those that it has only tried a system call again.
    steps: u64,
}

impl Threads {
    /// Whether the program has made none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A new process has a copy, in which this thread alone goes on.
    pub(crate) fn of_thread(mut self: Rc<Threads>, thread: ThreadId) -> Rc<Threads> {
        if thread != self.first {
            Rc::make_mut(&mut self).first = thread;
        }
        self
    }

    /// Something was done that a system call may wait for.
    pub(crate) fn step(&mut self) {
        self.steps += 1;
    }

    pub(crate) fn for_each_expr(&self, f: &mut dyn FnMut(ExprId)) {
        for thread in &self.all {
            if let Some(Value::Sym(e)) = thread.result {
                f(e);
            }
        }
    }

    pub(crate) fn remap(&mut self, map: &Remap) {
        for thread in &mut self.all {
            if let Some(Value::Sym(e)) = &mut thread.result {
                *e = map.get(*e).expect("every expression of path data is a root of a compaction");
            }
        }
    }

    pub(crate) fn hash_into(&self, mut h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64) {
        (self.first, self.masked, &self.mapped, &self.keys, self.deviations, self.waits, self.steps).hash(&mut h);
        for t in &self.all {
            (t.stage, t.handle, t.room, t.stack, t.guard, t.detached, t.joined, &t.values, t.rounds, t.next_key).hash(&mut h);
            (t.since, t.until, t.tried, t.file, t.blocked, t.name, t.cleared, t.robust, t.begins).hash(&mut h);
            match t.result {
                Some(Value::Bits(bits)) => h.write_u64(bits),
                Some(Value::Sym(e)) => h.write_u64(hash_expr(e)),
                None => {}
            }
        }
    }

    fn thread(&mut self, number: ThreadId) -> &mut Thread {
        let count = self.all.len().max(number as usize + 1);
        self.all.resize_with(count, Thread::default);
        &mut self.all[number as usize]
    }
}

fn threads<'c>(cx: &'c mut Cx<'_>) -> &'c mut Threads {
    Rc::make_mut(&mut World::change(cx).own.threads)
}

fn of<'c>(cx: &'c mut Cx<'_>, thread: ThreadId) -> &'c mut Thread {
    threads(cx).thread(thread)
}

/// The running thread.
fn mine<'c>(cx: &'c mut Cx<'_>) -> &'c mut Thread {
    let number = cx.state.thread();
    of(cx, number)
}

/// The kernel's number of a thread of the running process.
pub(crate) fn id(cx: &Cx<'_>, thread: ThreadId) -> u64 {
    /// Between the numbers of the threads of processes that others have made.
    const APART: u64 = 1000;
    let process = running(cx.state);
    if thread == World::of(cx).own.threads.first {
        return pid(process);
    }
    pid(0) + APART * u64::from(process) + u64::from(thread)
}

fn stage(cx: &Cx<'_>) -> Stage {
    World::of(cx).own.threads.all.get(cx.state.thread() as usize).map_or(Stage::Fresh, |thread| thread.stage)
}

/// Names the running thread.
pub(crate) fn set_name(cx: &mut Cx<'_>, name: [u8; NAME]) {
    mine(cx).name = Some(name);
}

/// The name that the running thread has given itself.
pub(crate) fn name_of_running(cx: &Cx<'_>) -> Option<[u8; NAME]> {
    World::of(cx).own.threads.all.get(cx.state.thread() as usize)?.name
}

/// The current call is done, with this result.
fn done(cx: &mut Cx<'_>, result: u64) -> Reply {
    if stage(cx) != Stage::Fresh {
        mine(cx).stage = Stage::Fresh;
    }
    Reply::Value(Value::Bits(result))
}

/// The current call is done, with this error number or 0 as its result.
fn answer(cx: &mut Cx<'_>, errno: Option<Errno>) -> Reply {
    done(cx, errno.map_or(0, |e| e.0 as u64))
}

/// Whether threads beside the running one have not ended.
pub(crate) fn are_others(cx: &Cx<'_>) -> bool {
    let me = cx.state.thread();
    (0..).zip(cx.state.statuses()).any(|(i, status)| i != me && status != Status::Ended)
}

/// The same; of bitcode, whose native runs have a scheduler from the first thread on, whether there were others.
pub(crate) fn has_others(cx: &Cx<'_>) -> bool {
    if cx.core.config.machine_code { are_others(cx) } else { cx.state.has_threads() }
}

/// The other threads that may run, the next one first.
fn ready(cx: &Cx<'_>, waking: &[ThreadId]) -> Vec<ThreadId> {
    let (statuses, me) = (cx.state.statuses(), cx.state.thread() as usize);
    let count = statuses.len();
    let others = (1..count).map(|i| ((me + i) % count) as ThreadId);
    let able = |i: &ThreadId| statuses[*i as usize] == Status::Ready && calls::may_try(cx, *i) || waking.contains(i);
    others.filter(able).collect()
}

/// Who goes on where the running thread has run for long: if all others wait, the one whose time comes first.
pub(crate) fn after_slice(cx: &mut Cx<'_>) -> ThreadId {
    let me = cx.state.thread();
    let next = ready(cx, &[]).first().map(|thread| Next { thread: *thread, by_time: false });
    let next = next.or_else(|| timed(cx, None).first().map(|(_, thread)| Next { thread: *thread, by_time: true }));
    let Some(next) = next else { return me };
    go_on(cx, next);
    next.thread
}

/// The threads that wait for a time, too, and that time, the first one first; the running one waits for this.
fn timed(cx: &Cx<'_>, wait: Option<Wait>) -> Vec<(u64, ThreadId)> {
    let me = cx.state.thread();
    let waits = |i: ThreadId, status: Status| match status {
        _ if i == me => wait.is_some_and(|wait| wait.timed),
        Status::Waits(wait) => wait.timed,
        Status::Ready => calls::is_timed(cx, i),
        Status::Ended => false,
    };
    let those = (0..).zip(cx.state.statuses()).filter(|(i, status)| waits(*i, *status)).map(|(i, _)| i);
    let until = |i: ThreadId| World::of(cx).own.threads.all.get(i as usize).map_or(0, |thread| thread.until);
    let mut all: Vec<(u64, ThreadId)> = those.map(|i| (until(i), i)).collect();
    all.sort_unstable();
    all
}

/// Whether the path may deviate once more.
fn may_deviate(cx: &Cx<'_>) -> bool {
    World::of(cx).own.threads.deviations < cx.core.config.schedules
}

/// Others could go on here, and do not.
fn note_left_out(cx: &mut Cx<'_>) {
    let most = cx.core.config.schedules;
    let what = format!("orders that differ more than {most} times from the one in which each thread runs until it waits");
    cx.core.ledger.note(LedgerKind::ThreadOrder, what);
}

/// There are several threads from now on. Some of their orders no option explores.
fn note_elsewhere(cx: &mut Cx<'_>) {
    let what = "orders in which another thread goes on elsewhere than at synchronisations: at system calls, atomic accesses, the end of the program";
    cx.core.ledger.note(LedgerKind::ThreadOrder, what);
}

/// One of so many that may go on; the first one is that of the order without deviation. A decision.
fn pick(cx: &mut Cx<'_>, count: usize) -> Result<usize, Stop> {
    let numbers: Vec<u8> = (0..=u8::MAX).take(count).collect();
    let chosen = choose_byte(cx, SCHEDULE, &numbers)?.into();
    inputs::new_input(cx, SCHEDULE, 1);
    decided(cx);
    if chosen > 0 {
        threads(cx).deviations += 1;
    }
    Ok(chosen)
}

/// The thread comes to a synchronisation: whether another one goes on first. A decision, while the path may deviate.
fn turn(cx: &mut Cx<'_>) -> Result<Option<Reply>, Stop> {
    if !cx.state.has_threads() || stage(cx) != Stage::Fresh {
        return Ok(None);
    }
    let others = ready(cx, &[]);
    if others.is_empty() || !may_deviate(cx) {
        if !others.is_empty() {
            note_left_out(cx);
        }
        return Ok(None);
    }
    let chosen = pick(cx, 1 + others.len())?;
    mine(cx).stage = Stage::Chosen;
    // Where this thread goes on, its call is an operation of its own, which may decide again.
    Ok(Some(Reply::Switch(if chosen == 0 { cx.state.thread() } else { others[chosen - 1] })))
}

/// Who goes on where the running thread does not.
#[derive(Clone, Copy)]
struct Next {
    thread: ThreadId,
    /// Its time has come, if it waits for one.
    by_time: bool,
}

/// Who goes on where the running thread does not: it waits for this, or it ends. `waking`: those that its doing wakes. May decide.
fn next(cx: &mut Cx<'_>, wait: Option<Wait>, waking: &[ThreadId]) -> Result<Next, Stop> {
    let mut able: Vec<Next> = ready(cx, waking).into_iter().map(|thread| Next { thread, by_time: false }).collect();
    let is_last = able.is_empty();
    let mut timed = timed(cx, wait);
    timed.retain(|(_, i)| !able.iter().any(|able| able.thread == *i));
    if is_last && are_several(cx.state) {
        children::others_first(cx, timed.first().map(|(until, _)| *until), "a wait of all its threads")?;
    }
    able.extend(timed.iter().map(|(_, thread)| Next { thread: *thread, by_time: true }));
    match able[..] {
        [] => Err(deadlock(cx, wait).into()),
        [only] => Ok(only),
        [first, ..] if !may_deviate(cx) => {
            note_left_out(cx);
            Ok(first)
        }
        _ => {
            let chosen = pick(cx, able.len())?;
            Ok(able[chosen])
        }
    }
}

/// The running thread waits for this, and comes back to its call at this stage. `waking`: those that may go on by what it does. May decide; the
/// caller changes what it has to afterwards.
fn wait(cx: &mut Cx<'_>, wait: Wait, until: Option<u64>, stage: Stage, waking: &[ThreadId]) -> Result<Reply, Stop> {
    park(cx, wait, until, stage, waking).map(Reply::Switch)
}

/// The same: which thread goes on, perhaps the running one.
fn park(cx: &mut Cx<'_>, wait: Wait, until: Option<u64>, stage: Stage, waking: &[ThreadId]) -> Result<ThreadId, Stop> {
    let me = cx.state.thread();
    if wait.timed {
        needs_until(cx, me, until.unwrap_or(u64::MAX));
    }
    let next = next(cx, Some(wait), waking)?;
    let threads = threads(cx);
    threads.waits += 1;
    let since = threads.waits;
    let mine = threads.thread(me);
    (mine.since, mine.stage) = (since, stage);
    set_status(cx, me, Status::Waits(wait));
    go_on(cx, next);
    Ok(next.thread)
}

/// Notes until when the running thread is about to wait: that is needed to say who is first, and does not matter otherwise.
fn needs_until(cx: &mut Cx<'_>, me: ThreadId, until: u64) {
    if World::of(cx).own.threads.all.get(me as usize).is_none_or(|thread| thread.until != until) {
        let threads = Rc::make_mut(&mut cx.state.env_mut::<World>().own.threads);
        threads.thread(me).until = until;
    }
}

/// The running thread does not go on. The one that does is able to run, if it waited for a time to come.
fn go_on(cx: &mut Cx<'_>, Next { thread, by_time }: Next) {
    if stage(cx) != Stage::Tries {
        threads(cx).step();
    }
    if !by_time {
        return;
    }
    let until = of(cx, thread).until;
    if let Status::Waits(_) = cx.state.statuses()[thread as usize] {
        of(cx, thread).stage = Stage::TimedOut;
        set_status(cx, thread, Status::Ready);
    }
    let world = World::change(cx);
    if until < u64::MAX {
        world.ticks = world.ticks.max(until);
    }
}

/// The threads that wait for this, the longest waiting first.
fn waiting(cx: &Cx<'_>, kind: For, on: u64) -> Vec<ThreadId> {
    let waits = |status: &Status| matches!(status, Status::Waits(wait) if (wait.kind, wait.on) == (kind as u32, on));
    let all = &World::of(cx).own.threads.all;
    let mut those: Vec<(u64, ThreadId)> =
        (0..).zip(cx.state.statuses()).filter(|(_, s)| waits(s)).map(|(i, _)| (all.get(i as usize).map_or(0, |t| t.since), i)).collect();
    those.sort_unstable();
    those.into_iter().map(|(_, thread)| thread).collect()
}

/// Lets threads try again what they could not do.
fn wake(cx: &mut Cx<'_>, those: &[ThreadId]) {
    those.iter().for_each(|thread| set_status(cx, *thread, Status::Ready));
}

/// Tells threads that what they waited for has happened.
fn release(cx: &mut Cx<'_>, those: &[ThreadId]) {
    wake(cx, those);
    those.iter().for_each(|thread| of(cx, *thread).stage = Stage::Woken);
}

/// No thread can go on: the running one waits for this, or has ended.
fn deadlock(cx: &mut Cx<'_>, wait: Option<Wait>) -> PathEnd {
    let me = cx.state.thread();
    let (mut words, mut first, mut from_outside) = (Vec::new(), None, false);
    for (i, status) in (0..).zip(cx.state.statuses()) {
        let wait = match status {
            _ if i == me => wait,
            Status::Waits(wait) => Some(wait),
            Status::Ready => calls::wait_of(cx, i),
            Status::Ended => None,
        };
        let Some(wait) = wait else { continue };
        from_outside |= calls::is_from_outside(cx, wait);
        first = first.or(Some(i));
        // The path ends, whichever thread runs.
        run(cx, i);
        let stack = cx.core.call_stack(cx.state, usize::MAX);
        words.push(format!("{} waits {} at {}", name(i), what(cx, wait), place(cx, &stack)));
    }
    // The same deadlock is one finding, whichever thread came to it last.
    run(cx, first.unwrap_or(me));
    if let Some(end) = signals::ends_waits(World::of(cx), &words.join("; ")) {
        return end;
    }
    match words.len() {
        _ if from_outside => {
            PathEnd::Unsupported(format!("all threads wait, one of them for what may come from outside: {}", words.join("; ")))
        }
        1 => PathEnd::fault(FaultKind::Deadlock, format!("{}, and no other thread is left", words[0])),
        _ => PathEnd::fault(FaultKind::Deadlock, format!("all threads wait: {}", words.join("; "))),
    }
}

/// A thread in words.
fn name(thread: ThreadId) -> String {
    if thread == 0 { "the main thread".into() } else { format!("thread {thread}") }
}

/// The innermost place of the program's own code.
pub(crate) fn place(cx: &Cx<'_>, stack: &[CodePos]) -> String {
    let own = stack.iter().find(|pos| !places::in_library(&cx.core.image, **pos)).or(stack.first());
    own.map_or_else(|| "an unknown place".into(), |pos| places::name(&cx.core.image, *pos))
}

/// What a thread waits for, in words that follow "waits".
fn what(cx: &Cx<'_>, wait: Wait) -> String {
    let kind = For::ALL[wait.kind as usize];
    match kind {
        For::Thread => return format!("for {} to end", name(wait.on as ThreadId)),
        For::Call | For::Time => return format!("in `{}`", crate::sys::name_of(wait.on)),
        _ => {}
    }
    // `pthread_join` of glibc waits for the word that the kernel clears.
    let ends = |(thread, status): &(&Thread, Status)| *status != Status::Ended && kind == For::Futex && thread.cleared == wait.on;
    let threads = &World::of(cx).own.threads.all;
    if let Some(thread) = threads.iter().zip(cx.state.statuses()).position(|thread| ends(&thread)) {
        return format!("for {} to end", name(thread as ThreadId));
    }
    let object = pointer::describe_address(cx, wait.on);
    let mut words = format!("for the {} {object}", For::WORDS[wait.kind as usize]);
    let holder = match kind {
        For::Mutex => exclusion::owner(cx, wait.on),
        For::ReadLock | For::WriteLock => exclusion::writer(cx, wait.on),
        For::Spin | For::Condition | For::Barrier | For::Semaphore | For::Thread | For::Futex | For::Call | For::Time => None,
    };
    if let Some(thread) = holder {
        words += &match cx.state.statuses().get(thread as usize) {
            Some(Status::Ended) => format!(", which {} held when it ended,", name(thread)),
            _ => format!(", which {} holds,", name(thread)),
        };
    }
    words
}

/// The time at an address of a `struct timespec`, in microseconds that the clock has moved on then. `Err`: it is none.
fn time_at(linux: &Linux, cx: &mut Cx<'_>, pointer: Value) -> Result<Result<u64, Errno>, Stop> {
    let begun = linux.input.time.saturating_mul(1_000_000);
    Ok(span_at(cx, pointer)?.map(|micros| micros.saturating_sub(begun).max(0) as u64))
}

/// The `struct timespec` at an address in microseconds, none of them negative. `Err`: it is none.
fn span_at(cx: &mut Cx<'_>, pointer: Value) -> Result<Result<i64, Errno>, Stop> {
    let mut pair = [0; 2];
    let at = memory::block_address(cx, pointer, 16, false)?;
    for (word, at) in pair.iter_mut().zip([at, at + 8]) {
        let value = memory::load(cx, Value::Bits(at), 64)?;
        *word = cx.concretise(Value::Sym(value), "a time to wait until")?;
    }
    if pair[1] >= 1_000_000_000 {
        return Ok(Err(crate::errno::EINVAL));
    }
    Ok(Ok((pair[0] as i64).max(0).saturating_mul(1_000_000).saturating_add((pair[1] / 1000) as i64)))
}

/// A 32-bit word of an object of the C library.
fn word(cx: &mut Cx<'_>, at: u64, index: u64) -> Result<u32, Stop> {
    let value = memory::load(cx, Value::Bits(at + 4 * index), 32)?;
    Ok(cx.concretise(Value::Sym(value), "a word of a lock")? as u32)
}

fn set_word(cx: &mut Cx<'_>, at: u64, index: u64, value: u32) -> Result<(), Stop> {
    memory::write_concrete(cx, at + 4 * index, &value.to_le_bytes())
}
