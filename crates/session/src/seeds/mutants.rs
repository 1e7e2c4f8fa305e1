//! Mutants of the inputs of a run, in the ways that fuzzers have found to work: bytes changed, inserted, repeated, removed, copied from
//! elsewhere or from another input, lines or fields of another input, replaced by words of the program, and numbers changed as text and as bits.
//!
//! Mutants are made of seeds, of the inputs of paths that entered a new block, and of earlier mutants. What a plain file can fill may become
//! longer or shorter. Inputs that the program makes keep their size.

use std::collections::VecDeque;
use std::ops::Range;

use fastrand::Rng;
use wryneck_exec::{Inputs, Mutator};

use super::slot::Slot;

/// Makes mutants.
pub struct Mutants {
    slots: Vec<Slot>,
    /// Of the program.
    words: Vec<Box<[u8]>>,
    /// What mutants are made of, the newest last.
    origins: Vec<Inputs>,
    /// Those of them that were the first to enter some code.
    firsts: Vec<usize>,
    /// Mutants with many entries that wait, and those with an entry of another input, the newest last.
    entries: VecDeque<Inputs>,
    joined: Vec<Inputs>,
    random: Rng,
}

/// Most changes to one input.
const MOST_CHANGES: u32 = 5;
/// Every second mutant is of one of so many newest origins.
const NEWEST: usize = 32;
/// Bytes that a longer input has more, at most.
const MORE: usize = 16;
/// Places at which a string is replaced, at most.
const PLACES: usize = 4;
/// Mutants with many entries: of an origin, of what others found, and those that wait, at most.
const OF_ORIGIN: usize = 64;
const OF_OTHERS: usize = 16;
const MOST_ENTRIES: usize = 4096;
/// Mutants with an entry of another input, of an input that was the first to enter some code, as the other was: what is new in one is tried with what is in others.
/// And those that wait, at most.
const JOINED: usize = 64;
const MOST_JOINED: usize = 4096;
/// Numbers at which programs decide: the bounds of integers, and of `double` those where it overflows, becomes subnormal, underflows and has to round.
const NUMBERS: &[&str] = &[
    "-1",
    "127",
    "128",
    "255",
    "256",
    "32767",
    "32768",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0.1",
    "9007199254740993",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "2.2250738585072014e-308",
    "2.2250738585072011e-308",
    "4.9406564584124654e-324",
    "2.4703282292062328e-324",
    "1e400",
    "1e-400",
];
/// Tries of changes until one gives an input that fits.
const TRIES: usize = 16;

impl Mutants {
    pub fn new(slots: Vec<Slot>, words: Vec<Box<[u8]>>, seed: u64) -> Mutants {
        let (origins, firsts, entries, joined) = Default::default();
        Mutants { slots, words, origins, firsts, entries, joined, random: Rng::with_seed(seed) }
    }

    /// Makes up to so many mutants of an input in which there are many entries for one.
    fn add_entries(&mut self, inputs: &Inputs, count: usize) {
        for slot in &self.slots {
            let Some(content) = content(slot, inputs) else { continue };
            // What is short has room for more.
            let variants: Vec<Vec<u8>> = [content.to_vec()].into_iter().chain(emptied(content)).collect();
            let all = variants.iter().flat_map(|content| entries(content, slot.most()).into_iter().map(move |entry| (content, entry)));
            let chosen = self.random.choose_multiple(all, count);
            self.entries
                .extend(chosen.into_iter().filter_map(|(content, entry)| filled(slot, inputs, counted(content, &entry, slot.most()))));
        }
        let too_many = self.entries.len().saturating_sub(MOST_ENTRIES);
        self.entries.drain(..too_many);
    }

    /// Makes mutants of an input with an entry of another one that was the first to enter some code; they are tried next.
    fn add_joined(&mut self, inputs: &Inputs) {
        for _ in 0..JOINED {
            let Some(other) = self.random.choice(&self.firsts).map(|at| &self.origins[*at]) else { return };
            for slot in &self.slots {
                let (Some(bytes), Some(other)) = (content(slot, inputs), content(slot, other)) else { continue };
                let mut bytes = bytes.to_vec();
                take_entry(&mut self.random, &mut bytes, other);
                bytes.truncate(slot.most());
                self.joined.extend(filled(slot, inputs, bytes));
            }
        }
        let too_many = self.joined.len().saturating_sub(MOST_JOINED);
        self.joined.drain(..too_many);
    }

