//! What bitcode asks of the call stack: its unwinder (`runtime/musl/src/unwind`), and programs that want return addresses and frames; and how a
//! program ends that nobody catches for.

use wryneck_exec::{CALLS_BASE, CodePos, Cx, Fault, FaultKind, PathEnd, Reply, Stop, Value, landing, memory, places, survive};

use crate::Linux;
use crate::libc::assert::text;
use crate::libc::stdlib::assumed;
use crate::sig::Args;

/// `__wryneck_pad_below(height, &table)`: the innermost frame below `height` whose call has a landing pad, and the pad's table; -1 if
/// there is none.
pub fn pad_below(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let height = args.number(cx, 0)?;
    let to = memory::block_address(cx, args.value(1), 8, true)?;
    let Some((frame, table)) = landing::pad_below(cx, usize::try_from(height).unwrap_or(usize::MAX)) else {
        return Ok(Reply::Value(Value::Bits(u64::MAX)));
    };
    memory::write_concrete(cx, to, &table.to_le_bytes())?;
    Ok(Reply::Value(Value::Bits(frame as u64)))
}

/// `__wryneck_land(frame)`: goes on at the landing pad of this frame's call.
pub fn land(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let frame = args.number(cx, 0)?;
    Ok(Reply::Land(frame as usize))
}

/// `__builtin_return_address(level)`: a number of the call, above all addresses that hold anything. Null at the end of the call stack.
pub fn return_address(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let level = args.number(cx, 0)? as usize;
    assumed(cx, "a return address is a number of the call, where no code lies (`__builtin_return_address`)");
    let caller = cx.state.call_stack().get(level + 1).copied();
    let number = |at: CodePos| CALLS_BASE + ((u64::from(at.func) << CALL_BITS) | (u64::from(at.op) & ((1 << CALL_BITS) - 1)));
    Ok(Reply::Value(Value::Bits(caller.map_or(0, number))))
}

/// Bits of a call's number that say where in its function it is.
const CALL_BITS: u32 = 19;

/// `__builtin_frame_address(level)` of a caller: where its variables end, as its own `__builtin_frame_address(0)` says it before
/// it allocates more. Null at the end of the call stack.
pub fn frame_address(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let level = args.number(cx, 0)? as usize;
    assumed(cx, "the frame of a caller holds no frame pointer and no return address (`__builtin_frame_address`)");
    let frames = &cx.state.frames;
    let called = frames.len().checked_sub(level).filter(|at| *at > 0).and_then(|at| frames.get(at));
    Ok(Reply::Value(Value::Bits(called.map_or(0, |frame| frame.top))))
}

/// What calls `fn main` in Rust's library, and is never inlined.
const CALLS_MAIN: &str = "__rust_begin_short_backtrace";
/// What calls that, and catches panics: the second one, or the first, into which it is inlined.
const STARTS: [&str; 2] = ["main", "lang_start_internal"];

/// `__wryneck_panic(catcher)`: Rust unwinds to the frame `catcher`. Where that is the start of the program, it is
/// a fault, behind which the path goes on: what unwinds is dropped, and the program exits.
pub fn panic(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let catcher = args.number(cx, 0)? as usize;
    let image = &cx.core.image;
    let stack = cx.state.call_stack();
    let mut names = stack.iter().rev().skip(catcher).map(|pos| image.name(pos.func));
    let is_start = names.next().is_some_and(|name| name == STARTS[0] || name.contains(STARTS[1]));
    if !(is_start && names.any(|name| name.contains(CALLS_MAIN))) {
        return Ok(Reply::Value(Value::Bits(0)));
    }
    // What the program's own code calls says what is wrong.
    let own = stack.iter().position(|pos| places::is_own(image, *pos)).unwrap_or(0);
    let reason = stack.get(own.saturating_sub(1)).and_then(|pos| places::source(image, *pos).pop());
    let message = format!("the program panics: `{}`", reason.map(|source| source.function).unwrap_or_default());
    survive::note(cx, Fault { kind: FaultKind::Panic, message });
    Ok(Reply::Value(Value::Bits(0)))
}

