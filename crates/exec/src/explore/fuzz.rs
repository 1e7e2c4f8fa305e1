//! Fuzzing between paths: mutants of inputs run as numbers, and those that do something new become seeds.
//!
//! A solver changes as little of an input as it can, and one more round of a loop enters no new block. So a number of thirty digits is thirty
//! flips deep, and nothing tells which of them to take. A fuzzer's mutants jump there. They run on the interpreter, without a symbol, so
//! thousands of them cost as much as a few paths. What is new is judged as fuzzers judge it: a block or a side of a branch, one that is entered
//! more often by a power of two (M. Zalewski's AFL), or a fault at another place. Inputs that enter a block that no path has entered, or fault, are run as paths, from
//! which flips lead on; the others are only changed further. So nothing is lost by it, and what is reported has been a path.
//!
//! Strings that a run compares and that differ are tried in each other's place in its input (Aschermann et al., "Redqueen", NDSS 2019, section III): a keyword
//! is found at once where a name of any length is read first and compared then.
//!
//! Work is counted in instructions, so the order is the same on every machine. Blocks that mutants enter do not count as covered.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::explore::corpus::{Candidate, Corpus};
use crate::explore::replay::Replayer;
use crate::ground::image::CodePos;
use crate::ground::path_end::PathEnd;
use crate::step::core::{Core, Ended};
use crate::step::coverage::{Compared, Entry, Hits};
use crate::step::seed::{Inputs, model};

/// Makes inputs of inputs.
pub trait Mutator {
    /// Mutants are made of this one, too. Whether it was the first to enter some code.
    fn keep(&mut self, inputs: Inputs, is_first: bool);
    /// A few mutants are made of this one, which enters no new code.
    fn note(&mut self, inputs: &Inputs);
    /// `None`: there is nothing to make it of yet.
    fn mutant(&mut self) -> Option<Inputs>;
    /// An input that goes on where this one ends, if there is room for more.
    fn longer(&self, inputs: &Inputs) -> Option<Inputs>;
    /// These inputs with one string in the place of another, wherever that is.
    fn replaced(&self, inputs: &Inputs, old: &[u8], new: &[u8]) -> Vec<Inputs>;
}

/// Tells of inputs that others find.
pub trait Follow {
    /// Those since it was asked last. It is told what found new code since.
    fn found(&mut self, finds: Finds) -> Vec<Inputs>;
}

/// Blocks that were entered for the first time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finds {
    /// How many by paths and mutants.
    pub own: u64,
    /// How many by each input of others, which is counted from the first that they ever gave.
    pub late: Vec<(usize, u64)>,
}

/// How many mutants were run, how many of them did something new, and how many of these became seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fuzzed {
    pub run: u64,
    pub new: u64,
    pub seeds: u64,
}

/// The least and the most part of the work that is fuzzing, in 16ths.
const PARTS: (u64, u64) = (1, 12);
/// The work after which what was found before counts half.
const LATELY: u64 = 128_000_000;
/// Work that both ways are taken to have had at the beginning, and what they have found by it, in [`FOUND`]s: nobody knows yet which is better.
const AT_FIRST: u64 = LATELY / 4;
const FOUND: u64 = 1000;
/// Instructions between two looks at the clock.
const TURN: u64 = 1_000_000;
/// Seeds that all have paths of their own, if there are no more.
const FEW: usize = 64;
/// The part of the chosen seeds' work that those of them have which are run as paths again, with more behind their ends.
const LONGER: u64 = 4;
/// The part of the paths' work that runs of what others find may take.
const LATE: u64 = 2;
/// As [`TURN`], of seeds that have no path yet.
const LOOK: u64 = 64_000_000;
/// Instructions of a mutant's run at most: as fuzzers do, so many times the mean of the inputs that it is made of, or these. One that takes longer is forgotten.
const TIMES: u64 = 5;
const MOST: u64 = 400_000;
/// The same of a path's inputs, in [`MOST`]s.
const MOST_OF_PATH: u64 = 64;
/// Pairs of compared strings that are looked at, tries of a string in the place of others, and inputs that wait for their try, at most.
const PAIRS: usize = 1 << 14;
const TRIES: u8 = 64;
const WAITING: usize = 4096;
/// What a run costs beside its instructions.
const RUN: u64 = 2_000;

