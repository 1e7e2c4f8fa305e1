//! Substitution: expressions with some nodes replaced, rebuilt through the constructors so that all laws apply.
//!
//! Results are kept while the [`Substitution`] lives, so that expressions sharing nodes share the work. What depends on no
//! symbol of the replaced nodes is left as it is unseen. No recursion.

use rustc_hash::FxHashMap;

use crate::node::{ArrayId, ExprId, Kind, SymId, arithmetic, comparison};
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
    reach: Reach,
}

/// Which nodes the replacements can occur in.
#[derive(Default)]
enum Reach {
    /// Not asked yet.
    #[default]
    Unknown,
    /// Those that depend on one of these symbols, ascending.
    Symbols(Vec<SymId>),
    /// All: a constant is replaced.
    All,
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
        if matches!(self.reach, Reach::Unknown) {
            self.reach = self.reach_of_replaced(pool);
        }
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            if self.image(pool, top).is_none() {
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
        self.image(pool, e).expect("just made")
    }

    fn reach_of_replaced(&self, pool: &Pool) -> Reach {
        if self.done.keys().any(|&from| pool.support(from).is_empty()) {
            return Reach::All;
        }
        let mut symbols: Vec<SymId> = self.done.keys().flat_map(|&from| pool.support(from)).copied().collect();
        symbols.sort_unstable();
        symbols.dedup();
        Reach::Symbols(symbols)
    }

    /// What the node becomes, if that is known.
    fn image(&self, pool: &Pool, e: ExprId) -> Option<ExprId> {
        let unreached = match &self.reach {
            Reach::Symbols(symbols) => {
                let support = pool.support(e);
                let (few, many) = if symbols.len() < support.len() { (&symbols[..], support) } else { (support, &symbols[..]) };
                few.iter().all(|symbol| many.binary_search(symbol).is_err())
            }
            Reach::All | Reach::Unknown => false,
        };
        if unreached { Some(e) } else { self.done.get(&e).copied() }
    }

    fn push_missing(&self, pool: &Pool, e: ExprId, stack: &mut Vec<ExprId>) {
        let kind = pool.kind(e);
        stack.extend(kind.children().filter(|&child| self.image(pool, child).is_none()));
        if let Kind::Read(array, _) = kind {
            stack.extend(self.replaced_of(pool, array).iter().filter(|&&elem| self.image(pool, elem).is_none()));
        }
    }

    /// The elements that may become others.
    fn replaced_of<'p>(&self, pool: &'p Pool, array: ArrayId) -> &'p [ExprId] {
        if matches!(self.reach, Reach::All) { pool.array_elems(array) } else { pool.array_open(array) }
    }

    fn rebuild(&self, pool: &mut Pool, e: ExprId) -> ExprId {
        let (width, op, kind) = (pool.width(e), pool.op(e), pool.kind(e));
        let to = |pool: &Pool, child: ExprId| self.image(pool, child).expect("operands come first");
        if !matches!(kind, Kind::Read(..)) && kind.children().all(|child| to(pool, child) == child) {
            return e;
        }
        match kind {
            Kind::Const | Kind::Sym(_) => e,
            Kind::Not(a) | Kind::Neg(a) => pool.unary(op, to(pool, a)),
            Kind::Ite(c, a, b) => pool.ite(to(pool, c), to(pool, a), to(pool, b)),
            Kind::Concat(a, b) => pool.concat(to(pool, a), to(pool, b)),
            Kind::Extract(a, lo) => pool.extract(to(pool, a), lo, width),
            Kind::Zext(a) => pool.zext(to(pool, a), width),
            Kind::Sext(a) => pool.sext(to(pool, a), width),
            Kind::Read(array, index) => {
                let array = self.rebuild_array(pool, array);
                pool.read(array, to(pool, index))
            }
            Kind::PtrAdd(base, offset) => pool.ptr(base, to(pool, offset)),
            Kind::Float(op, a, b) => {
                let (a, b) = (to(pool, a), to(pool, b));
                pool.float(op, a, b, width)
            }
            arithmetic!(a, b) | comparison!(a, b) => pool.binary(op, to(pool, a), to(pool, b)),
        }
    }

    fn rebuild_array(&self, pool: &mut Pool, array: ArrayId) -> ArrayId {
        let image = |elem: &ExprId| self.image(pool, *elem).expect("elements come first");
        if self.replaced_of(pool, array).iter().all(|elem| image(elem) == *elem) {
            return array;
        }
        let elems: Vec<ExprId> = pool.array_elems(array).iter().map(image).collect();
        pool.array(&elems)
    }
}