    fn origin(&mut self) -> Option<&Inputs> {
        let count = self.origins.len();
        let from = if self.random.bool() { count.saturating_sub(NEWEST) } else { 0 };
        (count > 0).then(|| &self.origins[self.random.usize(from..count)])
    }
}

impl Mutator for Mutants {
    fn keep(&mut self, inputs: Inputs, is_first: bool) {
        if inputs.iter().any(|(_, bytes)| !bytes.is_empty()) {
            self.add_entries(&inputs, OF_ORIGIN);
            if is_first {
                self.add_joined(&inputs);
                self.firsts.push(self.origins.len());
            }
            self.origins.push(inputs);
        }
    }

    fn note(&mut self, inputs: &Inputs) {
        // Others find thousands, and mutants of what enters new code go first.
        if self.entries.len() < OF_ORIGIN {
            self.add_entries(inputs, OF_OTHERS);
        }
    }

    fn longer(&self, inputs: &Inputs) -> Option<Inputs> {
        let longer = |slot: &Slot| {
            let content = content(slot, inputs)?;
            let room = MORE.min(slot.most().saturating_sub(content.len()));
            let last = content.last().filter(|_| room > 0)?;
            slot.fill([content, &vec![*last; room]].concat()).ok()
        };
        let mut inputs = inputs.clone();
        let filled: Vec<Inputs> = self.slots.iter().filter_map(longer).map(|(filled, _)| filled).collect();
        let is_longer = !filled.is_empty();
        filled.into_iter().for_each(|filled| replace(&mut inputs, filled));
        is_longer.then_some(inputs)
    }

    fn replaced(&self, inputs: &Inputs, old: &[u8], new: &[u8]) -> Vec<Inputs> {
        let mut all = Vec::new();
        for slot in self.slots.iter().filter(|_| !old.is_empty()) {
            let Some(content) = content(slot, inputs) else { continue };
            let places = content.windows(old.len()).enumerate().filter(|(_, part)| *part == old).map(|(at, _)| at);
            all.extend(places.take(PLACES).filter_map(|at| {
                let mut content = [&content[..at], new, &content[at + old.len()..]].concat();
                content.truncate(slot.most());
                filled(slot, inputs, content)
            }));
        }
        all
    }

    fn mutant(&mut self) -> Option<Inputs> {
        if self.random.bool()
            && let Some(inputs) = self.joined.pop().or_else(|| self.entries.pop_front())
        {
            return Some(inputs);
        }
        let (other, mut inputs) = (self.origin()?.clone(), self.origin()?.clone());
        for _ in 0..TRIES {
            let (name, bytes) = inputs[self.random.usize(..inputs.len())].clone();
            let other = other.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, bytes)| bytes);
            let hand = |other| Hand { other, words: &self.words };
            let filled = match self.slots.iter().find(|slot| slot.is_of(&name)) {
                Some(slot) if slot.bytes == name => {
                    let bytes = changed(&mut self.random, slot.content(&bytes), &hand(slot.content(other)), slot.most());
                    slot.fill(bytes).map_or_else(|_| Vec::new(), |(filled, _)| filled)
                }
                // A number of bytes, which their content tells.
                Some(_) => continue,
                None => {
                    let mut new = changed(&mut self.random, &bytes, &hand(other), bytes.len());
                    new.resize(bytes.len(), 0);
                    vec![(name, new)]
                }
            };
            if !filled.is_empty() {
                replace(&mut inputs, filled);
                return Some(inputs);
            }
        }
        None
    }
}

/// A part of an input that may be an entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    part: Range<usize>,
    /// The letter or digit of it that counts up.
    counts: usize,
    /// What comes before each other one, if that is not in the part.
    separator: Option<u8>,
}

/// Pairs of brackets.
const BRACKETS: [(u8, u8); 4] = [(b'{', b'}'), (b'[', b']'), (b'(', b')'), (b'<', b'>')];

/// From a bracket, the places of those that may close it.
fn closes(bytes: &[u8], opens: usize) -> impl Iterator<Item = usize> {
    let closes = BRACKETS.iter().find(|(begin, _)| *begin == bytes[opens]).map(|(_, end)| *end);
    (opens + 1..bytes.len()).filter(move |at| Some(bytes[*at]) == closes).take(PLACES)
}