/// Runs mutants; by default there are none. Only for an exploration with seeds, whose tree of paths remembers its forks.
#[derive(Default)]
pub struct Fuzzer {
    mutator: Option<Box<dyn Mutator>>,
    follow: Option<Box<dyn Follow>>,
    /// Inputs of paths, whose blocks are not yet known as mutants see them.
    paths: Vec<Inputs>,
    /// Those that were run: how many, and their instructions.
    inputs: (u64, u64),
    /// Seeds that have a path only if they are chosen.
    corpus: Corpus,
    /// Since others were asked last.
    finds: Finds,
    /// How many inputs that others found were run.
    late: usize,
    /// Work that is left for what others find.
    for_late: u64,
    /// Work that is left for chosen seeds with more behind their ends.
    for_longer: u64,
    hits: Hits,
    /// By [`Entry`]: a bit for each range of numbers of entries that a run had.
    seen: Vec<u8>,
    /// The blocks of the last run that no path has entered.
    uncovered: Vec<u32>,
    /// How many of these no run had entered before.
    entered: u64,
    faults: FxHashSet<(CodePos, &'static str)>,
    matches: Matches,
    work: u64,
    /// Work that mutants may take until paths have their turn.
    credit: u64,
    /// The work of paths, when it was looked at last.
    of_paths: u64,
    mutants: Yield,
    /// Of paths, but for those whose code a mutant had entered before.
    ran: Yield,
    count: Fuzzed,
}

/// Inputs that have strings in the place of those that they were compared with.
#[derive(Default)]
struct Matches {
    seen: FxHashSet<Compared>,
    /// By string that is put in the place of others: how often.
    tries: FxHashMap<Box<[u8]>, u8>,
    waiting: VecDeque<Inputs>,
}

impl Matches {
    /// A run on these inputs has compared strings.
    fn add(&mut self, compared: Vec<Compared>, inputs: &Inputs, mutator: &dyn Mutator) {
        for pair in compared {
            if self.waiting.len() >= WAITING || self.seen.len() >= PAIRS || !self.seen.insert(pair.clone()) {
                continue;
            }
            let [one, other] = pair;
            for (old, new) in [(&one, &other), (&other, &one)] {
                let tries = self.tries.entry(new.clone()).or_default();
                if *tries < TRIES {
                    let replaced = mutator.replaced(inputs, old, new);
                    *tries += u8::from(!replaced.is_empty());
                    self.waiting.extend(replaced);
                }
            }
        }
    }
}

/// How often one of the two ways found new code lately, and the work that this took.
#[derive(Clone, Copy, Default)]
struct Yield {
    found: u64,
    work: u64,
}

impl Yield {
    fn note(&mut self, finds: bool, work: u64) {
        self.found += if finds { FOUND } else { 0 };
        self.work += work;
        if self.work > LATELY {
            (self.found, self.work) = (self.found / 2, self.work / 2);
        }
    }

    /// The part of this way, in 16ths, if the other has this yield: as their finds for the same work.
    fn part(self, other: Yield) -> u64 {
        let weight = |one: Yield, other: Yield| u128::from(one.found + FOUND) * u128::from(other.work + AT_FIRST);
        let (mine, theirs) = (weight(self, other), weight(other, self));
        u64::try_from(16 * mine / (mine + theirs)).unwrap_or(PARTS.1).clamp(PARTS.0, PARTS.1)
    }
}

/// Inputs whose turn it is to be run as paths; those that are seeds with their numbers.
#[derive(Default)]
pub(crate) struct Chosen {
    pub paths: Vec<(Option<u32>, Inputs)>,
    /// Seeds that enter no code that the chosen do not, by number.
    pub alike: Vec<u32>,
}

/// What a run has shown, least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Nothing,
    /// It took too long.
    Long,
    New,
    /// A block that no path has entered.
    Path,
    /// A fault at a new place.
    Fault,
}

impl Fuzzer {
    pub fn new(mutator: Box<dyn Mutator>) -> Fuzzer {
        Fuzzer { mutator: Some(mutator), ..Fuzzer::default() }
    }

    /// Also takes up what others find while it runs, as it does a corpus.
    #[must_use]
    pub fn following(self, follow: Box<dyn Follow>) -> Fuzzer {
        Fuzzer { follow: Some(follow), for_late: LOOK, ..self }
    }

