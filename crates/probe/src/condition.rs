//! The precondition of a path, as C conditions.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use wryneck_exec::Ended;
use wryneck_expr::{ExprId, Kind, Pool, SymId};

use crate::MARK;
use crate::data::Inputs;

/// What the inputs have to satisfy for a path to be taken, as C conditions; at most `most`.
pub fn precondition(ended: &Ended, constraints: &[ExprId], pool: &Pool, most: usize) -> Vec<String> {
    let Some(inputs) = ended.data.inputs().as_any().downcast_ref::<Inputs>() else { return Vec::new() };
    let mut out = Vec::new();
    for made in inputs.objects.iter() {
        out.push(format!("{} != NULL", pointer(&made.pointer)));
    }
    let chosen = crate::grade::chosen(inputs, pool);
    // Which calls fail is no input of the function.
    let fate = |cond: &ExprId| pool.support(*cond).iter().all(|s| pool.sym_info(*s).name.starts_with("fail_"));
    let own: Vec<ExprId> = constraints.iter().copied().filter(|cond| !chosen.contains(cond) && !fate(cond)).collect();
    out.extend(conjunction(pool, &own, 0));
    let mut seen = FxHashSet::default();
    out.retain(|cond| seen.insert(cond.clone()));
    let all = out.len();
    out.retain(|cond| cond.len() <= LONGEST);
    out.truncate(most);
    let more = all - out.len();
    if more > 0 {
        out.push(format!("/* and {more} more */"));
    }
    out
}

/// A pointer's name as C: `*lst[16]` is `*(char **)(lst + 16)`.
fn pointer(name: &str) -> String {
    let inner = name.strip_prefix('*').and_then(|rest| rest.strip_suffix(']')).and_then(|rest| rest.rsplit_once('['));
    match inner {
        Some((of, at)) => format!("*(char **)({} + {at})", pointer(of)),
        None => name.to_owned(),
    }
}

const DEEP: u32 = 12;
/// Bytes of a condition that is shown.
const LONGEST: usize = 400;

/// An expression as C. Widths other than C's become masks.
fn c(pool: &Pool, e: ExprId, depth: u32) -> String {
    if let Some(value) = pool.as_u64(e) {
        return if value < 10 || pool.width(e) == 1 { value.to_string() } else { format!("{value:#x}") };
    }
    if let Some(text) = memory(pool, e) {
        return text;
    }
    if depth > DEEP {
        return "...".into();
    }
    let width = pool.width(e);
    let go = |e| c(pool, e, depth + 1);
    let signed = |e: ExprId| format!("(int{}_t){}", pool.width(e).next_power_of_two().max(8), go(e));
    let binary = |a, sign: &str, b| format!("({} {sign} {})", go(a), go(b));
    match pool.kind(e) {
        Kind::Not(a) if width == 1 => match conjunction(pool, &pool.conjuncts(a), depth + 1).as_slice() {
            [one] if one.matches(" == ").count() == 1 && !one.contains("&&") => one.replacen(" == ", " != ", 1),
            many => format!("!({})", many.join(" && ")),
        },
        Kind::Not(a) => format!("~{}", go(a)),
        Kind::Neg(a) => format!("-{}", go(a)),
        Kind::And(..) if width == 1 => format!("({})", conjunction(pool, &pool.conjuncts(e), depth + 1).join(" && ")),
        Kind::And(a, b) => binary(a, "&", b),
        Kind::Or(a, b) => binary(a, if width == 1 { "||" } else { "|" }, b),
        Kind::Xor(a, b) => binary(a, "^", b),
        Kind::Add(a, b) => binary(a, "+", b),
        Kind::Sub(a, b) => binary(a, "-", b),
        Kind::Mul(a, b) => binary(a, "*", b),
        Kind::Udiv(a, b) => binary(a, "/", b),
        Kind::Urem(a, b) => binary(a, "%", b),
        Kind::Sdiv(a, b) => format!("({} / {})", signed(a), signed(b)),
        Kind::Srem(a, b) => format!("({} % {})", signed(a), signed(b)),
        Kind::Shl(a, b) => binary(a, "<<", b),
        Kind::Lshr(a, b) => binary(a, ">>", b),
        Kind::Ashr(a, b) => format!("({} >> {})", signed(a), go(b)),
        Kind::Eq(a, b) => binary(a, "==", b),
        Kind::Ult(a, b) => binary(a, "<", b),
        Kind::Ule(a, b) => binary(a, "<=", b),
        Kind::Slt(a, b) => format!("({} < {})", signed(a), signed(b)),
        Kind::Sle(a, b) => format!("({} <= {})", signed(a), signed(b)),
        Kind::Ite(p, a, b) => format!("({} ? {} : {})", go(p), go(a), go(b)),
        Kind::Concat(high, low) => format!("({} << {} | {})", go(high), pool.width(low), go(low)),
        Kind::Extract(a, 0) if [8, 16, 32].contains(&width) => format!("(uint{width}_t){}", go(a)),
        Kind::Extract(a, low) => format!("({} >> {low} & {:#x})", go(a), u64::MAX >> 64u32.saturating_sub(width.min(64))),
        Kind::Zext(a) => format!("(uint{}_t){}", width.next_power_of_two().max(8), go(a)),
        Kind::Sext(a) => format!("(int{}_t){}", width.next_power_of_two().max(8), signed(a)),
        Kind::PtrAdd(..) | Kind::Read(..) | Kind::Float(..) | Kind::Const | Kind::Sym(_) => wryneck_expr::print::human::human(pool, e),
    }
}

