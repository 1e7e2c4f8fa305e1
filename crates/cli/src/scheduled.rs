//! Programs with threads natively: what they call of the C library's functions of threads is led to the replay library's scheduler.
//!
//! The scheduler ([threads.c](../../../runtime/threads/threads.c)) runs one thread at a time, in the order of the test. It has a function
//! `wryneck_NAME` for each function NAME that it replaces. Only the program's own objects are led there, by their symbols: the C library and the
//! sanitizers keep the functions that they call themselves.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::native::tool;
use crate::stubs::fresh;
use crate::toolchain::{NM, OBJCOPY};

/// How the names of the scheduler's functions begin.
const PREFIX: &str = "wryneck_";
/// Families of functions that a program without threads has no use for.
const FAMILIES: [&str; 8] = ["_pthread_", "call_once", "cnd_", "mtx_", "pthread_", "sem_", "thrd_", "tss_"];

/// Whether a program's bitcode names a function of threads.
pub fn is_wanted(bitcode: &Path) -> Result<bool> {
    let said = tool(Command::new(NM).args(["--undefined-only", "--format=just-symbols"]).arg(bitcode))?;
    Ok(said.lines().any(|name| FAMILIES.iter().any(|family| name.trim().starts_with(family))))
}

/// The names that the scheduler, an object, replaces.
fn replaced(scheduler: &Path) -> Result<Vec<String>> {
    let said = tool(Command::new(NM).args(["--defined-only", "--format=just-symbols"]).arg(scheduler))?;
    Ok(said.lines().filter_map(|name| Some(name.trim().strip_prefix(PREFIX)?.to_owned())).collect())
}

/// Leads the calls of an object to the scheduler, but for those of functions whose results are the test's.
pub fn lead(object: &Path, scheduler: &Path, sym_calls: &[String], scratch: &Path) -> Result<()> {
    let (list, mut text) = (fresh(".syms", scratch)?, String::new());
    for name in replaced(scheduler)?.iter().filter(|name| !sym_calls.contains(name)) {
        let _ = writeln!(text, "{name} {PREFIX}{name}");
    }
    fs::write(&list, text)?;
    tool(Command::new(OBJCOPY).arg("--redefine-syms").arg(list).arg(object)).map(drop)
}

/// A new object file, for what is led.
pub fn object(scratch: &Path) -> Result<PathBuf> {
    fresh(".o", scratch)
}

/// The order in which threads ran: for each switch, as far as it is recorded, the thread that it made run and the number of decisions before it,
/// modulo 256; and the number of switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    pub first: Vec<[u8; 2]>,
    pub count: u64,
}

impl Order {
    /// Reads what the scheduler has written.
    pub fn of_bytes(bytes: &[u8]) -> Option<Order> {
        let (count, first) = bytes.split_first_chunk()?;
        let count = u64::from_le_bytes(*count);
        let recorded = usize::try_from(count).unwrap_or(usize::MAX);
        Some(Order { first: first.as_chunks().0.iter().take(recorded).copied().collect(), count })
    }

    /// Where this order is no longer that of a path, in words.
    pub fn differs(&self, path: &Order) -> String {
        match self.first.iter().zip(&path.first).position(|(to, wanted)| to != wanted) {
            Some(at) => match (self.first[at], path.first[at]) {
                ([to, _], [wanted, _]) if to != wanted => format!("switch {} is to thread {to} instead of {wanted}", at + 1),
                ([to, after], [_, wanted]) => {
                    format!("switch {} to thread {to} comes after {after} decisions instead of {wanted}, modulo 256", at + 1)
                }
            },
            None => format!("{} switches instead of {}", self.count, path.count),
        }
    }

    /// Whether this is how the other order begins.
    pub fn begins(&self, other: &Order) -> bool {
        self.count <= other.count && other.first.starts_with(&self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_compared_as_far_as_they_are_recorded() {
        let written = [&3u64.to_le_bytes()[..], &[1, 0, 0, 2, 2, 2, 0, 0]].concat();
        let order = Order::of_bytes(&written).unwrap();
        assert_eq!(order, Order { first: vec![[1, 0], [0, 2], [2, 2]], count: 3 });
        let of = |first: &[[u8; 2]]| Order { first: first.to_vec(), count: first.len() as u64 };
        assert!(of(&[[1, 0], [0, 2]]).begins(&order) && !of(&[[1, 0], [1, 2]]).begins(&order) && !of(&[[1, 1]]).begins(&order));
        assert!(!order.begins(&of(&[[1, 0], [0, 2]])) && Order::default().begins(&order));
        assert_eq!(Order::of_bytes(&[0; 7]), None);
        assert_eq!(order.differs(&of(&[[1, 0], [2, 2]])), "switch 2 is to thread 0 instead of 2");
        assert_eq!(order.differs(&of(&[[1, 3]])), "switch 1 to thread 1 comes after 0 decisions instead of 3, modulo 256");
        assert_eq!(order.differs(&of(&[[1, 0], [0, 2]])), "3 switches instead of 2");
    }
}
