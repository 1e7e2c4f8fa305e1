//! The machine code of a program: one function, which grows while the program runs.
//!
//! Its blocks are numbered after those of all other functions, wherever it is linked, so these keep their numbers.

use wryneck_ir::code_source::ReadBytes;
use wryneck_ir::{self as ir, Lowering, NoCode};

use crate::ground::code::{Code, PreparedEdge};
use crate::ground::image::{First, Image, prepared, preparing};

/// The function that is machine code.
pub struct MachineCode {
    /// Its number in the program.
    pub func: u32,
    /// All blocks and edges from there on are its own.
    pub first: First,
    /// Prepared from the beginning.
    pub code: Code,
}

impl MachineCode {
    /// The function `func` of an image, whose numbers come after those of all others.
    pub(super) fn new(image: &Image, func: u32, first: First) -> MachineCode {
        MachineCode { func, first, code: prepared(image, func, first) }
    }
}

impl Image {
    /// The way to an address in machine code, which grows by what `source` lowers for it.
    pub fn edge_to(&mut self, address: u64, source: &mut dyn Lowering, read: ReadBytes<'_>) -> Result<PreparedEdge, NoCode> {
        let Some(&MachineCode { func, first, .. }) = self.machine_code() else {
            return Err(NoCode::Unsupported("a program without machine code".into()));
        };
        let place = self.program.functions()[func as usize];
        let module = &mut self.program.units[place.unit as usize].module;
        let before = module.functions[place.index as usize];
        let block = source.block_at(address, module, read)?;
        let after = &module.functions[place.index as usize];
        let (grown, edges) = (after.blocks.count - before.blocks.count, after.edges.count - before.edges.count);
        if grown > 0 {
            ir::verify::verify_growth(module, &before).map_err(|e| NoCode::Malformed(Box::new(e)))?;
            self.blocks += grown;
            self.edges += edges;
            if let Some(mut machine) = self.machine.take() {
                preparing(self, func, first, |cx| machine.code.append(cx, place.index as usize));
                self.machine = Some(machine);
            }
        }
        let (module, function) = self.function(func);
        let insts = module.blocks.range(function.blocks)[block as usize].insts;
        let target = insts.first - self.code(func).first_inst;
        Ok(PreparedEdge { target, block: first.block + block, weight: insts.count, ..PreparedEdge::default() })
    }
}

#[cfg(test)]
mod tests {
    use wryneck_expr::Pool;
    use wryneck_ir::Module;
    use wryneck_ir::build::{FunctionBuilder, Names};
    use wryneck_ir::link::{Program, Target, Unit};

    use super::*;
    use crate::ground::image::Models;

    struct NoModels;

    impl Models for NoModels {
        fn model_of(&self, _: &str, _: bool) -> Option<u32> {
            None
        }
    }

    /// Lowers two blocks for each address: the second one is there.
    struct TwoBlocks(Names);

    impl Lowering for TwoBlocks {
        fn block_at(&mut self, _: u64, module: &mut Module, _: ReadBytes<'_>) -> Result<u32, NoCode> {
            let last = module.functions.len() as u32 - 1;
            let mut f = FunctionBuilder::append(module, &mut self.0, last).expect("the last function of its module");
            let (way, there) = (f.block(), f.block());
            f.start(way);
            f.jump_to(there);
            f.start(there);
            f.unreachable();
            f.finish().expect("well formed");
            Ok(there.index())
        }
    }

    fn image(units: &[(&str, &str)]) -> Image {
        let unit = |(name, text): &(&str, &str)| {
            let module = wryneck_ir::text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            Unit { name: (*name).into(), module, library: false }
        };
        let program = Program::link(units.iter().map(unit).collect()).expect("links");
        Image::new(program, &NoModels, &mut Pool::new())
    }

    #[test]
    fn blocks_are_numbered_after_all_others_wherever_machine_code_is_linked() {
        let first = "func strong @first() { a: br b b: br c c: unreachable }";
        let code = "func strong @code() [grows] { a: br b b: unreachable }";
        let last = "func strong @last() { a: br b b: unreachable }";
        for order in [[first, code, last], [code, first, last], [first, last, code]] {
            let mut image = image(&order.map(|text| ("unit", text)));
            let number = |name: &str| match image.program.lookup(name) {
                Some(Target::Func(f)) => f.0,
                other => panic!("`{name}` is {other:?}"),
            };
            let (first, code, last) = (number("first"), number("code"), number("last"));
            let machine = image.machine_code().expect("it grows");
            assert_eq!((machine.func, machine.first.block, machine.code.func), (code, 5, code));
            let mut source = TwoBlocks(Names::default());
            for grown in [0, 2, 4] {
                if grown > 0 {
                    let edge = image.edge_to(0x1000, &mut source, &|_, _| false).expect("lowered");
                    assert_eq!((edge.target, edge.block, edge.weight), (1 + grown, 6 + grown, 1));
                }
                assert_eq!((image.blocks, image.edges), (7 + grown, 4 + grown / 2));
                let counts = [(first, 3), (last, 2), (code, 2 + grown)];
                let owners = counts.into_iter().flat_map(|(func, count)| (0..count).map(move |index| (func, index)));
                assert!((0..image.blocks).map(|block| image.block_owner(block)).eq(owners), "{order:?}");
                for (func, _) in counts {
                    let first = image.first_block_of(func);
                    assert_eq!((image.block_owner(first), image.code(func).first.block), ((func, 0), first));
                    assert_eq!(image.code(func).entry.block, first);
                }
                assert_eq!(image.operations(6 + grown), (1 + grown, 2 + grown));
            }
        }
    }
}
