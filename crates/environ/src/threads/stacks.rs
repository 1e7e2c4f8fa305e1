//! What a program of bitcode is told of the stacks of its threads.
//!
//! A stack lies where the thread's variables do, so programs that measure how deep their calls are can do so. But each variable is an object of
//! its own, and what compiled code has in registers or in saved registers lies in no stack. A program that reads a whole stack, as
//! collectors of garbage do, meets the gaps and misses pointers. So the ledger has a row where a program asks for the address.

use wryneck_exec::{CALLS_BASE, Cx, Reply, STACK_TOP, Stop, Value, memory, threads};

use super::life::{ATTRIBUTE_BYTES, STACK_END, thread_of};
use super::{answer, machine_code, of};
use crate::Linux;
use crate::errno::ESRCH;
use crate::libc::stdlib::assumed;
use crate::sig::Args;
use crate::sys::process::STACK_BYTES;

const APART: &str =
    "a stack holds each variable by itself, and no registers (`pthread_attr_getstack`): who reads all of it misses pointers";

/// `pthread_getattr_np(thread, attributes)`
pub fn of_thread(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let Some(thread) = thread_of(cx, args)? else { return Ok(answer(cx, Some(ESRCH))) };
    let at = memory::block_address(cx, args.value(1), ATTRIBUTE_BYTES, true)?;
    let (size, guard) = if thread == 0 { (STACK_BYTES, 0) } else { (of(cx, thread).stack, of(cx, thread).guard) };
    let end = match &linux.input.process {
        Some(process) => machine_code::stack_end(cx, thread).unwrap_or(process.stack_end),
        None => threads::stack_end(cx, thread),
    };
    let words = [size, guard, end, of(cx, thread).detached.into(), 0, 0, 0];
    memory::write_concrete(cx, at, &words.map(u64::to_le_bytes).concat())?;
    Ok(answer(cx, None))
}

/// `pthread_attr_getstack(attributes, address, size)`: musl's own, with a row of the ledger if the stack is not one that the program gave.
pub fn of_attributes(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let at = memory::block_address(cx, args.value(0), ATTRIBUTE_BYTES, false)?;
    let end = memory::load(cx, Value::Bits(at + STACK_END), 64)?;
    if matches!(cx.value(end), Value::Bits(end) if (STACK_TOP..CALLS_BASE).contains(&end)) {
        assumed(cx, APART);
    }
    Ok(Reply::Decline)
}
