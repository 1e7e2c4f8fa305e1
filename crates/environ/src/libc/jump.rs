//! Non-local jumps of bitcode: `setjmp`, `longjmp` and their kin.
//!
//! The engine unwinds ([`wryneck_exec::landing`]). A `jmp_buf` has four words here: a mark that tells it from memory that `setjmp`
//! has not filled, the landing's token, and for `sigsetjmp` whether the signal mask was saved, and the mask. musl's has 25 words; that of
//! `__builtin_setjmp` has 5. In machine code these functions are code as any other.

use wryneck_exec::{Cx, FaultKind, PathEnd, Reply, Stop, Token, Value, landing, memory};

use crate::Linux;
use crate::sig::Args;
use crate::state::World;
use crate::sys::signals;

const MARK: u64 = 0x6b63_656e_7972_7721;
const WORDS: u64 = 4;

/// `setjmp` of musl does not save the signal mask.
pub fn setjmp(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    fill(args.value(0), false, cx)
}

pub fn sigsetjmp(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let saves = args.number(cx, 1)?;
    fill(args.value(0), saves as u32 != 0, cx)
}

fn fill(buffer: Value, saves: bool, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let buffer = memory::block_address(cx, buffer, 8 * WORDS, true)?;
    let token = landing::land(cx, buffer)?;
    let mask = if saves { cx.state.env::<World>().own.signal_mask } else { 0 };
    let words = [MARK, token.to_bits(), u64::from(saves), mask];
    memory::write_concrete(cx, buffer, &words.map(u64::to_le_bytes).concat())?;
    Ok(Reply::Value(Value::Bits(0)))
}

/// `longjmp` and `siglongjmp` are one function: the buffer says whether there is a mask to restore. A value of 0 becomes 1.
pub fn longjmp(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let buffer = memory::block_address(cx, args.value(0), 8 * WORDS, false)?;
    let mut words = [0; WORDS as usize];
    for (word, at) in words.iter_mut().zip((buffer..).step_by(8)) {
        let value = memory::load(cx, Value::Bits(at), 64)?;
        *word = cx.concretise(Value::Sym(value), "a word of a jmp_buf")?;
    }
    let [mark, token, saves, mask] = words;
    if mark != MARK {
        return Err(PathEnd::fault(FaultKind::BadCallTarget, "`longjmp` by a `jmp_buf` that `setjmp` has not filled").into());
    }
    let value = args.expr(cx, 1);
    let pool = &mut cx.core.pool;
    let (zero, one) = (pool.zero(32), pool.bits(32, 1));
    let is_zero = pool.eq(value, zero);
    let value = pool.ite(is_zero, one, value);
    if saves != 0 {
        cx.state.env_mut::<World>().own.signal_mask = mask;
        // What the mask now lets through comes first.
        if let Reply::Tail(function, args) = signals::then(linux, Value::Bits(0), None, cx)? {
            return Ok(Reply::Again(function, args));
        }
    }
    Ok(Reply::Jump(Token::from_bits(token), Value::Sym(value)))
}
