//! Whether machine code checks a call's result: a forward search from the call, through copies between registers and variables in the
//! frame.
//!
//! A use that does more than keep the value checks it: comparing, computing, passing it on, returning it, or storing it where others may
//! read it. All paths of the function count. Where the code is not understood (a computed jump, an instruction without p-code), the
//! result counts as checked. So no result is reported that may be checked. Cost: the instructions after the call, once for each location
//! of the value.

use std::any::Any;
use std::collections::BTreeSet;

use wryneck_ir::CodeSource;
use wryneck_machine::MachineProgram;
use wryneck_machine::elf::Symbol;
use wryneck_machine::pcode::{BoolOp, Destination, Instruction, IntOp, OpCode, Space, Varnode};

/// The most instructions that are followed after one call.
const MAX_STEPS: usize = 100_000;

/// What holds bytes of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    /// Bytes of the register space: the first, and how many.
    Register(u64, u32),
    /// Bytes in the frame: the distance from the frame pointer, and the length.
    Frame(i64, u32),
}

/// The value is checked.
struct Looks;

/// The function of the call.
struct Function<'p> {
    program: &'p MachineProgram,
    symbol: &'p Symbol,
    frame_pointer: Option<Varnode>,
    result: Varnode,
    arguments: Vec<Varnode>,
    saved: Vec<Varnode>,
    returns_nothing: bool,
}