    /// Whether so many seeds are a corpus that is chosen from: most of them take paths that others take, too. A few that enter all blocks which they enter
    /// ([`corpus`](super::corpus)), fault, or run long, are run as paths; the others are only changed.
    pub(crate) fn chooses(&self, seeds: usize) -> bool {
        self.mutator.is_some() && seeds > FEW
    }

    /// The seeds to choose from, in this order.
    pub(crate) fn look_at(&mut self, corpus: impl IntoIterator<Item = (u32, Inputs)>) {
        self.corpus.add(corpus.into_iter().map(|(number, inputs)| (Some(number), inputs)));
    }

    /// Whether seeds were looked at that are yet to be chosen among: paths wait for it.
    pub(crate) fn is_looking(&self) -> bool {
        self.corpus.is_looking()
    }

    pub fn count(&self) -> Fuzzed {
        self.count
    }

    /// A path has ended. If it entered new code, its inputs are changed, too.
    pub(crate) fn note_ended(&mut self, ended: &Ended) {
        if self.mutator.is_some() && ended.covers_new {
            self.paths.push(ended.given());
        }
    }

    /// Paths have worked: mutants may work in proportion.
    fn give_credit(&mut self, of_paths: u64) {
        let work = of_paths - std::mem::replace(&mut self.of_paths, of_paths);
        self.ran.note(false, work);
        let part = self.mutants.part(self.ran);
        self.credit += work * part / (16 - part);
        self.for_late += work / LATE;
    }

    /// Runs seeds that are not paths yet, and mutants, if they have had less than their part of the work. Gives those that are to be run as paths.
    pub(crate) fn turn(&mut self, core: &mut Core, replayer: &Replayer) -> Chosen {
        let mut chosen = Chosen::default();
        let Some(mut mutator) = self.mutator.take() else { return chosen };
        self.give_credit(core.whole_work());
        self.look(core, replayer, mutator.as_mut(), &mut chosen);
        core.optimistic.wanted = true;
        let left = WAITING.saturating_sub(self.matches.waiting.len());
        self.matches.waiting.extend(core.optimistic.take().into_iter().take(left));
        let begin = self.work;
        while self.work - begin < TURN {
            if let Some(inputs) = self.paths.pop() {
                let before = self.work;
                self.run(core, replayer, &inputs, MOST * MOST_OF_PATH, mutator.as_ref());
                self.inputs = (self.inputs.0 + 1, self.inputs.1 + self.work - before);
                mutator.keep(inputs, true);
                continue;
            }
            if self.credit == 0 {
                break;
            }
            let Some(inputs) = self.matches.waiting.pop_front().or_else(|| mutator.mutant()) else { break };
            self.count.run += 1;
            let before = self.work;
            let shown = self.run(core, replayer, &inputs, self.most(), mutator.as_ref());
            let took = self.work - before;
            self.credit = self.credit.saturating_sub(took);
            self.mutants.note(shown >= Shown::Path, took);
            self.finds.own += self.entered;
            match shown {
                Shown::Nothing | Shown::Long => continue,
                Shown::New => {}
                Shown::Path | Shown::Fault => {
                    self.count.seeds += 1;
                    chosen.paths.push((None, inputs.clone()));
                }
            }
            self.count.new += 1;
            mutator.keep(inputs, self.entered > 0);
        }
        self.mutator = Some(mutator);
        chosen
    }

