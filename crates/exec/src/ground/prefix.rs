//! Prefixes: a path is named by its decisions (docs/design/002).
//!
//! Every branch, switch and pointer choice on a non-constant condition consumes a decision, even if only one alternative is feasible. So
//! does every concretisation. Program, configuration and prefix determine a state. The list is persistent: forks share their common
//! prefix, and appending is one allocation.

use crate::ground::chain::Chain;
use crate::ground::image::CodePos;

/// One decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Decision {
    /// Whether a condition held.
    Branch(bool),
    /// Which of several ways was taken: a switch's edge, counted in the order of the switch's distinct edges.
    Choice(u32),
    /// The value an expression was fixed to, the smallest that was feasible.
    Value(u64),
    /// Only as the last decision of a pending flip: the value is larger than this one.
    Above(u64),
    /// Not a choice by itself: the value, a seed's, that the next decision compares an expression with.
    Tried(u64),
}

/// The decisions of a path, cheap to clone and to append to.
#[derive(Clone, Default)]
pub struct Prefix {
    made: Chain<Node>,
}

/// A decision on a path.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// Among the path's decisions.
    pub index: u32,
    pub decision: Decision,
    /// The name of the decisions before it.
    pub before: PrefixId,
    /// Constraints of the path before the operation that decided.
    pub constraints: u32,
    /// Whether it was that operation's first decision.
    pub first: bool,
    /// Where it was made; inside a library function, the program's call of it.
    pub pos: CodePos,
}

/// There are millions of them, so two facts share a number, and the place costs nothing: a node has 48 bytes.
struct Node {
    decision: Decision,
    len: u32,
    /// Constraints of the path before the operation that decided, and, in the highest bit, whether it was that operation's first decision.
    constraints: u32,
    pos: CodePos,
    /// Names the decisions up to this one.
    id: PrefixId,
}

/// The bit of [`Node::constraints`] that says that the decision was its operation's first.
const FIRST: u32 = 1 << 31;

/// Names a list of decisions: equal for equal lists, and as good as never for others (a hash of 128 bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PrefixId(u64, u64);

impl PrefixId {
    /// The name of these decisions.
    pub fn of(decisions: &[Decision]) -> PrefixId {
        decisions.iter().fold(PrefixId::default(), |id, decision| id.then(*decision))
    }

    /// Its form in files.
    pub fn to_bytes(self) -> [u8; 16] {
        (u128::from(self.0) << 64 | u128::from(self.1)).to_le_bytes()
    }

    pub fn from_bytes(bytes: [u8; 16]) -> PrefixId {
        let both = u128::from_le_bytes(bytes);
        PrefixId((both >> 64) as u64, both as u64)
    }

    pub(crate) fn then(self, decision: Decision) -> PrefixId {
        let (tag, number) = decision.parts();
        let word = number.unwrap_or(0).rotate_left(8) ^ u64::from(tag);
        let mix = |state: u64, by: u64, turn: u32| {
            let mixed = (state ^ word).wrapping_add(by).wrapping_mul(by);
            (mixed ^ mixed >> 29).rotate_left(turn).wrapping_mul(0x9fb2_1c65_1e98_df25)
        };
        PrefixId(mix(self.0, 0x9e37_79b9_7f4a_7c15, 23), mix(self.1, 0xd6e8_feb8_6659_fd93, 41))
    }
}

impl Decision {
    /// Its tag in files, and the number it carries.
    fn parts(self) -> (u8, Option<u64>) {
        match self {
            Decision::Branch(b) => (u8::from(b), None),
            Decision::Choice(n) => (2, Some(u64::from(n))),
            Decision::Value(v) => (3, Some(v)),
            Decision::Above(v) => (4, Some(v)),
            Decision::Tried(v) => (5, Some(v)),
        }
    }
}

impl Prefix {
    pub fn len(&self) -> u32 {
        self.made.last().map_or(0, |node| node.len)
    }

    pub fn is_empty(&self) -> bool {
        self.made.last().is_none()
    }

    /// Adds a decision that was made at this place, an operation's `first` or not, before which the path had so many constraints.
    pub fn push(&mut self, decision: Decision, constraints: u32, first: bool, pos: CodePos) {
        let (len, id) = (self.len() + 1, self.id().then(decision));
        let constraints = constraints & !FIRST | if first { FIRST } else { 0 };
        self.made.push(Node { decision, len, constraints, pos, id });
    }

    /// The name of these decisions.
    pub fn id(&self) -> PrefixId {
        self.made.last().map_or(PrefixId::default(), |node| node.id)
    }

