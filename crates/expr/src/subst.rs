//! Substitution: expressions with some nodes replaced, rebuilt through the constructors so that all laws apply.
//!
//! Results are kept while the [`Substitution`] lives, so that expressions sharing nodes share the work. No recursion.

use rustc_hash::FxHashMap;

use crate::node::{ArrayId, ExprId, Kind};
use crate::pool::Pool;

/// Replaces every occurrence in `e` of a key of `map` by its value (of the same width), all at once: values are not
/// searched for keys.
pub fn subst(pool: &mut Pool, e: ExprId, map: &FxHashMap<ExprId, ExprId>) -> ExprId {
    let mut substitution = Substitution::new();
    map.iter().for_each(|(&from, &to)| substitution.replace(from, to));
    substitution.apply(pool, e)
}

/// A map from nodes to their replacements, grown as expressions are rebuilt.
#[derive(Default)]
pub struct Substitution {
    done: FxHashMap<ExprId, ExprId>,
}

impl Substitution {
    pub fn new() -> Substitution {
        Substitution::default()
    }

    /// From now on `from` becomes `to`, of the same width. Must come before the first [`apply`](Self::apply).
    pub fn replace(&mut self, from: ExprId, to: ExprId) {
        self.done.insert(from, to);
    }

    /// The expression with all replacements made.
    pub fn apply(&mut self, pool: &mut Pool, e: ExprId) -> ExprId {
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            if !self.done.contains_key(&top) {
                let before = stack.len();
                self.push_missing(pool, top, &mut stack);
                if stack.len() > before {
                    continue;
                }
                let rebuilt = self.rebuild(pool, top);
                self.done.insert(top, rebuilt);
            }
            stack.pop();
        }
        self.done[&e]
    }

    fn push_missing(&self, pool: &Pool, e: ExprId, stack: &mut Vec<ExprId>) {
        let kind = pool.kind(e);
        stack.extend(kind.children().filter(|child| !self.done.contains_key(child)));
        if let Kind::Read(array, _) = kind {
            stack.extend(pool.array_elems(array).iter().filter(|elem| !self.done.contains_key(elem)));
        }
    }

    fn rebuild(&self, pool: &mut Pool, e: ExprId) -> ExprId {
        let to = |child: ExprId| self.done[&child];
        let (width, op, kind) = (pool.width(e), pool.op(e), pool.kind(e));
        if !matches!(kind, Kind::Read(..)) && kind.children().all(|child| to(child) == child) {
            return e;
        }
        match kind {
            Kind::Const | Kind::Sym(_) => e,
            Kind::Not(a) | Kind::Neg(a) => pool.unary(op, to(a)),
            Kind::Ite(c, a, b) => pool.ite(to(c), to(a), to(b)),
            Kind::Concat(a, b) => pool.concat(to(a), to(b)),
            Kind::Extract(a, lo) => pool.extract(to(a), lo, width),
            Kind::Zext(a) => pool.zext(to(a), width),
            Kind::Sext(a) => pool.sext(to(a), width),
            Kind::Read(array, index) => {
                let array = self.rebuild_array(pool, array);
                pool.read(array, to(index))
            }
            Kind::PtrAdd(base, offset) => pool.ptr(base, to(offset)),
            Kind::And(a, b) | Kind::Or(a, b) | Kind::Xor(a, b) | Kind::Add(a, b) | Kind::Sub(a, b) | Kind::Mul(a, b)
            | Kind::Udiv(a, b) | Kind::Urem(a, b) | Kind::Sdiv(a, b) | Kind::Srem(a, b) | Kind::Shl(a, b)
            | Kind::Lshr(a, b) | Kind::Ashr(a, b) | Kind::Eq(a, b) | Kind::Ult(a, b) | Kind::Ule(a, b)
            | Kind::Slt(a, b) | Kind::Sle(a, b) => pool.binary(op, to(a), to(b)),
        }
    }

    fn rebuild_array(&self, pool: &mut Pool, array: ArrayId) -> ArrayId {
        let elems: Vec<ExprId> = pool.array_elems(array).iter().map(|elem| self.done[elem]).collect();
        pool.array(&elems)
    }
}
