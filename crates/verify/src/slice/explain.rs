//! Why branches of a source line were kept or pruned (`--explain`).

use std::cell::RefCell;
use std::collections::BTreeMap;

use wryneck_exec::{CodePos, Image, places};

use crate::flow::{CellKind, ObjectId};

/// Why a branch is relevant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Something relevant lies between it and its immediate post-dominator. The operation is the first relevant one of the function there.
    Between(Option<CodePos>),
    /// The path ended on the successor that it took, and the alternative continues to an event.
    GoesOn,
    /// Its alternative may reach an event.
    Event,
    /// Its alternative may close or replace a standard descriptor.
    Standard,
    /// Its alternative may end the program before something relevant.
    Leaves,
    /// Its alternative may change a live local variable.
    Local,
    /// Its alternative may change a live object.
    Object(ObjectId),
    /// Its alternative may change live memory of machine code.
    Memory,
    /// Its alternative may change a live environment cell.
    Cell(CellKind),
}

/// The branches of a source line or file, with the findings of the paths that reached them.
pub struct Explain {
    file: String,
    line: Option<u32>,
    found: RefCell<BTreeMap<CodePos, BTreeMap<Option<Why>, u64>>>,
}

impl Explain {
    /// The branches of the file whose path ends with `file`, on one line or on all.
    pub fn new(file: &str, line: Option<u32>) -> Explain {
        Explain { file: file.to_owned(), line, found: RefCell::default() }
    }

    pub(crate) fn note(&self, image: &Image, pos: CodePos, why: Option<Why>) {
        let here = places::source(image, pos).into_iter().next();
        if here.is_some_and(|here| self.line.is_none_or(|line| here.line == line) && here.file.ends_with(&self.file)) {
            *self.found.borrow_mut().entry(pos).or_default().entry(why).or_default() += 1;
        }
    }

    /// The explanation, in lines.
    pub fn lines(&self, image: &Image, name: &dyn Fn(ObjectId) -> String) -> Vec<String> {
        let found = self.found.borrow();
        if found.is_empty() {
            let line = self.line.map_or(String::new(), |line| format!(":{line}"));
            let what = "no path that ended met a branch there whose other side was still undecided";
            return vec![format!("{}{line}: {what}", self.file)];
        }
        let mut lines = Vec::new();
        for (pos, reasons) in &*found {
            let Some(here) = places::source(image, *pos).into_iter().next() else { continue };
            lines.push(format!("{}:{}:{}, a branch in `{}`:", base_name(&here.file), here.line, here.column, here.function));
            for (why, count) in reasons {
                let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
                let kept = if why.is_some() { "kept" } else { "not kept" };
                lines.push(format!("  {kept} {times}: {}", words(image, *why, name)));
            }
        }
        lines
    }
}

fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn words(image: &Image, why: Option<Why>, name: &dyn Fn(ObjectId) -> String) -> String {
    match why {
        None => "its sides meet again before an event, and the other one changes nothing that an event depends on".into(),
        Some(Why::Between(at)) => {
            let line = at.and_then(|at| places::source(image, at).into_iter().next());
            let at = line.map_or(String::new(), |here| format!(", first at {}:{}:{}", base_name(&here.file), here.line, here.column));
            format!("something that an event depends on happens on the side it took{at}")
        }
        Some(Why::GoesOn) => "the path ended on the side it took, and the other one goes on to where an event may happen".into(),
        Some(Why::Event) => "its other side may reach an event".into(),
        Some(Why::Standard) => "its alternative may close or replace a standard descriptor, whose output is assumed not to fail".into(),
        Some(Why::Leaves) => "its other side may end the program before something that an event depends on".into(),
        Some(Why::Local) => "its other side may change a local variable that an event depends on".into(),
        Some(Why::Object(object)) => format!("its other side may change {}, which an event depends on", name(object)),
        Some(Why::Memory) => "its other side may change memory that an event depends on".into(),
        Some(Why::Cell(kind)) => format!("its other side may change {}, which an event depends on", kind.words()),
    }
}
