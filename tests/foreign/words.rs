use std::collections::HashMap;
fn main() { let mut m = HashMap::new(); for w in "the quick brown fox the end".split(' ') { *m.entry(w).or_insert(0) += 1; } let mut v: Vec<_> = m.into_iter().collect(); v.sort(); println!("{v:?} {}", std::env::args().count()); }
