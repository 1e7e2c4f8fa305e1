//! Pointer constraints of one function, between its values, without knowledge of its callers and callees.
//!
//! A value of 64 bits may hold an address. Any other value may hold a part of an address ([`Form`](super::places::Form)): bytes, halves,
//! tagged and scrambled pointers are followed. Computing with an address, other than moving it, gives a part, too. Addresses that a program
//! learns only by comparisons are not followed here, but in `PointsTo::in_parts`. Values that can only equal another value share a class.
//! Cost: a few passes over the instructions.

use rustc_hash::FxHashMap;
use wryneck_exec::Image;
use wryneck_exec::code::Callee;
use wryneck_ir::{Inst, Module, NONE, Op, Operand, limbs, param_kind};

use super::ObjectId;
use super::bits::BitSet;
use super::graph::components;
use super::objects::{CONSTANT, Objects};
use super::values::Values;
use super::waves::Shift;
use crate::operand::{operand_slots, slots_written};

/// Values are classes, see [`Local::class`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    Address {
        to: u32,
        object: ObjectId,
        offset: u64,
    },
    Copy {
        to: u32,
        from: u32,
    },
    Move {
        to: u32,
        from: u32,
        by: Shift,
    },
    /// From so many limbs at the address; 0: from fewer bytes than an address has.
    Load {
        to: u32,
        address: u32,
        limbs: u32,
    },
    Store {
        address: u32,
        value: u32,
        limbs: u32,
    },
    /// From the memory at one address to the memory at another, so many bytes if that is known.
    Transfer {
        to: u32,
        from: u32,
        len: Option<u32>,
    },
    /// To the sum or difference of two values, where a distance leads.
    Sum {
        to: u32,
        a: u32,
        b: u32,
    },
    /// To the distance between two addresses.
    Difference {
        to: u32,
        a: u32,
        b: u32,
    },
    /// To a pointer that an index is added to.
    Index {
        to: u32,
        pointer: u32,
        index: u32,
    },
}

#[derive(Clone, Copy, Debug)]
pub enum CallTarget {
    /// `None`: what is called is no function.
    Direct(Option<Callee>),
    /// The address is in this class.
    Indirect(u32),
}

/// A call, with classes instead of values.
#[derive(Clone, Debug)]
pub struct CallSite {
    pub op: u32,
    pub target: CallTarget,
    /// Arguments' limbs; those too narrow for a pointer are [`NONE`].
    pub limbs: Vec<u32>,
    /// By argument: its first limb in `limbs`.
    pub args: Vec<u32>,
    /// The result's, or [`NONE`].
    pub result: u32,
    /// The first argument, if it is constant: the number of a system call.
    pub number: Option<u64>,
}

#[derive(Debug, Default)]
pub struct Local {
    pub values: Values,
    class: Vec<u32>,
    pub constraints: Vec<Constraint>,
    pub calls: Vec<CallSite>,
    /// Classes that are returned.
    pub returned: Vec<u32>,
    /// By parameter limb: its class, and whether the callee gets a copy of the structure it points to.
    pub params: Vec<(u32, bool)>,
    /// Values that are an address known but for where the object lies: object and offset.
    pub fixed: FxHashMap<u32, (ObjectId, u64)>,
    /// Values that are written at one place.
    once: BitSet,
    /// Control may leave by a computed jump.
    pub jumps: bool,
}

struct Reader<'a> {
    image: &'a Image,
    objects: &'a Objects,
    module: &'a Module,
    unit: u32,
    func: u32,
    consts: &'a [wryneck_ir::Const],
    local: Local,
}

