//! Which laws were applied, and how often, in this test's thread.

use std::cell::RefCell;
use std::collections::BTreeMap;

thread_local! {
    static HITS: RefCell<BTreeMap<&'static str, u64>> = const { RefCell::new(BTreeMap::new()) };
}

pub(crate) fn hit(law: &'static str) {
    HITS.with_borrow_mut(|hits| *hits.entry(law).or_insert(0) += 1);
}

pub(crate) fn hits() -> BTreeMap<&'static str, u64> {
    HITS.with_borrow(Clone::clone)
}

/// The names of all laws, read from the sources.
pub(crate) fn all_laws() -> Vec<&'static str> {
    const SOURCES: &[&str] = &[
        include_str!("mod.rs"),
        include_str!("arith.rs"),
        include_str!("divide.rs"),
        include_str!("bits.rs"),
        include_str!("bytes.rs"),
        include_str!("compare.rs"),
        include_str!("ite.rs"),
        include_str!("array.rs"),
        include_str!("float.rs"),
    ];
    let named = |source: &'static str| source.split("law!(\"").skip(1).filter_map(|rest| rest.split('"').next());
    SOURCES.iter().flat_map(|source| named(source)).filter(|law| !law.starts_with("lhs")).collect()
}
