//! Threads from their beginning to their end: creation, `join`, `exit`, cleanup handlers, and the values of keys.

use wryneck_exec::thread_locals::{ThreadLocal, thread_locals};
use wryneck_exec::threads::{self, Given, Status, ThreadId, observe, publish};
use wryneck_exec::{Cx, PathEnd, Reply, Stop, Value, heap_calls, memory, thread_pointer};
use wryneck_ir::THREAD;

use super::{
    For, Stage, Thread, answer, are_others, done, go_on, machine_code, mine, next, note_elsewhere, of, stage, threads as all, time_at,
    turn, wait, waiting, wake,
};
use crate::Linux;
use crate::errno::{EAGAIN, EBUSY, EDEADLK, EINVAL, ENOSYS, ESRCH, ETIMEDOUT};
use crate::libc::alloc::GIVEN;
use crate::libc::stdlib;
use crate::sig::Args;
use crate::start;
use crate::state::World;
use crate::sys::is_null;

/// Fields of musl's `struct pthread`, in bytes from its beginning.
mod field {
    pub const SELF: u64 = 0;
    pub const PREVIOUS: u64 = 16;
    pub const NEXT: u64 = 24;
    pub const ID: u64 = 48;
    pub const ERRNO: u64 = 52;
    pub const DETACH_STATE: u64 = 56;
    pub const GUARD_SIZE: u64 = 104;
    pub const CLEANUP: u64 = 120;
    pub const ROBUST: u64 = 136;
    pub const LOCALE: u64 = 168;
    /// The bytes of all.
    pub const END: u64 = 200;
}

/// Of an attribute object, in bytes from its beginning.
const STACK_SIZE: u64 = 0;
const GUARD_SIZE: u64 = 8;
pub(super) const STACK_END: u64 = 16;
const DETACHED: u64 = 24;
pub(super) const ATTRIBUTE_BYTES: u64 = 56;
/// C11's `thrd_create` gives this in place of attributes.
const OF_C11: u64 = u64::MAX;
const JOINABLE: u32 = 2;
/// Bytes of a thread's stack, as musl has them by default, but for the first thread.
const STACK_BYTES: u64 = 128 << 10;
/// Bytes below a thread's stack that no access may reach, as musl has them by default. Rust's library insists on some.
pub(super) const GUARD_BYTES: u64 = 8192;
/// Keys that there can be, and how often the destructors of all are called (POSIX: `PTHREAD_DESTRUCTOR_ITERATIONS`).
const KEYS: usize = 128;
const ROUNDS: u32 = 4;

/// The number of the variable that describes a thread, and where the first thread's lies.
fn descriptor(cx: &Cx<'_>) -> Option<(usize, u64)> {
    let locals = thread_locals(&cx.core.image);
    locals.iter().position(|local| local.name == THREAD).map(|number| (number, locals[number].address))
}

/// The descriptor of the running thread.
fn mine_at(cx: &Cx<'_>) -> Option<u64> {
    if cx.core.config.machine_code {
        return thread_pointer(cx).filter(|pointer| *pointer != 0);
    }
    let (number, first) = descriptor(cx)?;
    Some(cx.state.thread_local(cx.state.thread(), number).unwrap_or(first))
}

pub(super) fn errno_at(cx: &Cx<'_>) -> Option<u64> {
    mine_at(cx).map(|at| at + field::ERRNO)
}

pub(super) fn peek(cx: &Cx<'_>, at: u64) -> u64 {
    let mut bytes = [0; 8];
    cx.state.memory.space.read(at, &mut bytes);
    u64::from_le_bytes(bytes)
}

/// A word of the list of cleanup handlers; a symbolic one is concretised.
fn pointer(cx: &mut Cx<'_>, at: u64) -> Result<u64, Stop> {
    let value = memory::load(cx, Value::Bits(at), 64)?;
    cx.concretise(Value::Sym(value), "a cleanup handler")
}

