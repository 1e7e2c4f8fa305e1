//! `--follow-seeds`: seeds that appear in the folders of `--seed` while the run goes on, as fuzzers beside it leave them.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use wryneck_exec::{Finds, Follow, Inputs};

use super::slot::Slot;
use super::{Seeds, corpus};

/// Between two looks at the folders; and so many times as long as a look took.
const EVERY: Duration = Duration::from_secs(1);
const TIMES: u32 = 20;

/// Files that were changed within this time may not be whole.
const YOUNG: Duration = Duration::from_millis(300);

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
    /// If the core is shared.
    gives_way: Option<GivesWay>,
    /// Has the notes about what appeared.
    seeds: Seeds,
}

impl Followed {
    pub fn new(folders: Vec<Folder>, slots: Vec<Slot>, gives_way: bool) -> Followed {
        let gives_way = gives_way.then(GivesWay::new);
        Followed { folders, slots, next: Instant::now() + EVERY, count: 0, gives_way, seeds: Seeds::default() }
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
                if !folder.known.contains(&file) && !is_young(&file) {
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

/// `--give-way`: sleeps, so that who finds more new code has more of a core that both share. The other is to run at a low priority.
struct GivesWay {
    /// Finds of late: those of each [`HALF`] count half of those after it.
    own: f64,
    late: f64,
    halved: Instant,
    woke: Instant,
}

const HALF: Duration = Duration::from_secs(2);
/// The least part of the core, and what is slept at once at least and at most.
const LEAST: f64 = 0.1;
const NAP: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

impl GivesWay {
    fn new() -> GivesWay {
        GivesWay { own: 0.0, late: 0.0, halved: Instant::now(), woke: Instant::now() }
    }

    /// The part of the core that is its own.
    fn share(&self) -> f64 {
        ((self.own + 1.0) / (self.own + self.late + 2.0)).max(LEAST)
    }

    /// There were these finds since it was asked last.
    fn sleep(&mut self, finds: Finds) {
        self.own += finds.own as f64;
        self.late += finds.late as f64;
        if self.halved.elapsed() >= HALF {
            (self.own, self.late, self.halved) = (self.own / 2.0, self.late / 2.0, Instant::now());
        }
        let nap = self.woke.elapsed().mul_f64(1.0 / self.share() - 1.0).min(NAP.1);
        if nap >= NAP.0 {
            std::thread::sleep(nap);
            self.woke = Instant::now();
        }
    }
}

/// Whether a file was changed so lately that who writes it may not be done. It is read at a later look.
fn is_young(file: &Path) -> bool {
    let changed = std::fs::metadata(file).and_then(|there| there.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < YOUNG))
}

/// For the exploration, while others read the notes.
pub struct Shared(pub Rc<RefCell<Followed>>);

impl Follow for Shared {
    fn found(&mut self, finds: Finds) -> Vec<Inputs> {
        let mut followed = self.0.borrow_mut();
        if let Some(gives_way) = &mut followed.gives_way {
            gives_way.sleep(finds);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_finds_more_has_more_of_the_core() {
        let mut gives_way = GivesWay::new();
        let mut share = |own, late| {
            gives_way.sleep(Finds { own, late });
            (gives_way.share() * 100.0).round() as u32
        };
        assert_eq!(share(0, 0), 50, "nobody has found anything");
        assert_eq!(share(0, 2), 25);
        assert_eq!(share(6, 0), 70);
        assert_eq!(share(0, 100), 10, "the least");
    }
}
