//! Which summaries fit a program. Rows that the program's definitions, streams or formats make wrong are left out. The bodies of those
//! functions are analysed instead.
//!
//! - A library function may call a function of the program, such as the program's own `malloc`. Then its row does not describe all its
//!   effects.
//! - A stream may be memory of the program (`open_memstream`, `fmemopen`, a buffer given to `setvbuf`) or call the program (`fopencookie`).
//! - Where the program makes such a stream, no row about streams is used, because the slicer cannot distinguish it from other streams.
//! - A format may write through its arguments (`%n`), allocate (`%m`), or fail on what it is given (`%lc`, `%ls`).
//! - A row may hold only for null pointers (`unless`).

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_exec::Image;
use wryneck_exec::code::Callee;
use wryneck_ir::link::{Program, Target};
use wryneck_ir::{Inst, Module, NONE, Op};

use super::objects::OUTSIDE;
use super::solution::PointsTo;
use super::summary::{SYSTEM_CALL, Summaries, Summary};
use super::writer::arguments;

/// Functions that make a stream of the program's memory or of its functions.
const OF_THE_PROGRAM: [&str; 4] = ["fmemopen", "fopencookie", "open_memstream", "open_wmemstream"];

/// Functions that make streams or set them up, whose rows say nothing of a stream.
const SET_UP: [&str; 10] =
    ["fdopen", "__fdopen", "fopen", "fopen64", "setbuf", "setbuffer", "setlinebuf", "setvbuf", "tmpfile", "tmpfile64"];

/// A call of a function of the program that no library function makes.
struct Call<'a> {
    func: u32,
    inst: &'a Inst,
    args: Vec<u32>,
}

/// Leaves out what does not fit the program, but for what only points-to tells ([`formats_are_safe`]).
pub fn fitting(image: &Image, summaries: &mut Summaries) {
    let calling_back = calling_back(image);
    if !calling_back.is_empty() {
        summaries.retain(|name, _| !calling_back.contains(name));
    }
    let given = given_more_than_null(image, summaries);
    let references = |name: &&str| is_referenced(&image.program, name);
    let own_streams = OF_THE_PROGRAM.iter().any(references) || SET_UP.iter().any(|name| given.contains(*name));
    summaries.retain(|name, summary| !(given.contains(name) || own_streams && is_about_streams(name, summary)));
}

/// The same for machine code, where `names` says whether a name stands in the program's tables of symbols.
pub fn fitting_machine_code(names: &dyn Fn(&str) -> bool, summaries: &mut Summaries) {
    let sets_buffers = ["setbuf", "setbuffer", "setvbuf"].iter().any(|name| names(name));
    if sets_buffers || OF_THE_PROGRAM.iter().any(|name| names(name)) {
        summaries.retain(|name, summary| !is_about_streams(name, summary));
    }
}

fn is_about_streams(name: &str, summary: &Summary) -> bool {
    name != SYSTEM_CALL && summary.is_about_streams() || SET_UP.contains(&name)
}

/// Whether the program itself, not a library, has a symbol of this name.
pub fn is_referenced(program: &Program, name: &str) -> bool {
    let mut units = program.units.iter().filter(|unit| !unit.library).map(|unit| &unit.module);
    units.any(|module| module.symbols.iter().any(|symbol| module.str(symbol.name) == name))
}

/// The direct calls that functions outside of libraries make.
fn calls(image: &Image) -> impl Iterator<Item = Call<'_>> {
    let functions = 0..image.program.functions().len() as u32;
    functions.filter(|f| !image.is_library(*f)).flat_map(|func| {
        let (module, function) = image.function(func);
        let blocks = module.blocks.range(function.blocks).iter();
        let insts = blocks.flat_map(|block| module.insts.range(block.insts));
        insts.filter(|inst| inst.operator() == Some(Op::Call)).map(move |inst| {
            let list = module.calls[inst.b as usize].args;
            let limbs = if list.count == 0 { &[][..] } else { module.slot_lists.range(list) };
            Call { func, inst, args: arguments(module, inst, limbs) }
        })
    })
}