/// The instances that a new thread has of the thread-local variables.
fn instances(cx: &mut Cx<'_>, number: ThreadId) -> Result<Vec<u64>, Stop> {
    let image = cx.core.image.clone();
    let mut locals = Vec::new();
    for ThreadLocal { name, address: first, size, align, first: bytes } in thread_locals(&image) {
        let Some(at) = heap_calls::allocate(cx, size.max(1), align, true, GIVEN) else {
            return Err(PathEnd::Unsupported(format!("a thread-local variable of {size} bytes")).into());
        };
        memory::write_concrete(cx, at, &bytes)?;
        let what = if name == THREAD { format!("the descriptor of thread {number}") } else { format!("`{name}` of thread {number}") };
        World::change(cx).name_given(at, what);
        if name == THREAD && size >= field::END {
            describe(cx, at, number, first)?;
        }
        locals.push(at);
    }
    Ok(locals)
}

/// Writes the descriptor of a new thread, which is of zeros; `other`: that of a thread.
pub(super) fn describe(cx: &mut Cx<'_>, at: u64, number: ThreadId, other: u64) -> Result<(), Stop> {
    for at_field in [field::SELF, field::PREVIOUS, field::NEXT] {
        memory::write_concrete(cx, at + at_field, &at.to_le_bytes())?;
    }
    let id = super::id(cx, number) as u32;
    let locale = peek(cx, other + field::LOCALE);
    memory::write_concrete(cx, at + field::ID, &id.to_le_bytes())?;
    memory::write_concrete(cx, at + field::DETACH_STATE, &JOINABLE.to_le_bytes())?;
    memory::write_concrete(cx, at + field::GUARD_SIZE, &GUARD_BYTES.to_le_bytes())?;
    memory::write_concrete(cx, at + field::ROBUST, &(at + field::ROBUST).to_le_bytes())?;
    memory::write_concrete(cx, at + field::LOCALE, &locale.to_le_bytes())
}

/// `pthread_create(thread, attributes, function, argument)`; musl's `thrd_create` calls it too.
pub fn create(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    if !machine_code::has_models(linux, cx) {
        return stdlib::no_thread(linux, args, cx);
    }
    let (out, attributes, function) = (memory::block_address(cx, args.value(0), 8, true)?, args.number(cx, 1)?, args.number(cx, 2)?);
    let (mut detached, mut stack, mut guard) = (false, STACK_BYTES, GUARD_BYTES);
    if attributes != 0 && attributes != OF_C11 {
        let at = memory::block_address(cx, Value::Bits(attributes), ATTRIBUTE_BYTES, false)?;
        let mut word = |offset: u64, width: u32| {
            let word = memory::load(cx, Value::Bits(at + offset), width)?;
            cx.concretise(Value::Sym(word), "an attribute of a thread")
        };
        detached = word(DETACHED, 32)? != 0;
        (stack, guard) = (word(STACK_SIZE, 64)?, word(GUARD_SIZE, 64)?);
        match word(STACK_END, 64)? {
            0 => {}
            _ if cx.core.config.machine_code => {
                return Err(PathEnd::Unsupported("a thread on a stack that the program gives it".into()).into());
            }
            _ => stdlib::assumed(cx, "a stack that the program gives to a thread (`pthread_attr_setstack`) is not used"),
        }
    }
    let room = match cx.core.config.machine_code.then(|| machine_code::free_room(cx)) {
        Some(Err(why)) => return Err(PathEnd::Unsupported(format!("a thread of a program whose {why}")).into()),
        Some(Ok(None)) => {
            stdlib::assumed(cx, "`pthread_create` fails where a program of machine code has 32 threads");
            return Ok(answer(cx, Some(EAGAIN)));
        }
        Some(Ok(Some(room))) => room,
        None => 0,
    };
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let number = cx.state.statuses().len() as ThreadId;
    let (handle, given) = if room > 0 {
        let first = thread_pointer(cx).filter(|_| number == 1);
        if let Some(first) = first {
            of(cx, 0).handle = first;
        }
        let begins = machine_code::prepare(cx, number, room, stack)?;
        (begins.own, Given::MachineCode(begins))
    } else {
        let locals = instances(cx, number)?;
        let handle = match descriptor(cx) {
            Some((local, _)) => locals[local],
            // Nobody asks for what the C library knows of a thread.
            None => heap_calls::allocate(cx, field::END, 16, true, GIVEN).unwrap_or_default(),
        };
        (handle, Given::Locals(locals))
    };
    threads::make(cx, function, &[args.value(3)], given)?;
    note_elsewhere(cx);
    *of(cx, number) = Thread { handle, detached, room, stack, guard, ..Thread::default() };
    memory::write_concrete(cx, out, &handle.to_le_bytes())?;
    Ok(answer(cx, None))
}