/// The input without what is between two brackets.
fn emptied(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let pairs = (0..bytes.len()).flat_map(|opens| closes(bytes, opens).map(move |closes| (opens, closes)));
    pairs.filter(|(opens, closes)| closes - opens > 1).map(|(opens, closes)| [&bytes[..=opens], &bytes[closes..]].concat())
}

/// Entries of an input that may have so many bytes: from a byte to before another one of its kind, or all between two brackets.
fn entries(bytes: &[u8], most: usize) -> Vec<Entry> {
    let room = most.saturating_sub(bytes.len());
    let mut all = Vec::new();
    let mut add = |part: Range<usize>, separator: Option<u8>| {
        if part.len() < 2 || part.len() + usize::from(separator.is_some()) > room {
            return;
        }
        let counting = part.clone().filter(|at| bytes[*at].is_ascii_alphanumeric());
        all.extend(counting.map(|counts| Entry { part: part.clone(), counts, separator }));
    };
    for begin in (0..bytes.len()).filter(|at| !bytes[*at].is_ascii_alphanumeric()) {
        let ends = (begin + 1..bytes.len()).filter(|at| bytes[*at] == bytes[begin]).take(PLACES);
        ends.for_each(|end| add(begin..end, None));
        closes(bytes, begin).for_each(|end| add(begin + 1..end, Some(b',')));
    }
    all
}

/// The input with an entry as often as there is room, of which one byte counts up: so many different ones make a table grow.
fn counted(bytes: &[u8], entry: &Entry, most: usize) -> Vec<u8> {
    let Entry { part, counts, separator } = entry;
    let mut all = bytes[..part.end].to_vec();
    let len = part.len() + usize::from(separator.is_some());
    for n in 1..=(most - bytes.len()) / len {
        all.extend(separator);
        all.extend_from_slice(&bytes[part.clone()]);
        let at = all.len() - part.len() + counts - part.start;
        all[at] = bytes[*counts].wrapping_add(n as u8);
    }
    all.extend_from_slice(&bytes[part.end..]);
    all
}

/// What the inputs fill a slot with.
fn content<'a>(slot: &Slot, inputs: &'a Inputs) -> Option<&'a [u8]> {
    inputs.iter().find(|(name, _)| *name == slot.bytes).map(|(_, bytes)| slot.content(bytes))
}

/// The inputs with this in the slot, if it fits.
fn filled(slot: &Slot, inputs: &Inputs, content: Vec<u8>) -> Option<Inputs> {
    let (filled, _) = slot.fill(content).ok()?;
    let mut inputs = inputs.clone();
    replace(&mut inputs, filled);
    Some(inputs)
}

/// Puts these inputs in the place of those of their names.
fn replace(inputs: &mut Inputs, by: Inputs) {
    inputs.retain(|(name, _)| by.iter().all(|(other, _)| other != name));
    inputs.extend(by);
}

/// What is at hand for a change: another input, and words.
struct Hand<'a> {
    other: &'a [u8],
    words: &'a [Box<[u8]>],
}

/// A few changes of an input that may have so many bytes.
fn changed(random: &mut Rng, bytes: &[u8], hand: &Hand, most: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.u32(1..=MOST_CHANGES) {
        let change = CHANGES[random.usize(..CHANGES.len())];
        change(random, &mut bytes, hand, most);
        bytes.truncate(most);
    }
    bytes
}

/// A way to change an input of at most so many bytes. It may leave the input as it is.
type Change = fn(&mut Rng, &mut Vec<u8>, &Hand, usize);

const CHANGES: &[Change] = &[
    |random, bytes, _, _| set_byte(random, bytes),
    |random, bytes, _, _| flip_bit(random, bytes),
    |random, bytes, _, _| insert_bytes(random, bytes),
    |random, bytes, _, most| insert_repeated(random, bytes, most),
    |random, bytes, _, most| repeat_part(random, bytes, most),
    |random, bytes, _, _| remove_part(random, bytes),
    |random, bytes, _, most| copy_part(random, bytes, most),
    |random, bytes, hand, most| take_part(random, bytes, hand.other, most),
    |random, bytes, hand, _| take_entry(random, bytes, hand.other),
    |random, bytes, hand, most| put_word(random, bytes, hand.words, most),
    |random, bytes, hand, _| replace_word(random, bytes, hand.words),
    |random, bytes, _, _| change_number(random, bytes),
    |random, bytes, _, _| set_number(random, bytes),
    |random, bytes, _, _| change_bits(random, bytes),
    |random, bytes, _, _| cut(random, bytes),
];

