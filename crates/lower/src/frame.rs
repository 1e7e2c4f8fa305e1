//! Frames: temporaries that live inside one block share slots, and loop counters are updated in place.
//!
//! Lowering gives every value slots of its own. Two passes over a finished function make frames small, since they are
//! zeroed at every call and copied at forks. *Coalescing*: where a block loops to itself and a phi is last read before,
//! or when, its next value is computed, both get the phi's slot and the copy goes (Chaitin 1982, in the one case that
//! needs no liveness). *Sharing*: a value read only in the block that computes it gives its slot back after the last
//! read (linear scan, Poletto and Sarkar 1999, a block at a time). Values of several limbs keep theirs. Cost: linear.

use wryneck_ir::{Edge, Inst, Module, NONE, Op, Operand, SlotCopy, limbs};

/// Where a slot is written and read.
#[derive(Clone, Copy, Default)]
struct Life {
    /// Instructions that write it, and the last of them.
    writes: u32,
    write: Place,
    /// The only block that reads it; [`NOWHERE`] and [`SEVERAL`] else.
    reads: Place,
    /// Edges write it.
    is_phi: bool,
    /// Part of a value of several limbs.
    is_wide: bool,
    /// Read before it is written in its block.
    is_early: bool,
}

/// A block and the instruction in it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    block: u32,
    at: u32,
}

const NOWHERE: u32 = NONE;
const SEVERAL: u32 = NONE - 1;

impl Default for Place {
    fn default() -> Place {
        Place { block: NOWHERE, at: 0 }
    }
}

/// A function's records, and how its slots are numbered.
struct Frame<'m> {
    module: &'m mut Module,
    function: usize,
    /// First slot that is neither constant nor parameter.
    first: u32,
    lives: Vec<Life>,
}

/// What an instruction does with a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// Gives the slots of the module's last function anew.
pub fn allocate(module: &mut Module, function: u32) {
    let f = module.functions[function as usize];
    let params: u32 = module.params.range(f.params).iter().map(|p| limbs(p.width)).sum();
    let lives = vec![Life::default(); f.slots as usize];
    let mut frame = Frame { module, function: function as usize, first: f.consts.count + params, lives };
    frame.empty_unused_edges();
    frame.find_lives();
    let merged = frame.coalesce();
    frame.renumber(&merged);
    if merged.iter().enumerate().any(|(old, &new)| old as u32 != new) {
        frame.lives.fill(Life::default());
        frame.find_lives();
    }
    let shared = frame.share();
    frame.renumber(&shared);
}

/// The slots an instruction names by its own fields: slot, limbs, access.
fn fields(inst: &Inst, op: Op) -> impl Iterator<Item = (u32, u32, Access)> {
    let width = u32::from(inst.width);
    let source = move |n: usize| match (op, n) {
        (Op::Concat, 1) => width - inst.c,
        _ => inst.c,
    };
    let all = [inst.dst, inst.a, inst.b, inst.c];
    op.operands().into_iter().zip(all).enumerate().filter_map(move |(n, (kind, field))| {
        let bits = match kind {
            Operand::Val => width,
            Operand::SrcVal => source(n),
            Operand::Word | Operand::Bit => 1,
            Operand::No | Operand::Imm | Operand::Edge | Operand::Switch | Operand::Symbol => return None,
            Operand::Str | Operand::Call | Operand::Alloca | Operand::List => return None,
        };
        let access = if n == 0 { Access::Write } else { Access::Read };
        (field != NONE).then_some((field, limbs(bits), access))
    })
}

