//! `--seed`: from files to the inputs that the first paths follow.
//!
//! A seed is a plain file, which fills one input, or a `.ktest` file, which names its inputs. A folder is a corpus: one of libFuzzer, the output of
//! AFL++ with its queues and crashes, or a run folder. What cannot be used is an error if it was named itself, else a counted note.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Result;
use wryneck_environ::ProgramInput;
use wryneck_exec::{Ended, Explorer, Fuzzed, Fuzzer, SeedEnd};
use wryneck_machine::Elf;
use wryneck_report::KTest;

use crate::data;
use crate::plan::Plan;
use crate::problem::problem;

mod corpus;
mod followed;
mod mutants;
pub mod slot;
mod words;

use followed::{Folder, Followed, Shared};
use mutants::Mutants;
use slot::{Slot, only, slots};

/// A seed: its file, and bytes by the names of inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seed {
    file: PathBuf,
    inputs: Vec<(String, Vec<u8>)>,
}

/// The seeds of a run, and what became of them.
#[derive(Default)]
pub struct Seeds {
    seeds: Vec<Seed>,
    /// What plain files can fill, and mutants change.
    slots: Vec<Slot>,
    /// What was left out or changed: how many, and the first.
    notes: BTreeMap<String, (u64, PathBuf)>,
    folders: Vec<Folder>,
    /// What appears in the folders while the run goes on.
    followed: Option<Rc<RefCell<Followed>>>,
}

/// Why a file cannot be used, and what to do.
struct Refused {
    why: String,
    help: String,
}

const HELP: &str = "write `--seed FILE`, `--seed DIR`, `--seed TEST.ktest`, or `--seed INPUT=FILE` such as `--seed stdin=FILE`";

impl Seeds {
    /// Reads what the words of `--seed` name.
    pub fn read(plan: &Plan, input: &ProgramInput) -> Result<Seeds> {
        let (mut seeds, slots) = (Seeds::default(), slots(input));
        for word in &plan.seeds {
            seeds.add(word, &slots, plan.follow)?;
        }
        if plan.follow && seeds.is_empty() && !plan.seeds.is_empty() {
            return Err(problem("`--follow-seeds`: none of the folders has a seed yet", "one is needed to begin with: add `--seed FILE`"));
        }
        if plan.follow && seeds.folders.is_empty() {
            return Err(problem("`--follow-seeds` has no folder to follow", "add `--seed DIR`"));
        }
        if plan.give_way && !plan.follow {
            return Err(problem("`--give-way` is for a run with `--follow-seeds`", "add `--follow-seeds`"));
        }
        if plan.follow && !plan.mutants {
            return Err(problem("`--follow-seeds` cannot be used with `--off mutants`", "leave out one of them"));
        }
        seeds.slots = slots;
        // Short ones are soon run.
        seeds.seeds.sort_by_cached_key(|seed| (seed.inputs.iter().map(|(_, bytes)| bytes.len()).sum::<usize>(), seed.file.clone()));
        Ok(seeds)
    }

    /// A folder that is followed may be empty yet.
    fn add(&mut self, word: &str, slots: &[Slot], follow: bool) -> Result<()> {
        let (name, path) = match word.split_once('=').filter(|_| !Path::new(word).exists()) {
            Some((name, path)) => (Some(name), Path::new(path)),
            None => (None, Path::new(word)),
        };
        if path.symlink_metadata().is_err() {
            let help = match word.parse::<u64>() {
                Ok(_) => "the seed of the random searchers is `--search-seed N`",
                Err(_) => HELP,
            };
            return Err(problem(format!("`--seed {word}`: `{}` does not exist", path.display()), help));
        }
        if !path.is_dir() {
            return match self.file(path, name, slots)? {
                Ok(()) => Ok(()),
                Err(Refused { why, help }) => Err(problem(format!("`--seed {word}` cannot be used: it is {why}"), help)),
            };
        }
        let files = corpus::files(path).map_err(|e| problem(format!("`--seed {word}`: the folder cannot be read: {e}"), HELP))?;
        self.folders.push(Folder::new(path, name, &files));
        if files.is_empty() && !follow {
            return Err(problem(format!("`--seed {word}`: the folder has no seeds"), "names that begin with a dot are left out"));
        }
        let (before, count) = (self.seeds.len(), files.len());
        let mut first = None;
        for file in files {
            if let Err(refused) = self.file(&file, name, slots)? {
                self.note(format!("seeds were left out: {}", refused.why), &file);
                first.get_or_insert((refused, file));
            }
        }
        match first.filter(|_| self.seeds.len() == before) {
            Some((Refused { why, help }, file)) => {
                Err(problem(format!("`--seed {word}`: none of {count} seeds can be used; `{}` is {why}", file.display()), help))
            }
            None => Ok(()),
        }
    }

