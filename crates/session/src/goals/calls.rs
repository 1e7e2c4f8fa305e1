//! Which functions of bitcode can run at all: those that calls and pointers lead to, a wide answer.

use rustc_hash::FxHashSet;
use wryneck_exec::Image;
use wryneck_ir::link::Target;
use wryneck_ir::{NONE, Op};

/// The functions that the functions `roots`, those of libraries, those that run before and after `main`, or what variables hold may call, with all that these
/// may call.
pub fn reached(image: &Image, roots: &[&str]) -> FxHashSet<u32> {
    let mut work: Vec<u32> =
        (0..image.program.functions().len() as u32).filter(|f| is_library(image, *f) || roots.contains(&image.name(*f))).collect();
    let around = image.program.constructors().iter().chain(image.program.destructors());
    work.extend(around.filter_map(function));
    for (unit, of) in (0u32..).zip(&image.program.units) {
        let symbols = of.module.relocs.iter().map(|reloc| reloc.symbol);
        work.extend(symbols.filter_map(|symbol| target(image, unit, symbol)));
    }
    let mut all = FxHashSet::default();
    while let Some(func) = work.pop() {
        if !all.insert(func) {
            continue;
        }
        let unit = image.program.functions()[func as usize].unit;
        let (module, f) = image.function(func);
        let named = module.consts.range(f.consts).iter().map(|c| c.symbol).filter(|symbol| *symbol != NONE);
        let insts = module.blocks.range(f.blocks).iter().flat_map(|b| module.insts.range(b.insts));
        let called = insts.filter(|inst| inst.operator() == Some(Op::Call)).map(|inst| inst.a);
        work.extend(named.chain(called).filter_map(|symbol| target(image, unit, symbol)));
    }
    all
}

/// Whether a function's code came with a library or is our start.
fn is_library(image: &Image, func: u32) -> bool {
    image.is_library(func) || image.program.units[image.program.functions()[func as usize].unit as usize].library
}

fn target(image: &Image, unit: u32, symbol: u32) -> Option<u32> {
    function(&image.program.target(unit, symbol))
}

fn function(target: &Target) -> Option<u32> {
    match target {
        Target::Func(f) => Some(f.0),
        Target::Data(..) | Target::Undefined(_) | Target::Null => None,
    }
}
