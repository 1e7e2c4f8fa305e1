//! What machine code does with a value: with the result of a call, or with what a loop makes. For callers that grade errors.
//!
//! A forward search over the instructions, through registers and through words of the stack at fixed distances from the stack or frame pointer. Calls
//! are passed over. It needs no symbols: it ends at returns, and gives up at computed jumps. Cost: the instructions behind, once for each place
//! that holds the value.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_ir::code_source::{LoopPast, Taken, ValueUses};

use crate::MachineProgram;
use crate::opcode::BoolOp;
use crate::pcode::{Destination, Instruction, IntOp, OpCode, Space, Varnode};

/// The most instructions of a loop and what leads to it.
const MAX_LOOP: usize = 2_000;
/// The most states of a search.
const MAX_STATES: usize = 20_000;
/// Instructions without a branch that may lie between a test and the loop that it is about.
const BEFORE_LOOP: usize = 12;

/// What holds the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    /// Bytes of the register space.
    Register(Bytes),
    /// Bytes of the stack: from which pointer, and the distance from its value at the beginning.
    Stack { by_frame: bool, distance: i64 },
}

/// By a branch and where it went, both addresses: the loop that is left out.
pub(crate) type LoopsPast = RefCell<FxHashMap<(u64, u64), Option<Rc<LoopPast>>>>;

/// The first byte in the register space, and how many.
type Bytes = (u64, u32);

/// A state of the search: an address, how far the stack pointer has moved, and a holder.
type State = (u64, i64, Holder);

/// Registers that the search knows by their roles.
struct Roles {
    stack: Varnode,
    frame: Varnode,
    result: Varnode,
    saved: Vec<Varnode>,
}

fn register((offset, size): Bytes) -> Varnode {
    Varnode { space: Space::Register, offset, size }
}

impl MachineProgram {
    /// The uses of the result of the call at an address. `None`: not known.
    pub(crate) fn uses_of_result(&self, call: u64) -> Option<ValueUses> {
        let roles = self.roles()?;
        let it = self.instruction(call).filter(Instruction::calls)?;
        let result = Holder::Register((roles.result.offset, roles.result.size));
        self.search(&roles, it.next(), result)
    }

    /// The loop that a side of a branch goes past: its own, or one that it stands before and that tests the same.
    pub(crate) fn loop_past(&self, taken: Taken) -> Option<Rc<LoopPast>> {
        let key = (taken.branch, taken.went);
        if let Some(known) = self.loops_past.borrow().get(&key) {
            return known.clone();
        }
        let past = self.find_loop_past(taken).map(Rc::new);
        self.loops_past.borrow_mut().insert(key, past.clone());
        past
    }

    fn find_loop_past(&self, taken: Taken) -> Option<LoopPast> {
        let behind = self.graph(taken.other);
        let is_own = behind.contains_key(&taken.branch);
        let blocks = match is_own {
            true => leading_to(&behind, taken.branch),
            false => {
                let mut head = taken.other;
                let comes_round = |at: u64| behind[&at].iter().any(|next| reachable(&behind, *next).contains(&at));
                for _ in 0..BEFORE_LOOP {
                    match behind.get(&head)?[..] {
                        _ if comes_round(head) => break,
                        [next] if behind.contains_key(&next) => head = next,
                        _ => return None,
                    }
                }
                if !comes_round(head) {
                    return None;
                }
                let blocks = leading_to(&behind, head);
                let inside = reachable(&behind, head);
                let blocks: FxHashSet<u64> = blocks.intersection(&inside).copied().collect();
                let same = self.form_of(taken.compare)?;
                let tests = |at: &u64| {
                    let leaves = |at: &u64| behind[at].len() > 1 && behind[at].iter().any(|to| !blocks.contains(to));
                    self.form_of(*at).as_ref() == Some(&same) && behind[at].iter().any(|next| blocks.contains(next) && leaves(next))
                };
                if !blocks.iter().any(tests) {
                    return None;
                }
                blocks
            }
        };
        if blocks.contains(&taken.went) || is_own && self.graph(taken.went).contains_key(&taken.branch) {
            return None;
        }
        Some(LoopPast { is_own, uses: self.uses_of_loop(&blocks, taken.went) })
    }

