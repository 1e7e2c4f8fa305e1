//! String functions on concrete bytes, a page at a time. If a byte that matters is symbolic or unreadable, the function's own code runs
//! instead: it decides, or faults, at the same place as the program would.

use wryneck_exec::ground::memory::PAGE;
use wryneck_exec::{Cx, LONGEST_COMPARED, Reply, Stop, Value, memory};
use wryneck_expr::ExprId;

use crate::Linux;
use crate::sig::Args;

/// The concrete bytes from `addr` to the end of its page, in the pieces `want` asks for: stops when it gives an answer.
fn scan<T>(cx: &Cx<'_>, addr: u64, limit: u64, mut want: impl FnMut(u64, &[u8]) -> Option<T>) -> Option<T> {
    let mut buf = [0; PAGE as usize];
    let mut at = 0;
    let mut piece = 16;
    while at < limit {
        let here = addr.wrapping_add(at);
        let n = piece.min(PAGE - here % PAGE).min(limit - at);
        let bytes = &mut buf[..n as usize];
        if !cx.state.memory.space.read(here, bytes) {
            if n == 1 {
                return None;
            }
            // Something in this piece is symbolic or ends the object: find out byte by byte how far it goes.
            piece = 1;
            continue;
        }
        if let Some(found) = want(at, bytes) {
            return Some(found);
        }
        at += n;
        piece = if piece == 1 { 1 } else { PAGE.min(piece * 2) };
    }
    None
}

/// Length of the concrete string at `addr`.
fn length(cx: &Cx<'_>, addr: u64) -> Option<u64> {
    scan(cx, addr, u64::MAX, |at, bytes| bytes.iter().position(|b| *b == 0).map(|i| at + i as u64))
}

fn reply(value: Option<u64>) -> Result<Reply, Stop> {
    Ok(value.map_or(Reply::Decline, |v| Reply::Value(Value::Bits(v))))
}

pub fn strlen(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    reply(args.concrete(0).and_then(|addr| length(cx, addr)))
}

pub fn strnlen(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (Some(addr), Some(limit)) = (args.concrete(0), args.concrete(1)) else { return Ok(Reply::Decline) };
    let mut last = 0;
    let found = scan(cx, addr, limit, |at, bytes| {
        last = at + bytes.len() as u64;
        bytes.iter().position(|b| *b == 0).map(|i| at + i as u64)
    });
    reply(found.or((last == limit).then_some(limit)))
}

/// strchr and memchr's common part: where a byte is, before NUL or the limit.
fn find(cx: &Cx<'_>, addr: u64, byte: u8, limit: u64, to_nul: bool) -> Option<u64> {
    let mut last = 0;
    let found = scan(cx, addr, limit, |at, bytes| {
        last = at + bytes.len() as u64;
        let hit = bytes.iter().position(|b| *b == byte || (to_nul && *b == 0))?;
        Some(if bytes[hit] == byte { addr + at + hit as u64 } else { 0 })
    });
    found.or((last == limit).then_some(0))
}

pub fn strchr(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (Some(addr), Some(byte)) = (args.concrete(0), args.concrete(1)) else { return Ok(Reply::Decline) };
    reply(find(cx, addr, byte as u8, u64::MAX, true))
}

pub fn memchr(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (Some(addr), Some(byte), Some(limit)) = (args.concrete(0), args.concrete(1), args.concrete(2)) else { return Ok(Reply::Decline) };
    reply(find(cx, addr, byte as u8, limit, false))
}

