//! Growths that are kept: a run with them has the same module, byte for byte, as one without; whatever else is in their place is refused.

mod common;

use common::compile;
use wryneck_ir::{CodeSource, Module, file};
use wryneck_machine::{Elf, Kept, Known, MachineProgram, load};

/// The program, and its module before any code is lowered.
struct Case {
    file: Vec<u8>,
    /// Addresses of its functions.
    functions: Vec<u64>,
}

impl Case {
    fn new() -> Case {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/spike.c");
        let (_dir, program) = compile(std::path::Path::new(source), "-O1");
        let file = std::fs::read(program).unwrap();
        let elf = Elf::parse(&file).unwrap();
        let functions = elf.symbols.iter().filter(|s| s.code && s.size > 0).map(|s| s.address).collect();
        Case { file, functions }
    }

    /// Asks for these addresses, in this order, after these growths; the module, as a file, and what there is to keep.
    fn run(&self, addresses: &[u64], kept: Option<Kept>) -> (Vec<u8>, Option<Module>) {
        let (program, module) = self.lowered(addresses, kept);
        wryneck_ir::verify::verify(&module).unwrap();
        (file::to_bytes(&module), program.kept())
    }

    fn lowered(&self, addresses: &[u64], kept: Option<Kept>) -> (MachineProgram, Module) {
        let (mut program, mut module) = MachineProgram::with(Elf::parse(&self.file).unwrap(), &[], &[], Some(load::SHADOWED)).unwrap();
        kept.into_iter().for_each(|kept| program.keep(kept));
        let segments = program.elf.segments.clone();
        let read = |at: u64, out: &mut [u8]| {
            let bytes = segments.iter().find_map(|s| s.bytes.get(at.checked_sub(s.base)? as usize..)?.get(..out.len()));
            bytes.map(|bytes| out.copy_from_slice(bytes)).is_some()
        };
        for address in addresses {
            let block = program.block_at(*address, &mut module, &read).unwrap();
            assert_eq!(program.block_of(*address), Some(block));
        }
        (program, module)
    }
}

/// As from a file.
fn again(module: &Module) -> Option<Kept> {
    Kept::from_module(file::read(&file::to_bytes(module)).unwrap())
}

#[test]
fn growths_are_the_same_from_what_was_kept() {
    let case = Case::new();
    let (all, count) = (&case.functions, case.functions.len());
    assert!(count >= 4);
    let backwards: Vec<u64> = all.iter().rev().copied().collect();
    let begins = [&all[..2], &backwards[..count - 2]].concat();
    let (plain, nothing) = case.run(all, None);
    assert!(nothing.is_none());
    let (first, kept) = case.run(all, Some(Kept::empty()));
    let mut kept = kept.unwrap();
    assert_eq!(first, plain);
    // Other orders are branches of the tree: once lowered, they are kept beside the first.
    for order in [&backwards, &begins] {
        let (plain, _) = case.run(order, None);
        let (other, more) = case.run(order, again(&kept));
        assert_eq!(other, plain);
        kept = more.unwrap();
    }
    for order in [all, &backwards, &begins] {
        let (replayed, new) = case.run(order, again(&kept));
        assert_eq!(replayed, case.run(order, None).0);
        assert!(new.is_none(), "something was lowered");
    }
    // Fewer than were kept, then one more.
    let (part, new) = case.run(&all[..count - 1], again(&kept));
    assert_eq!((part, new.is_none()), (case.run(&all[..count - 1], None).0, true));
}

#[test]
fn what_was_not_kept_is_refused() {
    let case = Case::new();
    let kept = case.run(&case.functions, Some(Kept::empty())).1.unwrap();
    let words: Vec<u64> = kept.bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let with = |words: &[u64]| {
        let mut module = file::read(&file::to_bytes(&kept)).unwrap();
        module.bytes.owned().clear();
        module.bytes.extend(bytemuck::cast_slice(words));
        again(&module)
    };
    assert!(with(&words).is_some());
    assert!(again(&Module::default()).is_none());
    (0..words.len()).for_each(|len| assert!(with(&words[..len]).is_none(), "{len} words"));
    assert!(with(&[&words[..], &[0]].concat()).is_none());
    let mut other = words.clone();
    other[0] += 1;
    assert!(with(&other).is_none());
    // Numbers of blocks and records that are not there: what cannot be appended is lowered.
    let (mut refused, mut lowered) = (0, 0);
    for at in 2..words.len() {
        let mut other = words.clone();
        other[at] = u64::from(u32::MAX) - 1;
        let Some(kept) = with(&other) else {
            refused += 1;
            continue;
        };
        // What else is wrong the verifier finds, but for addresses, which could be right.
        lowered += u32::from(case.lowered(&case.functions, Some(kept)).0.kept().is_some());
    }
    assert!(refused > 0 && lowered > 0, "{refused} {lowered}");
}

#[test]
fn the_shape_tells_what_is_recognised() {
    let case = Case::new();
    let elf = || Elf::parse(&case.file).unwrap();
    let name = elf().symbols.iter().find(|s| s.code && s.address == case.functions[0]).unwrap().name.clone();
    let shape = |known: &[Known], told: &[Known]| MachineProgram::with(elf(), known, told, Some(load::SHADOWED)).unwrap().0.shape();
    let (one, other) = (Known::of_words(&name, [64], 64), Known::of_words(&name, [64, 64], 64));
    let intrinsic = |known: &Known| Known { intrinsic: true, ..known.clone() };
    let shapes = [shape(&[], &[]), shape(&[intrinsic(&one)], &[]), shape(&[], std::slice::from_ref(&one)), shape(&[], &[other])];
    (0..4).for_each(|i| (0..i).for_each(|j| assert_ne!(shapes[i], shapes[j], "{i} {j}")));
    assert_eq!(shape(&[], std::slice::from_ref(&one)), shapes[2]);
}