impl Frame<'_> {
    fn edges(&self) -> &[Edge] {
        self.module.edges.range(self.module.functions[self.function].edges)
    }
    /// The part of the slot lists an instruction reads.
    fn list(&self, inst: &Inst, op: Op) -> std::ops::Range<usize> {
        let range = |first: u32, count: u32| first as usize..(first + count) as usize;
        match op {
            Op::Ret => range(inst.a, inst.b),
            Op::Call | Op::CallIndirect => {
                let args = self.module.calls[inst.b as usize].args;
                range(args.first, args.count)
            }
            _ => 0..0,
        }
    }
    /// The edges an instruction may take.
    fn edges_of(&self, inst: &Inst, op: Op) -> Vec<u32> {
        match op {
            Op::Br => vec![inst.a],
            Op::CondBr => vec![inst.b, inst.c],
            Op::Switch => {
                let f = &self.module.functions[self.function];
                let switch = self.module.switches.range(f.switches)[inst.b as usize];
                self.module.cases.range(switch.cases).iter().map(|c| c.edge).chain([switch.default]).collect()
            }
            _ => Vec::new(),
        }
    }
    /// Calls `f` with every instruction, its operator, block and number in the block.
    fn for_each_inst(&mut self, mut f: impl FnMut(&mut Self, Inst, Op, Place)) {
        let blocks = self.module.functions[self.function].blocks;
        for block in 0..blocks.count {
            let insts = self.module.blocks[(blocks.first + block) as usize].insts;
            for at in 0..insts.count {
                let inst = self.module.insts[(insts.first + at) as usize];
                let op = inst.operator().expect("the builder emits operators");
                f(self, inst, op, Place { block, at });
            }
        }
    }
    /// Calls `f` with every slot an instruction touches, reads first; copies on its edges are reads of their sources.
    fn for_each_access(&self, inst: Inst, op: Op, mut f: impl FnMut(u32, u32, Access)) {
        fields(&inst, op).filter(|(.., access)| *access == Access::Read).for_each(|(slot, n, access)| f(slot, n, access));
        self.module.slot_lists[self.list(&inst, op)].iter().for_each(|&slot| f(slot, 1, Access::Read));
        for edge in self.edges_of(&inst, op) {
            let copies = self.edges()[edge as usize].copies;
            self.module.copies.range(copies).iter().for_each(|c| f(c.src, 1, Access::Read));
        }
        fields(&inst, op).filter(|(.., access)| *access == Access::Write).for_each(|(slot, n, access)| f(slot, n, access));
    }

    /// Edges made for a branch that then could not be lowered copy nothing.
    fn empty_unused_edges(&mut self) {
        let mut used = vec![false; self.edges().len()];
        self.for_each_inst(|s, inst, op, _| s.edges_of(&inst, op).iter().for_each(|&edge| used[edge as usize] = true));
        let first = self.module.functions[self.function].edges.first as usize;
        for (edge, _) in self.module.edges.owned()[first..].iter_mut().zip(used).filter(|(_, used)| !used) {
            edge.copies.count = 0;
        }
    }
    fn find_lives(&mut self) {
        self.for_each_inst(|s, inst, op, place| {
            let mut found = Vec::new();
            s.for_each_access(inst, op, |slot, n, access| found.extend((slot..slot + n).map(|one| (one, n > 1, access))));
            for (slot, is_wide, access) in found {
                s.lives[slot as usize].note(is_wide, access, place);
            }
        });
        for i in 0..self.edges().len() {
            let copies = self.edges()[i].copies;
            for c in self.module.copies.range(copies) {
                self.lives[c.dst as usize].is_phi = true;
            }
        }
    }

    /// For each slot the one to use instead: itself, or the phi whose next value it is.
    fn coalesce(&mut self) -> Vec<u32> {
        let mut merged: Vec<u32> = (0..self.lives.len() as u32).collect();
        let mut taken = vec![false; merged.len()];
        let first = self.first;
        self.for_each_inst(|s, inst, op, place| {
            for edge in s.edges_of(&inst, op) {
                let edge = s.edges()[edge as usize];
                for &SlotCopy { dst, src } in s.module.copies.range(edge.copies) {
                    let (phi, next) = (s.lives[dst as usize], s.lives[src as usize]);
                    let loops = edge.block == place.block && src >= first;
                    let next_is_plain = next.writes == 1 && !next.is_phi && !next.is_wide && next.write.block == place.block;
                    let read_before = phi.reads.block == NOWHERE || (phi.reads.block == place.block && phi.reads.at <= next.write.at);
                    let phi_is_plain = phi.writes == 0 && !phi.is_wide && read_before;
                    if loops && next_is_plain && phi_is_plain && !taken[dst as usize] && !taken[src as usize] {
                        taken[dst as usize] = true;
                        taken[src as usize] = true;
                        merged[src as usize] = dst;
                    }
                }
            }
        });
        merged
    }

    /// For each slot its new number: shared by those that live in different places of blocks.
    fn share(&mut self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..self.lives.len() as u32).collect();
        let mut next = self.first;
        for (slot, life) in self.lives.iter().enumerate().skip(self.first as usize) {
            let used = life.writes > 0 || life.is_phi || life.reads.block != NOWHERE;
            if used && !life.is_local() {
                numbers[slot] = next;
                next += 1;
            }
        }
        let (mut free, mut fresh, mut highest, mut block) = (Vec::new(), next, next, NOWHERE);
        self.for_each_inst(|s, inst, op, place| {
            if place.block != block {
                (block, fresh) = (place.block, next);
                free.clear();
            }
            s.for_each_access(inst, op, |slot, _, access| {
                let life = &s.lives[slot as usize];
                if slot < s.first || !life.is_local() {
                    return;
                }
                match access {
                    Access::Read if life.reads == place && !free.contains(&numbers[slot as usize]) => free.push(numbers[slot as usize]),
                    Access::Read => {}
                    Access::Write => {
                        numbers[slot as usize] = free.pop().unwrap_or_else(|| {
                            fresh += 1;
                            fresh - 1
                        });
                        if life.reads.block == NOWHERE {
                            free.push(numbers[slot as usize]);
                        }
                    }
                }
            });
            highest = highest.max(fresh);
        });
        self.module.functions.owned()[self.function].slots = highest;
        numbers
    }

    /// Replaces slot numbers everywhere; copies of a slot to itself go.
    fn renumber(&mut self, numbers: &[u32]) {
        let f = self.module.functions[self.function];
        let blocks = self.module.blocks.range(f.blocks);
        let Some(start) = blocks.iter().map(|b| b.insts.first).min() else { return };
        let mut lists = Vec::new();
        for inst in &mut self.module.insts.owned()[start as usize..] {
            let op = inst.operator().expect("the builder emits operators");
            let fields = [&mut inst.dst, &mut inst.a, &mut inst.b, &mut inst.c];
            for (kind, field) in op.operands().into_iter().zip(fields) {
                if matches!(kind, Operand::Val | Operand::SrcVal | Operand::Word | Operand::Bit) && *field != NONE {
                    *field = numbers[*field as usize];
                }
            }
            lists.push((*inst, op));
        }
        for (inst, op) in lists {
            let list = self.list(&inst, op);
            self.module.slot_lists.owned()[list].iter_mut().for_each(|slot| *slot = numbers[*slot as usize]);
        }
        let (first, count) = (f.edges.first as usize, f.edges.count as usize);
        let edges = &mut self.module.edges.owned()[first..first + count];
        let Some(first_copy) = edges.iter().map(|e| e.copies.first).min() else { return };
        let copies = self.module.copies.owned();
        let mut kept = Vec::new();
        for edge in edges {
            let own = &copies[edge.copies.first as usize..][..edge.copies.count as usize];
            let at = first_copy + kept.len() as u32;
            kept.extend(
                own.iter().map(|c| SlotCopy { dst: numbers[c.dst as usize], src: numbers[c.src as usize] }).filter(|c| c.dst != c.src),
            );
            edge.copies = wryneck_ir::Range { first: at, count: first_copy + kept.len() as u32 - at };
        }
        copies.truncate(first_copy as usize);
        copies.extend(kept);
    }
}

impl Life {
    fn note(&mut self, is_wide: bool, access: Access, place: Place) {
        self.is_wide |= is_wide;
        match access {
            Access::Read => {
                self.is_early |= self.writes == 0;
                let same = self.reads.block == NOWHERE || self.reads.block == place.block;
                self.reads = Place { block: if same { place.block } else { SEVERAL }, at: place.at };
            }
            Access::Write => {
                self.writes += 1;
                self.write = place;
            }
        }
    }
    /// Written once, and then read only in the same block?
    fn is_local(&self) -> bool {
        let here = self.reads.block == NOWHERE || self.reads.block == self.write.block;
        self.writes == 1 && !self.is_phi && !self.is_wide && !self.is_early && here
    }
}
