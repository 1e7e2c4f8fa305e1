//! What a function does with the result of a call, for callers that tell must errors from may errors.

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_ir::code_source::ValueUses;
use wryneck_ir::{Inst, Module, Op};

use super::round::loop_left_out;
use super::{edges_of, inst_at, lifted, loops, operands, results};
use crate::ground::code::{Callee, Code, Kind};
use crate::ground::image::CodePos;
use crate::ground::places::{self, SourcePos};
use crate::step::cx::Cx;

/// What a function does with the result of one of its calls.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// A branch or a selection depends on it.
    pub is_tested: bool,
    /// Operations that read it, or what is computed from it: as an address, a divisor or a width, if they have such an operand.
    readers: FxHashSet<u32>,
    /// The same of machine code, by address.
    addresses: Vec<u64>,
}

impl Uses {
    /// Whether the operation at this place of the function may fail by it, or by what is computed from it.
    pub fn reach(&self, pos: CodePos, cx: &Cx<'_>) -> bool {
        match self.addresses.is_empty() {
            true => self.readers.contains(&pos.op),
            false => lifted::address(pos, cx).is_some_and(|address| self.addresses.contains(&address)),
        }
    }

    fn of_machine_code(uses: &ValueUses) -> Uses {
        Uses { is_tested: uses.is_tested, addresses: uses.readers.clone(), ..Uses::default() }
    }
}

/// The uses of the result of the call at this place. `None`: it is machine code that jumps to computed addresses. Asks no solver.
pub fn uses_of_result(call: CodePos, cx: &mut Cx<'_>) -> Option<Uses> {
    let image = cx.core.image.clone();
    if image.is_machine_code(call.func) {
        return lifted::uses_of_result(call, cx).as_ref().map(Uses::of_machine_code);
    }
    let code = image.code(call.func);
    let loops = loops(cx, code);
    let mut flow = Flow::new(image.function(call.func).0, code);
    flow.pass(0..call.op);
    flow.gives(call.op);
    flow.pass(call.op + 1..code.ops.len() as u32);
    let here = loops.at(call.op);
    if loops.all.iter().any(|l| l.blocks.contains(&here)) {
        flow.pass(0..code.ops.len() as u32);
    }
    Some(flow.uses)
}

/// The uses of what an inlined call of a function gives: of all that is computed inside it. `call` and those around it, innermost first, as the
/// debug information has them. `None`: it is machine code. Asks no solver.
pub fn uses_of_inlined(func: u32, call: &[SourcePos], cx: &mut Cx<'_>) -> Option<Uses> {
    let image = cx.core.image.clone();
    if image.is_machine_code(func) {
        return None;
    }
    let code = image.code(func);
    let mut flow = Flow::new(image.function(func).0, code);
    for op in 0..code.ops.len() as u32 {
        let frames = places::source(&image, CodePos { func, op });
        let inside = frames.len().checked_sub(call.len()).is_some_and(|inner| {
            let same = |(a, b): (&SourcePos, &SourcePos)| (&a.function, a.line) == (&b.function, b.line);
            frames[inner].function == call[0].function && frames[inner + 1..].iter().zip(&call[1..]).all(same)
        });
        if inside {
            flow.inside.insert(op);
        }
    }
    Some(flow.uses_of_inside())
}

/// The uses of what the loop makes that this side of a branch goes past. `None`: there is none. Asks no solver.
pub fn uses_of_loop(test: CodePos, taken: bool, cx: &mut Cx<'_>) -> Option<Uses> {
    if cx.core.image.is_machine_code(test.func) {
        return lifted::loop_past(test, taken, cx)?.uses.as_ref().map(Uses::of_machine_code);
    }
    let (_, ops) = loop_left_out(test, taken, cx)?;
    let image = cx.core.image.clone();
    let code = image.code(test.func);
    let mut flow = Flow::new(image.function(test.func).0, code);
    flow.inside.extend(ops.into_iter().flatten());
    Some(flow.uses_of_inside())
}

/// The uses of what the cases of the switch at this place make, where none of them holds. `None`: there is no switch, or it is machine code. Asks no solver.
pub fn uses_of_cases(test: CodePos, cx: &mut Cx<'_>) -> Option<Uses> {
    let image = cx.core.image.clone();
    let code = image.code(test.func);
    let p = code.ops[test.op as usize];
    if p.kind != Kind::Switch || image.is_machine_code(test.func) {
        return None;
    }
    let loops = loops(cx, code);
    let behind = |edge: u32| loops.reachable(loops.at(code.edges[edge as usize].target));
    let switch = &code.switches[p.b as usize];
    let otherwise = behind(switch.default);
    let cases = switch.cases.iter().flat_map(|(_, edge)| behind(*edge)).filter(|block| !otherwise.contains(block));
    let mut flow = Flow::new(image.function(test.func).0, code);
    flow.inside.extend(cases.flat_map(|block| loops.ops(block, code)));
    (!flow.inside.is_empty()).then(|| flow.uses_of_inside())
}

