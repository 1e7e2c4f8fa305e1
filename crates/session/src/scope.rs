//! The variables in scope where a path ended, with their values on the path's input. For machine code by debug information
//! ([`wryneck_machine::scope`]); for bitcode those in memory.

use std::cell::RefCell;

use wryneck_exec::code::FrameSlot;
use wryneck_exec::ground::memory::Byte;
use wryneck_exec::machine_code::MachineCode;
use wryneck_exec::state::{Frame, State};
use wryneck_exec::{CodePos, Core, places};
use wryneck_expr::{Evaluator, ExprId};
use wryneck_machine::MachineProgram;
use wryneck_machine::scope::InScope;
use wryneck_report::{Variable, units};

/// Variables of bitcode that no source has.
const MADE_UP: [&str; 5] = ["", "cleanup.dest.slot", "retval", "saved_stack", "variable arguments"];
/// What clang adds to the name of a parameter where it keeps that in memory.
const OF_PARAMETER: &str = ".addr";
/// Longest machine instruction in bytes.
const INSTRUCTION: u64 = 16;
/// Bytes of a larger variable that are shown.
const SHOWN: u64 = 32;
/// What stands in the place of a value that is not there.
const UNWRITTEN: &str = "unwritten";

/// What a path that has ended holds.
struct Held<'a> {
    core: &'a Core,
    state: &'a State,
    evaluator: RefCell<Evaluator>,
}

/// For each of the places that the positions `at` of a state's call stack are, `places` at most, the variables there.
pub fn variables(core: &Core, state: &State, machine: Option<&MachineProgram>, at: &[CodePos], places: usize) -> Vec<Vec<Variable>> {
    let held = Held { core, state, evaluator: RefCell::new(Evaluator::new()) };
    let mut of_machine_code = machine.map(|machine| held.of_machine_code(machine)).unwrap_or_default().into_iter();
    let mut frames = state.frames.iter().rev();
    let mut all: Vec<Vec<Variable>> = Vec::new();
    for pos in at {
        if all.len() >= places {
            break;
        }
        let mut functions: Vec<Vec<Variable>> = match machine.filter(|_| core.image.is_machine_code(pos.func)) {
            Some(machine) => {
                let address = machine.address_of(places::instruction(&core.image, *pos)).unwrap_or(0);
                let is_here = |f: &InScope| f.address.checked_sub(address).is_some_and(|inside| inside < INSTRUCTION);
                of_machine_code.find(is_here).map(|f| f.functions.into_iter().map(plain).collect()).unwrap_or_default()
            }
            None => frames.find(|frame| frame.func() == pos.func).map(|frame| held.of_bitcode(frame)).into_iter().collect(),
        };
        // Where they do not agree on what was inlined, all belongs to the function itself.
        let count = places::source(&core.image, *pos).len().max(1);
        if functions.len() != count {
            let mut own = vec![Vec::new(); count];
            own[count - 1] = functions.concat();
            functions = own;
        }
        all.extend(functions);
    }
    all.truncate(places);
    while all.last().is_some_and(Vec::is_empty) {
        all.pop();
    }
    all
}

fn plain(function: Vec<wryneck_machine::scope::Variable>) -> Vec<Variable> {
    function.into_iter().map(|v| Variable { name: v.name, value: v.value }).collect()
}

impl Held<'_> {
    fn of_machine_code(&self, machine: &MachineProgram) -> Vec<InScope> {
        let Some(MachineCode { func, code, .. }) = self.core.image.machine_code() else { return Vec::new() };
        let mut all = Vec::new();
        let mut op = None;
        for frame in self.state.frames.iter().rev().filter(|frame| frame.func() == *func) {
            // Constants have the first slots, parameters those after them.
            let limb = |n: usize| self.slot(frame, code.consts.len() + n);
            // A caller's operation is the one after its call.
            let here = if op.is_none() && std::ptr::eq(self.state.frame(), &**frame) { frame.op() } else { frame.op().saturating_sub(1) };
            op = Some(here);
            let instruction = places::instruction(&self.core.image, CodePos { func: *func, op: here });
            all.extend(machine.in_scope(instruction, &limb, &|at, out| self.read(at, out)));
        }
        all
    }

    /// The variables that a function of bitcode has in memory. Their types are not known: what is as large and as aligned as a number is shown
    /// as one.
    fn of_bitcode(&self, frame: &Frame) -> Vec<Variable> {
        let image = &self.core.image;
        let (module, function) = image.function(frame.func());
        let allocas = module.allocas.range(function.allocas).iter().zip(&image.code(frame.func()).frame);
        let named =
            allocas.map(|(alloca, slot)| (module.str(alloca.name), alloca.align, slot)).filter(|(name, ..)| !MADE_UP.contains(name));
        let shown = |(name, align, slot): (&str, u32, &FrameSlot)| {
            let mut bytes = vec![0; slot.size.min(SHOWN) as usize];
            let there = self.read(frame.base + slot.offset, &mut bytes);
            let value = if there { raw(&bytes, slot.size, align) } else { UNWRITTEN.to_owned() };
            Variable { name: name.strip_suffix(OF_PARAMETER).unwrap_or(name).to_owned(), value }
        };
        named.map(shown).collect()
    }

    fn slot(&self, frame: &Frame, slot: usize) -> Option<u64> {
        let (value, tag) = frame.slot(slot)?;
        Some(if tag == 0 { value } else { self.value(ExprId::from_raw(value as u32), 0) })
    }

    /// A limb of an expression's value.
    fn value(&self, e: ExprId, limb: usize) -> u64 {
        let limbs = self.evaluator.borrow_mut().eval_wide(&self.core.pool, e, &self.state.model);
        limbs.get(limb).copied().unwrap_or(0)
    }

    /// Reads memory; `false` if a byte of it is not there or was never written.
    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        let byte = |at: u64| match self.state.memory.space.byte(at) {
            Byte::Concrete(byte) => Some(byte),
            Byte::Symbolic { expr, index } => Some((self.value(expr, usize::from(index / 8)) >> (8 * (index % 8))) as u8),
            Byte::Dead | Byte::Uninitialised => None,
        };
        (0..).zip(out).all(|(i, out)| byte(address.wrapping_add(i)).map(|byte| *out = byte).is_some())
    }
}

/// A value of so many bytes, of which these are the first, whose type is not known.
fn raw(bytes: &[u8], size: u64, align: u32) -> String {
    let mut word = [0; 8];
    match size {
        1 | 2 | 4 | 8 if u64::from(align) >= size => {
            word[..bytes.len()].copy_from_slice(bytes);
            let (number, unused) = (u64::from_le_bytes(word), 64 - 8 * size as u32);
            // Of 8 bytes, what is large is an address.
            if size == 8 && number >> 24 != 0 && number >> 48 == 0 {
                format!("{number:#x}")
            } else {
                ((number << unused) as i64 >> unused).to_string()
            }
        }
        _ => format!("{}{}", units::c_string(bytes), if size > bytes.len() as u64 { "…" } else { "" }),
    }
}