/// The difference of the first two bytes that differ, as an `int`; `None` where the real code must find out.
fn compare(cx: &Cx<'_>, a: u64, b: u64, limit: u64, to_nul: bool) -> Option<u64> {
    let (mut x, mut y) = ([0; 64], [0; 64]);
    let mut at = 0;
    while at < limit {
        let (p, q) = (a.wrapping_add(at), b.wrapping_add(at));
        let mut n = 64.min(limit - at).min(PAGE - p % PAGE).min(PAGE - q % PAGE) as usize;
        let read =
            |n: usize, x: &mut [u8], y: &mut [u8]| cx.state.memory.space.read(p, &mut x[..n]) && cx.state.memory.space.read(q, &mut y[..n]);
        if !read(n, &mut x, &mut y) {
            n = 1;
            if !read(1, &mut x, &mut y) {
                return None;
            }
        }
        for (c, d) in x[..n].iter().zip(&y[..n]) {
            if c != d {
                return Some(u64::from((i32::from(*c) - i32::from(*d)) as u32));
            }
            if to_nul && *c == 0 {
                return Some(0);
            }
        }
        at += n as u64;
    }
    Some(0)
}

/// The concrete bytes at `addr` that are compared, without the NUL: as many as a run remembers.
fn string_at(cx: &Cx<'_>, addr: u64, limit: u64, to_nul: bool) -> Vec<u8> {
    let byte = |at: u64| {
        let mut byte = [0];
        cx.state.memory.space.read(addr.wrapping_add(at), &mut byte).then_some(byte[0])
    };
    (0..limit.min(LONGEST_COMPARED as u64)).map_while(byte).take_while(|byte| !to_nul || *byte != 0).collect()
}

/// Most bytes that are compared as one value.
const MOST_WHOLE: u64 = 512;

/// The same as an expression, where strings are compared whole: nothing is decided. `None` where the real code must find out: an end that may
/// lie behind an object's, or too many bytes.
fn compare_whole(cx: &mut Cx<'_>, a: u64, b: u64, limit: u64, to_nul: bool) -> Option<Value> {
    if !cx.core.config.compare_whole {
        return None;
    }
    let mut pairs = Vec::new();
    let mut at = 0;
    while at < limit {
        if at == MOST_WHOLE {
            return None;
        }
        let (x, y) = (memory::byte_at(cx, a.wrapping_add(at))?, memory::byte_at(cx, b.wrapping_add(at))?);
        pairs.push((x, y));
        let [c, d] = [x, y].map(|byte| cx.core.pool.as_u64(byte));
        // Behind the end of either, or a difference that is certain, nothing counts.
        if to_nul && (c == Some(0) || d == Some(0)) || c.zip(d).is_some_and(|(c, d)| c != d) {
            break;
        }
        at += 1;
    }
    let pool = &mut cx.core.pool;
    let mut result = pool.zero(32);
    for (x, y) in pairs.into_iter().rev() {
        let same = pool.eq(x, y);
        let zero = pool.zero(8);
        let more = if to_nul { pool.ne(x, zero) } else { ExprId::TRUE };
        let [wide_x, wide_y] = [x, y].map(|byte| pool.zext(byte, 32));
        let difference = pool.sub(wide_x, wide_y);
        let goes_on = pool.and(same, more);
        result = pool.ite(goes_on, result, difference);
    }
    Some(cx.value(result))
}

/// A comparison: of concrete bytes at once, of symbolic ones perhaps as one value, else by the function's own code.
fn compared(cx: &mut Cx<'_>, args: &Args<'_>, limit: Option<u64>, to_nul: bool) -> Result<Reply, Stop> {
    let (Some(a), Some(b), Some(limit)) = (args.concrete(0), args.concrete(1), limit) else { return Ok(Reply::Decline) };
    match compare(cx, a, b, limit, to_nul) {
        Some(known) => {
            if known != 0 && cx.core.counted().is_some() {
                let [one, other] = [a, b].map(|addr| string_at(cx, addr, limit, to_nul));
                if let Some(hits) = cx.core.counted() {
                    hits.note_compared(one, other);
                }
            }
            reply(Some(known))
        }
        None => Ok(compare_whole(cx, a, b, limit, to_nul).map_or(Reply::Decline, Reply::Value)),
    }
}

pub fn strcmp(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    compared(cx, args, Some(u64::MAX), true)
}

pub fn strncmp(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    compared(cx, args, args.concrete(2), true)
}

pub fn memcmp(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    compared(cx, args, args.concrete(2), false)
}