    /// Runs seeds that have no paths yet, and chooses among them.
    fn look(&mut self, core: &mut Core, replayer: &Replayer, mutator: &mut dyn Mutator, chosen: &mut Chosen) {
        if let Some(follow) = &mut self.follow {
            let finds = std::mem::take(&mut self.finds);
            self.corpus.add(follow.found(finds).into_iter().map(|inputs| (None, inputs)));
        }
        let begin = self.work;
        while self.work - begin < LOOK
            && (self.for_late > 0 || !self.corpus.is_late())
            && let Some((number, inputs)) = self.corpus.next()
        {
            let before = self.work;
            let shown = self.run(core, replayer, &inputs, self.most(), mutator);
            let anyway = matches!(shown, Shown::Long | Shown::Fault);
            if anyway {
                chosen.paths.push((number, inputs.clone()));
            }
            if !matches!(shown, Shown::Nothing) {
                mutator.keep(inputs.clone(), self.entered > 0);
            } else if number.is_none() {
                mutator.note(&inputs);
            }
            let (blocks, cost) = (self.uncovered.clone(), self.work - before);
            if number.is_none() {
                self.finds.late.extend((self.entered > 0).then_some((self.late, self.entered)));
                self.late += 1;
                self.for_late = self.for_late.saturating_sub(cost);
            }
            self.corpus.note(Candidate { number, inputs, cost, blocks }, anyway);
        }
        // Paths do not wait for what others find.
        let is_late = self.for_late == 0 && self.corpus.is_late();
        if !(is_late || self.corpus.is_to_choose()) {
            return;
        }
        let (mut paths, alike) = self.corpus.choose();
        for candidate in &paths {
            // The newest are changed most.
            mutator.keep(candidate.inputs.clone(), true);
            chosen.paths.push((candidate.number, candidate.inputs.clone()));
        }
        // Behind the end of an input there is nothing to flip, and what enters code cheaply is short.
        let left = &mut self.for_longer;
        *left += paths.iter().map(|candidate| candidate.cost).sum::<u64>() / LONGER;
        paths.sort_by_cached_key(|candidate| candidate.inputs.iter().map(|(_, bytes)| bytes.len()).sum::<usize>());
        let short = paths.iter().take_while(|candidate| {
            *left = left.saturating_sub(candidate.cost);
            *left > 0
        });
        chosen.paths.extend(short.filter_map(|candidate| Some((None, mutator.longer(&candidate.inputs)?))));
        chosen.alike = alike;
    }

    /// A path has entered these blocks first.
    pub(crate) fn note_covered(&mut self, blocks: &[u32]) {
        let is_new = |block: &&u32| self.seen.get(Entry::Block(**block).index()).is_none_or(|seen| *seen == 0);
        let entered = blocks.iter().filter(is_new).count() as u64;
        if entered > 0 {
            self.ran.note(true, 0);
            self.finds.own += entered;
        }
    }

    /// The most instructions of a mutant's run.
    fn most(&self) -> u64 {
        let (count, work) = self.inputs;
        MOST.max(TIMES * work / count.max(1))
    }

    fn run(&mut self, core: &mut Core, replayer: &Replayer, inputs: &Inputs, most: u64, mutator: &dyn Mutator) -> Shown {
        let input = model(&mut core.pool, inputs);
        let (end, took) = replayer.count_blocks(core, input, most, &mut self.hits);
        self.work += took + RUN;
        self.matches.add(self.hits.take_compared(), inputs, mutator);
        self.uncovered.clear();
        self.entered = 0;
        let entered = self.hits.drain();
        let Some((end, at)) = end else {
            entered.for_each(drop);
            return Shown::Long;
        };
        let mut shown = Shown::Nothing;
        for (entry, count) in entered {
            let is_uncovered = match entry {
                Entry::Block(block) if core.coverage[block as usize] == 0 => {
                    self.uncovered.push(block);
                    true
                }
                Entry::Block(_) | Entry::Side(_) => false,
            };
            if self.seen.len() <= entry.index() {
                self.seen.resize(entry.index() + 1, 0);
            }
            let (seen, bit) = (&mut self.seen[entry.index()], 1 << range(count));
            if *seen & bit != 0 {
                continue;
            }
            let is_first = *seen == 0 && is_uncovered;
            self.entered += u64::from(is_first);
            shown = shown.max(if is_first { Shown::Path } else { Shown::New });
            *seen |= bit;
        }
        match end {
            PathEnd::Fault(fault) if self.faults.insert((at, fault.kind.id())) => Shown::Fault,
            _ => shown,
        }
    }
}

/// The range that a number of entries lies in: 1, 2, 3, to 7, to 15, to 31, to 127, or more.
fn range(count: u8) -> u32 {
    match count {
        0..=3 => u32::from(count.max(1)) - 1,
        4..=7 => 3,
        8..=15 => 4,
        16..=31 => 5,
        32..=127 => 6,
        128.. => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn numbers_of_entries_fall_into_eight_ranges() {
        let first: Vec<u8> = (1..=255).filter(|count| *count == 1 || range(*count) != range(count - 1)).collect();
        assert_eq!(first, [1, 2, 3, 4, 8, 16, 32, 128]);
        assert_eq!((range(1), range(255)), (0, 7));
    }
}
