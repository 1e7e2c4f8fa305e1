//! Threads of machine code as the kernel makes them (clone(2)), for programs whose own functions of threads run: those of glibc, and stripped ones.
//!
//! A new thread is a copy of the running one in the same system call, with a stack and a thread pointer of its own. It makes the call once
//! more when it runs, and gets 0. At its end a word is cleared, for which others may wait by the futex.

use std::rc::Rc;

use wryneck_exec::memory::{self, writable_range, write_concrete};
use wryneck_exec::threads::{self, ThreadId, publish};
use wryneck_exec::{Cx, PathEnd, Reply, Stop, Value, set_stack_pointer, set_thread_pointer};

use super::life::peek;
use super::{For, Thread, are_others, done, go_on, id, mine, next, note_elsewhere, of, release, turn, waiting};
use crate::state::World;
use crate::sys::children::{CLEARS, SHARES_MEMORY, TELLS_CHILD, TELLS_PARENT};

const CLONE: u64 = 56;
const EXIT: u64 = 60;
const SET_TID_ADDRESS: u64 = 218;
const SET_ROBUST_LIST: u64 = 273;
const GET_ROBUST_LIST: u64 = 274;
const CLONE3: u64 = 435;

/// `CLONE_THREAD`: a thread of the same process. What such threads share beside memory they share here anyway: `CLONE_FS`, `CLONE_FILES`,
/// `CLONE_SIGHAND`, `CLONE_SYSVSEM`, and the old `CLONE_DETACHED`.
const OF_PROCESS: u64 = 0x0001_0000;
const SHARED: u64 = 0x200 | 0x400 | 0x800 | 0x0004_0000 | 0x0040_0000;
/// `CLONE_SETTLS`: with this thread pointer.
const SETS_POINTER: u64 = 0x0008_0000;

/// What `clone` or `clone3` is asked for, addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Asked {
    pub flags: u64,
    /// The stack grows down from here.
    pub stack: u64,
    /// Where the new thread's number is to be written: by who makes it, and by itself.
    pub in_parent: u64,
    pub in_child: u64,
    pub pointer: u64,
}

/// What a `clone` asks for by its arguments, if it is for a thread. Others may hold anything.
fn by_arguments(cx: &mut Cx<'_>, args: &[Value]) -> Result<Asked, Stop> {
    let mut number = |i: usize| cx.concretise(args[i], "an argument of `clone`");
    let flags = number(0)?;
    let mut wanted = |with: u64, i: usize| if flags & OF_PROCESS != 0 && flags & with != 0 { number(i) } else { Ok(0) };
    let (stack, in_parent) = (wanted(OF_PROCESS, 1)?, wanted(TELLS_PARENT, 2)?);
    Ok(Asked { flags, stack, in_parent, in_child: wanted(TELLS_CHILD | CLEARS, 3)?, pointer: wanted(SETS_POINTER, 4)? })
}

/// What a `clone3` asks for by its structure: flags, a descriptor, child, parent, the signal of its end, stack, its size, thread pointer.
pub(crate) fn by_structure(cx: &mut Cx<'_>, args: &[Value]) -> Result<Asked, Stop> {
    const WORDS: u64 = 8;
    let at = memory::block_address(cx, args[0], 8 * WORDS, false)?;
    let mut all = [0; WORDS as usize];
    for (i, word) in (0..).zip(&mut all) {
        let value = memory::load(cx, Value::Bits(at + 8 * i), 64)?;
        *word = cx.concretise(Value::Sym(value), "an argument of `clone3`")?;
    }
    let [flags, _, in_child, in_parent, signal, stack, size, pointer] = all;
    Ok(Asked { flags: flags | signal, stack: stack.wrapping_add(size), in_parent, in_child, pointer })
}