/// `__wryneck_terminate(type)`: the default of `std::terminate`; the name of the type of the exception on hand, or null.
pub fn terminate(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let message = match args.number(cx, 0)? {
        0 => "terminate called without an exception".to_owned(),
        name => {
            let name = text(cx, Value::Bits(name));
            format!("terminate called: uncaught {}", demangled(&name).unwrap_or(name))
        }
    };
    Err(PathEnd::fault(FaultKind::Uncaught, message).into())
}

/// A type's name as C++ writes it: fundamental types, pointers, and classes that are no templates. `None`: it is none of these.
fn demangled(mangled: &str) -> Option<String> {
    let mut rest = mangled;
    let name = type_name(&mut rest)?;
    rest.is_empty().then_some(name)
}

/// Fundamental types by their letters (Itanium C++ ABI, section 5.1.5.2).
const FUNDAMENTAL: [(char, &str); 16] = [
    ('a', "signed char"),
    ('b', "bool"),
    ('c', "char"),
    ('d', "double"),
    ('e', "long double"),
    ('f', "float"),
    ('h', "unsigned char"),
    ('i', "int"),
    ('j', "unsigned int"),
    ('l', "long"),
    ('m', "unsigned long"),
    ('s', "short"),
    ('t', "unsigned short"),
    ('v', "void"),
    ('x', "long long"),
    ('y', "unsigned long long"),
];

fn type_name(rest: &mut &str) -> Option<String> {
    let first = rest.chars().next()?;
    if let Some(pointee) = rest.strip_prefix('P') {
        *rest = pointee;
        return Some(format!("{}*", type_name(rest)?));
    }
    if let Some(constant) = rest.strip_prefix('K') {
        *rest = constant;
        return Some(format!("{} const", type_name(rest)?));
    }
    if let Some((_, name)) = FUNDAMENTAL.iter().find(|(letter, _)| *letter == first) {
        *rest = &rest[1..];
        return Some((*name).to_owned());
    }
    if let Some(after) = rest.strip_prefix("St") {
        *rest = after;
        return Some(format!("std::{}", source_name(rest)?));
    }
    let Some(nested) = rest.strip_prefix('N') else { return source_name(rest) };
    *rest = nested;
    let mut parts = Vec::new();
    if let Some(after) = rest.strip_prefix("St") {
        *rest = after;
        parts.push("std".to_owned());
    }
    while !rest.starts_with('E') {
        parts.push(source_name(rest)?);
    }
    *rest = &rest[1..];
    Some(parts.join("::"))
}

/// A length and as many letters.
fn source_name(rest: &mut &str) -> Option<String> {
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let length: usize = rest[..digits].parse().ok()?;
    let name = rest.get(digits..digits.checked_add(length)?)?;
    *rest = &rest[digits + length..];
    Some(if name.starts_with("_GLOBAL__N") { "(anonymous namespace)".to_owned() } else { name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::demangled;

    #[test]
    fn types_have_their_names() {
        let cases = [
            ("i", "int"),
            ("PKc", "char const*"),
            ("St13runtime_error", "std::runtime_error"),
            ("8Overflow", "Overflow"),
            ("N4json5ErrorE", "json::Error"),
            ("NSt3__111bad_thing_tE", "std::__1::bad_thing_t"),
            ("N12_GLOBAL__N_14MineE", "(anonymous namespace)::Mine"),
        ];
        for (mangled, name) in cases {
            assert_eq!(demangled(mangled).as_deref(), Some(name), "{mangled}");
        }
        for mangled in ["", "5abc", "3IntIiE", "N3abc", "99999999999999999999x", "P"] {
            assert_eq!(demangled(mangled), None, "{mangled}");
        }
    }
}
