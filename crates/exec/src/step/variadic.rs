//! Calls by a type with other variable arguments than the function's: C without prototypes (`int open();`), and casts of function pointers. The caller
//! passes its variable arguments as a `va_list` (System V ABI AMD64, section 3.5.7), so the function's named parameters can be read from that.

use smallvec::SmallVec;
use wryneck_ir::va_list::{OVERFLOW, REGISTERS, SIZE, USED_UP, VECTORS, VECTORS_END, WORDS, WORDS_END};
use wryneck_ir::{limbs, param_kind};

use super::cx::Cx;
use super::memory;
use super::plugin::{Stop, Value};
use crate::ground::path_end::PathEnd;

/// What a function gets.
pub(super) struct Adapted {
    /// As limbs.
    pub args: SmallVec<[Value; 6]>,
    /// Limbs that are passed as variable arguments, by a list whose address is to be the last of `args`.
    pub more: Vec<Value>,
}

/// What a function gets of these arguments, limbs of a call with `named` arguments before a `va_list`, or of one without variable arguments.
pub(super) fn adapted(cx: &mut Cx<'_>, func: u32, args: &[Value], named: Option<u32>) -> Result<Adapted, Stop> {
    let image = cx.core.image.clone();
    let (module, function) = image.function(func);
    let params = module.params.range(function.params);
    let takes_more = params.last().is_some_and(|p| p.kind == param_kind::VARIADIC);
    let params = &params[..params.len() - usize::from(takes_more)];
    let of = |n: usize| params[..n].iter().map(|p| limbs(p.width) as usize).sum::<usize>();
    let all = of(params.len());
    let (list, before) = match named.and_then(|_| args.split_last()) {
        Some((list, before)) => (*list, before),
        None => (Value::Bits(0), args),
    };
    let first = params.iter().enumerate().position(|(n, _)| of(n) >= before.len()).unwrap_or(params.len());
    let mut adapted = Adapted { args: before.iter().take(all).copied().collect(), more: Vec::new() };
    if before.len() > all && takes_more {
        if list != Value::Bits(0) {
            return Err(unsupported("more named parameters, and variable ones"));
        }
        adapted.more.extend(&before[all..]);
    }
    for param in &params[first..] {
        // Where none is left, the function gets whatever is in the register.
        adapted.args.push(match list {
            Value::Bits(0) => Value::Bits(0),
            _ => next(cx, list, param.kind, param.width, param.size)?,
        });
    }
    adapted.args.extend(takes_more.then_some(list));
    let moved = !adapted.more.is_empty() || first < params.len() && list != Value::Bits(0);
    if moved && cx.core.monitor.is_some() {
        // Slices do not know where these arguments come from.
        return Err(unsupported("rules to check"));
    }
    Ok(adapted)
}

/// Bytes of a list of so many words, none of them in registers.
pub(super) fn list_size(words: usize) -> u64 {
    SIZE + 8 * words as u64
}

/// Writes a list of these words at an address.
pub(super) fn write_list(cx: &mut Cx<'_>, at: u64, words: &[Value]) -> Result<(), Stop> {
    let head = [USED_UP, at + SIZE, 0].map(Value::Bits);
    let places = (0..).step_by(8).take(head.len()).chain((SIZE..).step_by(8));
    for (offset, word) in places.zip(head.iter().chain(words)) {
        let word = cx.expr(*word, 64);
        memory::store(cx, Value::Bits(at + offset), word)?;
    }
    Ok(())
}

fn unsupported(what: &str) -> Stop {
    PathEnd::Unsupported(format!("a call by another type than the function's, with {what}")).into()
}

/// Takes the next argument from a list.
fn next(cx: &mut Cx<'_>, list: Value, kind: u32, width: u32, size: u32) -> Result<Value, Stop> {
    let Value::Bits(list) = list else { return Err(unsupported("a symbolic list of arguments")) };
    let number = |cx: &mut Cx<'_>, at: u64, width: u32| {
        let value = memory::load(cx, Value::Bits(at), width)?;
        cx.core.pool.as_u64(value).ok_or_else(|| unsupported("a symbolic list of arguments"))
    };
    let set = |cx: &mut Cx<'_>, at: u64, width: u32, value: u64| {
        let value = cx.core.pool.bits(width, value);
        memory::store(cx, Value::Bits(at), value)
    };
    if width > 64 {
        return Err(unsupported("an argument of more than 64 bits"));
    }
    let (counter, step, end) = if kind == param_kind::FLOAT { (list + VECTORS, 16, VECTORS_END) } else { (list + WORDS, 8, WORDS_END) };
    let used = number(cx, counter, 32)?;
    if kind != param_kind::BY_VALUE && used + step <= end {
        set(cx, counter, 32, used + step)?;
        let area = number(cx, list + REGISTERS, 64)?;
        let value = memory::load(cx, Value::Bits(area + used), width)?;
        return Ok(cx.value(value));
    }
    let at = number(cx, list + OVERFLOW, 64)?;
    let bytes = if kind == param_kind::BY_VALUE { u64::from(size).next_multiple_of(8) } else { 8 };
    set(cx, list + OVERFLOW, 64, at + bytes)?;
    if kind == param_kind::BY_VALUE {
        return Ok(Value::Bits(at));
    }
    let value = memory::load(cx, Value::Bits(at), width)?;
    Ok(cx.value(value))
}
