//! `--follow-seeds`: seeds that appear in the folders of `--seed` while the run goes on, as fuzzers beside it leave them.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

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
    /// When each that was taken up was written.
    written: Vec<SystemTime>,
    /// If the core is shared.
    gives_way: Option<GivesWay>,
    /// Has the notes about what appeared.
    seeds: Seeds,
}

impl Followed {
    pub fn new(folders: Vec<Folder>, slots: Vec<Slot>, gives_way: bool) -> Followed {
        let gives_way = gives_way.then(GivesWay::new);
        Followed { folders, slots, next: Instant::now() + EVERY, written: Vec::new(), gives_way, seeds: Seeds::default() }
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
            for file in files.into_iter().filter(|file| !folder.known.contains(file)).collect::<Vec<_>>() {
                let written = fs::metadata(&file).and_then(|there| there.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
                if age(written) < YOUNG {
                    continue;
                }
                let waiting = self.seeds.seeds.len();
                // Which input it fills was clear when the run began.
                if let Ok(Err(refused)) = self.seeds.file(&file, folder.name.as_deref(), &self.slots) {
                    self.seeds.note(format!("seeds that appeared were left out: {}", refused.why), &file);
                }
                self.written.resize(self.written.len() + self.seeds.seeds.len() - waiting, written);
                folder.known.insert(file);
            }
        }
    }

    /// What became of them, in words.
    pub fn notes(&self) -> Vec<String> {
        let count = format!("{} seeds appeared while the run went on", self.written.len());
        [count].into_iter().chain(self.seeds.noted()).collect()
    }
}

/// `--give-way`: sleeps, so that who finds more new code in the same time has more of a core that both share. The other is to run at a low priority.
struct GivesWay {
    own: Yield,
    late: Yield,
    counted: Instant,
    woke: Instant,
}

/// How many blocks one of the two found lately, and the seconds of the core that this took, see [`HALF`].
#[derive(Clone, Copy, Default)]
struct Yield {
    found: f64,
    took: f64,
}

/// The time after which a find and what it took count half. What another finds counts from when it was written: it may be run much later, when nobody finds
/// such code any more.
const HALF: Duration = Duration::from_secs(4);
/// Blocks that both are taken to have found, and the seconds that these took: nobody knows yet which is better.
const AT_FIRST: Yield = Yield { found: 1.0, took: 1.0 };
/// The part of the core that the other has while this one is awake.
const BESIDE: f64 = 0.1;
/// The least part of the core: who finds little for a time may be about to find much. Both together had fewer lines of expat and libyaml with 0.1, and of these and
/// jq with 0.5 (by hand). And what is slept at once at least and at most.
const LEAST: f64 = 0.7;
const NAP: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

impl Yield {
    /// Some time later.
    fn count(&mut self, passed: f64, found: f64, took: f64) {
        (self.found, self.took) = (self.found * passed + found, self.took * passed + took);
    }

    /// Blocks a second.
    fn rate(self) -> f64 {
        (self.found + AT_FIRST.found) / (self.took + AT_FIRST.took)
    }
}

impl GivesWay {
    fn new() -> GivesWay {
        GivesWay { own: Yield::default(), late: Yield::default(), counted: Instant::now(), woke: Instant::now() }
    }

    /// The part of the core that is its own: most of it, or little, where one finds a few times as much as the other.
    fn share(&self) -> f64 {
        let [own, late] = [self.own, self.late].map(|all| all.rate().powi(2));
        (own / (own + late)).max(LEAST)
    }

    /// So many blocks were found in the time that it was awake since this was asked last; others found so many this long ago.
    fn count(&mut self, awake: Duration, own: u64, late: impl IntoIterator<Item = (Duration, u64)>) {
        let (passed, took) = (counts(awake), awake.as_secs_f64());
        self.own.count(passed, own as f64, took * (1.0 - BESIDE));
        self.late.count(passed, late.into_iter().map(|(age, blocks)| counts(age) * blocks as f64).sum(), took * BESIDE);
    }

    /// Sleeps if it has had more than its part.
    fn sleep(&mut self) {
        let nap = self.woke.elapsed().mul_f64(1.0 / self.share() - 1.0).min(NAP.1);
        if nap >= NAP.0 {
            std::thread::sleep(nap);
            self.own.count(counts(nap), 0.0, 0.0);
            self.late.count(counts(nap), 0.0, nap.as_secs_f64());
            (self.woke, self.counted) = (Instant::now(), Instant::now());
        }
    }
}

/// What a find of this age counts.
fn counts(age: Duration) -> f64 {
    (-age.div_duration_f64(HALF)).exp2()
}

/// The time since a file was written; one of a later time than now counts as old. Who writes a young one may not be done: it is read at a later look.
fn age(written: SystemTime) -> Duration {
    written.elapsed().unwrap_or(Duration::MAX)
}

/// For the exploration, while others read the notes.
pub struct Shared(pub Rc<RefCell<Followed>>);

impl Follow for Shared {
    fn found(&mut self, finds: Finds) -> Vec<Inputs> {
        let mut followed = self.0.borrow_mut();
        let Followed { gives_way, written, .. } = &mut *followed;
        if let Some(gives_way) = gives_way {
            let awake = std::mem::replace(&mut gives_way.counted, Instant::now()).elapsed();
            let late = finds.late.iter().map(|(number, blocks)| (written.get(*number).copied().map_or(Duration::MAX, age), *blocks));
            gives_way.count(awake, finds.own, late);
            gives_way.sleep();
        }
        let begin = Instant::now();
        if begin < followed.next {
            return Vec::new();
        }
        followed.read();
        followed.next = Instant::now() + EVERY.max(begin.elapsed() * TIMES);
        followed.seeds.seeds.drain(..).map(|seed| seed.inputs).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_finds_more_has_more_of_the_core() {
        let mut gives_way = GivesWay::new();
        let mut share = |seconds, own, late: &[u32]| {
            gives_way.count(Duration::from_secs(seconds), own, late.iter().map(|halves| (HALF * *halves, 1)));
            (gives_way.share() * 100.0).round() as u32
        };
        assert_eq!(share(0, 0, &[]), 70, "the least, while nobody has found anything");
        assert_eq!(share(0, 2, &[]), 90, "three times as much in the same time");
        assert_eq!(share(0, 0, &[1]), 80, "older finds count less");
        assert_eq!(share(0, 0, &[0, 0, 0]), 70);
        assert_eq!(share(10, 0, &[]), 70, "after much time without a find");
        assert!(age(SystemTime::now() + HALF) > YOUNG && counts(Duration::MAX) == 0.0, "a file of a later time is read, and counts as old");
    }
}
