//! The path condition: what a state has assumed, in order, split into independent groups as it grows.
//!
//! Technique: constraint independence (Cadar et al., EXE, CCS 2006, section 4.1; KLEE, OSDI 2008, section 3.3), kept incrementally rather than
//! recomputed per query: a union-find whose sets are relabelled smaller into larger (so a symbol is relabelled at most `log n`
//! times), held in persistent tries so that a fork shares everything. Beside it, each symbol of at most 8 bits has its domain, the
//! intersection of the truth tables of the conditions over it alone. Wider symbols remember the value an equality gives them.
//!
//! Invariants: two constraints are in one group exactly if symbols link them; a group's symbols are those of its constraints; a symbol's
//! domain is exact if its group has no other symbol. Cost: clone, four words; push, a few trie steps and, if shared, a copy of the group's last
//! constraints.
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_expr::{ExprId, Kind, Pool, Remap, SymId};

use crate::domain::Domain;
use crate::pvec::{PVec, PVecMemo};
use crate::tables::Tables;
use crate::trie::{Trie, TrieMemo};

/// A conjunction of 1-bit conditions. Cloning is four words and three counts.
#[derive(Clone, Default)]
pub struct PathCondition {
    constraints: Trie<ExprId>,
    len: u32,
    hash: u64,
    symbols: Trie<Symbol>,
    groups: Trie<Rc<Group>>,
}

/// What is known of a constrained symbol.
#[derive(Clone, Copy)]
struct Symbol {
    group: u32,
    values: Values,
}

/// The values a symbol may have, as far as the constraints over it alone say.
#[derive(Clone, Copy)]
enum Values {
    /// At most 8 bits.
    Byte(Domain),
    /// Wider: the value some constraint `symbol = value` gives it.
    Wide(Option<u64>),
}

/// Constraints that share symbols, transitively, and these symbols, ascending. Parsers have thousands of constraints in one group, and a path that forks at
/// each of them: so a copy shares them.
#[derive(Clone, Default)]
pub(crate) struct Group {
    pub(crate) symbols: Rc<Vec<SymId>>,
    constraints: PVec<Indexed>,
}

/// A constraint with its index; by the latter they are in order.
type Indexed = (u32, ExprId);

impl Group {
    /// Indices and constraints, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Indexed> {
        self.constraints.iter().copied()
    }

    fn absorb(&mut self, other: &Group) {
        let mut both: Vec<Indexed> = self.iter().chain(other.iter()).collect();
        both.sort_unstable();
        self.constraints = both.into_iter().collect();
        self.add_symbols(&other.symbols);
    }

    fn add_symbols(&mut self, more: &[SymId]) {
        let new: Vec<SymId> = more.iter().copied().filter(|symbol| self.symbols.binary_search(symbol).is_err()).collect();
        if !new.is_empty() {
            let symbols = Rc::make_mut(&mut self.symbols);
            symbols.extend(new);
            symbols.sort_unstable();
        }
    }
}

impl PathCondition {
    pub fn new() -> PathCondition {
        PathCondition::default()
    }

    /// Adds a 1-bit condition. A conjunction is added as its parts; what is constant true or already there is not added again. Returns
    /// the indices given, which may be none. Asks no solver.
    pub fn push(&mut self, pool: &Pool, tables: &mut Tables, cond: ExprId) -> Range<u32> {
        let first = self.len;
        for part in pool.conjuncts(cond) {
            if part != ExprId::TRUE && !self.contains(pool, part) {
                self.push_part(pool, tables, part);
            }
        }
        first..self.len
    }

