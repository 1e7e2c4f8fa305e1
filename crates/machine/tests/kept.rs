//! Growths that are kept: a run with them has the same module, byte for byte, as one without; whatever else is in their place is refused.

mod common;

use std::ops::Range;

use common::compile;
use wryneck_ir::{ControlFlow, Lowering, Module, file};
use wryneck_machine::elf::INTERPRETER_BASE;
use wryneck_machine::{Elf, Kept, Known, MachineProgram, load};

const ALL: Range<u64> = 0..u64::MAX;

/// The program, and its module before any code is lowered.
struct Case {
    file: Vec<u8>,
    loader: Option<Vec<u8>>,
    /// Addresses of its functions.
    functions: Vec<u64>,
}

/// A module as a file, and what there is to keep.
type Lowered = (Vec<u8>, Vec<Option<Module>>);

impl Case {
    fn new() -> Case {
        Case::with("-O1", None)
    }

    /// The program, compiled so, beside a file that loads it.
    fn with(level: &str, loader: Option<Vec<u8>>) -> Case {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/spike.c");
        let (_dir, program) = compile(std::path::Path::new(source), level);
        let mut case = Case { file: std::fs::read(program).unwrap(), loader, functions: Vec::new() };
        let symbols = case.elf().symbols;
        let functions = symbols.iter().filter(|s| s.code && s.size > 0 && s.address < INTERPRETER_BASE);
        case.functions = functions.map(|s| s.address).collect();
        case
    }

    fn elf(&self) -> Elf {
        let mut elf = Elf::parse(&self.file).unwrap();
        let loader = self.loader.iter().map(|file| Elf::parse_at(file, INTERPRETER_BASE).unwrap());
        loader.for_each(|loader| elf.join(loader).unwrap());
        elf
    }

    /// Asks for these addresses, in this order, after these growths.
    fn run(&self, addresses: &[u64], kept: Vec<Kept>) -> Lowered {
        let (program, module) = self.lowered(addresses, kept);
        wryneck_ir::verify::verify(&module).unwrap();
        (file::to_bytes(&module), program.kept().map(|kept| kept.map(copy)).collect())
    }

    /// The same of a single file.
    fn run_one(&self, addresses: &[u64], kept: Kept) -> (Vec<u8>, Option<Module>) {
        let (module, mut kept) = self.run(addresses, vec![kept]);
        (module, kept.remove(0))
    }

    /// The module that lowering alone gives.
    fn plain(&self, addresses: &[u64]) -> Vec<u8> {
        self.run(addresses, Vec::new()).0
    }