/// The function that the operation at this place of bitcode calls by its name: its name, and whether it is one of the program with a body. Asks no solver.
pub fn called(pos: CodePos, cx: &Cx<'_>) -> Option<(String, bool)> {
    let (image, inst) = (&cx.core.image, inst_at(pos, cx));
    if image.is_machine_code(pos.func) || inst.operator() != Some(Op::Call) {
        return None;
    }
    let callee = image.callee_of(image.code(pos.func).module, inst.a)?;
    let is_own = matches!(callee, Callee::Body(f) if !image.is_library(f));
    Some((image.callee_name(callee).to_owned(), is_own))
}

/// Whether one side of the branch at this place changes memory that the other one does not, in the function that the source has there: by a store to
/// anything but variables of the frame and what the tested pointer itself leads to, or on the side that was `taken` by a call. A call that is left out is
/// not taken for a message. Asks no solver.
pub fn sides_write(test: CodePos, taken: bool, cx: &mut Cx<'_>) -> bool {
    let image = cx.core.image.clone();
    if image.is_machine_code(test.func) {
        return true;
    }
    let code = image.code(test.func);
    let p = code.ops[test.op as usize];
    if p.kind != Kind::CondBr {
        return true;
    }
    let loops = loops(cx, code);
    let side = |edge: u32| loops.reachable(loops.at(code.edges[edge as usize].target));
    let (ours, others) = if taken { (side(p.b), side(p.c)) } else { (side(p.c), side(p.b)) };
    let function = |op: u32| places::source(&image, CodePos { func: test.func, op }).into_iter().next().map(|source| source.function);
    let own = function(test.op);
    let mut flow = Flow::new(image.function(test.func).0, code);
    flow.pass(0..test.op);
    let pointer = flow.compared(test.op);
    let mut flow = Flow::new(flow.module, code);
    (0..code.ops.len() as u32).any(|op| {
        let inst = flow.inst(op);
        let block = loops.at(op);
        let (of_ours, of_others) = (ours.contains(&block), others.contains(&block));
        let writes = match inst.operator() {
            Some(Op::Call) => of_ours && called(CodePos { func: test.func, op }, cx).is_none_or(|(_, is_own)| is_own),
            Some(Op::CallIndirect | Op::MemCopy | Op::MemMove | Op::MemSet) => of_ours,
            Some(Op::Store) => {
                let base = flow.address(inst.a).base;
                !matches!(base, Base::Variable(_)) && pointer != Some(base)
            }
            _ => false,
        };
        flow.follow(op);
        of_ours != of_others && writes && function(op) == own
    })
}

/// Where an address begins, and the bytes after that.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Address {
    base: Base,
    offset: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Base {
    /// A variable of the function.
    Variable(u32),
    /// What a variable holds at an offset.
    Held(u32, u64),
    /// What a slot holds.
    Slot(u32),
}

/// Follows a value through a function's operations, in their order. A slot has several values, one after the other. In memory it is found where the
/// same address is used again.
struct Flow<'a> {
    module: &'a Module,
    code: &'a Code,
    slots: FxHashSet<u32>,
    /// What is known of the addresses that slots hold.
    addresses: FxHashMap<u32, Address>,
    /// Where the value is stored.
    held: FxHashSet<Address>,
    /// Operations that make the value, whatever they compute.
    inside: FxHashSet<u32>,
    uses: Uses,
}

