//! Growths apart from the module they were lowered in: numbered from 0, so that another module can grow by them later.
//!
//! Inside of a growth everything has its own numbers: blocks, instructions, edges, calls, lists of slots, and the strings and positions that it
//! asked for, in the order in which it first did. Blocks that the function had before are [`OUTSIDE`], as numbers of a list that who
//! keeps the growth has. Slots and symbols are those of the module. What is attached in place of lowering gives the same module, record for record.

use rustc_hash::FxHashMap;

use super::Names;
use crate::inst::{Inst, NONE, Operand};
use crate::module::{Block, Call, Edge, Lengths, Loc, LocId, Module, Range, Str, StrId};

/// Marks the number of a block that is not the growth's own.
const OUTSIDE: u32 = 1 << 31;

/// The numbers of strings and positions that were asked for, in that order.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub strings: Vec<StrId>,
    pub locations: Vec<LocId>,
}

/// What is added to numbers, modulo 2^32.
struct Shift {
    insts: u32,
    edges: u32,
    calls: u32,
    lists: u32,
}

/// A growth's records, numbered anew.
struct Records {
    blocks: Vec<Block>,
    insts: Vec<Inst>,
    inst_locs: Vec<LocId>,
    edges: Vec<Edge>,
    calls: Vec<Call>,
    slot_lists: Vec<u32>,
}

/// Appends to `to`, numbered from 0, what the last function of a module, and nothing else of it, has grown by since it had these lengths.
/// `outside` gives the numbers of blocks that were there before. `false`: it has what no growth of machine code has, and no more than names
/// came to `to`.
pub fn detach(module: &Module, before: &Lengths, asked: &Asked, outside: impl Fn(u32) -> Option<u32>, to: &mut Module) -> bool {
    let (now, Some(f)) = (module.lengths(), module.functions.last()) else { return false };
    let Lengths { blocks, insts, inst_locs, edges, calls, slot_lists, strings, text, locations, .. } = *before;
    if (Lengths { blocks, insts, inst_locs, edges, calls, slot_lists, strings, text, locations, ..now }) != *before {
        return false;
    }
    let (strings, locations) = (numbered(&asked.strings), numbered(&asked.locations));
    let string = |id: StrId| strings.number.get(&id).copied();
    let location = |id: LocId| if id == 0 { Some(0) } else { locations.number.get(&id).map(|n| n + 1) };
    let first = blocks.wrapping_sub(f.blocks.first);
    let block = |number: u32| if number >= first { Some(number - first) } else { outside(number).map(|n| n | OUTSIDE) };
    let shift = Shift {
        insts: insts.wrapping_neg(),
        edges: f.edges.first.wrapping_sub(edges),
        calls: calls.wrapping_neg(),
        lists: slot_lists.wrapping_neg(),
    };
    let Some(records) = Records::renumbered(module, before, &now, &shift, block, string, location) else { return false };
    let text = to.text.len() as u32;
    for id in strings.order {
        let bytes = to.text.extend(module.raw_str(id));
        to.strings.push(Str { start: bytes.first - text, len: bytes.count });
    }
    for id in locations.order {
        let Some(loc) = moved(&module.locations[id as usize], string, location) else { return false };
        to.locations.push(loc);
    }
    records.append_to(to);
    true
}

/// Grows the last function by what [`detach`] put between both lengths of `of`, to this many slots; `outside` are the blocks that were there before.
/// It still has to be verified ([`crate::verify::verify_growth`]). `false`: there is no such growth, and no more than strings and positions
/// came to the module.
pub fn attach(module: &mut Module, names: &mut Names, of: &Module, from: &Lengths, to: &Lengths, slots: u32, outside: &[u32]) -> bool {
    let Some(&f) = module.functions.last() else { return false };
    let now = module.lengths();
    let (Some(texts), Some(new)) = (of.text.get(range(from.text, to.text)), of.strings.get(range(from.strings, to.strings))) else {
        return false;
    };
    let mut strings = Vec::with_capacity(new.len());
    for s in new {
        let Some(text) = texts.get(range(s.start, s.start.saturating_add(s.len))) else { return false };
        strings.push(names.str(module, text));
    }
    let string = |n: u32| strings.get(n as usize).copied();
    let Some(new) = of.locations.get(range(from.locations, to.locations)) else { return false };
    let mut locations = Vec::with_capacity(new.len() + 1);
    locations.push(0);
    for loc in new {
        let Some(loc) = moved(loc, string, |n| locations.get(n as usize).copied()) else { return false };
        locations.push(names.loc(module, loc));
    }
    let block = |number: u32| match number & OUTSIDE {
        0 => number.checked_add(f.blocks.count),
        _ => outside.get((number & !OUTSIDE) as usize).copied(),
    };
    let shift = Shift { insts: now.insts, edges: f.edges.count, calls: now.calls, lists: now.slot_lists };
    let Some(records) = Records::renumbered(of, from, to, &shift, block, string, |n| locations.get(n as usize).copied()) else {
        return false;
    };
    let (blocks, edges) = (records.blocks.len() as u32, records.edges.len() as u32);
    records.append_to(module);
    if let Some(f) = module.functions.owned().last_mut() {
        f.blocks.count += blocks;
        f.edges.count += edges;
        f.slots = f.slots.max(slots);
    }
    true
}

