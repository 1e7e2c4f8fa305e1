//! `--sym-calls`: functions whose results are input, in place of what they do.
//!
//! A call that the program makes gives a fresh input, named after the function (`rand`, `rand_1`, …), of its result's width. Functions that
//! write what they say (`gettimeofday`) write input; the known ones keep to what their standard promises (`rand` is not negative). Calls
//! from inside a library are the library's own, as they are natively.
//!
//! `getenv`: a variable that the program was not given is unset or set, as an input `getenv_NAME` of one byte says, and its value is an input
//! `env_NAME`, as `--sym-env` makes it. So a native replay sets the variable. What the program sets itself is not input; where it takes away variables,
//! its path ends by name.

use wryneck_exec::{Call, Cx, PathEnd, Reply, Stop, Value, heap_calls, inputs, memory, places, pointer};
use wryneck_expr::ExprId;
use wryneck_ir::OWN_CALL;
use wryneck_ir::arith::mask;

use crate::Linux;
use crate::sig::Args;
pub use crate::sig::Ty;
use crate::start;
use crate::state::World;

/// A function whose results are input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymCall {
    pub name: String,
    /// `getenv`: most bytes of a variable.
    pub size: u32,
}

/// What a known function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    /// A result between these, as a signed number.
    Within(i64, i64),
    /// A result below the first argument, or 0.
    Below,
    /// A floating-point number from 0 to below 1.
    Fraction,
    /// The time, which it also writes where its argument says.
    Time,
    /// Seconds and such parts of a second, written where this argument says.
    Clock {
        argument: usize,
        parts: u64,
    },
    /// As many bytes as its second argument says.
    Bytes,
    Variable,
}

/// The largest result of `rand` and its like.
const RAND_MAX: i64 = 0x7fff_ffff;
const NATURAL: Gives = Gives::Within(0, RAND_MAX);

// Sorted. One more function: a row; if it writes anything, its definition in `runtime/replay.c`, too.
static KNOWN: &[(&str, Gives, &[Ty], Ty)] = &[
    ("arc4random", Gives::Within(-RAND_MAX - 1, RAND_MAX), &[], Ty::Int),
    ("arc4random_buf", Gives::Bytes, &[Ty::Ptr, Ty::Size], Ty::Size),
    ("arc4random_uniform", Gives::Below, &[Ty::Int], Ty::Int),
    ("clock", Gives::Within(0, i64::MAX), &[], Ty::Size),
    ("clock_gettime", Gives::Clock { argument: 1, parts: 1_000_000_000 }, &[Ty::Int, Ty::Ptr], Ty::Int),
    ("drand48", Gives::Fraction, &[], Ty::Double),
    ("erand48", Gives::Fraction, &[Ty::Ptr], Ty::Double),
    ("getenv", Gives::Variable, &[Ty::Ptr], Ty::Ptr),
    ("getpid", Gives::Within(1, RAND_MAX), &[], Ty::Int),
    ("getppid", NATURAL, &[], Ty::Int),
    ("getrandom", Gives::Bytes, &[Ty::Ptr, Ty::Size], Ty::Size),
    ("gettimeofday", Gives::Clock { argument: 0, parts: 1_000_000 }, &[Ty::Ptr], Ty::Int),
    ("jrand48", Gives::Within(-RAND_MAX - 1, RAND_MAX), &[Ty::Ptr], Ty::Size),
    ("lrand48", NATURAL, &[], Ty::Size),
    ("mrand48", Gives::Within(-RAND_MAX - 1, RAND_MAX), &[], Ty::Size),
    ("nrand48", NATURAL, &[Ty::Ptr], Ty::Size),
    ("rand", NATURAL, &[], Ty::Int),
    ("rand_r", NATURAL, &[Ty::Ptr], Ty::Int),
    ("random", NATURAL, &[], Ty::Size),
    ("time", Gives::Time, &[Ty::Ptr], Ty::Size),
];

fn row(name: &str) -> Option<&'static (&'static str, Gives, &'static [Ty], Ty)> {
    KNOWN.binary_search_by_key(&name, |row| row.0).ok().map(|i| &KNOWN[i])
}

/// Whether it is known what a function of this name gives.
pub fn is_known(name: &str) -> bool {
    row(name).is_some()
}

/// The types of the parameters and of the result of a known function.
pub fn signature(name: &str) -> Option<(&'static [Ty], Ty)> {
    row(name).map(|(_, _, parameters, result)| (*parameters, *result))
}

/// Answers [`OWN_CALL`].
pub(crate) fn is_own_call(cx: &Cx<'_>) -> Reply {
    let caller = cx.core.call_stack(cx.state, 1).first().copied().unwrap_or_else(|| cx.pos());
    Reply::Value(Value::Bits(u64::from(!places::in_library(&cx.core.image, caller))))
}

