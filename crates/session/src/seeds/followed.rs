//! `--follow-seeds`: seeds that appear in the folders of `--seed` while the run goes on, as fuzzers beside it leave them.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use wryneck_exec::{Follow, Inputs};

use super::slot::Slot;
use super::{Seeds, corpus};

/// Between two looks at the folders; and so many times as long as a look took.
const EVERY: Duration = Duration::from_secs(1);
const TIMES: u32 = 20;

/// A folder of seeds.
pub struct Folder {
    path: PathBuf,
    /// The input that its files fill, if one was named.
    name: Option<String>,
    known: FxHashSet<PathBuf>,
}

impl Folder {
    pub fn new(path: &Path, name: Option<&str>, known: &[PathBuf]) -> Folder {
        Folder { path: path.to_owned(), name: name.map(str::to_owned), known: known.iter().cloned().collect() }
    }
}

/// Looks at folders of seeds again and again.
pub struct Followed {
    folders: Vec<Folder>,
    slots: Vec<Slot>,
    next: Instant,
    /// How many were taken up.
    count: u64,
    /// Has the notes about what appeared.
    seeds: Seeds,
}

impl Followed {
    pub fn new(folders: Vec<Folder>, slots: Vec<Slot>) -> Followed {
        Followed { folders, slots, next: Instant::now() + EVERY, count: 0, seeds: Seeds::default() }
    }

    /// Reads the files that are new.
    fn read(&mut self) {
        for folder in &mut self.folders {
            let files = match corpus::files(&folder.path) {
                Ok(files) => files,
                Err(error) => {
                    self.seeds.note(format!("looks at folders of seeds failed: {error}"), &folder.path);
                    continue;
                }
            };
            for file in files {
                if !folder.known.contains(&file) {
                    // Which input it fills was clear when the run began.
                    if let Ok(Err(why)) = self.seeds.file(&file, folder.name.as_deref(), &self.slots) {
                        self.seeds.note(format!("seeds that appeared were left out: {why}"), &file);
                    }
                    folder.known.insert(file);
                }
            }
        }
    }

    /// What became of them, in words.
    pub fn notes(&self) -> Vec<String> {
        let count = format!("{} seeds appeared while the run went on", self.count);
        [count].into_iter().chain(self.seeds.noted()).collect()
    }
}

/// For the exploration, while others read the notes.
pub struct Shared(pub Rc<RefCell<Followed>>);

impl Follow for Shared {
    fn found(&mut self) -> Vec<Inputs> {
        let mut followed = self.0.borrow_mut();
        let begin = Instant::now();
        if begin < followed.next {
            return Vec::new();
        }
        followed.read();
        followed.next = Instant::now() + EVERY.max(begin.elapsed() * TIMES);
        let found: Vec<Inputs> = followed.seeds.seeds.drain(..).map(|seed| seed.inputs).collect();
        followed.count += found.len() as u64;
        found
    }
}