/// The running thread makes a system call: the mask of signals is its own. Nothing that a decision before the call's end would have to undo.
pub(crate) fn take_mask(cx: &mut Cx<'_>) {
    let (me, own) = (cx.state.thread(), &World::of(cx).own);
    if own.threads.masked == me || !cx.core.config.machine_code {
        return;
    }
    let own = &mut cx.state.env_mut::<World>().own;
    let threads = Rc::make_mut(&mut own.threads);
    let before = std::mem::replace(&mut threads.masked, me);
    threads.thread(before).blocked = Some(own.signal_mask);
    own.signal_mask = threads.thread(me).blocked.unwrap_or(own.signal_mask);
}

/// What a system call of machine code is, if it makes a thread or ends one. May decide.
pub(super) fn system_call(cx: &mut Cx<'_>, number: u64, args: &[Value]) -> Result<Option<Reply>, Stop> {
    if let Some(asked) = World::of(cx).own.threads.all.get(cx.state.thread() as usize).and_then(|thread| thread.begins) {
        return begin(cx, &asked).map(Some);
    }
    let asked = match number {
        CLONE => by_arguments(cx, args)?,
        CLONE3 => by_structure(cx, args)?,
        EXIT if cx.state.has_threads() => return exit(cx),
        SET_TID_ADDRESS => {
            if let Value::Bits(at) = args[0] {
                mine(cx).cleared = at;
            }
            return if cx.state.thread() > 0 { Ok(Some(Reply::Value(Value::Bits(id(cx, cx.state.thread()))))) } else { Ok(None) };
        }
        SET_ROBUST_LIST => {
            if let Value::Bits(at) = args[0] {
                mine(cx).robust = at;
            }
            return Ok(None);
        }
        // Of the running thread: musl asks whether there are such lists.
        GET_ROBUST_LIST if args[0] == Value::Bits(0) => {
            const HEAD: u64 = 24;
            let [list, len] = [memory::block_address(cx, args[1], 8, true)?, memory::block_address(cx, args[2], 8, true)?];
            let robust = World::of(cx).own.threads.all.get(cx.state.thread() as usize).map_or(0, |thread| thread.robust);
            write_concrete(cx, list, &robust.to_le_bytes())?;
            write_concrete(cx, len, &HEAD.to_le_bytes())?;
            return Ok(Some(Reply::Value(Value::Bits(0))));
        }
        _ => return Ok(None),
    };
    if asked.flags & OF_PROCESS == 0 { Ok(None) } else { make(cx, &asked).map(Some) }
}

/// Writes a new thread's number where it is wanted.
fn tell(cx: &mut Cx<'_>, asked: &Asked, flag: u64, at: u64, number: ThreadId) -> Result<(), Stop> {
    if asked.flags & flag == 0 { Ok(()) } else { write_concrete(cx, at, &(id(cx, number) as u32).to_le_bytes()) }
}

/// The running thread is new, in the call that made it. What that call was given may be overwritten by now.
fn begin(cx: &mut Cx<'_>, asked: &Asked) -> Result<Reply, Stop> {
    let me = cx.state.thread();
    mine(cx).begins = None;
    set_stack_pointer(cx, asked.stack);
    if asked.flags & SETS_POINTER != 0 {
        set_thread_pointer(cx, asked.pointer);
    }
    tell(cx, asked, TELLS_CHILD, asked.in_child, me)?;
    Ok(done(cx, 0))
}

fn make(cx: &mut Cx<'_>, asked: &Asked) -> Result<Reply, Stop> {
    let known = OF_PROCESS | SHARED | SHARES_MEMORY | SETS_POINTER | TELLS_PARENT | TELLS_CHILD | CLEARS;
    let unknown = asked.flags & !known;
    if unknown != 0 || asked.flags & SHARES_MEMORY == 0 || asked.stack == 0 {
        return Err(PathEnd::Unsupported(format!("a thread that `clone` makes with the flags {:#x}", asked.flags)).into());
    }
    if cx.core.config.keep_infeasible_flips {
        return Err(PathEnd::Unsupported("a thread of a program without symbols for it, under rules and with paths left out".into()).into());
    }
    for (flag, at) in [(TELLS_PARENT, asked.in_parent), (TELLS_CHILD | CLEARS, asked.in_child)] {
        if asked.flags & flag != 0 {
            memory::block_address(cx, Value::Bits(at), 4, true)?;
        }
    }
    if let Some(reply) = turn(cx)? {
        return Ok(reply);
    }
    let number = threads::split(cx);
    let cleared = if asked.flags & CLEARS != 0 { asked.in_child } else { 0 };
    let blocked = Some(World::of(cx).own.signal_mask);
    *of(cx, number) = Thread { begins: Some(*asked), cleared, blocked, ..Thread::default() };
    note_elsewhere(cx);
    tell(cx, asked, TELLS_PARENT, asked.in_parent, number)?;
    Ok(done(cx, id(cx, number)))
}