/// The C library's pointer to the program's variables.
pub const VARIABLES: &str = "__environ";
/// Functions that take variables away, which `getenv` would have to know: they are watched where variables are input.
pub const FORGETTERS: [&str; 2] = ["clearenv", "unsetenv"];

/// Whether the call comes from inside of a library. Machine code has asked [`OWN_CALL`] before.
fn is_of_library(cx: &Cx<'_>) -> bool {
    let at = cx.pos();
    !cx.core.image.is_machine_code(at.func) && places::in_library(&cx.core.image, at)
}

/// A call of one of [`FORGETTERS`].
pub(crate) fn forget(cx: &Cx<'_>) -> Result<Reply, Stop> {
    match is_of_library(cx) {
        true => Ok(Reply::Decline),
        false => Err(PathEnd::Unsupported("the program takes variables away that `--sym-calls getenv` gives it".into()).into()),
    }
}

/// The name of the input that says whether a variable is set.
pub fn is_set(variable: &str) -> String {
    format!("getenv_{variable}")
}

/// Which of these functions one of this name is: the C library calls its own by other names. One after the last: it is one of [`FORGETTERS`]. Two after
/// the last: it is [`OWN_CALL`].
pub(crate) fn position(all: &[SymCall], name: &str) -> Option<usize> {
    let name = if name == "__clock_gettime" { "clock_gettime" } else { name };
    let forgets = || (FORGETTERS.contains(&name) && all.iter().any(|call| call.name == "getenv")).then_some(all.len());
    let asks = || (name == OWN_CALL).then_some(all.len() + 1);
    all.iter().position(|call| call.name == name).or_else(forgets).or_else(asks)
}

/// Gives the result of a call.
pub(crate) fn call(linux: &Linux, of: &SymCall, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    if is_of_library(cx) {
        return Ok(Reply::Decline);
    }
    let Some((_, gives, sig, _)) = row(&of.name) else {
        let value = result(&of.name, call, cx);
        return Ok(Reply::Value(Value::Sym(value)));
    };
    let args = Args::of(call, sig)?;
    match *gives {
        Gives::Within(least, most) => {
            let value = result(&of.name, call, cx);
            within(cx, value, least, most)?;
            Ok(Reply::Value(Value::Sym(value)))
        }
        Gives::Below => {
            let bound = args.expr(cx, 0);
            let value = result(&of.name, call, cx);
            let zero = cx.core.pool.zero(Ty::Int.width());
            let (below, none) = (cx.core.pool.ult(value, bound), cx.core.pool.eq(value, zero));
            let holds = cx.core.pool.or(below, none);
            cx.assume(holds)?;
            Ok(Reply::Value(Value::Sym(value)))
        }
        Gives::Fraction => {
            let value = result(&of.name, call, cx);
            // Bits of numbers that are not negative are in the numbers' order.
            let one = cx.core.pool.bits(Ty::Double.width(), 1f64.to_bits());
            let holds = cx.core.pool.ult(value, one);
            cx.assume(holds)?;
            Ok(Reply::Value(Value::Sym(value)))
        }
        Gives::Time => {
            let at = if args.fixed(cx, 0) == Some(0) { None } else { Some(writable(cx, args.value(0), 8)?) };
            let bytes = inputs::new_input(cx, &of.name, 8);
            let value = memory::joined(cx, &bytes);
            within(cx, value, 0, i64::MAX)?;
            if let Some(at) = at {
                memory::write_bytes(cx, at, &bytes)?;
            }
            Ok(Reply::Value(Value::Sym(value)))
        }
        Gives::Clock { argument, parts } => {
            let at = writable(cx, args.value(argument), 16)?;
            let bytes = inputs::new_input(cx, &of.name, 16);
            let (seconds, part) = (memory::joined(cx, &bytes[..8]), memory::joined(cx, &bytes[8..]));
            let second = cx.core.pool.bits(64, parts);
            let is_part = cx.core.pool.ult(part, second);
            within(cx, seconds, 0, i64::MAX)?;
            cx.assume(is_part)?;
            memory::write_bytes(cx, at, &bytes)?;
            Ok(Reply::Value(Value::Bits(0)))
        }
        Gives::Bytes => {
            let len = args.number(cx, 1)?;
            let at = writable(cx, args.value(0), len)?;
            inputs::room_for_input(cx, &of.name, len)?;
            let bytes = inputs::new_input(cx, &of.name, len);
            memory::write_bytes(cx, at, &bytes)?;
            Ok(Reply::Value(Value::Bits(len)))
        }
        Gives::Variable => variable(linux, of.size, &args, cx),
    }
}

/// A fresh input of the width of the call's result.
fn result(name: &str, call: &Call<'_>, cx: &mut Cx<'_>) -> ExprId {
    let bytes = inputs::new_input(cx, name, u64::from(call.ret_width.clamp(1, 64).div_ceil(8)));
    memory::joined(cx, &bytes)
}