/// Conditions that hold together. Bytes that are equal to constants, side by side, are one word.
fn conjunction(pool: &Pool, conds: &[ExprId], depth: u32) -> Vec<String> {
    let byte = |cond: ExprId| -> Option<((Arc<str>, i32), u8)> {
        let Kind::Eq(a, b) = pool.kind(cond) else { return None };
        let (symbol, value) = match (pool.kind(a), pool.as_u64(b), pool.kind(b), pool.as_u64(a)) {
            (Kind::Sym(s), Some(v), ..) | (_, _, Kind::Sym(s), Some(v)) => (s, v),
            _ => return None,
        };
        let info = pool.sym_info(symbol);
        (pool.width(a) == 8).then(|| ((Arc::from(&*info.name), info.index as i32), value as u8))
    };
    let mut pairs: Pairs = BTreeMap::new();
    for (a, b) in conds.iter().filter_map(|cond| pair(pool, *cond)) {
        pairs.insert(a, b);
    }
    let mut bytes: BTreeMap<(Arc<str>, i32), u8> = conds.iter().filter_map(|cond| byte(*cond)).collect();
    let mut out = Vec::new();
    for cond in conds {
        if let Some((a, b)) = pair(pool, *cond) {
            out.extend(equal_words(&mut pairs, &a, &b));
            continue;
        }
        let Some(((name, at), _)) = byte(*cond) else {
            out.push(c(pool, *cond, depth));
            continue;
        };
        // The largest word that begins here or before, with all its bytes known.
        let word = [8, 4, 2, 1].into_iter().find_map(|size| {
            let start = at - at.rem_euclid(size);
            let all: Option<Vec<u8>> = (start..start + size).map(|i| bytes.get(&(name.clone(), i)).copied()).collect();
            all.map(|all| (start, all))
        });
        let Some((start, all)) = word else { continue };
        let value = all.iter().rev().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
        for i in start..start + all.len() as i32 {
            bytes.remove(&(name.clone(), i));
        }
        let shown = if value < 10 { value.to_string() } else { format!("{value:#x}") };
        out.push(format!("{} == {shown}", bytes_at(&name, start, all.len())));
    }
    out
}

/// A byte of input: its symbol's name and index.
type Byte = (Arc<str>, i32);
/// Bytes that are equal to other ones.
type Pairs = BTreeMap<Byte, Byte>;

/// Two bytes of input that a condition says are equal, in a fixed order.
fn pair(pool: &Pool, cond: ExprId) -> Option<(Byte, Byte)> {
    let Kind::Eq(a, b) = pool.kind(cond) else { return None };
    let byte = |e| match pool.kind(e) {
        Kind::Sym(symbol) if pool.width(e) == 8 => {
            let info = pool.sym_info(symbol);
            Some((Arc::from(&*info.name), info.index as i32))
        }
        _ => None,
    };
    let (a, b) = (byte(a)?, byte(b)?);
    Some(if a <= b { (a, b) } else { (b, a) })
}

