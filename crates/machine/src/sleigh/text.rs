//! Instructions as assembler text: the pieces that constructors print, with their operands between.

use super::DecodeError;
use super::layout::{NONE, constructor, operand, symbol};
use super::parse::Parse;

/// Mnemonic and operands.
pub(super) fn of(parse: &Parse<'_>) -> Result<(String, String), DecodeError> {
    let s = parse.specification;
    let mut node = 0;
    // A constructor that prints nothing but another is that one.
    loop {
        let own = parse.nodes[node as usize];
        let through = s.word(own.record + constructor::THROUGH);
        let is_table = |i: u32| {
            let subject = s.word(s.operand(own.record, i) + operand::SYMBOL);
            subject != NONE && s.word(subject) == symbol::TABLE
        };
        if through == NONE || !is_table(through) {
            break;
        }
        node = own.children + through;
    }
    let record = parse.nodes[node as usize].record;
    let (pieces, blank) = (s.word(record + constructor::PIECES), s.word(record + constructor::BLANK));
    let (mut mnemonic, mut operands) = (String::new(), String::new());
    for piece in 0..pieces.min(blank) {
        print(parse, node, piece, &mut mnemonic)?;
    }
    for piece in blank.saturating_add(1)..pieces {
        print(parse, node, piece, &mut operands)?;
    }
    Ok((mnemonic, operands))
}

/// Prints one piece of a node's constructor.
fn print(parse: &Parse<'_>, node: u32, piece: u32, to: &mut String) -> Result<(), DecodeError> {
    let s = parse.specification;
    let own = parse.nodes[node as usize];
    let word = s.word(own.record + constructor::LISTS + s.word(own.record + constructor::OPERANDS) + piece);
    if word.is_multiple_of(2) {
        to.push_str(&String::from_utf8_lossy(s.text_at(word / 2)));
        return Ok(());
    }
    let (i, child) = (word / 2, own.children + word / 2);
    let record = s.operand(own.record, i);
    let subject = s.word(record + operand::SYMBOL);
    if subject == NONE {
        number(parse.value(s.word(record + operand::DEFINED), child)?, to);
        return Ok(());
    }
    match s.word(subject) {
        symbol::TABLE => {
            let pieces = s.word(parse.nodes[child as usize].record + constructor::PIECES);
            return (0..pieces).try_for_each(|piece| print(parse, child, piece, to));
        }
        symbol::EPSILON => to.push('0'),
        symbol::VALUE => number(parse.value(s.word(subject + 1), child)?, to),
        symbol::VALUES => number(s.wide(parse.chosen(subject, child)?) as i64, to),
        symbol::NAMES => to.push_str(&String::from_utf8_lossy(s.text_at(s.word(parse.chosen(subject, child)?)))),
        symbol::VARNODE => to.push_str(&String::from_utf8_lossy(s.text_at(s.word(subject + 5)))),
        symbol::VARNODES => to.push_str(&String::from_utf8_lossy(s.text_at(s.word(s.word(parse.chosen(subject, child)?) + 5)))),
        symbol::START => number(parse.address as i64, to),
        symbol::NEXT => number(parse.next() as i64, to),
        _ => return Err(DecodeError::Unknown),
    }
    Ok(())
}

fn number(value: i64, to: &mut String) {
    let sign = if value < 0 { "-" } else { "" };
    to.push_str(&format!("{sign}0x{:x}", value.unsigned_abs()));
}