/// What was asked for, each once, and what number that gives it.
struct Numbered {
    order: Vec<u32>,
    number: FxHashMap<u32, u32>,
}

fn numbered(asked: &[u32]) -> Numbered {
    let mut all = Numbered { order: Vec::new(), number: FxHashMap::default() };
    for id in asked {
        let next = all.order.len() as u32;
        if *all.number.entry(*id).or_insert(next) == next {
            all.order.push(*id);
        }
    }
    all
}

fn moved(loc: &Loc, string: impl Fn(StrId) -> Option<StrId>, location: impl Fn(LocId) -> Option<LocId>) -> Option<Loc> {
    Some(Loc { file: string(loc.file)?, function: string(loc.function)?, inlined_at: location(loc.inlined_at)?, ..*loc })
}

fn range(from: u32, to: u32) -> std::ops::Range<usize> {
    from as usize..to as usize
}

impl Records {
    /// What a module has between both lengths, with other numbers. `None`: it has no such records, or others.
    fn renumbered(
        of: &Module,
        from: &Lengths,
        to: &Lengths,
        shift: &Shift,
        block: impl Fn(u32) -> Option<u32>,
        string: impl Fn(StrId) -> Option<StrId>,
        location: impl Fn(LocId) -> Option<LocId>,
    ) -> Option<Records> {
        let list = |r: Range| Range { first: r.first.wrapping_add(shift.lists), ..r };
        let edge = |e: &Edge| (e.copies.count == 0).then(|| block(e.block)).flatten().map(|block| Edge { block, ..*e });
        let insts = of.insts.get(range(from.insts, to.insts))?.iter();
        let blocks = of.blocks.get(range(from.blocks, to.blocks))?.iter();
        let calls = of.calls.get(range(from.calls, to.calls))?.iter();
        Some(Records {
            blocks: blocks.map(|b| Block { insts: Range { first: b.insts.first.wrapping_add(shift.insts), ..b.insts } }).collect(),
            insts: insts.map(|inst| renumbered(*inst, shift, &string)).collect::<Option<_>>()?,
            inst_locs: of.inst_locs.get(range(from.inst_locs, to.inst_locs))?.iter().map(|id| location(*id)).collect::<Option<_>>()?,
            edges: of.edges.get(range(from.edges, to.edges))?.iter().map(edge).collect::<Option<_>>()?,
            calls: calls.map(|call| Call { args: list(call.args), widths: list(call.widths), ..*call }).collect(),
            slot_lists: of.slot_lists.get(range(from.slot_lists, to.slot_lists))?.to_vec(),
        })
    }

    fn append_to(self, module: &mut Module) {
        module.blocks.extend(&self.blocks);
        module.insts.extend(&self.insts);
        module.inst_locs.extend(&self.inst_locs);
        module.edges.extend(&self.edges);
        module.calls.extend(&self.calls);
        module.slot_lists.extend(&self.slot_lists);
    }
}

/// An instruction whose operands have other numbers. Switches and variables of its own machine code has not.
fn renumbered(mut inst: Inst, shift: &Shift, string: impl Fn(StrId) -> Option<StrId>) -> Option<Inst> {
    let kinds = inst.operator()?.operands();
    for (kind, field) in kinds.into_iter().zip([&mut inst.dst, &mut inst.a, &mut inst.b, &mut inst.c]) {
        let number = *field;
        *field = match kind {
            _ if number == NONE => NONE,
            Operand::Edge => number.wrapping_add(shift.edges),
            Operand::Call => number.wrapping_add(shift.calls),
            Operand::List => number.wrapping_add(shift.lists),
            Operand::Str => string(number)?,
            Operand::Switch | Operand::Alloca => return None,
            Operand::No | Operand::Val | Operand::Word | Operand::Bit | Operand::Imm | Operand::SrcVal | Operand::Symbol => number,
        };
    }
    Some(inst)
}
