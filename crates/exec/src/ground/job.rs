//! Jobs: pending work as plain data (docs/design/014).
//!
//! A job names a path by its decisions ([`crate::ground::prefix`]). If the last decision is a flip, its feasibility is not known yet. The
//! input satisfies the conditions of all decisions before the last one. So adopting the job asks the solver about the last decision alone.
//! An input that does not fit costs more queries and never a wrong answer ([`crate::Explorer::adopt`]).

use std::collections::BTreeSet;

use wryneck_expr::{Model, Pool, SymId};

use crate::ground::prefix::{self, Decision, PrefixId, number, put};

/// A path that is left to explore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    pub prefix: Vec<Decision>,
    /// Values of input that are not 0.
    pub input: Vec<Known>,
    /// Values that were tried after the decisions before the last one (bounds `max_targets` and `max_resolutions`).
    pub tried: u32,
}

/// The value of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub name: Box<str>,
    pub index: u32,
    /// Bits, from 1 to 64.
    pub width: u32,
    pub value: u64,
}

/// A name of something that is not relevant so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deferral {
    /// The decisions before one that has deferred alternatives.
    Place(PrefixId),
    /// The decisions up to a deferred flip.
    Flip(PrefixId),
}

/// What is deferred, by name. Alternatives that cheap facts refute have no name but their place.
#[derive(Clone, Debug, Default)]
pub struct Deferred {
    all: BTreeSet<Deferral>,
    /// Places whose refuted alternatives have been made again.
    refuted: BTreeSet<PrefixId>,
}

impl Deferred {
    /// Whether alternatives of the decision after this prefix are deferred.
    pub(crate) fn has_place(&self, place: PrefixId) -> bool {
        self.all.contains(&Deferral::Place(place))
    }

    /// Whether this flip is deferred and not made again yet; it is from now on.
    pub(crate) fn take_flip(&mut self, flip: PrefixId) -> bool {
        self.all.remove(&Deferral::Flip(flip))
    }

    /// Whether the refuted alternatives of this decision are to be made again.
    pub(crate) fn wants_refuted(&self, place: PrefixId) -> bool {
        !self.refuted.contains(&place)
    }

    /// The refuted alternatives of these decisions have been made again.
    pub(crate) fn note_refuted(&mut self, places: Vec<PrefixId>) {
        self.refuted.extend(places);
    }

    pub fn all(&self) -> impl Iterator<Item = Deferral> {
        self.all.iter().copied()
    }
}

impl FromIterator<Deferral> for Deferred {
    fn from_iter<I: IntoIterator<Item = Deferral>>(all: I) -> Deferred {
        Deferred { all: all.into_iter().collect(), refuted: BTreeSet::new() }
    }
}

/// Bytes of input in a file; a larger one is left out.
const MOST_INPUT: usize = 1 << 16;

impl Job {
    pub(crate) fn of(prefix: Vec<Decision>, model: &Model, pool: &Pool, tried: u32) -> Job {
        let known = |(symbol, value): (usize, &u64)| {
            let info = pool.sym_info(SymId(symbol as u32));
            Known { name: info.name.clone(), index: info.index, width: info.width, value: *value }
        };
        let input = model.values().iter().enumerate().filter(|(_, value)| **value != 0).map(known).collect();
        Job { prefix, input, tried }
    }

    pub(crate) fn model(&self, pool: &mut Pool) -> Model {
        let values: Vec<_> = self.input.iter().map(|k| (pool.symbol(&k.name, k.index, k.width), k.value)).collect();
        Model::empty().with(&values)
    }

    /// Its input and bounds in files; the prefix has an encoding of its own ([`prefix::encode`]).
    pub fn encode_input(&self) -> Vec<u8> {
        encode_input(self.tried, self.input.iter().map(|known| (&*known.name, known.index, known.width, known.value)))
    }

    /// Decodes [`prefix::encode`] and [`Job::encode_input`]; `None` if they are not a job.
    pub fn decode(prefix: &[u8], mut input: &[u8]) -> Option<Job> {
        let prefix = prefix::decode(prefix)?;
        let bytes = &mut input;
        let tried = u32::try_from(number(bytes)?).ok()?;
        let (mut all, mut name) = (Vec::new(), Box::<str>::default());
        while !bytes.is_empty() {
            let length = usize::try_from(number(bytes)?).ok()?;
            let (text, rest) = bytes.split_at_checked(length)?;
            *bytes = rest;
            if !text.is_empty() {
                name = std::str::from_utf8(text).ok()?.into();
            }
            let mut small = || u32::try_from(number(bytes)?).ok();
            let (index, width) = (small()?, small()?);
            let value = number(bytes)?;
            if !matches!(width, 1..=64) || width < 64 && value >> width != 0 {
                return None;
            }
            all.push(Known { name: name.clone(), index, width, value });
        }
        Some(Job { prefix, input: all, tried })
    }
}

/// As [`Job::encode_input`], of a model.
pub(crate) fn encode_model(model: &Model, pool: &Pool, tried: u32) -> Vec<u8> {
    let values = model.values().iter().enumerate().filter(|(_, value)| **value != 0);
    encode_input(
        tried,
        values.map(|(symbol, value)| {
            let info = pool.sym_info(SymId(symbol as u32));
            (&*info.name, info.index, info.width, *value)
        }),
    )
}

fn encode_input<'a>(tried: u32, values: impl Iterator<Item = (&'a str, u32, u32, u64)>) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, tried.into());
    let mut last = "";
    for (name, index, width, value) in values {
        // An input is a row of symbols of one name: an empty name is the last one's.
        let shown = if name == last { "" } else { name };
        put(&mut out, shown.len() as u64);
        out.extend(shown.bytes());
        [u64::from(index), width.into(), value].into_iter().for_each(|n| put(&mut out, n));
        last = name;
        if out.len() > MOST_INPUT {
            out.clear();
            put(&mut out, tried.into());
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_survives_its_encoding() {
        let known = |name: &str, index, width, value| Known { name: name.into(), index, width, value };
        let input = vec![known("A", 0, 8, 255), known("A", 7, 8, 1), known("n", 0, 64, u64::MAX), known("b", 2, 1, 1)];
        let job = Job { prefix: vec![Decision::Branch(true), Decision::Above(7)], input, tried: 300 };
        let decode = |bytes: &[u8]| Job::decode(&prefix::encode(&job.prefix), bytes);
        let bytes = job.encode_input();
        assert_eq!(decode(&bytes), Some(job.clone()));
        for cut in 1..bytes.len() {
            let part = decode(&bytes[..cut]);
            assert!(part.is_none_or(|part| part.input.len() < job.input.len()), "{cut}");
        }
        let large = Job { input: (0..40_000).map(|i| known("large", i, 8, 1)).collect(), ..job.clone() };
        assert_eq!(decode(&large.encode_input()).map(|job| (job.tried, job.input)), Some((300, Vec::new())));
        assert_eq!(decode(&[0, 1, b'x', 0, 65, 1]), None, "no symbol is so wide");
        assert_eq!(decode(&[0, 1, b'x', 0, 8, 0x80, 2]), None, "its value does not fit");
        assert_eq!(decode(&[]), None);
    }
}