/// The thread that a `pthread_t` is.
pub(super) fn thread_of(cx: &mut Cx<'_>, args: &Args<'_>) -> Result<Option<ThreadId>, Stop> {
    let handle = args.number(cx, 0)?;
    let first = descriptor(cx).is_some_and(|(_, first)| first == handle) || !cx.state.has_threads() && mine_at(cx) == Some(handle);
    let first = first.then_some(0);
    let all = &World::of(cx).own.threads.all;
    Ok(first.or_else(|| all.iter().position(|thread| thread.handle == handle && handle != 0).map(|i| i as ThreadId)))
}

/// Waits for the end of a thread, unless it is only tried; `until`: as long.
fn join_some(cx: &mut Cx<'_>, args: &Args<'_>, tries: bool, until: Option<u64>) -> Result<Reply, Stop> {
    let Some(thread) = thread_of(cx, args)? else { return Ok(answer(cx, Some(ESRCH))) };
    let result = args.value(1);
    let wanted = !is_null(cx, result)?;
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let known = World::of(cx).own.threads.all.get(thread as usize).cloned().unwrap_or_default();
    if known.detached || known.joined {
        return Ok(answer(cx, Some(EINVAL)));
    }
    if thread == cx.state.thread() {
        return Ok(answer(cx, Some(EDEADLK)));
    }
    if cx.state.statuses()[thread as usize] != Status::Ended {
        return match until {
            _ if tries => Ok(answer(cx, Some(EBUSY))),
            Some(_) if stage(cx) == Stage::TimedOut => Ok(answer(cx, Some(ETIMEDOUT))),
            Some(_) => wait(cx, For::Thread.on(thread.into(), true), until, Stage::Chosen, &[]),
            None => wait(cx, For::Thread.on(thread.into(), false), None, Stage::Chosen, &[]),
        };
    }
    if wanted {
        let value = cx.expr(known.result.unwrap_or(Value::Bits(0)), 64);
        memory::store(cx, result, value)?;
    }
    observe(cx, ended(thread));
    of(cx, thread).joined = true;
    Ok(answer(cx, None))
}

pub fn join(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    join_some(cx, args, false, None)
}

pub fn tryjoin(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    join_some(cx, args, true, None)
}

pub fn timedjoin(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    if is_null(cx, args.value(2))? {
        return join_some(cx, args, false, None);
    }
    match time_at(linux, cx, args.value(2))? {
        Ok(until) => join_some(cx, args, false, Some(until)),
        Err(errno) => Ok(answer(cx, Some(errno))),
    }
}

/// `pthread_detach` and `thrd_detach`.
pub fn detach(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let errno = match thread_of(cx, args)? {
        None => Some(ESRCH),
        Some(thread) => {
            let thread = of(cx, thread);
            let wrong = thread.detached || thread.joined;
            thread.detached = true;
            wrong.then_some(EINVAL)
        }
    };
    Ok(answer(cx, errno))
}

/// `pthread_exit(result)`; C11's `thrd_exit` calls it too.
pub fn exit(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    // Handlers run with the frames that pushed them still there.
    if let Some(at) = mine_at(cx).map(|at| at + field::CLEANUP) {
        let handler = pointer(cx, at)?;
        if handler != 0 {
            let (next, function) = (pointer(cx, handler + 16)?, pointer(cx, handler)?);
            let argument = memory::load(cx, Value::Bits(handler + 8), 64)?;
            memory::write_concrete(cx, at, &next.to_le_bytes())?;
            return Ok(Reply::Again(function, vec![Value::Sym(argument)]));
        }
    }
    end(cx, Some(args.value(0)))
}

