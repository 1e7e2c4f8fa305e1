//! Which seeds of a large corpus have paths of their own: a few that enter all the code that the corpus enters.
//!
//! Of each block the cheapest run that enters it is kept, as AFL keeps favoured inputs (M. Zalewski). Then block by block that nobody has entered, its run is
//! chosen, and enters all of its blocks. So seeds that lead to the same code by longer ways have no paths. Costs are instructions, so the choice is the same on
//! every machine.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::step::seed::Inputs;

/// The cost of the runs after which it is chosen among them.
const CHOICE: u64 = 256_000_000;

/// Seeds to choose from. Those that others leave while it runs have no number.
#[derive(Default)]
pub(super) struct Corpus {
    waiting: VecDeque<(Option<u32>, Inputs)>,
    /// By block that no path and no chosen seed has entered: the cheapest run that does.
    cheapest: FxHashMap<u32, Rc<Candidate>>,
    /// Blocks that chosen seeds enter.
    entered: FxHashSet<u32>,
    /// Seeds that were run since the last choice and are not chosen yet, by number.
    ran: Vec<u32>,
    /// What the runs since the last choice cost.
    cost: u64,
}

/// A seed that enters blocks which nobody has entered.
pub(super) struct Candidate {
    pub number: Option<u32>,
    pub inputs: Inputs,
    pub cost: u64,
    /// Those that no path had entered when it ran.
    pub blocks: Vec<u32>,
}

impl Corpus {
    /// Seeds to be run, behind those that are waiting.
    pub fn add(&mut self, seeds: impl IntoIterator<Item = (Option<u32>, Inputs)>) {
        self.waiting.extend(seeds);
    }

    /// The next one to run.
    pub fn next(&mut self) -> Option<(Option<u32>, Inputs)> {
        self.waiting.pop_front()
    }

    /// Whether there are runs that were not chosen among yet.
    pub fn is_looking(&self) -> bool {
        self.cost > 0
    }

    /// Whether only seeds that others left are waiting.
    pub fn is_late(&self) -> bool {
        self.waiting.front().is_none_or(|(number, _)| number.is_none())
    }

    /// Whether it is time to choose.
    pub fn is_to_choose(&self) -> bool {
        self.waiting.is_empty() || self.cost > CHOICE
    }

    /// It was run, and is chosen in any case, or for its blocks.
    pub fn note(&mut self, candidate: Candidate, anyway: bool) {
        self.cost += candidate.cost;
        if anyway {
            self.entered.extend(&candidate.blocks);
            return;
        }
        self.ran.extend(candidate.number);
        let candidate = Rc::new(candidate);
        for block in candidate.blocks.iter().filter(|block| !self.entered.contains(block)) {
            let kept = self.cheapest.entry(*block).or_insert_with(|| candidate.clone());
            if candidate.cost < kept.cost {
                *kept = candidate.clone();
            }
        }
    }

    /// Chooses among those that were run since the last choice: the chosen, cheapest first, and the numbers of the others.
    pub fn choose(&mut self) -> (Vec<Rc<Candidate>>, Vec<u32>) {
        self.cost = 0;
        let mut blocks: Vec<(u32, Rc<Candidate>)> = self.cheapest.drain().collect();
        blocks.sort_unstable_by_key(|(block, _)| *block);
        let mut chosen = Vec::new();
        for (block, candidate) in blocks {
            if !self.entered.contains(&block) {
                self.entered.extend(&candidate.blocks);
                chosen.push(candidate);
            }
        }
        chosen.sort_by_key(|candidate| (candidate.cost, candidate.number));
        let numbers: FxHashSet<u32> = chosen.iter().filter_map(|candidate| candidate.number).collect();
        let others = self.ran.drain(..).filter(|number| !numbers.contains(number)).collect();
        (chosen, others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(corpus: &mut Corpus, number: u32, cost: u64, blocks: &[u32]) {
        corpus.note(Candidate { number: Some(number), inputs: Inputs::default(), cost, blocks: blocks.to_vec() }, false);
    }

    fn chosen(corpus: &mut Corpus) -> (Vec<u32>, Vec<u32>) {
        let (chosen, others) = corpus.choose();
        (chosen.iter().filter_map(|candidate| candidate.number).collect(), others)
    }

    #[test]
    fn the_cheapest_runs_that_enter_everything_are_chosen() {
        let mut corpus = Corpus::default();
        ran(&mut corpus, 0, 50, &[1, 2]);
        ran(&mut corpus, 1, 10, &[1, 2]);
        ran(&mut corpus, 2, 20, &[2, 3]);
        ran(&mut corpus, 3, 90, &[]);
        assert_eq!(chosen(&mut corpus), (vec![1, 2], vec![0, 3]));
        ran(&mut corpus, 4, 1, &[1, 3]);
        ran(&mut corpus, 5, 2, &[3, 4]);
        assert_eq!(chosen(&mut corpus), (vec![5], vec![4]));
    }
}