/// Assumes that a result lies between these, as a signed number.
fn within(cx: &mut Cx<'_>, value: ExprId, least: i64, most: i64) -> Result<(), Stop> {
    let width = cx.core.pool.width(value);
    let [least, most] = [least, most].map(|bound| cx.core.pool.bits(width, bound as u64 & mask(width)));
    let (above, below) = (cx.core.pool.sle(least, value), cx.core.pool.sle(value, most));
    cx.assume(above)?;
    cx.assume(below)
}

/// The address of so many bytes that may be written.
fn writable(cx: &mut Cx<'_>, pointer: Value, size: u64) -> Result<u64, Stop> {
    let at = memory::block_address(cx, pointer, size, true)?;
    match memory::writable_range(cx, at, size) {
        true => Ok(at),
        false => Err(pointer::bad_access(cx, at, size, true).into()),
    }
}

/// What the program's variables say of a name.
enum Own {
    Unset,
    /// Its value is at this address.
    At(u64),
    /// That cannot be told.
    Unknown,
}

/// Looks for a variable among those that the program was given and has set.
fn own(linux: &Linux, cx: &mut Cx<'_>, name: &[u8]) -> Result<Own, Stop> {
    let of_bitcode = || cx.core.image.program.lookup(VARIABLES).map(|target| cx.core.image.target_address(target));
    let of_library = || cx.core.code_source.as_ref().and_then(|source| source.borrow().address_of_data(VARIABLES));
    let pointer = match &linux.input.process {
        None => of_bitcode(),
        Some(process) => match process.variables.or_else(of_library) {
            None => return Ok(Own::Unknown),
            known => known,
        },
    };
    let Some(pointer) = pointer else { return Ok(Own::Unset) };
    let known = |cx: &mut Cx<'_>, at: u64, width: u32| {
        let value = memory::load(cx, Value::Bits(at), width)?;
        Ok::<_, Stop>(cx.core.pool.as_u64(value))
    };
    let Some(mut at) = known(cx, pointer, 64)? else { return Ok(Own::Unknown) };
    while at != 0 {
        let Some(entry) = known(cx, at, 64)? else { return Ok(Own::Unknown) };
        if entry == 0 {
            break;
        }
        let mut matched = 0;
        for byte in name.iter().chain(b"=") {
            match known(cx, entry + matched, 8)? {
                None => return Ok(Own::Unknown),
                Some(there) if there == u64::from(*byte) => matched += 1,
                Some(_) => break,
            }
        }
        if matched > name.len() as u64 {
            return Ok(Own::At(entry + matched));
        }
        at += 8;
    }
    Ok(Own::Unset)
}

/// A variable that the program asks for.
fn variable(linux: &Linux, size: u32, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    // Of machine code this runs in place of the C library's function, to which bitcode leaves what cannot be told.
    let untold = || match linux.input.process {
        None => Ok(Reply::Decline),
        Some(_) => Err(PathEnd::Unsupported("`getenv` of a symbolic name, or among variables with symbolic names".into()).into()),
    };
    let Ok(Some(name)) = heap_calls::concrete_string(cx, args.value(0)) else { return untold() };
    if name.is_empty() || name.contains(&b'=') {
        return Ok(Reply::Value(Value::Bits(0)));
    }
    match own(linux, cx, &name)? {
        Own::Unset => {}
        Own::At(value) => return Ok(Reply::Value(Value::Bits(value))),
        Own::Unknown => return untold(),
    }
    let name = String::from_utf8_lossy(&name).into_owned();
    let what = format!("the variable `{name}`");
    let known = cx.state.env::<World>().given.iter().find(|(_, given)| ***given == *what).map(|(at, _)| *at);
    if let Some(at) = known {
        return Ok(Reply::Value(Value::Bits(at)));
    }
    let input = is_set(&name);
    if cx.state.inputs.iter().any(|known| *known.name == *input) {
        return Ok(Reply::Value(Value::Bits(0)));
    }
    let byte = inputs::coming_input(cx, &input, 1)[0];
    let one = cx.core.pool.bits(8, 1);
    let set = cx.core.pool.eq(byte, one);
    let is_set = cx.decide(set)?;
    inputs::new_input(cx, &input, 1);
    if !is_set {
        let zero = cx.core.pool.zero(8);
        let unset = cx.core.pool.eq(byte, zero);
        cx.assume(unset)?;
        return Ok(Reply::Value(Value::Bits(0)));
    }
    start::symbolic_string(cx, &what, &start::input_of(name.as_bytes()), size, b"").map(|at| Reply::Value(Value::Bits(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(KNOWN.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(is_known("rand") && is_known("time") && !is_known("foo"));
    }
}