/// The running thread ends with this result: first the destructors of its values.
pub fn end(cx: &mut Cx<'_>, result: Option<Value>) -> Result<Reply, Stop> {
    if let Some(reply) = destructor(cx) {
        return Ok(reply);
    }
    let me = cx.state.thread();
    if !are_others(cx) {
        return match start::function(cx, "exit") {
            Some(exit) => Ok(Reply::Tail(exit, vec![Value::Bits(0)])),
            None => Err(PathEnd::Exit(0).into()),
        };
    }
    let waking = waiting(cx, For::Thread, me.into());
    let next = next(cx, None, &waking)?;
    mine(cx).result = result;
    publish(cx, ended(me));
    threads::end(cx)?;
    machine_code::ended(cx, me);
    go_on(cx, next);
    wake(cx, &waking);
    Ok(Reply::Switch(next.thread))
}

/// Where what a thread has done is known to who waits for its end: no address.
fn ended(thread: ThreadId) -> u64 {
    u64::MAX - u64::from(thread)
}

/// The next call of a destructor.
fn destructor(cx: &mut Cx<'_>) -> Option<Reply> {
    let (me, world) = (cx.state.thread() as usize, World::of(cx));
    let mine_now = world.own.threads.all.get(me)?;
    let keys = &world.own.threads.keys;
    let destructor = |key: &u32| keys.get(*key as usize).copied().flatten().filter(|destructor| *destructor != 0);
    let from = |first: u32| mine_now.values.range(first..).find_map(|(key, value)| Some((*key, *value, destructor(key)?)));
    // Keys that a destructor has set again come in the next round.
    let (rounds, (key, value, destructor)) = match from(mine_now.next_key) {
        Some(next) => (mine_now.rounds, next),
        None => (mine_now.rounds + 1, from(0)?),
    };
    if rounds >= ROUNDS {
        return None;
    }
    let mine = mine(cx);
    mine.values.remove(&key);
    (mine.rounds, mine.next_key) = (rounds, key + 1);
    Some(Reply::Again(destructor, vec![Value::Bits(value)]))
}

/// `pthread_key_create(key, destructor)`; C11's `tss_create` calls it too.
pub fn key_create(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (out, destructor) = (memory::block_address(cx, args.value(0), 4, true)?, args.number(cx, 1)?);
    let keys = &mut all(cx).keys;
    let free = keys.iter().position(Option::is_none).unwrap_or(keys.len());
    if free >= KEYS {
        return Ok(answer(cx, Some(EAGAIN)));
    }
    if free == keys.len() {
        keys.push(None);
    }
    keys[free] = Some(destructor);
    memory::write_concrete(cx, out, &(free as u32).to_le_bytes())?;
    Ok(answer(cx, None))
}

/// `pthread_key_delete(key)`; C11's `tss_delete` calls it too.
pub fn key_delete(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let key = args.number(cx, 0)? as u32;
    let threads = all(cx);
    if let Some(slot) = threads.keys.get_mut(key as usize) {
        *slot = None;
    }
    for thread in &mut threads.all {
        thread.values.remove(&key);
    }
    Ok(answer(cx, None))
}

/// `pthread_getspecific` and `tss_get`.
pub fn key_value(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let key = args.number(cx, 0)? as u32;
    let me = cx.state.thread() as usize;
    let value = World::of(cx).own.threads.all.get(me).and_then(|thread| thread.values.get(&key).copied());
    Ok(Reply::Value(Value::Bits(value.unwrap_or(0))))
}

/// `pthread_setspecific` and `tss_set`.
pub fn set_key_value(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (key, value) = (args.number(cx, 0)? as u32, args.number(cx, 1)?);
    let known = World::of(cx).own.threads.keys.get(key as usize).is_some_and(Option::is_some);
    if !known {
        return Ok(match args.call.name.starts_with("tss_") {
            true => done(cx, 2),
            false => answer(cx, Some(EINVAL)),
        });
    }
    let values = &mut mine(cx).values;
    if value == 0 {
        values.remove(&key);
    } else {
        values.insert(key, value);
    }
    Ok(answer(cx, None))
}

/// What a program asks of other threads that there is no model of: it fails among several.
pub fn lacking(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    if !cx.state.has_threads() && args.call.name != "pthread_cancel" {
        return Ok(Reply::Decline);
    }
    stdlib::failed(cx, args.call.name);
    Ok(answer(cx, Some(ENOSYS)))
}