/// Of the word of a robust lock: others wait for it, its owner has died, and its owner's number.
const WAITERS: u32 = 1 << 31;
const OWNER_DIED: u32 = 1 << 30;
const OWNER: u32 = OWNER_DIED - 1;
/// Locks that the kernel looks at.
const MOST_LOCKS: usize = 2048;

/// The words of the robust locks that a thread holds at its end (`struct robust_list_head`: the list, the distance of a lock's word from its entry, and an
/// entry that is being put in or taken out).
fn left_locks(cx: &mut Cx<'_>, thread: ThreadId) -> Result<Vec<u64>, Stop> {
    let head = World::of(cx).own.threads.all.get(thread as usize).map_or(0, |thread| thread.robust);
    let mut held = Vec::new();
    if head == 0 {
        return Ok(held);
    }
    let (distance, pending) = (entry_at(cx, head + 8)?, entry_at(cx, head + 16)?);
    let (mut entry, mut entries) = (entry_at(cx, head)?, vec![pending]);
    while entries.len() <= MOST_LOCKS && entry != 0 && entry != head {
        entries.push(entry);
        entry = entry_at(cx, entry)?;
    }
    for at in entries.into_iter().filter(|entry| *entry != 0).map(|entry| entry.wrapping_add(distance)) {
        if writable_range(cx, at, 4) && peek(cx, at) as u32 & OWNER == id(cx, thread) as u32 {
            held.push(at);
        }
    }
    held.sort_unstable();
    held.dedup();
    Ok(held)
}

/// A word of the list of robust locks; 0 where it cannot be. The lowest bit of an entry says that priority is inherited.
fn entry_at(cx: &mut Cx<'_>, at: u64) -> Result<u64, Stop> {
    if !writable_range(cx, at, 8) {
        return Ok(0);
    }
    let value = memory::load(cx, Value::Bits(at), 64)?;
    Ok(cx.concretise(Value::Sym(value), "a word of the list of robust locks")? & !1)
}

/// exit(status) of a thread that is not the last one.
fn exit(cx: &mut Cx<'_>) -> Result<Option<Reply>, Stop> {
    if !are_others(cx) {
        return Ok(None);
    }
    let me = cx.state.thread();
    let cleared = World::of(cx).own.threads.all.get(me as usize).map_or(0, |thread| thread.cleared);
    let cleared = Some(cleared).filter(|at| *at != 0 && writable_range(cx, *at, 4));
    let mut waking = cleared.map_or_else(Vec::new, |at| waiting(cx, For::Futex, at));
    waking.truncate(1);
    let left = left_locks(cx, me)?;
    for at in &left {
        waking.extend(waiting(cx, For::Futex, *at).into_iter().take(1));
    }
    let next = next(cx, None, &waking)?;
    if let Some(at) = cleared {
        write_concrete(cx, at, &[0; 4])?;
        publish(cx, at);
    }
    for at in left {
        let word = (peek(cx, at) as u32 & WAITERS) | OWNER_DIED;
        write_concrete(cx, at, &word.to_le_bytes())?;
        publish(cx, at);
    }
    threads::end(cx)?;
    release(cx, &waking);
    go_on(cx, next);
    Ok(Some(Reply::Switch(next.thread)))
}