/// A part of so many bytes, not empty if there are any; short ones are likelier.
fn part(random: &mut Rng, len: usize) -> Range<usize> {
    if len == 0 {
        return 0..0;
    }
    let begin = random.usize(..len);
    let most = (len - begin).min(1 << random.u32(0..7));
    begin..begin + random.usize(1..=most)
}

fn place(random: &mut Rng, bytes: &[u8]) -> usize {
    random.usize(..=bytes.len())
}

fn insert(bytes: &mut Vec<u8>, at: usize, what: impl IntoIterator<Item = u8>) {
    bytes.splice(at..at, what);
}

/// A byte that the input has, or any.
fn byte(random: &mut Rng, bytes: &[u8]) -> u8 {
    match random.u32(0..4) {
        0 => random.u8(..),
        1 => [0, 0xff, 0x7f, 0x80][random.usize(..4)],
        _ if bytes.is_empty() => random.u8(..),
        _ => bytes[random.usize(..bytes.len())],
    }
}

fn set_byte(random: &mut Rng, bytes: &mut [u8]) {
    if !bytes.is_empty() {
        let at = random.usize(..bytes.len());
        bytes[at] = byte(random, bytes);
    }
}

fn flip_bit(random: &mut Rng, bytes: &mut [u8]) {
    if !bytes.is_empty() {
        let at = random.usize(..bytes.len());
        bytes[at] ^= 1 << random.u32(0..8);
    }
}

fn insert_bytes(random: &mut Rng, bytes: &mut Vec<u8>) {
    let (at, count) = (place(random, bytes), random.usize(1..=4));
    let new: Vec<u8> = (0..count).map(|_| byte(random, bytes)).collect();
    insert(bytes, at, new);
}

/// One byte many times.
fn insert_repeated(random: &mut Rng, bytes: &mut Vec<u8>, most: usize) {
    let room = most.saturating_sub(bytes.len());
    if room > 0 {
        let (at, count, byte) = (place(random, bytes), random.usize(1..=room), byte(random, bytes));
        insert(bytes, at, std::iter::repeat_n(byte, count));
    }
}

/// A part many times, where it is.
fn repeat_part(random: &mut Rng, bytes: &mut Vec<u8>, most: usize) {
    let part = part(random, bytes.len());
    let room = most.saturating_sub(bytes.len()) / part.len().max(1);
    if room > 0 && !part.is_empty() {
        let again = bytes[part.clone()].repeat(random.usize(1..=room));
        insert(bytes, part.end, again);
    }
}

fn remove_part(random: &mut Rng, bytes: &mut Vec<u8>) {
    let part = part(random, bytes.len());
    bytes.drain(part);
}

/// A part to another place, over what is there or between it.
fn copy_part(random: &mut Rng, bytes: &mut Vec<u8>, most: usize) {
    let copied = bytes[part(random, bytes.len())].to_vec();
    put(random, bytes, &copied, most);
}

/// A part of another input.
fn take_part(random: &mut Rng, bytes: &mut Vec<u8>, other: &[u8], most: usize) {
    let taken = other[part(random, other.len())].to_vec();
    put(random, bytes, &taken, most);
}

/// An entry of another input, as of a list whose entries some byte separates: a field, or half of the time a line. It comes before an entry or last.
fn take_entry(random: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let mut separators = [&bytes[..], other].concat();
    separators.retain(|byte| !byte.is_ascii_alphanumeric());
    if separators.contains(&b'\n') && random.bool() {
        separators = vec![b'\n'];
    }
    let Some(separator) = random.choice(separators) else { return };
    let taken: Vec<&[u8]> = other.split(|byte| *byte == separator).filter(|entry| !entry.is_empty()).collect();
    let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == separator).chain([bytes.len()]).collect();
    if let (Some(entry), Some(at)) = (random.choice(taken), random.choice(places)) {
        insert(bytes, at, [&[separator], entry].concat());
    }
}

/// A word of the program, over what is there or between it.
fn put_word(random: &mut Rng, bytes: &mut Vec<u8>, words: &[Box<[u8]>], most: usize) {
    if let Some(word) = random.choice(words) {
        put(random, bytes, word, most);
    }
}

