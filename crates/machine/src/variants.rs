//! Names for the functions that a library chooses from when the program begins (IFUNC). A stripped library names what chooses alone, so
//! its `__wcschr_sse2` would have the name of whatever function is before it.

use crate::MachineProgram;
use crate::elf::Symbol;
use crate::pcode::{Instruction, Space};

/// Names the functions among which each of `choosers` of a mapped library chooses, where they have no names.
pub fn name(program: &mut MachineProgram, choosers: &[Symbol]) {
    let mut named = variants(choosers, &|at| program.instruction(at));
    named.retain(|symbol| program.elf.names_at(symbol.address).next().is_none());
    program.elf.add_symbols(named);
}

/// The functions among which each of `choosers` chooses, by its name: the addresses of code that its instructions mention. `decode` gives the
/// instruction at an address of code.
fn variants(choosers: &[Symbol], decode: &dyn Fn(u64) -> Option<Instruction>) -> Vec<Symbol> {
    let mut all = Vec::new();
    for chooser in choosers {
        let inside = chooser.address..chooser.address.saturating_add(chooser.size);
        let mut at = inside.start;
        while let Some(instruction) = inside.contains(&at).then(|| decode(at)).flatten() {
            let read = instruction.ops.iter().flat_map(|op| &op.inputs);
            let constants = read.filter(|input| input.space == Space::Const && input.size == 8).map(|input| input.offset);
            let code = constants.filter(|to| !inside.contains(to) && decode(*to).is_some());
            all.extend(code.map(|address| Symbol { address, local: true, size: 0, ..chooser.clone() }));
            at = instruction.next();
        }
    }
    all
}