    fn push_part(&mut self, pool: &Pool, tables: &mut Tables, cond: ExprId) {
        let index = self.len;
        self.constraints.set(index, cond);
        self.len += 1;
        self.hash = (self.hash.rotate_left(5) ^ pool.structural_hash(cond)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let support = pool.support(cond);
        let Some(&first) = support.first() else { return };
        let key = self.join_groups(pool, support).unwrap_or(first.0);
        for &symbol in support {
            let slot = self.symbols.slot(symbol.0);
            slot.get_or_insert_with(|| Symbol { group: key, values: Values::of(pool, symbol) }).group = key;
        }
        let group = Rc::make_mut(self.groups.slot(key).get_or_insert_with(Rc::default));
        group.add_symbols(support);
        group.constraints.push((index, cond));
        if let &[symbol] = support
            && let Some(known) = self.symbols.slot(symbol.0)
        {
            known.values.constrain(pool, tables, cond, symbol);
        }
    }

    /// Merges the groups of these symbols into the one with the most symbols; its key.
    fn join_groups(&mut self, pool: &Pool, support: &[SymId]) -> Option<u32> {
        let mut keys: Vec<u32> = support.iter().filter_map(|symbol| Some(self.symbols.get(symbol.0)?.group)).collect();
        keys.sort_unstable();
        keys.dedup();
        let size = |key: &u32| self.groups.get(*key).map_or(0, |group| group.symbols.len());
        let largest = keys.iter().copied().max_by_key(size)?;
        for key in keys.into_iter().filter(|&key| key != largest) {
            let Some(joined) = self.groups.slot(key).take() else { continue };
            for &symbol in &*joined.symbols {
                let slot = self.symbols.slot(symbol.0);
                slot.get_or_insert_with(|| Symbol { group: largest, values: Values::of(pool, symbol) }).group = largest;
            }
            Rc::make_mut(self.groups.slot(largest).get_or_insert_with(Rc::default)).absorb(&joined);
        }
        Some(largest)
    }

    /// How many constraints there are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The constraint of an index below [`len`](Self::len).
    pub fn constraint(&self, index: u32) -> Option<ExprId> {
        self.constraints.get(index).copied()
    }

    /// All constraints, by index.
    pub fn constraints(&self) -> Vec<ExprId> {
        let mut all = Vec::with_capacity(self.len());
        self.constraints.for_each(&mut |_, &constraint| all.push(constraint));
        all
    }

    /// Is this very condition one of the constraints? Cost: the size of its group.
    pub fn contains(&self, pool: &Pool, cond: ExprId) -> bool {
        self.index_of(pool, cond).is_some()
    }

    /// The index of this very condition.
    pub fn index_of(&self, pool: &Pool, cond: ExprId) -> Option<u32> {
        let Some(&first) = pool.support(cond).first() else {
            return (0..self.len).find(|&index| self.constraints.get(index) == Some(&cond));
        };
        let group = self.group_of(first)?;
        group.constraints.iter().find(|(_, constraint)| *constraint == cond).map(|(index, _)| *index)
    }

    /// A hash of the constraints in order, by structure: equal in every pool and run.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// What the constraints over this symbol alone (of at most 8 bits) leave it. `None`: it is unconstrained or wider.
    #[inline]
    pub fn domain(&self, symbol: SymId) -> Option<Domain> {
        match self.symbols.get(symbol.0)?.values {
            Values::Byte(domain) => Some(domain),
            Values::Wide(_) => None,
        }
    }

    /// The one value that constraints over this symbol alone leave it.
    #[inline]
    pub fn fixed(&self, symbol: SymId) -> Option<u64> {
        match self.symbols.get(symbol.0)?.values {
            Values::Byte(domain) => domain.single().map(u64::from),
            Values::Wide(value) => value,
        }
    }

    /// The independent groups: their symbols and the indices of their constraints, ascending; ordered by no particular symbol.
    pub fn groups(&self) -> Vec<(Vec<SymId>, Vec<u32>)> {
        let mut all = Vec::new();
        self.groups.for_each(&mut |_, group| all.push((group.symbols.to_vec(), group.iter().map(|(index, _)| index).collect())));
        all
    }

    pub(crate) fn group_of(&self, symbol: SymId) -> Option<&Rc<Group>> {
        self.groups.get(self.symbols.get(symbol.0)?.group)
    }

    /// Calls `f` with every constraint, once per place where it is kept; parts shared with path conditions visited before with the
    /// same `seen` are passed over.
    pub fn for_each_expr(&self, seen: &mut Seen, f: &mut dyn FnMut(ExprId)) {
        self.constraints.for_each_unseen(&mut |node| seen.0.insert(node), &mut |_, &constraint| f(constraint));
    }

    /// Replaces every expression after a compaction whose roots included [`for_each_expr`](Self::for_each_expr). Parts shared between path
    /// conditions given the same `memo` are replaced once and stay shared.
    pub fn remap(&mut self, remap: &Remap, memo: &mut RemapMemo) {
        let new = |e: ExprId| remap.get(e).expect("every constraint was a root of the compaction");
        self.constraints.map(&mut memo.constraints, &mut |&e| new(e));
        let (groups, chunks) = (&mut memo.groups, &mut memo.chunks);
        self.groups.map(&mut memo.tries, &mut |group| {
            let [_, replaced] = groups.entry(Rc::as_ptr(group)).or_insert_with(|| {
                let mut copy = Group::clone(group);
                copy.constraints.map(chunks, |&(index, constraint)| (index, new(constraint)));
                [group.clone(), Rc::new(copy)]
            });
            replaced.clone()
        });
    }
}

impl std::fmt::Debug for PathCondition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.constraints()).finish()
    }
}

/// The parts of path conditions visited so far. Valid while none of them changes.
#[derive(Default)]
pub struct Seen(FxHashSet<*const ()>);

/// The parts of path conditions replaced so far, old beside new.
#[derive(Default)]
pub struct RemapMemo {
    constraints: TrieMemo<ExprId>,
    tries: TrieMemo<Rc<Group>>,
    groups: FxHashMap<*const Group, [Rc<Group>; 2]>,
    chunks: PVecMemo<Indexed>,
}

impl Values {
    fn of(pool: &Pool, symbol: SymId) -> Values {
        match pool.sym_info(symbol).width {
            width @ 1..=8 => Values::Byte(Domain::full(width)),
            _ => Values::Wide(None),
        }
    }

    fn constrain(&mut self, pool: &Pool, tables: &mut Tables, cond: ExprId, symbol: SymId) {
        match self {
            Values::Byte(domain) => *domain = domain.and(tables.get(pool, cond, symbol)),
            Values::Wide(value) => *value = value.or(equated(pool, cond)),
        }
    }
}

/// The constant of a condition `symbol = constant`.
fn equated(pool: &Pool, cond: ExprId) -> Option<u64> {
    let Kind::Eq(a, b) = pool.kind(cond) else { return None };
    match (pool.kind(a), pool.kind(b)) {
        (Kind::Sym(_), Kind::Const) => pool.as_u64(b),
        (Kind::Const, Kind::Sym(_)) => pool.as_u64(a),
        _ => None,
    }
}