impl Local {
    pub fn read(image: &Image, objects: &Objects, func: u32) -> Local {
        let (module, function) = image.function(func);
        let unit = image.program.functions()[func as usize].unit;
        let consts = module.consts.range(function.consts);
        let mut reader = Reader { image, objects, module, unit, func, consts, local: Local::default() };
        for (slot, c) in (0..).zip(consts).filter(|(_, c)| c.symbol != NONE) {
            if let Some((object, offset)) = objects.target(image.program.target(unit, c.symbol)) {
                let offset = offset.wrapping_add(c.value);
                reader.push(Constraint::Address { to: slot, object, offset });
                if object != CONSTANT {
                    reader.local.fixed.insert(slot, (object, offset));
                }
            }
        }
        let mut slot = function.consts.count;
        for param in module.params.range(function.params) {
            for _ in 0..limbs(param.width) {
                reader.local.params.push((slot, param.kind == param_kind::BY_VALUE));
                slot += 1;
            }
        }
        let values = Values::of(module, function);
        let mut definitions = vec![0u8; values.count as usize];
        // A parameter is written by the call.
        reader.local.params.iter().for_each(|(slot, _)| definitions[*slot as usize] = 1);
        let mut define = |value: u32| definitions[value as usize] = definitions[value as usize].saturating_add(1);
        for (op, inst) in (0..).zip(&values.insts) {
            slots_written(module, inst).for_each(&mut define);
            reader.instruction(op, inst, values.list(op));
        }
        for (to, from) in values.copies.iter().flat_map(|c| &c.copies).chain(&values.joined).filter(|(to, from)| to != from) {
            define(*to);
            reader.copy(*to, *from);
        }
        reader.fix(&definitions, &values);
        reader.local.once = (0..).zip(&definitions).filter(|(_, n)| **n == 1).map(|(value, _)| value).collect();
        let mut local = reader.local;
        local.classify(values.count as usize);
        local.values = values;
        local
    }

    /// Whether the value is written at one place.
    pub fn is_once(&self, value: u32) -> bool {
        self.once.contains(value)
    }

    /// The class of a value.
    pub fn class(&self, value: u32) -> u32 {
        self.class[value as usize]
    }