    /// Adds a file, or says why it cannot be used. An error: it is not clear which input it fills.
    fn file(&mut self, file: &Path, name: Option<&str>, slots: &[Slot]) -> Result<Result<(), Refused>> {
        let refused = |why: String| Ok(Err(Refused { why, help: HELP.into() }));
        let bytes = match data::read(file, data::TEST) {
            Ok(bytes) => bytes,
            Err(error) => return refused(format!("not readable ({error})")),
        };
        if file.extension().is_some_and(|end| end == "ktest") {
            return match KTest::from_bytes(&bytes) {
                Ok(test) if test.objects.is_empty() => refused("a test without any input".into()),
                Ok(test) => {
                    let inputs = test.objects.into_iter().map(|o| (String::from_utf8_lossy(&o.name).into_owned(), o.bytes)).collect();
                    self.seeds.push(Seed { file: file.into(), inputs });
                    Ok(Ok(()))
                }
                Err(error) => refused(format!("no test ({error})")),
            };
        }
        let slot = match name {
            Some(name) => slots.iter().find(|slot| slot.name == name || slot.bytes == name),
            None => Some(only("--seed", slots)?),
        };
        let len = bytes.len();
        let filled = match slot {
            Some(slot) => slot.fill(bytes).map_err(|why| Refused { why, help: advice(slot, len) }),
            // Inputs that the program makes itself are known as its path makes them.
            None => Ok((vec![(name.unwrap_or_default().to_owned(), bytes)], None)),
        };
        Ok(filled.map(|(inputs, changed)| {
            if let Some(changed) = changed {
                self.note(format!("seeds are {changed}"), file);
            }
            self.seeds.push(Seed { file: file.into(), inputs });
        }))
    }

    fn note(&mut self, what: String, file: &Path) {
        self.notes.entry(what).or_insert_with(|| (0, file.to_owned())).0 += 1;
    }

    /// What was left out or changed, in words.
    fn noted(&self) -> impl Iterator<Item = String> {
        self.notes.iter().map(|(what, (count, first))| format!("{count} {what} (first `{}`)", first.display()))
    }

    pub fn is_empty(&self) -> bool {
        self.seeds.is_empty()
    }

    /// Hands the seeds to an exploration, before it starts.
    pub fn give(&mut self, plan: &Plan, elf: Option<&Elf>, explorer: &mut Explorer) {
        if plan.mutants && !self.is_empty() {
            let words = words::words(&explorer.core.image, elf);
            explorer.fuzzer = Fuzzer::new(Box::new(Mutants::new(self.slots.clone(), words, plan.config.seed)));
            if plan.follow {
                let folders = std::mem::take(&mut self.folders);
                let followed = self.followed.insert(Rc::new(RefCell::new(Followed::new(folders, self.slots.clone(), plan.give_way))));
                explorer.fuzzer = std::mem::take(&mut explorer.fuzzer).following(Box::new(Shared(followed.clone())));
            }
        }
        explorer.add_seeds(self.seeds.iter().map(|seed| seed.inputs.clone()).collect());
    }

    /// Looks at a path that ended: whether the inputs that it made are those of its seed.
    pub fn ended(&mut self, ended: &Ended) {
        let Some(Seed { file, inputs }) = ended.seed.and_then(|number| self.seeds.get(number as usize)).cloned() else { return };
        for (name, bytes) in &inputs {
            let made = ended.inputs.iter().find(|input| *input.name == **name).map(|input| input.bytes.len());
            match made {
                None => self.note(format!("seeds are for another input: {}", not_made(name, ended)), &file),
                Some(len) if len < bytes.len() => {
                    self.note(format!("seeds are longer than the input `{name}` of {len} bytes: the rest is not used"), &file);
                }
                Some(_) => {}
            }
        }
    }

    /// What became of the seeds, in words.
    pub fn notes(&self, ends: &[SeedEnd], fuzzed: Fuzzed) -> Vec<String> {
        if self.seeds.is_empty() {
            return Vec::new();
        }
        let count = |end: SeedEnd| ends.iter().filter(|e| **e == end).count();
        let parts = [
            (count(SeedEnd::Ran), "have paths of their own"),
            (count(SeedEnd::Known), "take the path of an earlier one"),
            (count(SeedEnd::Alike), "enter no code that these do not"),
            (count(SeedEnd::Excluded), "are excluded by what the program assumes or have a path that was given up"),
            (count(SeedEnd::Long), "run longer than others wait"),
            (count(SeedEnd::Waits), "were not run to their end"),
        ];
        let parts: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let summary = format!("of {} seeds {}", self.seeds.len(), parts.join(", "));
        let Fuzzed { run, new, seeds } = fuzzed;
        let mutants = (run > 0).then(|| format!("of {run} mutants of inputs {new} did something new, and {seeds} of these became seeds"));
        let followed = self.followed.as_ref().map(|followed| followed.borrow().notes()).unwrap_or_default();
        [summary].into_iter().chain(mutants).chain(self.noted()).chain(followed).collect()
    }
}

/// What to do about a file of `len` bytes that does not fit.
fn advice(slot: &Slot, len: usize) -> String {
    let len = len.max(slot.most());
    match slot.name.as_str() {
        "stdin" => format!("give the input room for all sizes: `--sym-stdin 0-{len}`"),
        "data" => format!("give the input room: `--entry-bytes {len}`"),
        name if slot.text && name.starts_with("arg") => format!("give the input room: `--sym-arg {len}`; an argument has no zero byte"),
        name if slot.is_file() => format!("give the input room for all sizes: `--sym-file {name}:0-{len}`"),
        _ => HELP.into(),
    }
}

fn not_made(name: &str, ended: &Ended) -> String {
    let made: Vec<String> = ended.inputs.iter().map(|input| format!("`{}`", input.name)).collect();
    match made.is_empty() {
        true => format!("their paths make no `{name}`, and no other"),
        false => format!("their paths make no `{name}`, but {}", made.join(", ")),
    }
}