    /// From the last decision to the first.
    pub fn backwards(&self) -> impl Iterator<Item = Made> + '_ {
        self.made.backwards().map(|(node, before)| {
            let &Node { decision, len, constraints, pos, .. } = node;
            let before = before.last().map_or(PrefixId::default(), |node| node.id);
            Made { index: len - 1, decision, before, constraints: constraints & !FIRST, first: constraints & FIRST != 0, pos }
        })
    }

    /// The prefix without its last `n` decisions.
    pub fn without_last(&self, n: usize) -> Prefix {
        match n.checked_sub(1) {
            None => self.clone(),
            Some(last) => Prefix { made: self.made.backwards().nth(last).map(|(_, before)| before.clone()).unwrap_or_default() },
        }
    }

    /// The last `n` decisions, first to last.
    pub fn to_last(&self, n: usize) -> Vec<Decision> {
        let mut last = Vec::with_capacity(n);
        last.extend(self.made.backwards().take(n).map(|(node, _)| node.decision));
        last.reverse();
        last
    }

    /// All decisions, first to last.
    pub fn to_vec(&self) -> Vec<Decision> {
        self.to_last(self.len() as usize)
    }
}

impl FromIterator<Decision> for Prefix {
    fn from_iter<I: IntoIterator<Item = Decision>>(decisions: I) -> Prefix {
        let mut prefix = Prefix::default();
        for d in decisions {
            prefix.push(d, 0, true, CodePos::default());
        }
        prefix
    }
}

/// Bytes of a prefix in files: one byte per branch, more for what carries a number.
pub fn encode(decisions: &[Decision]) -> Vec<u8> {
    let mut out = Vec::with_capacity(decisions.len());
    for d in decisions {
        let (tag, number) = d.parts();
        out.push(tag);
        if let Some(n) = number {
            put(&mut out, n);
        }
    }
    out
}

/// Appends a number, in 7 bits a byte.
pub(crate) fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n.to_le_bytes()[0] | 0x80);
        n >>= 7;
    }
    out.push(n.to_le_bytes()[0]);
}

/// Takes [`put`]'s bytes from the front; `None` if they are no number.
pub(crate) fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut n, mut shift) = (0u64, 0u32);
    loop {
        let (&b, rest) = bytes.split_first()?;
        *bytes = rest;
        let low = u64::from(b & 0x7f);
        if shift > 63 || (shift == 63 && low > 1) {
            return None;
        }
        n |= low << shift;
        if b & 0x80 == 0 {
            return Some(n);
        }
        shift += 7;
    }
}

/// Decodes [`encode`]'s bytes; `None` if they are not a prefix.
pub fn decode(mut bytes: &[u8]) -> Option<Vec<Decision>> {
    let mut out = Vec::new();
    while let Some((&tag, rest)) = bytes.split_first() {
        bytes = rest;
        out.push(match tag {
            0 | 1 => Decision::Branch(tag == 1),
            2 => Decision::Choice(u32::try_from(number(&mut bytes)?).ok()?),
            3 => Decision::Value(number(&mut bytes)?),
            4 => Decision::Above(number(&mut bytes)?),
            5 => Decision::Tried(number(&mut bytes)?),
            _ => return None,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_survives_its_encoding() {
        let all = vec![
            Decision::Branch(true),
            Decision::Branch(false),
            Decision::Choice(300),
            Decision::Value(u64::MAX),
            Decision::Above(0),
            Decision::Tried(7),
            Decision::Value(0x80),
        ];
        assert_eq!(decode(&encode(&all)), Some(all));
        assert_eq!(decode(&[9]), None);
        assert_eq!(decode(&[3, 0x80]), None);
        assert_eq!(decode(&[3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2]), None);
    }

    #[test]
    fn forks_share_and_a_long_prefix_drops() {
        let mut a: Prefix = (0..1_000_000).map(|i| Decision::Branch(i % 3 == 0)).collect();
        let mut b = a.clone();
        a.push(Decision::Value(1), 5, true, CodePos { func: 3, op: 7 });
        b.push(Decision::Value(2), 5, false, CodePos::default());
        assert_ne!(a.id(), b.id());
        assert_eq!(a.without_last(1).id(), b.without_last(1).id());
        let last = |prefix: &Prefix| prefix.backwards().next().map(|made| (made.index, made.constraints, made.first, made.pos));
        assert_eq!(last(&a), Some((1_000_000, 5, true, CodePos { func: 3, op: 7 })));
        assert_eq!(last(&b), Some((1_000_000, 5, false, CodePos::default())));
        assert_eq!(size_of::<Node>(), 48);
        assert_eq!(a.len(), 1_000_001);
        assert_eq!(a.without_last(1).to_vec(), b.without_last(1).to_vec());
        assert_ne!(a.to_vec().last(), b.to_vec().last());
    }
}
