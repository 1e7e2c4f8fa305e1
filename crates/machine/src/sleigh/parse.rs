//! The tree of constructors that an instruction is, and the expressions over its bits.

use super::layout::{NONE, change, constructor, decision, expression, header, operand, pattern, symbol};
use super::{At, DecodeError, Specification};

/// Bytes an instruction may have, for SLEIGH.
const BYTES: usize = 16;
/// Nodes that an instruction's tree may have, and their depth: prefixes can be repeated.
const MAX_NODES: usize = 256;
const MAX_DEPTH: u32 = 32;

/// What an operand is. Offsets may be known only when the instruction runs: then it is what the pointer points to, read to a temporary.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handle {
    pub space: u32,
    pub size: u32,
    /// The offset, or that of the pointer.
    pub offset: u64,
    pub pointer: Option<Pointer>,
}

/// A pointer in a handle: where it is but for the offset, and where what it points to is read to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pointer {
    pub space: u32,
    pub size: u32,
    pub temp_space: u32,
    pub temp_offset: u64,
}

/// An operand, or the whole instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Number and record of the constructor, if it is one.
    pub constructor: u32,
    pub record: At,
    /// First byte, and bytes.
    pub offset: u32,
    pub length: u32,
    pub parent: u32,
    /// The first operand's node; the others follow.
    pub children: u32,
    pub handle: Handle,
}

/// An instruction's tree. The first node is the root.
pub(super) struct Parse<'s> {
    pub specification: &'s Specification,
    pub address: u64,
    bytes: [u8; BYTES],
    context: Vec<u32>,
    pub nodes: Vec<Node>,
}

/// Where an expression is evaluated: at a node, or at an operand that has none yet.
#[derive(Clone, Copy)]
struct Place {
    node: u32,
    constructor: u32,
    offset: u32,
}

