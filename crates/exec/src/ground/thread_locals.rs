//! The thread-local variables of a program of bitcode. The first thread's are ordinary variables; others have instances of their own.

use crate::ground::image::Image;

/// A thread-local variable. The descriptor of the thread, if the C library has one ([`wryneck_ir::THREAD`]), is among them.
#[derive(Clone, Debug)]
pub struct ThreadLocal<'a> {
    pub name: &'a str,
    /// The first thread's.
    pub address: u64,
    pub size: u64,
    pub align: u64,
    /// What it begins with.
    pub first: Vec<u8>,
}

/// The thread-local variables of a program, by number.
pub fn thread_locals(image: &Image) -> Vec<ThreadLocal<'_>> {
    let local = |number: &u32| {
        let g = &image.program.globals()[*number as usize];
        let module = &image.program.units[g.place.unit as usize].module;
        let global = &module.globals[g.place.index as usize];
        let mut first = module.bytes.range(global.init).to_vec();
        first.resize(g.size as usize, 0);
        for r in module.relocs.range(global.relocs) {
            let value = image.target_address(image.program.target(g.place.unit, r.symbol)).wrapping_add_signed(r.addend);
            first[r.offset as usize..r.offset as usize + 8].copy_from_slice(&value.to_le_bytes());
        }
        ThreadLocal {
            name: module.str(module.symbols[global.symbol as usize].name),
            address: image.global_addrs[*number as usize],
            size: g.size,
            align: u64::from(global.align.max(16)),
            first,
        }
    };
    image.locals.iter().map(local).collect()
}