/// A word of the program in the place of letters and digits that stand together.
fn replace_word(random: &mut Rng, bytes: &mut Vec<u8>, words: &[Box<[u8]>]) {
    let from = place(random, bytes);
    let other = |at: &usize| !bytes[*at].is_ascii_alphanumeric();
    let (Some(word), Some(within)) = (random.choice(words), (from..bytes.len()).find(|at| !other(at))) else { return };
    let begin = (0..within).rev().find(other).map_or(0, |at| at + 1);
    let end = (within..bytes.len()).find(other).unwrap_or(bytes.len());
    bytes.splice(begin..end, word.iter().copied());
}

fn put(random: &mut Rng, bytes: &mut Vec<u8>, what: &[u8], most: usize) {
    let at = place(random, bytes);
    if random.bool() && bytes.len() + what.len() <= most {
        return insert(bytes, at, what.iter().copied());
    }
    let over = at..(at + what.len()).min(bytes.len());
    bytes.splice(over, what.iter().copied());
}

/// A decimal number in the input.
fn change_number(random: &mut Rng, bytes: &mut Vec<u8>) {
    let Some(digits) = digits(random, bytes) else { return };
    let number = bytes[digits.clone()].iter().fold(0u64, |n, digit| n.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')));
    let number = match random.u32(0..6) {
        0 => number.wrapping_add(1),
        1 => number.wrapping_sub(1),
        2 => number / 2,
        3 => number.wrapping_mul(2),
        4 => 1 << random.u32(0..64),
        _ => random.u64(..=number.wrapping_mul(number).max(9)),
    };
    bytes.splice(digits, number.to_string().into_bytes());
}

/// Digits that stand together, from a place on.
fn digits(random: &mut Rng, bytes: &[u8]) -> Option<Range<usize>> {
    let from = place(random, bytes);
    let begin = (from..bytes.len()).find(|at| bytes[*at].is_ascii_digit())?;
    Some(begin..(begin..bytes.len()).find(|at| !bytes[*at].is_ascii_digit()).unwrap_or(bytes.len()))
}

/// One of [`NUMBERS`] in the place of a decimal number.
fn set_number(random: &mut Rng, bytes: &mut Vec<u8>) {
    if let Some(digits) = digits(random, bytes) {
        bytes.splice(digits, NUMBERS[random.usize(..NUMBERS.len())].bytes());
    }
}

/// A number of 1, 2, 4 or 8 bytes in either order.
fn change_bits(random: &mut Rng, bytes: &mut [u8]) {
    let width = 1 << random.u32(0..4);
    if bytes.len() < width {
        return;
    }
    let at = random.usize(..=bytes.len() - width);
    let field = &mut bytes[at..at + width];
    let is_big = random.bool();
    if is_big {
        field.reverse();
    }
    let number = field.iter().rev().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
    let number = match random.u32(0..3) {
        0 => number.wrapping_add(random.u64(..=10)),
        1 => number.wrapping_sub(random.u64(..=10)),
        _ => number.wrapping_neg(),
    };
    field.copy_from_slice(&number.to_le_bytes()[..width]);
    if is_big {
        field.reverse();
    }
}

/// The end goes.
fn cut(random: &mut Rng, bytes: &mut Vec<u8>) {
    bytes.truncate(place(random, bytes));
}

#[cfg(test)]
mod tests {
    use wryneck_environ::{ProgramInput, Stdin};

    use super::super::slot::slots;
    use super::*;

    #[test]
    fn every_change_keeps_the_size_and_some_change_something() {
        let mut random = Rng::with_seed(7);
        let hand = Hand { other: b"other 77", words: &[Box::from(&b"word"[..])] };
        for change in CHANGES {
            let mut changed = 0;
            for round in 0..2000 {
                let most = random.usize(0..40);
                let len = random.usize(0..=most);
                let before: Vec<u8> = (0..len).map(|_| b"0123456789,[]x"[random.usize(..14)]).collect();
                let mut bytes = before.clone();
                change(&mut random, &mut bytes, &hand, most);
                bytes.truncate(most);
                changed += u32::from(bytes != before);
                assert!(round < 1999 || changed > 500, "a change that changes nothing");
            }
        }
    }

    /// Mutants of up to eight bytes of standard input, and what fills it.
    fn of_eight_bytes() -> (Mutants, impl Fn(&[u8]) -> Inputs) {
        let input = ProgramInput { stdin: Stdin::Symbolic(0, 8), ..ProgramInput::default() };
        let slot = slots(&input).swap_remove(0);
        (Mutants::new(vec![slot.clone()], Vec::new(), 7), move |text| slot.fill(text.to_vec()).expect("it fits").0)
    }

    #[test]
    fn a_string_is_replaced_wherever_it_is() {
        let (mutants, filled) = of_eight_bytes();
        let replaced = |text: &[u8], old: &[u8], new: &[u8]| mutants.replaced(&filled(text), old, new);
        assert_eq!(replaced(b"%a b a", b"a", b"TAG"), [filled(b"%TAG b a"), filled(b"%a b TAG")]);
        assert_eq!(replaced(b"1234xy", b"xy", b"longer"), [filled(b"1234long")]);
        assert_eq!(replaced(b"abc", b"x", b"y"), [] as [Inputs; 0]);
        assert_eq!(replaced(b"abc", b"", b"y"), [] as [Inputs; 0]);
    }

    #[test]
    fn entries_count_up_as_often_as_there_is_room() {
        let of = |part: Range<usize>, counts, separator| Entry { part, counts, separator };
        let all = entries(b",a:1,b:2", 20);
        assert!(all.contains(&of(0..4, 1, None)) && all.contains(&of(0..4, 3, None)), "{all:?}");
        assert_eq!(counted(b",a:1,b:2", &of(0..4, 1, None), 20), b",a:1,b:1,c:1,d:1,b:2");
        let in_brackets = of(1..4, 1, Some(b','));
        assert!(entries(b"{a:1}", 20).contains(&in_brackets));
        assert_eq!(counted(b"{a:1}", &in_brackets, 16), b"{a:1,b:1,c:1}");
        assert!(entries(b",a:1,b:2", 10).is_empty());
    }

    #[test]
    fn what_is_between_brackets_can_go() {
        let all: Vec<Vec<u8>> = emptied(b"{a:[1],b:[]}").collect();
        assert_eq!(all, [&b"{}"[..], b"{a:[],b:[]}", b"{a:[]}"]);
    }

    /// What a hundred changes make of an input.
    fn made(input: &[u8], change: impl Fn(&mut Rng, &mut Vec<u8>)) -> Vec<Vec<u8>> {
        let mut random = Rng::with_seed(7);
        let changed = (0..100).map(|_| {
            let mut bytes = input.to_vec();
            change(&mut random, &mut bytes);
            bytes
        });
        Vec::from_iter(changed.collect::<std::collections::BTreeSet<_>>())
    }

    #[test]
    fn a_word_takes_the_place_of_letters_that_stand_together() {
        let words = [Box::from(&b"false"[..])];
        let all = made(b"[true,1]", |random, bytes| replace_word(random, bytes, &words));
        assert_eq!(all, [&b"[false,1]"[..], b"[true,1]", b"[true,false]"]);
    }

    #[test]
    fn a_line_of_another_input_comes_before_a_line_or_last() {
        let all = made(b"a\nb", |random, bytes| take_entry(random, bytes, b"1\n2\n"));
        assert_eq!(all, [&b"a\n1\nb"[..], b"a\n2\nb", b"a\nb\n1", b"a\nb\n2"]);
    }

    #[test]
    fn what_enters_new_code_is_joined_however_many_entries_wait() {
        let (mut mutants, filled) = of_eight_bytes();
        mutants.entries = std::iter::repeat_n(filled(b"x"), MOST_ENTRIES).collect();
        mutants.keep(filled(b"\n--"), true);
        mutants.keep(filled(b"%1"), true);
        mutants.keep(filled(b",a:1"), false);
        let first = (0..100).filter_map(|_| mutants.mutant()).take(100).any(|mutant| mutant == filled(b"%1\n--"));
        assert!(first && mutants.entries.len() > MOST_ENTRIES - 100);
    }

    #[test]
    fn a_longer_input_goes_on_with_its_last_byte_where_there_is_room() {
        let (mutants, filled) = of_eight_bytes();
        assert_eq!(mutants.longer(&filled(b"abc")), Some(filled(b"abcccccc")));
        assert_eq!(mutants.longer(&filled(b"")), None);
        assert_eq!(mutants.longer(&filled(b"12345678")), None);
    }
}