    /// The uses, from an address on, of what the instructions of a loop write to registers and to the stack: those that are not tested.
    fn uses_of_loop(&self, blocks: &FxHashSet<u64>, from: u64) -> Option<ValueUses> {
        let roles = self.roles()?;
        let flags = &self.decoder.flags;
        let (mut written, mut holders): (Vec<Varnode>, FxHashSet<Holder>) = Default::default();
        for address in blocks {
            let it = self.instruction(*address)?;
            let calls = it.calls();
            let outputs = it.ops.iter().filter_map(|op| op.output).filter(|v| v.space == Space::Register && !flags.contains(&v.offset));
            written.extend(outputs.filter(|v| !v.overlaps(roles.stack)));
            written.extend(calls.then_some(roles.result));
            let nothing = Holder::Register((0, 0));
            holders.extend(through(&it, &roles, (*address, 0, nothing), true, &mut ValueUses::default()).1);
        }
        holders.retain(|holder| matches!(holder, Holder::Stack { .. }));
        written.sort_unstable_by_key(|v| (v.offset, std::cmp::Reverse(v.size)));
        written.dedup_by(|b, a| b.end() <= a.end());
        let registers = written.iter().map(|v| Holder::Register((v.offset, v.size)));
        let mut all = ValueUses { is_tested: true, readers: Vec::new() };
        for holder in registers.chain(holders) {
            let uses = self.search(&roles, from, holder)?;
            if !uses.is_tested {
                all.is_tested = false;
                all.readers.extend(uses.readers);
            }
        }
        Some(all)
    }

    fn roles(&self) -> Option<Roles> {
        let cpu = self.elf.cpu;
        let saved = cpu.call.saved.iter().filter_map(|name| self.register(name)).collect();
        let [stack, frame, result] = [cpu.stack_pointer, cpu.frame_pointer.0, cpu.call.result].map(|name| self.register(name));
        Some(Roles { stack: stack?, frame: frame?, result: result?, saved })
    }

    /// Whether an instruction has a register as an operand: of those that we lift ourselves no more is known.
    fn names(&self, it: &Instruction, held: Varnode) -> bool {
        let Some((_, operands)) = self.text_at(it.address) else { return false };
        let mut words = operands.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(|word| self.decoder.register(word).ok());
        words.any(|(offset, size)| register((offset, size)).overlaps(held))
    }

    fn text_at(&self, address: u64) -> Option<(String, String)> {
        let segment = self.elf.segment(address)?;
        let bytes = segment.bytes.get(usize::try_from(address - segment.base).ok()?..)?;
        Some(self.decoder.text(address, &bytes[..bytes.len().min(self.elf.cpu.max_instruction)]))
    }

    /// A comparison in words; where it asks whether a register is zero, whatever register.
    fn form_of(&self, address: u64) -> Option<String> {
        let (mnemonic, operands) = self.text_at(address)?;
        let of_itself = operands.split_once(',').is_some_and(|(a, b)| a.trim() == b.trim());
        Some(if of_itself { mnemonic } else { format!("{mnemonic} {operands}") })
    }

    /// The instructions that lie behind an address, each with those that may follow it.
    fn graph(&self, from: u64) -> FxHashMap<u64, Vec<u64>> {
        let (mut graph, mut work) = (FxHashMap::default(), vec![from]);
        while let Some(at) = work.pop() {
            if graph.contains_key(&at) || graph.len() >= MAX_LOOP {
                continue;
            }
            let next = self.instruction(at).and_then(|it| next(&it)).unwrap_or_default();
            work.extend(&next);
            graph.insert(at, next);
        }
        // What lies beyond the bound leads nowhere.
        let known: FxHashSet<u64> = graph.keys().copied().collect();
        graph.values_mut().for_each(|next| next.retain(|to| known.contains(to)));
        graph
    }

    fn search(&self, roles: &Roles, from: u64, holder: Holder) -> Option<ValueUses> {
        let mut uses = ValueUses::default();
        let (mut seen, mut work) = (FxHashSet::default(), vec![(from, 0, holder)]);
        while let Some(state) = work.pop() {
            if !seen.insert(state) {
                continue;
            }
            let it = self.instruction(state.0).filter(|_| seen.len() < MAX_STATES)?;
            if it.own.is_some() && matches!(state.2, Holder::Register(held) if self.names(&it, register(held))) {
                uses.readers.push(state.0);
            }
            let (moved, holders) = through(&it, roles, state, false, &mut uses);
            for to in next(&it)? {
                work.extend(holders.iter().map(|holder| (to, moved, *holder)));
            }
        }
        Some(uses)
    }
}

/// The addresses that may follow an instruction. `None`: a computed jump.
fn next(it: &Instruction) -> Option<Vec<u64>> {
    let mut all = Vec::new();
    let mut falls_through = true;
    for (n, op) in it.ops.iter().enumerate() {
        match (op.op, it.destination(n)) {
            (OpCode::Branch | OpCode::BranchConditional, Some(Destination::Address(to))) => {
                falls_through &= op.op == OpCode::BranchConditional;
                all.push(to);
            }
            (OpCode::Return, _) => falls_through = false,
            (OpCode::BranchIndirect, _) => return None,
            _ => {}
        }
    }
    all.extend(falls_through.then(|| it.next()));
    Some(all)
}

