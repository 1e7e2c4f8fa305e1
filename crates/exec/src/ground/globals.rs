//! Memory as every path of a program finds it: its variables, and objects at fixed addresses.

use std::rc::Rc;

use wryneck_expr::Pool;
use wryneck_ir::code_source::Data;
use wryneck_ir::{self as ir, global_flags};

use crate::ground::image::Image;
use crate::ground::memory::{GLOBAL_BASE, Memory, PAGE, Static};

/// Dead bytes between globals.
const GLOBAL_SLACK: u64 = 16;
/// What the names of guards of first values begin with (Itanium C++ ABI, 5.1.4.1 "Guard Variables").
const GUARD: &str = "_ZGV";

/// Addresses of globals: the read-only ones first, then, on other pages, those that may be written.
pub(super) fn place(image: &mut Image) {
    let mut at = GLOBAL_BASE;
    let globals = image.program.globals();
    let mut addrs = vec![0; globals.len()];
    let mut statics = Vec::with_capacity(globals.len());
    for read_only in [true, false] {
        for (i, g) in globals.iter().enumerate() {
            let module = &image.program.units[g.place.unit as usize].module;
            let global = &module.globals[g.place.index as usize];
            if !g.live || (global.flags & global_flags::READ_ONLY != 0) != read_only {
                continue;
            }
            at = at.next_multiple_of(u64::from(global.align.max(16)));
            addrs[i] = at;
            let name = module.str(module.symbols[global.symbol as usize].name);
            if global.flags & global_flags::THREAD_LOCAL != 0 || name == ir::THREAD {
                image.locals.push(i as u32);
            }
            statics.push(Static { base: at, size: g.size, name: name.into(), writable: !read_only });
            at += g.size + GLOBAL_SLACK;
        }
        at = at.next_multiple_of(PAGE) + PAGE;
    }
    image.global_addrs = addrs;
    image.statics = Rc::new(statics);
    image.memory.statics = image.statics.clone();
}

/// Their first values.
pub(super) fn fill(image: &mut Image, pool: &mut Pool) {
    let mut space = std::mem::take(&mut image.memory.space);
    for (i, g) in image.program.globals().iter().enumerate() {
        let module = &image.program.units[g.place.unit as usize].module;
        let global = &module.globals[g.place.index as usize];
        if !g.live {
            continue;
        }
        let base = image.global_addrs[i];
        space.make_live(base, g.size, true, pool);
        space.write(base, module.bytes.range(global.init));
        for r in module.relocs.range(global.relocs) {
            let value = image.target_address(image.program.target(g.place.unit, r.symbol)).wrapping_add_signed(r.addend);
            space.write(base + r.offset, &value.to_le_bytes());
        }
    }
    let read_only: Vec<(u64, u64)> = image.statics.iter().filter(|s| !s.writable).map(|s| (s.base, s.size)).collect();
    for (base, size) in read_only {
        space.set_writable(base, size, false);
    }
    space.sleep();
    image.memory.space = space;
}

/// Puts an object at a fixed address, before any path runs: these bytes, then zeros; `None`: it was never written. Pages it shares with
/// an object of other permissions get its own.
pub fn map(image: &mut Image, object: Static, bytes: Option<&[u8]>, pool: &mut Pool) {
    let mut space = std::mem::take(&mut image.memory.space);
    space.wake();
    space.make_live(object.base, object.size, bytes.is_some(), pool);
    space.write(object.base, bytes.unwrap_or_default());
    space.set_writable(object.base, object.size, object.writable);
    space.sleep();
    image.memory.space = space;
    image.memory.statics = Rc::default();
    let statics = Rc::make_mut(&mut image.statics);
    let at = statics.partition_point(|s| s.base < object.base);
    statics.insert(at, object);
    image.memory.statics = image.statics.clone();
}

/// Maps an object for one path, of zeros or never written, where nothing is.
pub fn map_for(memory: &mut Memory, object: Static, zero: bool, pool: &mut Pool) {
    memory.space.make_live(object.base, object.size, zero, pool);
    memory.space.set_writable(object.base, object.size, object.writable);
    let statics = Rc::make_mut(&mut memory.statics);
    let at = statics.partition_point(|s| s.base < object.base);
    statics.insert(at, object);
}

/// Takes away what [`map_for`] has mapped.
pub fn unmap_for(memory: &mut Memory, base: u64, pool: &mut Pool) {
    let statics = Rc::make_mut(&mut memory.statics);
    if let Ok(at) = statics.binary_search_by_key(&base, |s| s.base) {
        let object = statics.remove(at);
        memory.space.make_dead(object.base, object.size, pool);
    }
}

/// The variables of bitcode of the program itself that begin as zeros: those without an initial value among them. Not those of threads.
pub fn zeroed(image: &Image) -> Vec<Data> {
    variables(image, true)
}

/// The variables of bitcode of the program itself that it can write, but for those of threads.
pub fn written(image: &Image) -> Vec<Data> {
    variables(image, false)
}

fn variables(image: &Image, zero_only: bool) -> Vec<Data> {
    let of = |g: &ir::link::LinkedGlobal| {
        let unit = &image.program.units[g.place.unit as usize];
        (unit.library, &unit.module, &unit.module.globals[g.place.index as usize])
    };
    let globals = image.program.globals().iter().zip(&image.global_addrs).filter(|(g, _)| g.live && g.size > 0);
    let zeroed = globals.filter_map(|(g, address)| {
        let (library, module, global) = of(g);
        let constant = global.flags & (global_flags::READ_ONLY | global_flags::THREAD_LOCAL | global_flags::UNNAMED) != 0;
        let zero = global.relocs.count == 0 && module.bytes.range(global.init).iter().all(|byte| *byte == 0);
        let name = || module.str(module.symbols[global.symbol as usize].name).to_owned();
        ((zero || !zero_only) && !library && !constant).then(|| Data { name: name(), address: *address, size: g.size })
    });
    zeroed.collect()
}

/// Has variables begin as memory that was never written, but for those by which compilers know whether a variable has its first value.
pub fn leave_unwritten(image: &mut Image, variables: &[Data], pool: &mut Pool) {
    let mut space = std::mem::take(&mut image.memory.space);
    space.wake();
    for v in variables.iter().filter(|v| !v.name.starts_with(GUARD)) {
        space.make_live(v.address, v.size, false, pool);
    }
    space.sleep();
    image.memory.space = space;
}