impl<'a> Flow<'a> {
    fn new(module: &'a Module, code: &'a Code) -> Flow<'a> {
        let (slots, addresses) = (FxHashSet::default(), FxHashMap::default());
        let (held, inside) = (FxHashSet::default(), FxHashSet::default());
        Flow { module, code, slots, addresses, held, inside, uses: Uses::default() }
    }

    fn inst(&self, op: u32) -> Inst {
        self.module.insts[(self.code.first_inst + op) as usize]
    }

    /// The call gives the value: as its result, and in variables that its arguments point to.
    fn gives(&mut self, call: u32) {
        let inst = self.inst(call);
        let addresses: Vec<Address> = operands(self.module, &inst).into_iter().map(|slot| self.address(slot)).collect();
        self.held.extend(addresses.into_iter().filter(|at| matches!(at.base, Base::Variable(_))));
        self.slots.extend(results(self.module, &inst));
    }

    fn pass(&mut self, ops: std::ops::Range<u32>) {
        for op in ops {
            self.follow(op);
        }
    }

    /// The uses of what is made inside. What comes before it has no say in the second pass.
    fn uses_of_inside(mut self) -> Uses {
        let (first, end) = (self.inside.iter().copied().min().unwrap_or(0), self.code.ops.len() as u32);
        self.pass(0..end);
        self.pass(first..end);
        self.uses
    }

    fn follow(&mut self, op: u32) {
        let inst = self.inst(op);
        let Some(operator) = inst.operator() else { return };
        let mut reads = operands(self.module, &inst).iter().any(|slot| self.slots.contains(slot));
        let makes = self.inside.contains(&op);
        let asks = match operator {
            Op::Load | Op::Store => self.slots.contains(&inst.a),
            Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem | Op::Shl | Op::Lshr | Op::Ashr => self.slots.contains(&inst.b),
            _ => reads,
        };
        if asks && !makes {
            self.uses.readers.insert(op);
        }
        let (at, next) = (self.address(inst.a), self.next_address(operator, &inst));
        match operator {
            Op::Store => {
                match makes || self.slots.contains(&inst.b) {
                    true => self.held.insert(at),
                    false => self.held.remove(&at),
                };
                if let Base::Variable(variable) = at.base {
                    self.forget(|base| matches!(base, Base::Held(of, _) if of == variable));
                }
            }
            // What lies where the value points to says nothing of the value.
            Op::Load => reads = self.held.contains(&at),
            Op::CondBr | Op::Switch => self.uses.is_tested |= reads && !makes,
            Op::Select => self.uses.is_tested |= self.slots.contains(&inst.a) && !makes,
            _ => {}
        }
        let reads = reads || makes;
        for slot in results(self.module, &inst) {
            self.put(slot, reads);
        }
        if let Some(next) = next {
            self.addresses.insert(inst.dst, next);
        }
        let p = self.code.ops[op as usize];
        for edge in edges_of(self.code, p.kind, p.a, p.b, p.c) {
            let copies = self.code.edges[edge as usize].copies;
            let copies = &self.code.copies[copies.first as usize..(copies.first + copies.count) as usize];
            // A slot of another edge keeps what it has.
            let carried: Vec<u32> = copies.iter().filter(|copy| makes || self.slots.contains(&copy.src)).map(|copy| copy.dst).collect();
            copies.iter().for_each(|copy| self.rebase(copy.dst));
            self.slots.extend(carried);
        }
    }

    /// What a pointer that the branch at `op` compares begins with. Its comparison is one of the operations before.
    fn compared(&self, op: u32) -> Option<Base> {
        let branch = self.inst(op);
        let mut before = (0..op).rev().map(|op| self.inst(op));
        let test = before.find(|inst| inst.dst == branch.a && inst.operator().is_some())?;
        let is_const = |slot: u32| self.code.consts.get(slot as usize).is_some();
        match test.operator()? {
            Op::Eq | Op::Ne if is_const(test.b) => Some(self.address(test.a).base),
            Op::Eq | Op::Ne if is_const(test.a) => Some(self.address(test.b).base),
            _ => None,
        }
    }

    /// The address that a slot holds.
    fn address(&self, slot: u32) -> Address {
        self.addresses.get(&slot).copied().unwrap_or(Address { base: Base::Slot(slot), offset: 0 })
    }

    /// The address that an operation computes, if it is one that can be named.
    fn next_address(&self, operator: Op, inst: &Inst) -> Option<Address> {
        let from = self.address(inst.a);
        match operator {
            Op::Alloca => Some(Address { base: Base::Variable(inst.a), offset: 0 }),
            Op::PtrAdd => {
                let count = self.code.consts.get(inst.b as usize)?;
                Some(Address { offset: from.offset.wrapping_add(count.wrapping_mul(inst.c.into())), ..from })
            }
            Op::Load => match from.base {
                Base::Variable(variable) => Some(Address { base: Base::Held(variable, from.offset), offset: 0 }),
                Base::Held(..) | Base::Slot(_) => None,
            },
            _ => None,
        }
        .filter(|address| address.base != Base::Slot(inst.dst))
    }

    /// A slot gets another value.
    fn put(&mut self, slot: u32, is_value: bool) {
        self.rebase(slot);
        match is_value {
            true => self.slots.insert(slot),
            false => self.slots.remove(&slot),
        };
    }

    fn rebase(&mut self, slot: u32) {
        self.addresses.remove(&slot);
        self.forget(|base| base == Base::Slot(slot));
    }

    /// Addresses with these bases are others now.
    fn forget(&mut self, is_gone: impl Fn(Base) -> bool) {
        self.addresses.retain(|_, address| !is_gone(address.base));
        self.held.retain(|address| !is_gone(address.base));
    }
}