impl<'s> Parse<'s> {
    /// The tree of the instruction that the bytes begin with.
    pub(super) fn of(specification: &'s Specification, address: u64, bytes: &[u8]) -> Result<Parse<'s>, DecodeError> {
        let mut own = [0; BYTES];
        let there = bytes.len().min(BYTES);
        own[..there].copy_from_slice(&bytes[..there]);
        let context = specification.context.clone();
        let mut parse = Parse { specification, address, bytes: own, context, nodes: Vec::with_capacity(32) };
        parse.nodes.push(Node::at(0, NONE));
        parse.choose(0, specification.word(header::ROOT), 0)?;
        if parse.length() > there {
            return Err(DecodeError::CutOff(there));
        }
        Ok(parse)
    }

    /// Bytes of the instruction.
    pub(super) fn length(&self) -> usize {
        self.nodes[0].length as usize
    }

    /// Address after the instruction.
    pub(super) fn next(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.nodes[0].length))
    }

    /// Gives a node the constructor that the table has for its bits, and that one's operands.
    fn choose(&mut self, node: u32, table: u32, depth: u32) -> Result<(), DecodeError> {
        let s = self.specification;
        let offset = self.nodes[node as usize].offset;
        let number = self.decide(s.word(s.tables + table), offset)?;
        let record = s.constructor(number);
        let (operands, pieces) = (s.word(record + constructor::OPERANDS), s.word(record + constructor::PIECES));
        let children = self.nodes.len();
        if depth >= MAX_DEPTH || children + operands as usize > MAX_NODES {
            return Err(DecodeError::TooLong);
        }
        self.nodes.extend((0..operands).map(|_| Node::at(0, node)));
        let own = &mut self.nodes[node as usize];
        (own.constructor, own.record, own.children) = (number, record, children as u32);
        let changes = record + constructor::LISTS + operands + pieces;
        for i in 0..s.word(record + constructor::CHANGES) {
            let change = s.word(changes + i);
            let value = self.value(s.word(change + change::VALUE), node)? as u32;
            let mask = s.word(change + change::MASK);
            let value = value.wrapping_shl(s.word(change + change::SHIFT));
            let word = self.context.get_mut(s.word(change + change::WORD) as usize).ok_or(DecodeError::Unknown)?;
            *word = *word & !mask | value & mask;
        }
        for i in 0..operands {
            self.resolve(node, children as u32, i, depth)?;
        }
        let rows = &self.nodes[children..children + operands as usize];
        let ends = rows.iter().map(|child| child.offset + child.length);
        let end = ends.fold(offset + s.word(record + constructor::MIN_LENGTH), u32::max);
        self.nodes[node as usize].length = end - offset;
        Ok(())
    }

    /// Finds an operand's place, and its constructor if it is one.
    fn resolve(&mut self, parent: u32, children: u32, i: u32, depth: u32) -> Result<(), DecodeError> {
        let s = self.specification;
        let record = s.operand(self.nodes[parent as usize].record, i);
        let base = match s.word(record + operand::BASE) {
            NONE => self.nodes[parent as usize].offset,
            before => {
                let before = self.nodes[(children + before) as usize];
                before.offset + before.length
            }
        };
        let child = children + i;
        self.nodes[child as usize].offset = base.wrapping_add(s.word(record + operand::OFFSET));
        let subject = s.word(record + operand::SYMBOL);
        if subject != NONE {
            match s.word(subject) {
                symbol::TABLE => return self.choose(child, s.word(subject + 1), depth + 1),
                symbol::VALUES | symbol::NAMES | symbol::VARNODES => _ = self.chosen(subject, child)?,
                _ => {}
            }
        }
        self.nodes[child as usize].length = s.word(record + operand::MIN_LENGTH);
        Ok(())
    }

    /// Where the row is that a symbol with a list has at a node.
    pub(super) fn chosen(&self, subject: At, node: u32) -> Result<At, DecodeError> {
        let s = self.specification;
        let index = self.value(s.word(subject + 1), node)?;
        let index = u32::try_from(index).ok().filter(|i| *i < s.word(subject + 2)).ok_or(DecodeError::NoInstruction)?;
        let wide = s.word(subject) == symbol::VALUES;
        let at = subject + 3 + if wide { 2 * index } else { index };
        let none = if wide { s.wide(at) == super::layout::NO_VALUE } else { s.word(at) == NONE };
        if none { Err(DecodeError::NoInstruction) } else { Ok(at) }
    }

    /// The constructor that a decision comes to.
    fn decide(&self, mut node: At, offset: u32) -> Result<u32, DecodeError> {
        let s = self.specification;
        loop {
            let bits = s.word(node + decision::BITS);
            if bits == 0 {
                break;
            }
            let first = s.word(node + decision::FIRST_BIT);
            let value = match s.word(node + decision::OF_CONTEXT) {
                0 => self.instruction_bits(offset, first, bits)?,
                _ => self.context_bits(first, bits),
            };
            node = s.word(node + decision::CHILDREN + value);
        }
        for pair in 0..s.word(node + decision::CHILDREN) {
            let at = node + decision::PAIRS + 2 * pair;
            let blocks = s.word(at);
            if self.matches(s.word(blocks), |byte| self.instruction_bytes(offset + byte, 4))?
                && self.matches(s.word(blocks + 1), |byte| Ok(self.context_bits(8 * byte, 32)))?
            {
                return Ok(s.word(at + 1));
            }
        }
        Err(DecodeError::NoInstruction)
    }

    fn matches(&self, block: At, word: impl Fn(u32) -> Result<u32, DecodeError>) -> Result<bool, DecodeError> {
        let s = self.specification;
        if block == NONE {
            return Ok(true);
        }
        if s.word(block + pattern::POSSIBLE) == 0 {
            return Ok(false);
        }
        let first = s.word(block + pattern::FIRST_BYTE);
        for i in 0..s.word(block + pattern::COUNT) {
            let at = block + pattern::WORDS + 2 * i;
            if word(first + 4 * i)? & s.word(at) != s.word(at + 1) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Up to four bytes of the instruction as a number, the first one highest. Behind the last one are zeros.
    fn instruction_bytes(&self, first: u32, count: u32) -> Result<u32, DecodeError> {
        if first as usize >= BYTES {
            return Err(DecodeError::TooLong);
        }
        let byte = |i: u32| self.bytes.get((first + i) as usize).map_or(0, |b| u32::from(*b));
        Ok((0..count).fold(0, |sum, i| sum << 8 | byte(i)))
    }

    /// At most 32 bits of the instruction, the highest one of a byte first, in at most four bytes.
    fn instruction_bits(&self, offset: u32, first: u32, count: u32) -> Result<u32, DecodeError> {
        let skip = first % 8;
        let bytes = (skip + count - 1) / 8 + 1;
        let number = self.instruction_bytes(offset + first / 8, bytes)?;
        Ok(number.wrapping_shl(32 - 8 * bytes + skip).wrapping_shr(32 - count))
    }

    /// At most 32 bits of the context, the highest one of a word first.
    fn context_bits(&self, first: u32, count: u32) -> u32 {
        let word = |i: u32| self.context.get(i as usize).map_or(0, |w| u64::from(*w));
        let both = word(first / 32) << 32 | word(first / 32 + 1);
        ((both << (first % 32)) >> (64 - count)) as u32
    }

    /// The value of an expression at a node.
    pub(super) fn value(&self, x: At, node: u32) -> Result<i64, DecodeError> {
        let own = &self.nodes[node as usize];
        self.evaluate(x, Place { node, constructor: own.constructor, offset: own.offset })
    }

    fn evaluate(&self, x: At, place: Place) -> Result<i64, DecodeError> {
        let s = self.specification;
        let arg = |n: u32| s.word(x + n);
        let side = |n: u32| self.evaluate(arg(n), place);
        Ok(match s.word(x) {
            expression::TOKEN => self.token([arg(1), arg(2), arg(3), arg(4), arg(5), arg(6)], place)?,
            expression::CONTEXT => {
                let (first, last) = (arg(2), arg(3));
                let bytes = (first..=last).map(|byte| self.context_bits(8 * byte, 8));
                let number = bytes.fold(0, |sum: i64, byte| sum << 8 | i64::from(byte));
                extended(number.wrapping_shr(arg(4)), arg(5), arg(1) != 0)
            }
            expression::CONSTANT => s.wide(x + 1) as i64,
            expression::OPERAND => return self.operand_value(arg(1), arg(2), place),
            expression::START => self.address as i64,
            expression::NEXT => self.next() as i64,
            expression::ADD => side(1)?.wrapping_add(side(2)?),
            expression::SUB => side(1)?.wrapping_sub(side(2)?),
            expression::MUL => side(1)?.wrapping_mul(side(2)?),
            expression::SHIFT_LEFT => side(1)?.wrapping_shl(side(2)? as u32),
            expression::SHIFT_RIGHT => side(1)?.wrapping_shr(side(2)? as u32),
            expression::AND => side(1)? & side(2)?,
            expression::OR => side(1)? | side(2)?,
            expression::XOR => side(1)? ^ side(2)?,
            expression::DIV => side(1)?.checked_div(side(2)?).ok_or(DecodeError::Unknown)?,
            expression::MINUS => side(1)?.wrapping_neg(),
            expression::NOT => !side(1)?,
            _ => return Err(DecodeError::Unknown),
        })
    }

    /// A field of the instruction's bytes.
    fn token(&self, [big, signed, first, last, shift, bit]: [u32; 6], place: Place) -> Result<i64, DecodeError> {
        let mut number = 0u64;
        // By words, as only their beginnings must be among the instruction's bytes.
        let (mut at, count) = (first, last - first + 1);
        while at <= last {
            let bytes = (last - at + 1).min(4);
            number = number << (8 * bytes) | u64::from(self.instruction_bytes(place.offset + at, bytes)?);
            at += bytes;
        }
        if big == 0 {
            number = number.swap_bytes() >> (64 - 8 * count);
        }
        Ok(extended((number as i64).wrapping_shr(shift), bit, signed != 0))
    }

    /// What an operand of a constructor, which is the place's or one around it, is in an expression.
    fn operand_value(&self, number: u32, i: u32, place: Place) -> Result<i64, DecodeError> {
        let s = self.specification;
        let record = s.operand(s.constructor(number), i);
        let value = s.word(record + operand::VALUE);
        if value == NONE {
            return Ok(0);
        }
        let mut at = place.node;
        while at != NONE && self.nodes[at as usize].constructor != number {
            at = self.nodes[at as usize].parent;
        }
        // Of a constructor whose operands are not resolved yet, only those at fixed distances are asked for.
        let fixed = s.word(record + operand::BASE) == NONE;
        let offset = match at {
            NONE if place.node == NONE && place.constructor == number && fixed => place.offset + s.word(record + operand::OFFSET),
            NONE => return Err(DecodeError::Unknown),
            at if fixed => self.nodes[at as usize].offset + s.word(record + operand::OFFSET),
            at => self.nodes[(self.nodes[at as usize].children + i) as usize].offset,
        };
        self.evaluate(value, Place { node: NONE, constructor: number, offset })
    }
}

impl Node {
    fn at(offset: u32, parent: u32) -> Node {
        Node { constructor: NONE, record: NONE, offset, length: 0, parent, children: 0, handle: Handle::default() }
    }
}

/// The bits up to the highest one, with its sign or without.
fn extended(number: i64, bit: u32, signed: bool) -> i64 {
    let unused = 63u32.saturating_sub(bit);
    let up = number << unused;
    if signed { up >> unused } else { ((up as u64) >> unused) as i64 }
}