fn callee(image: &Image, func: u32, inst: &Inst) -> Option<Callee> {
    image.callee_of(image.program.functions()[func as usize].unit, inst.a)
}

/// The constant in a slot: its symbol or [`NONE`], and its value.
fn constant(image: &Image, func: u32, slot: u32) -> Option<(u32, u64)> {
    let (module, function) = image.function(func);
    module.consts.range(function.consts).get(slot as usize).map(|c| (c.symbol, c.value))
}

/// The functions that the program gives more than null where a row holds for null alone.
fn given_more_than_null(image: &Image, summaries: &Summaries) -> FxHashSet<String> {
    let mut given = FxHashSet::default();
    for call in calls(image) {
        let Some(name) = callee(image, call.func, call.inst).map(|callee| image.callee_name(callee)) else { continue };
        let Some(slot) = summaries.external(name).and_then(|s| s.unless).and_then(|arg| call.args.get(arg as usize)) else { continue };
        if constant(image, call.func, *slot) != Some((NONE, 0)) {
            given.insert(name.to_owned());
        }
    }
    // One that is called by pointer may be given anything.
    let by_pointer = |name: &&str| summaries.external(name).is_some_and(|s| s.unless.is_some()) && !given.contains(*name);
    let unsure: Vec<String> = summaries.names().filter(by_pointer).filter(|name| is_held(image, name)).map(str::to_owned).collect();
    given.extend(unsure);
    given
}

/// Whether the address of a function of this name is a value in the program.
fn is_held(image: &Image, name: &str) -> bool {
    let program = &image.program;
    program.units.iter().filter(|unit| !unit.library).any(|unit| {
        let module = &unit.module;
        let is_it = |symbol: u32| module.symbols.get(symbol as usize).is_some_and(|s| module.str(s.name) == name);
        module.consts.iter().any(|c| c.symbol != NONE && is_it(c.symbol)) || module.relocs.iter().any(|r| is_it(r.symbol))
    })
}

/// The library's functions that may call a function of the program by its name.
fn calling_back(image: &Image) -> FxHashSet<String> {
    let functions = 0..image.program.functions().len() as u32;
    let mut callers: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let mut todo = Vec::new();
    for func in functions.filter(|f| image.is_library(*f)) {
        for target in bodies_named(image, func) {
            if image.is_library(target) {
                callers.entry(target).or_default().push(func);
            } else if !STARTS.contains(&image.name(target)) {
                todo.push(func);
            }
        }
    }
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    while let Some(func) = todo.pop() {
        if seen.insert(func) {
            todo.extend(callers.get(&func).into_iter().flatten());
        }
    }
    seen.into_iter().map(|func| image.name(func).to_owned()).collect()
}

/// What the library's start-up code calls of the program.
const STARTS: [&str; 3] = ["main", "_init", "_fini"];

/// The functions with bodies that a function calls or holds the address of.
fn bodies_named(image: &Image, func: u32) -> Vec<u32> {
    let unit = image.program.functions()[func as usize].unit;
    let (module, function): (&Module, _) = image.function(func);
    let called = module.blocks.range(function.blocks).iter().flat_map(|block| module.insts.range(block.insts));
    let called = called.filter(|inst| inst.operator() == Some(Op::Call)).map(|inst| inst.a);
    let held = module.consts.range(function.consts).iter().map(|c| c.symbol).filter(|symbol| *symbol != NONE);
    let target = |symbol: u32| match image.program.target(unit, symbol) {
        Target::Func(f) => Some(f.0),
        Target::Undefined(_) | Target::Data(..) | Target::Null => None,
    };
    called.chain(held).filter_map(target).collect()
}