    /// Makes one class of slots that hold the same, and puts the classes into the constraints.
    fn classify(&mut self, slots: usize) {
        let mut class: Vec<u32> = (0..slots as u32).collect();
        // What a slot may hold: nothing yet, what one other slot holds, or more.
        let mut only: Vec<Option<u32>> = vec![None; slots];
        let mut more = vec![false; slots];
        for (limb, _) in &self.params {
            more[*limb as usize] = true;
        }
        for call in self.calls.iter().filter(|c| c.result != NONE) {
            more[call.result as usize] = true;
        }
        for c in &self.constraints {
            match c {
                Constraint::Address { to, .. }
                | Constraint::Load { to, .. }
                | Constraint::Move { to, .. }
                | Constraint::Sum { to, .. }
                | Constraint::Difference { to, .. }
                | Constraint::Index { to, .. } => more[*to as usize] = true,
                Constraint::Copy { .. } | Constraint::Store { .. } | Constraint::Transfer { .. } => {}
            }
        }
        let find = |class: &[u32], mut slot: u32| {
            while class[slot as usize] != slot {
                slot = class[slot as usize];
            }
            slot
        };
        for _ in 0..4 {
            let mut changed = false;
            only.fill(None);
            let mut several = more.clone();
            for c in &self.constraints {
                let Constraint::Copy { to, from } = c else { continue };
                let (to, from) = (find(&class, *to), find(&class, *from));
                match only[to as usize] {
                    _ if to == from => {}
                    None => only[to as usize] = Some(from),
                    Some(f) => several[to as usize] |= f != from,
                }
            }
            for slot in 0..slots as u32 {
                if let (Some(from), false) = (only[slot as usize], several[slot as usize])
                    && find(&class, from) != slot
                {
                    class[slot as usize] = from;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for slot in 0..slots as u32 {
            class[slot as usize] = find(&class, slot);
        }
        let at = |slot: u32| if slot == NONE { NONE } else { class[slot as usize] };
        for c in &mut self.constraints {
            *c = match *c {
                Constraint::Address { to, object, offset } => Constraint::Address { to: at(to), object, offset },
                Constraint::Copy { to, from } => Constraint::Copy { to: at(to), from: at(from) },
                Constraint::Move { to, from, by } => Constraint::Move { to: at(to), from: at(from), by },
                Constraint::Load { to, address, limbs } => Constraint::Load { to: at(to), address: at(address), limbs },
                Constraint::Store { address, value, limbs } => Constraint::Store { address: at(address), value: at(value), limbs },
                Constraint::Transfer { to, from, len } => Constraint::Transfer { to: at(to), from: at(from), len },
                Constraint::Sum { to, a, b } => Constraint::Sum { to: at(to), a: at(a), b: at(b) },
                Constraint::Difference { to, a, b } => Constraint::Difference { to: at(to), a: at(a), b: at(b) },
                Constraint::Index { to, pointer, index } => Constraint::Index { to: at(to), pointer: at(pointer), index: at(index) },
            };
        }
        self.constraints.retain(|c| !matches!(c, Constraint::Copy { to, from } if to == from));
        self.cut_loops(slots);
        for call in &mut self.calls {
            call.result = at(call.result);
            call.limbs.iter_mut().for_each(|limb| *limb = at(*limb));
            if let CallTarget::Indirect(slot) = &mut call.target {
                *slot = at(*slot);
            }
        }
        self.returned.iter_mut().for_each(|slot| *slot = at(*slot));
        self.params.iter_mut().for_each(|(slot, _)| *slot = at(*slot));
        self.calls.sort_unstable_by_key(|call| call.op);
        self.class = class;
    }
}

impl Local {
    /// An address that moves on in a loop is somewhere.
    fn cut_loops(&mut self, slots: usize) {
        let mut next = vec![Vec::new(); slots];
        for c in &self.constraints {
            if let Constraint::Copy { to, from } | Constraint::Move { to, from, .. } | Constraint::Index { to, pointer: from, .. } = c {
                next[*from as usize].push(*to);
            }
        }
        let mut component = vec![0; slots];
        for (number, members) in
            (0u32..).zip(components(next.len(), 0..next.len() as u32, |node, edge| next[node as usize].get(edge).copied()))
        {
            members.iter().for_each(|slot| component[*slot as usize] = number);
        }
        for c in &mut self.constraints {
            if let Constraint::Move { to, from, by } = c
                && component[*to as usize] == component[*from as usize]
                && matches!(by, Shift::By(_))
            {
                *by = Shift::Somewhere;
            }
        }
    }
}

/// Whether the result has bits of the operands, or is computed from them as a number.
fn computes(op: Op) -> bool {
    let counts = matches!(op, Op::Ctpop | Op::Ctlz | Op::Cttz);
    !counts && matches!(op.operands(), [Operand::Val, Operand::Val | Operand::SrcVal, ..])
}

impl Reader<'_> {
    fn push(&mut self, c: Constraint) {
        self.local.constraints.push(c);
    }

    /// The value of a slot that is a constant number.
    fn number(&self, slot: u32) -> Option<u64> {
        self.consts.get(slot as usize).filter(|c| c.symbol == NONE).map(|c| c.value)
    }

    fn copy(&mut self, to: u32, from: u32) {
        if self.number(from).is_none() && to != from {
            self.push(Constraint::Copy { to, from });
        }
    }

    /// All limbs of a wide value hold the same.
    fn join_limbs(&mut self, slots: std::ops::Range<u32>) {
        for other in slots.clone().skip(1) {
            self.copy(slots.start, other);
            self.copy(other, slots.start);
        }
    }

    /// The result holds what a slot does, moved.
    fn shift(&mut self, inst: &Inst, from: u32, by: Shift) {
        if self.number(from).is_none() {
            match by {
                Shift::By(0) => self.copy(inst.dst, from),
                by => self.push(Constraint::Move { to: inst.dst, from, by }),
            }
        }
    }

    /// The same of all limbs of an operand.
    fn shift_all(&mut self, inst: &Inst, operand: usize, by: Shift) {
        operand_slots(inst, operand).for_each(|from| self.shift(inst, from, by));
        self.join_limbs(operand_slots(inst, 0));
    }

    /// From operands to the result; what gets narrower than an address is a part of one.
    fn pass(&mut self, inst: &Inst, ns: &[usize]) {
        let by = if inst.width < 64 { Shift::Part } else { Shift::By(0) };
        ns.iter().for_each(|n| self.shift_all(inst, *n, by));
    }

    fn instruction(&mut self, op: u32, inst: &Inst, list: &[u32]) {
        let wide = inst.width > 64;
        let variable = |slot: u32| self.number(slot).is_none();
        match inst.operator() {
            // As wide as what they come from, or wider.
            Some(Op::Copy | Op::Zext | Op::Sext) => operand_slots(inst, 1).for_each(|from| self.shift(inst, from, Shift::By(0))),
            Some(Op::Select) => {
                [2, 3].into_iter().flat_map(|n| operand_slots(inst, n)).for_each(|from| self.shift(inst, from, Shift::By(0)))
            }
            Some(Op::Trunc | Op::Extract) => self.pass(inst, &[1]),
            Some(Op::Shl | Op::Lshr | Op::Ashr | Op::Bswap | Op::Bitreverse | Op::Fneg | Op::Fabs) if wide => self.pass(inst, &[1]),
            Some(Op::Concat) if wide => self.pass(inst, &[1, 2]),
            Some(Op::Add | Op::Sub | Op::And | Op::Or | Op::Xor | Op::Fshl | Op::Fshr) if wide => self.pass(inst, &[1, 2]),
            Some(Op::Add) if variable(inst.a) && variable(inst.b) => {
                self.shift(inst, inst.a, Shift::Somewhere);
                self.shift(inst, inst.b, Shift::Somewhere);
                self.push(Constraint::Sum { to: inst.dst, a: inst.a, b: inst.b });
            }
            Some(Op::Add) => {
                self.shift(inst, inst.a, self.by(inst.b, 1));
                self.shift(inst, inst.b, self.by(inst.a, 1));
            }
            // What is subtracted from may be an address, or what the distance is from.
            Some(Op::Sub) if variable(inst.a) && variable(inst.b) => {
                self.shift(inst, inst.a, Shift::Somewhere);
                self.shift(inst, inst.b, Shift::Part);
                self.push(Constraint::Difference { to: inst.dst, a: inst.a, b: inst.b });
                self.push(Constraint::Sum { to: inst.dst, a: inst.a, b: inst.b });
            }
            Some(Op::Sub) => {
                self.shift(inst, inst.a, self.number(inst.b).map_or(Shift::Somewhere, |n| Shift::By((n as i64).wrapping_neg())));
                self.shift(inst, inst.b, Shift::Part);
            }
            Some(Op::PtrAdd) if variable(inst.a) && variable(inst.b) => {
                self.push(Constraint::Index { to: inst.dst, pointer: inst.a, index: inst.b });
            }
            Some(Op::PtrAdd) => {
                self.shift(inst, inst.a, self.by(inst.b, inst.c));
                self.shift(inst, inst.b, Shift::Somewhere);
            }
            Some(Op::Load) => {
                let limbs = if inst.width < 64 { 0 } else { limbs(inst.width.into()) };
                self.push(Constraint::Load { to: inst.dst, address: inst.a, limbs });
                self.join_limbs(operand_slots(inst, 0));
            }
            Some(Op::Store) => {
                let limbs = if inst.width < 64 { 0 } else { limbs(inst.width.into()) };
                for value in operand_slots(inst, 2).filter(|v| self.number(*v).is_none()).collect::<Vec<_>>() {
                    self.push(Constraint::Store { address: inst.a, value, limbs });
                }
            }
            Some(Op::MemSet) if variable(inst.b) => {
                self.push(Constraint::Store { address: inst.a, value: inst.b, limbs: 0 });
            }
            Some(Op::Alloca) => {
                let object = self.objects.alloca(self.func, inst.a);
                self.push(Constraint::Address { to: inst.dst, object, offset: 0 });
            }
            Some(Op::AllocaDyn) => {
                let object = self.objects.dynamic(self.func);
                self.push(Constraint::Address { to: inst.dst, object, offset: 0 });
            }
            Some(Op::MemCopy | Op::MemMove) => {
                let len = self.number(inst.c).and_then(|len| u32::try_from(len).ok());
                self.push(Constraint::Transfer { to: inst.a, from: inst.b, len });
            }
            Some(Op::Call) => {
                let target = CallTarget::Direct(self.image.callee_of(self.unit, inst.a));
                self.call(op, inst, list, target);
            }
            Some(Op::CallIndirect) => self.call(op, inst, list, CallTarget::Indirect(inst.a)),
            Some(Op::Ret) => {
                let list: Vec<u32> = list.iter().copied().filter(|slot| self.number(*slot).is_none()).collect();
                self.local.returned.extend(list);
            }
            Some(Op::Jump) => self.local.jumps = true,
            Some(op) if computes(op) => {
                for n in 1..4 {
                    self.shift_all(inst, n, Shift::Part);
                }
            }
            // Nothing else gives an address or a part of one.
            Some(_) | None => {}
        }
    }

    /// How the sum with so many times a slot's value moves.
    fn by(&self, slot: u32, scale: u32) -> Shift {
        self.number(slot).map_or(Shift::Somewhere, |n| Shift::By(n.wrapping_mul(scale.into()) as i64))
    }

    fn call(&mut self, op: u32, inst: &Inst, slots: &[u32], target: CallTarget) {
        let record = self.module.calls[inst.b as usize];
        let widths = if record.widths.count == 0 { &[][..] } else { self.module.slot_lists.range(record.widths) };
        let (mut all, mut args) = (Vec::with_capacity(slots.len()), Vec::with_capacity(widths.len()));
        let mut at = slots.iter();
        for width in widths {
            args.push(all.len() as u32);
            for _ in 0..limbs(*width) {
                let Some(slot) = at.next() else { break };
                all.push(if self.number(*slot).is_none() { *slot } else { NONE });
            }
        }
        let number = slots.first().and_then(|slot| self.number(*slot));
        let mut result = NONE;
        if inst.dst != NONE && record.ret_width > 0 {
            result = inst.dst;
            self.join_limbs(inst.dst..inst.dst + limbs(record.ret_width));
        }
        self.local.calls.push(CallSite { op, target, limbs: all, args, result, number });
    }

    /// Finds the values that are a known object's address plus a constant.
    fn fix(&mut self, definitions: &[u8], values: &Values) {
        loop {
            let before = self.local.fixed.len();
            for inst in &values.insts {
                let once = inst.dst != NONE && definitions.get(inst.dst as usize) == Some(&1);
                if !once || self.local.fixed.contains_key(&inst.dst) {
                    continue;
                }
                let base = || self.local.fixed.get(&inst.a).copied();
                let fixed = match inst.operator() {
                    Some(Op::Alloca) => Some((self.objects.alloca(self.func, inst.a), 0)),
                    Some(Op::Copy) if inst.width == 64 => base(),
                    Some(Op::Add) if inst.width == 64 => self.number(inst.b).and_then(|n| base().map(|(o, at)| (o, at.wrapping_add(n)))),
                    Some(Op::PtrAdd) => {
                        let moved = self.number(inst.b).map(|n| n.wrapping_mul(inst.c.into()));
                        moved.and_then(|n| base().map(|(o, at)| (o, at.wrapping_add(n))))
                    }
                    Some(_) | None => None,
                };
                if let Some(fixed) = fixed {
                    self.local.fixed.insert(inst.dst, fixed);
                }
            }
            if self.local.fixed.len() == before {
                return;
            }
        }
    }
}