/// Whether anything after the call that an instruction of the module was lowered from checks the call's result. Unknown: yes.
pub fn looked_at(source: &(dyn CodeSource + 'static), instruction: u32) -> bool {
    // Another source has no instructions to read.
    let source: &dyn Any = source;
    let Some(program) = source.downcast_ref::<MachineProgram>() else { return true };
    program.address_of(instruction).is_none_or(|call| is_looked_at(program, call))
}

/// Whether anything after the call at an address checks its result.
fn is_looked_at(program: &MachineProgram, call: u64) -> bool {
    let (Some(function), Some(it)) = (Function::of(program, call), program.instruction(call)) else { return true };
    match it.calls() {
        true => function.search(it.next()).is_err(),
        // A function that ends with a jump to another one returns that one's result.
        false => !function.returns_nothing,
    }
}

impl<'p> Function<'p> {
    fn of(program: &'p MachineProgram, address: u64) -> Option<Function<'p>> {
        let symbol = program.elf.function(address).filter(|f| address - f.address < f.size)?;
        let cpu = program.elf.cpu;
        Some(Function {
            program,
            symbol,
            frame_pointer: program.frame_pointer_of(symbol),
            result: program.register(cpu.call.result)?,
            arguments: cpu.call.arguments.iter().filter_map(|name| program.register(name)).collect(),
            saved: cpu.call.saved.iter().filter_map(|name| program.register(name)).collect(),
            returns_nothing: program.elf.dwarf.iter().any(|d| d.returns_nothing(symbol.address)),
        })
    }

    /// Follows the value from an address on.
    fn search(&self, from: u64) -> Result<(), Looks> {
        let mut seen = BTreeSet::new();
        let mut work = vec![(from, Holder::Register(self.result.offset, self.result.size))];
        while let Some((address, holder)) = work.pop() {
            if !seen.insert((address, holder)) {
                continue;
            }
            let it = self.program.instruction(address).filter(|it| it.own.is_none() && seen.len() < MAX_STEPS).ok_or(Looks)?;
            let held = Held::at(holder).through(&it, self.frame_pointer)?;
            for next in self.beyond(&it, &held)? {
                work.extend(held.holders(it.calls().then_some(&self.saved)).map(|holder| (next, holder)));
            }
        }
        Ok(())
    }

    /// The addresses in the function to which control goes from an instruction.
    fn beyond(&self, it: &Instruction, held: &Held) -> Result<Vec<u64>, Looks> {
        let passes = || self.arguments.iter().any(|argument| held.has(*argument));
        let mut next = Vec::new();
        let mut falls_through = true;
        for (n, op) in it.ops.iter().enumerate() {
            match (op.op, it.destination(n)) {
                (OpCode::Call | OpCode::CallIndirect, _) if passes() => return Err(Looks),
                (OpCode::Branch | OpCode::BranchConditional, Some(Destination::Address(to))) => {
                    falls_through &= op.op == OpCode::BranchConditional;
                    match to.checked_sub(self.symbol.address) {
                        Some(inside) if inside < self.symbol.size => next.push(to),
                        _ if passes() => return Err(Looks),
                        _ => {}
                    }
                }
                (OpCode::Return, _) if held.has(self.result) && !self.returns_nothing => return Err(Looks),
                (OpCode::Return, _) => falls_through = false,
                (OpCode::BranchIndirect, _) => return Err(Looks),
                _ => {}
            }
        }
        next.extend(falls_through.then(|| it.next()));
        Ok(next)
    }
}

/// What holds the value inside an instruction.
struct Held {
    /// Registers and temporaries, or bytes of them.
    places: Vec<Varnode>,
    frame: Vec<(i64, u32)>,
}

impl Held {
    fn at(holder: Holder) -> Held {
        match holder {
            Holder::Register(offset, size) => Held { places: vec![Varnode { space: Space::Register, offset, size }], frame: Vec::new() },
            Holder::Frame(distance, size) => Held { places: Vec::new(), frame: vec![(distance, size)] },
        }
    }

    /// The holders after the instruction; after a call only these registers, and the frame.
    fn holders<'a>(&'a self, saved: Option<&'a Vec<Varnode>>) -> impl Iterator<Item = Holder> + 'a {
        let registers = self.places.iter().filter(|v| v.space == Space::Register);
        let kept = registers.filter(move |v| saved.is_none_or(|saved| saved.iter().any(|s| v.overlaps(*s))));
        kept.map(|v| Holder::Register(v.offset, v.size)).chain(self.frame.iter().map(|(distance, size)| Holder::Frame(*distance, *size)))
    }

    fn has(&self, v: Varnode) -> bool {
        self.places.iter().any(|held| held.overlaps(v))
    }

    fn in_frame(&self, distance: i64, size: u32) -> bool {
        self.frame.iter().any(|(at, n)| *at < distance.saturating_add(size.into()) && distance < at.saturating_add((*n).into()))
    }

    /// Follows the value through an instruction's operations.
    fn through(mut self, it: &Instruction, frame_pointer: Option<Varnode>) -> Result<Held, Looks> {
        // The written bytes no longer hold the value.
        let keeps = it.branches_inside();
        let mut sums: Vec<(Varnode, i64)> = frame_pointer.map(|v| (v, 0)).into_iter().collect();
        for op in &it.ops {
            let sum = |v: &Varnode| sums.iter().find(|(known, _)| known == v).map(|(_, distance)| *distance);
            let address = op.inputs.get(1).and_then(sum);
            let read = |n: usize| op.inputs.get(n).is_some_and(|v| self.has(*v));
            let mut gets = false;
            match (op.op, &op.inputs[..]) {
                (OpCode::Copy | OpCode::Int(IntOp::Extension(_)) | OpCode::Subpiece, _) => gets = read(0),
                (OpCode::Int(IntOp::Bitwise(BoolOp::Xor)), [a, b]) if a == b => {}
                (OpCode::Load, _) if !read(1) => {
                    gets = address.is_some_and(|at| self.in_frame(at, op.output.map_or(0, |v| v.size)));
                }
                (OpCode::Store, [_, _, value]) if !read(1) => match address {
                    Some(at) if self.has(*value) => self.frame.push((at, value.size)),
                    None if self.has(*value) => return Err(Looks),
                    Some(at) if !keeps => {
                        let size = i64::from(value.size);
                        self.frame.retain(|(held, n)| *held < at || held.saturating_add((*n).into()) > at.saturating_add(size));
                    }
                    Some(_) | None => {}
                },
                (OpCode::Branch | OpCode::Call, _) => {}
                _ if (0..op.inputs.len()).any(read) => return Err(Looks),
                _ => {}
            }
            let total = match (op.op, &op.inputs[..]) {
                (OpCode::Copy, [a]) => sum(a),
                (OpCode::Int(IntOp::Add), [a, k] | [k, a]) if k.space == Space::Const && a.space != Space::Const => {
                    sum(a).map(|at| at.wrapping_add(k.offset as i64))
                }
                _ => None,
            };
            let Some(output) = op.output else { continue };
            // The address of a variable that holds the value is stored, so the value may be read through it.
            if output.space == Space::Register && total.is_some_and(|at| self.in_frame(at, 1)) {
                return Err(Looks);
            }
            if !keeps {
                self.places = self.places.iter().flat_map(|held| without(*held, output)).collect();
            }
            // A variable of static storage.
            if gets && output.space == Space::Memory {
                return Err(Looks);
            }
            self.places.extend(gets.then_some(output));
            sums.retain(|(known, _)| !known.overlaps(output));
            sums.extend(total.map(|total| (output, total)));
        }
        Ok(self)
    }
}

/// The parts of a varnode that a write of another one leaves.
fn without(held: Varnode, written: Varnode) -> impl Iterator<Item = Varnode> {
    let (mut left, mut right) = (Some(held), None);
    if held.overlaps(written) {
        left = held.offset.lt(&written.offset).then(|| Varnode { size: (written.offset - held.offset) as u32, ..held });
        right = (written.end() < held.end()).then(|| Varnode { offset: written.end(), size: (held.end() - written.end()) as u32, ..held });
    }
    left.into_iter().chain(right)
}