/// Whether no format that the program may print or scan by writes through its arguments, allocates or fails on what it is given.
pub fn formats_are_safe(image: &Image, summaries: &Summaries, points_to: &PointsTo) -> bool {
    let mut unsure = false;
    for call in calls(image).filter(|call| points_to.local(call.func).is_some()) {
        let Some(summary) = callee(image, call.func, call.inst).and_then(|callee| match callee {
            Callee::Body(f) if !image.is_library(f) => None,
            callee => summaries.external(image.callee_name(callee)),
        }) else {
            continue;
        };
        let Some(slot) = summary.format.and_then(|arg| call.args.get(arg as usize)).copied().filter(|slot| *slot != NONE) else { continue };
        match constant(image, call.func, slot).map(|(symbol, offset)| text(image, call.func, symbol, offset)) {
            Some(Some(text)) if Dangers::of(text).is_none() => {}
            Some(_) => return false,
            None => {
                let made = points_to.of_slot(call.func, slot).map(|place| place.object);
                if made.into_iter().any(|object| object == OUTSIDE || !points_to.objects.is_constant(object)) {
                    return false;
                }
                unsure = true;
            }
        }
    }
    !unsure || program_texts(image).all(|text| Dangers::of(text).is_none())
}

/// The constant text at a symbol.
fn text(image: &Image, func: u32, symbol: u32, offset: u64) -> Option<&[u8]> {
    let unit = image.program.functions()[func as usize].unit;
    let Target::Data(global, at) = image.program.target(unit, symbol) else { return None };
    let (module, record) = image.program.global(global);
    if record.flags & wryneck_ir::global_flags::READ_ONLY == 0 {
        return None;
    }
    let bytes = module.bytes.range(record.init).get(usize::try_from(at.wrapping_add(offset)).ok()?..).unwrap_or_default();
    Some(bytes.split(|byte| *byte == 0).next().unwrap_or_default())
}

/// The first values of all variables of the program.
fn program_texts(image: &Image) -> impl Iterator<Item = &[u8]> {
    let units = image.program.units.iter().filter(|unit| !unit.library);
    units.flat_map(|unit| unit.module.globals.iter().map(|global| unit.module.bytes.range(global.init)))
}

/// What a format does beyond reading its arguments and writing its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dangers {
    /// It writes through its arguments (`%n`), or allocates (`%ms`).
    pub writes: bool,
    /// It may fail on what it is given (`%lc`).
    pub fails: bool,
}

impl Dangers {
    /// Those of a text, as a format.
    pub fn of(text: &[u8]) -> Dangers {
        let (mut rest, mut all) = (text, Dangers::default());
        while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
            rest = &rest[at + 1..];
            let length = rest.iter().position(|byte| !b"0123456789 -+#'*.$hljztLq".contains(byte)).unwrap_or(rest.len());
            let (between, conversion) = (&rest[..length], rest.get(length));
            let wide = between.contains(&b'l');
            match conversion {
                Some(b'n') => all.writes = true,
                Some(b'C' | b'S') => all.fails = true,
                Some(b'c' | b's' | b'[') if wide => all.fails = true,
                // `%ms` and its like; alone it is the text of `errno`.
                Some(b'm') if rest.get(length + 1).is_some_and(|next| b"sc[lSC".contains(next)) => all.writes = true,
                _ => {}
            }
            rest = &rest[length.min(rest.len())..];
            rest = rest.get(usize::from(conversion == Some(&b'%'))..).unwrap_or_default();
        }
        all
    }

    /// Those of either.
    pub fn or(self, other: Dangers) -> Dangers {
        Dangers { writes: self.writes || other.writes, fails: self.fails || other.fails }
    }

    pub fn is_none(self) -> bool {
        self == Dangers::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_write_allocate_or_fail_are_told() {
        for safe in ["", "%", "%%n", "%d %s", "%-10.3lu\n", "100%", "%m\n", "%lld"] {
            assert!(Dangers::of(safe.as_bytes()).is_none(), "{safe}");
        }
        for writes in ["%n", "a%hhn", "%1$n", "%-3lln", "%ms", "%m[a-z]", "%%%n"] {
            assert_eq!(Dangers::of(writes.as_bytes()), Dangers { writes: true, fails: false }, "{writes}");
        }
        for fails in ["%lc", "%ls", "%S"] {
            assert_eq!(Dangers::of(fails.as_bytes()), Dangers { writes: false, fails: true }, "{fails}");
        }
    }
}