/// The largest pair of words with this pair of bytes, all of whose bytes are equal; `None` if it was shown.
fn equal_words(pairs: &mut Pairs, a: &Byte, b: &Byte) -> Option<String> {
    let (distance, word) = (b.1.wrapping_sub(a.1), |at: i32| (a.0.clone(), at));
    let same = |pairs: &Pairs, at: i32| pairs.get(&word(at)).is_some_and(|other| other.0 == b.0 && other.1 == at.wrapping_add(distance));
    let (start, size) = [8, 4, 2, 1].into_iter().find_map(|size| {
        let start = a.1 - a.1.rem_euclid(size);
        (start..start + size).all(|at| same(pairs, at)).then_some((start, size))
    })?;
    (start..start + size).for_each(|at| drop(pairs.remove(&word(at))));
    let side = |name: &str, at: i32| bytes_at(name, at, size as usize);
    Some(format!("{} == {}", side(&a.0, start), side(&b.0, start.wrapping_add(distance))))
}

/// Bytes of input in their order, as the memory they are read from.
fn memory(pool: &Pool, e: ExprId) -> Option<String> {
    let mut symbols = Vec::new();
    bytes(pool, e, &mut symbols)?;
    let first = pool.sym_info(*symbols.first()?);
    let in_order = |(i, s): (usize, &SymId)| {
        let info = pool.sym_info(*s);
        info.name == first.name && info.index == first.index.wrapping_add(i as u32)
    };
    if !symbols.iter().enumerate().all(in_order) {
        return None;
    }
    Some(bytes_at(&first.name, first.index as i32, symbols.len()))
}

/// So many bytes of a symbol's memory as C.
fn bytes_at(symbol: &str, at: i32, count: usize) -> String {
    let (name, width) = (symbol.strip_prefix(MARK).unwrap_or(symbol), 8 * count);
    match name.strip_prefix('*') {
        None if at == 0 && count >= 4 => name.to_owned(),
        Some(of) if at == 0 => format!("*(uint{width}_t *){}", pointer(of)),
        Some(of) => format!("*(uint{width}_t *)({} + {at})", pointer(of)),
        None => format!("*(uint{width}_t *)((char *)&{name} + {at})"),
    }
}

/// The symbols of a concatenation, lowest first.
fn bytes(pool: &Pool, e: ExprId, out: &mut Vec<SymId>) -> Option<()> {
    match pool.kind(e) {
        Kind::Sym(symbol) => out.push(symbol),
        Kind::Concat(high, low) => {
            bytes(pool, low, out)?;
            bytes(pool, high, out)?;
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pointers_become_c() {
        assert_eq!(pointer("lst"), "lst");
        assert_eq!(pointer("*lst[16]"), "*(char **)(lst + 16)");
        assert_eq!(pointer("**lst[16][8]"), "*(char **)(*(char **)(lst + 16) + 8)");
    }

    #[test]
    fn conditions_become_c() {
        let mut pool = Pool::new();
        let bytes: Vec<ExprId> = (4..8)
            .map(|i| {
                let symbol = pool.symbol("uc:*lst", i, 8);
                pool.sym(symbol)
            })
            .collect();
        let whole = bytes[1..].iter().fold(bytes[0], |low, high| pool.concat(*high, low));
        let seven = pool.bits(32, 7);
        let equal = pool.eq(whole, seven);
        let conds = pool.conjuncts(equal);
        assert_eq!(conjunction(&pool, &conds, 0), ["*(uint32_t *)(lst + 4) == 7"]);
        let differs = pool.not(equal);
        assert_eq!(c(&pool, differs, 0), "*(uint32_t *)(lst + 4) != 7");
        let below = pool.ult(whole, seven);
        assert_eq!(c(&pool, below, 0), "(*(uint32_t *)(lst + 4) < 7)");
    }
}