    fn lowered(&self, addresses: &[u64], kept: Vec<Kept>) -> (MachineProgram, Module) {
        let (mut program, mut module) = MachineProgram::with(self.elf(), &[], &[], Some(load::SHADOWED)).unwrap();
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

fn copy(module: &Module) -> Module {
    file::read(&file::to_bytes(module)).unwrap()
}

/// As from a file.
fn again(module: &Module) -> Option<Kept> {
    Kept::from_module(copy(module), ALL)
}

#[test]
fn growths_are_the_same_from_what_was_kept() {
    let case = Case::new();
    let (all, count) = (&case.functions, case.functions.len());
    assert!(count >= 4);
    let backwards: Vec<u64> = all.iter().rev().copied().collect();
    let begins = [&all[..2], &backwards[..count - 2]].concat();
    let (first, kept) = case.run_one(all, Kept::empty(ALL));
    let mut kept = kept.unwrap();
    assert_eq!(first, case.plain(all));
    // In other orders blocks end elsewhere: what does not fit is lowered, and kept beside the first.
    for order in [&backwards, &begins] {
        let (other, more) = case.run_one(order, again(&kept).unwrap());
        assert_eq!(other, case.plain(order));
        kept = more.unwrap_or(kept);
    }
    for order in [all, &backwards, &begins] {
        let (replayed, new) = case.run_one(order, again(&kept).unwrap());
        assert_eq!(replayed, case.plain(order));
        assert!(new.is_none(), "something was lowered");
    }
    // Fewer than were kept.
    let (part, new) = case.run_one(&all[..count - 1], again(&kept).unwrap());
    assert_eq!((part, new.is_none()), (case.plain(&all[..count - 1]), true));
}

#[test]
fn other_programs_find_what_was_kept_of_the_loader() {
    let loader = std::fs::read("/lib/ld-musl-x86_64.so.1").unwrap();
    let (one, other) = (Case::with("-O1", Some(loader.clone())), Case::with("-O2", Some(loader)));
    assert_ne!(one.file, other.file);
    let segments = one.elf().segments;
    let range = INTERPRETER_BASE..segments.last().map(|s| s.base + s.size).unwrap();
    let symbols = one.elf().symbols;
    let library: Vec<u64> = symbols.iter().filter(|s| s.code && s.size > 0 && s.library).map(|s| s.address).collect();
    let library: Vec<u64> = library.into_iter().step_by(16).collect();
    assert!(library.len() > 50);
    // The program's own functions come between those of the library.
    let mixed = |case: &Case, skip: usize| {
        let mut own = case.functions.iter().cycle().skip(skip);
        library.iter().flat_map(|address| [*address, *own.next().unwrap()]).collect::<Vec<u64>>()
    };
    let (first, second) = (mixed(&one, 0), mixed(&other, 1));
    let (module, kept) = one.run(&first, vec![Kept::empty(range.clone()), Kept::empty(ALL)]);
    assert_eq!(module, one.plain(&first));
    let [Some(of_loader), Some(_)] = &kept[..] else { panic!("nothing was kept") };
    let again = || Kept::from_module(copy(of_loader), range.clone()).unwrap();
    let (module, kept) = other.run(&second, vec![again(), Kept::empty(ALL)]);
    assert_eq!(module, other.plain(&second));
    assert!(kept[0].is_none(), "code of the loader was lowered again");
    assert!(kept[1].is_some());
    // In another order some of it is.
    let backwards: Vec<u64> = second.iter().rev().copied().collect();
    assert_eq!(other.run(&backwards, vec![again()]).0, other.plain(&backwards));
    // What a program has by name does not change what the loader hangs on; what is recognised in it does.
    let shape = |case: &Case, known: &[Known]| MachineProgram::with(case.elf(), known, &[], Some(load::SHADOWED)).unwrap().0.shape(&range);
    assert_eq!(shape(&one, &[]), shape(&other, &[]));
    assert_ne!(shape(&one, &[]), shape(&one, &[Known::of_words("strlen", [64], 64)]));
}

#[test]
fn what_was_not_kept_is_refused() {
    let case = Case::new();
    let kept = case.run_one(&case.functions, Kept::empty(ALL)).1.unwrap();
    let words: Vec<u64> = kept.bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let with = |words: &[u64]| {
        let mut module = copy(&kept);
        module.bytes.owned().clear();
        module.bytes.extend(bytemuck::cast_slice(words));
        again(&module)
    };
    assert!(with(&words).is_some());
    assert!(again(&Module::default()).is_none());
    assert!(with(&[&words[..], &[0]].concat()).is_none());
    assert!(with(&words[..words.len() - 1]).is_none());
    let mut other = words.clone();
    other[0] += 1;
    assert!(with(&other).is_none());
    // Numbers of blocks and records that are not there: what cannot be appended is lowered.
    let (mut refused, mut lowered) = (0, 0);
    for at in 1..words.len() {
        let mut other = words.clone();
        other[at] = u64::from(u32::MAX) - 1;
        let Some(kept) = with(&other) else {
            refused += 1;
            continue;
        };
        // What else is wrong the verifier finds, but for addresses, which could be right.
        lowered += u32::from(case.lowered(&case.functions, vec![kept]).0.kept().any(|kept| kept.is_some()));
    }
    assert!(refused > 0 && lowered > 0, "{refused} {lowered}");
}

#[test]
fn the_shape_tells_what_is_recognised() {
    let case = Case::new();
    let elf = || Elf::parse(&case.file).unwrap();
    let name = elf().symbols.iter().find(|s| s.code && s.address == case.functions[0]).unwrap().name.clone();
    let shape = |known: &[Known], told: &[Known]| MachineProgram::with(elf(), known, told, Some(load::SHADOWED)).unwrap().0.shape(&ALL);
    let (one, other) = (Known::of_words(&name, [64], 64), Known::of_words(&name, [64, 64], 64));
    let intrinsic = |known: &Known| Known { intrinsic: true, ..known.clone() };
    let shapes = [shape(&[], &[]), shape(&[intrinsic(&one)], &[]), shape(&[], std::slice::from_ref(&one)), shape(&[], &[other])];
    (0..4).for_each(|i| (0..i).for_each(|j| assert_ne!(shapes[i], shapes[j], "{i} {j}")));
    assert_eq!(shape(&[], std::slice::from_ref(&one)), shapes[2]);
}
