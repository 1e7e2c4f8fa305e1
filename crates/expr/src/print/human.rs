//! Short text of an expression, for people: infix, constants in hexadecimal, cut off below a depth.

use crate::node::{ExprId, Kind, arithmetic, comparison};
use crate::pool::Pool;

/// How deep the text follows an expression before it writes `...`.
const DEPTH: u32 = 12;

/// The expression as text.
pub fn human(pool: &Pool, e: ExprId) -> String {
    let mut out = String::new();
    write(pool, e, DEPTH, &mut out);
    out
}

fn write(pool: &Pool, e: ExprId, depth: u32, out: &mut String) {
    let width = pool.width(e);
    if let Some(limbs) = pool.as_limbs(e) {
        return out.push_str(&constant(limbs, width));
    }
    let Some(depth) = depth.checked_sub(1) else { return out.push_str("...") };
    let mut put = |parts: &[Part]| {
        for &part in parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Number(number) => out.push_str(&number.to_string()),
                Part::Address(address) => out.push_str(&format!("{address:#x}")),
                Part::Expr(child) => write(pool, child, depth, out),
            }
        }
    };
    use Part::{Address, Expr, Number, Text};
    let op = pool.op(e).short();
    match pool.kind(e) {
        Kind::Const => {}
        Kind::Sym(symbol) => {
            let info = pool.sym_info(symbol);
            put(&[Text(&info.name), Text("["), Number(info.index.into()), Text("]")]);
        }
        Kind::Not(a) | Kind::Neg(a) => put(&[Text(op), Expr(a)]),
        Kind::Ite(c, a, b) => put(&[Text("("), Expr(c), Text(" ? "), Expr(a), Text(" : "), Expr(b), Text(")")]),
        Kind::Extract(a, lo) => {
            put(&[Expr(a), Text("["), Number((lo + width - 1).into()), Text(":"), Number(lo.into()), Text("]")]);
        }
        Kind::Zext(a) | Kind::Sext(a) => put(&[Text(op), Number(width.into()), Text("("), Expr(a), Text(")")]),
        Kind::Read(array, index) => {
            put(&[Text("array"), Number(array.0.into()), Text("["), Expr(index), Text("]")]);
        }
        Kind::PtrAdd(base, offset) => put(&[Text("ptr("), Address(base), Text(", "), Expr(offset), Text(")")]),
        Kind::Float(op, a, b) => {
            put(&[Text(op.name()), Number(width.into()), Text("("), Expr(a)]);
            if op.is_binary() {
                put(&[Text(", "), Expr(b)]);
            }
            put(&[Text(")")]);
        }
        arithmetic!(a, b) | comparison!(a, b) | Kind::Concat(a, b) => {
            put(&[Text("("), Expr(a), Text(" "), Text(op), Text(" "), Expr(b), Text(")")]);
        }
    }
}

/// A piece of text.
#[derive(Clone, Copy)]
enum Part<'a> {
    Text(&'a str),
    Number(u64),
    Address(u64),
    Expr(ExprId),
}

/// A constant in hexadecimal with its width, except for truth values and small numbers.
fn constant(limbs: &[u64], width: u32) -> String {
    match (limbs, width) {
        ([bit], 1) => if *bit == 1 { "true" } else { "false" }.to_string(),
        ([value], _) => format!("{value:#x}:{width}"),
        _ => {
            let digits: String = limbs.iter().rev().map(|limb| format!("{limb:016x}")).collect();
            format!("0x{}:{width}", digits.trim_start_matches('0'))
        }
    }
}