fn reachable(graph: &FxHashMap<u64, Vec<u64>>, from: u64) -> FxHashSet<u64> {
    let (mut all, mut work) = (FxHashSet::default(), vec![from]);
    while let Some(at) = work.pop() {
        if all.insert(at) {
            work.extend(graph.get(&at).into_iter().flatten());
        }
    }
    all
}

/// The addresses of a graph from which one can be reached, itself among them.
fn leading_to(graph: &FxHashMap<u64, Vec<u64>>, to: u64) -> FxHashSet<u64> {
    let mut before: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
    for (at, next) in graph {
        next.iter().for_each(|next| before.entry(*next).or_default().push(*at));
    }
    reachable(&before, to)
}

/// Follows the value through one instruction: how far the stack pointer has moved then, and what holds the value. `makes`: whatever it stores on the stack is
/// the value.
fn through(it: &Instruction, roles: &Roles, (address, mut moved, holder): State, makes: bool, uses: &mut ValueUses) -> (i64, Vec<Holder>) {
    let mut places: Vec<Varnode> = Vec::new();
    let mut stack: Vec<(bool, i64)> = Vec::new();
    match holder {
        Holder::Register(at) => places.push(register(at)),
        Holder::Stack { by_frame, distance } => stack.push((by_frame, distance)),
    }
    // Addresses on the stack that temporaries and registers hold.
    let mut sums: Vec<(Varnode, (bool, i64))> = vec![(roles.stack, (false, moved)), (roles.frame, (true, 0))];
    let keeps = it.branches_inside();
    for op in &it.ops {
        let holds = |places: &[Varnode], n: usize| op.inputs.get(n).is_some_and(|v| places.iter().any(|held| held.overlaps(*v)));
        let sum = |v: &Varnode| sums.iter().find(|(known, _)| known == v).map(|(_, at)| *at);
        let at = op.inputs.get(1).and_then(sum);
        let any = (0..op.inputs.len()).any(|n| holds(&places, n));
        if matches!(op.op, OpCode::Int(IntOp::Divide(_) | IntOp::Remainder(_) | IntOp::ShiftLeft | IntOp::ShiftRight(_)))
            && holds(&places, 1)
        {
            uses.readers.push(address);
        }
        let gets = match (op.op, &op.inputs[..]) {
            (OpCode::Int(IntOp::Bitwise(BoolOp::Xor)), [a, b]) if a == b => false,
            (OpCode::Load, _) => {
                if holds(&places, 1) {
                    uses.readers.push(address);
                }
                at.is_some_and(|at| stack.contains(&at))
            }
            (OpCode::Store, _) => {
                if holds(&places, 1) {
                    uses.readers.push(address);
                }
                if let Some(at) = at {
                    stack.retain(|held| keeps || *held != at);
                    stack.extend((makes || holds(&places, 2)).then_some(at));
                }
                false
            }
            (OpCode::BranchConditional, _) => {
                uses.is_tested |= holds(&places, 1);
                false
            }
            (OpCode::Branch | OpCode::BranchIndirect | OpCode::Call | OpCode::CallIndirect | OpCode::Return, _) => false,
            _ => any,
        };
        let total = match (op.op, &op.inputs[..]) {
            (OpCode::Copy, [a]) => sum(a),
            (OpCode::Int(IntOp::Add), [a, k] | [k, a]) if k.space == Space::Const && a.space != Space::Const => {
                sum(a).map(|(by_frame, at)| (by_frame, at.wrapping_add(k.offset as i64)))
            }
            (OpCode::Int(IntOp::Subtract), [a, k]) if k.space == Space::Const => {
                sum(a).map(|(by_frame, at)| (by_frame, at.wrapping_sub(k.offset as i64)))
            }
            _ => None,
        };
        let Some(output) = op.output else { continue };
        if !keeps {
            places.retain(|held| !held.overlaps(output) || held.offset < output.offset || held.end() > output.end());
        }
        places.extend(gets.then_some(output));
        sums.retain(|(known, _)| !known.overlaps(output));
        sums.extend(total.map(|total| (output, total)));
    }
    let calls = it.calls();
    if let Some((_, (false, at))) = sums.iter().find(|(known, _)| *known == roles.stack) {
        // The callee takes its return address off the stack.
        moved = if calls { moved } else { *at };
    }
    let kept = |v: &Varnode| v.space == Space::Register && (!calls || roles.saved.iter().any(|saved| v.overlaps(*saved)));
    let registers = places.iter().filter(|v| kept(v)).map(|v| Holder::Register((v.offset, v.size)));
    let words = stack.iter().map(|(by_frame, distance)| Holder::Stack { by_frame: *by_frame, distance: *distance });
    (moved, registers.chain(words).collect())
}
