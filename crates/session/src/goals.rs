//! `--find` and `--avoid`: from words to places in the program, on both front ends.

use std::ops::RangeInclusive;

use anyhow::Result;
use wryneck_exec::goals::{Aim, Goals, Mark, is_file};
use wryneck_exec::{Explorer, Image};
use wryneck_ir::link::Target;
use wryneck_ir::{Module, Op};
use wryneck_machine::Elf;

use crate::plan::Plan;
use crate::problem::problem;

mod calls;

/// What a word names.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    Function(String),
    Line(String, u32),
    Address(u64),
    Output(Vec<u8>),
}

/// Bytes of a stub that jumps to a library (System V x86-64 ABI, section 5.2).
const STUB: u64 = 16;

const HELP: &str = "write a function's name, `FILE:LINE`, an address such as `0x401136`, or `output:TEXT`";

fn parse(option: &str, word: &str) -> Result<Wanted> {
    let wrong = |what: &str| problem(format!("`{option} {word}`: {what}"), HELP);
    if let Some(text) = word.strip_prefix("output:") {
        return if text.is_empty() { Err(wrong("no text is given")) } else { Ok(Wanted::Output(text.as_bytes().to_vec())) };
    }
    if let Some(digits) = word.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).map(Wanted::Address).map_err(|_| wrong("not an address"));
    }
    if let Some((file, line)) = word.rsplit_once(':').filter(|(_, line)| line.bytes().all(|b| b.is_ascii_digit())) {
        return match line.parse() {
            Ok(line) if line > 0 && !file.is_empty() => Ok(Wanted::Line(file.into(), line)),
            _ => Err(wrong("not a file and a line")),
        };
    }
    if word.is_empty() { Err(wrong("no function is named")) } else { Ok(Wanted::Function(word.into())) }
}

/// What the words of `--find` and `--avoid` name.
pub struct Resolved {
    pub goals: Goals,
    /// Addresses to be lowered before the search: goals and the program's functions.
    pub lower: Vec<u64>,
    /// Goals that machine code has only if its functions put them inline, with the error if they do not.
    unsure: Vec<(Aim, anyhow::Error)>,
}

impl Resolved {
    /// Hands the goals to an exploration, before it starts.
    pub fn give(self, explorer: &mut Explorer) -> Result<()> {
        explorer.set_goals(self.goals, &self.lower);
        let goals = explorer.core.goals.as_ref();
        let missing = self.unsure.into_iter().find(|(aim, _)| !goals.is_some_and(|goals| goals.has_place(*aim)));
        missing.map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// The goals of the words of `--find` and `--avoid`. Notes say what the search is not guided by.
pub fn resolve(plan: &Plan, image: &Image, elf: Option<&Elf>, begins: Option<&str>, notes: &mut Vec<String>) -> Result<Resolved> {
    let Plan { find, avoid, .. } = plan;
    let (mut goals, mut lower, mut outputs) = (Goals::default(), Vec::new(), Vec::new());
    let roots: Vec<&str> = [Some("main"), begins, plan.preamble.as_deref()].into_iter().flatten().collect();
    let (mut called, mut unsure) = (None, Vec::new());
    let finds = (0..).zip(find).map(|(n, word)| ("--find", word, Aim::Find(n)));
    for (option, word, aim) in finds.chain(avoid.iter().map(|word| ("--avoid", word, Aim::Avoid))) {
        let wanted = parse(option, word)?;
        let before = goals.toward.len();
        let found = match (&wanted, elf) {
            (Wanted::Output(text), _) => {
                outputs.push((text.clone(), aim));
                if aim != Aim::Avoid {
                    toward_text(text, image, elf, aim, &mut goals, &mut lower);
                    if goals.toward.len() == before && lower.is_empty() {
                        notes.push(format!("no string of the program has `{word}` in it, so the search is not guided"));
                    }
                }
                continue;
            }
            (Wanted::Function(name), None) => function(name, image, aim, &mut goals),
            (Wanted::Line(file, line), None) => lines(file, *line, image, aim, &mut goals),
            (Wanted::Address(_), None) => {
                let help = "name a function or `FILE:LINE`, or run its executable (`--machine-code`)";
                return Err(problem(format!("`{option} {word}`: bitcode has no addresses"), help));
            }
            (wanted, Some(elf)) => in_machine_code(wanted, elf, aim, &mut goals, &mut lower),
        };
        if !found {
            let error = missing(option, word, &wanted, image, elf);
            match (&wanted, elf) {
                (Wanted::Function(name), Some(_)) => {
                    goals.mark(Mark::Inlined(name.clone()), aim);
                    unsure.push((aim, error));
                }
                _ => return Err(error),
            }
        }
        if elf.is_none()
            && aim != Aim::Avoid
            && goals.toward[before..]
                .iter()
                .all(|block| !called.get_or_insert_with(|| calls::reached(image, &roots)).contains(&image.block_owner(*block).0))
        {
            let help = "name a place that some call leads to, or begin elsewhere by `--entry NAME`";
            return Err(problem(format!("`{option} {word}` cannot be reached: no call or pointer leads to its function"), help));
        }
    }
    goals.outputs = outputs.into();
    if let Some(elf) = elf {
        lower.extend(elf.symbols.iter().filter(|s| s.code && !s.library).map(|s| s.address));
    }
    Ok(Resolved { goals, lower, unsure })
}

/// Where a function begins, where its code was put inline, or where it is called if it has no code that runs.
fn function(name: &str, image: &Image, aim: Aim, goals: &mut Goals) -> bool {
    let functions = 0..image.program.functions().len() as u32;
    let mut found = false;
    for func in functions.clone().filter(|func| image.name(*func) == name) {
        goals.add(image.first_block_of(func), image.operations(image.first_block_of(func)).0, aim);
        found = true;
    }
    for func in functions.clone().filter(|func| image.name(*func) != name) {
        let (module, f) = image.function(func);
        for (block, b) in (image.first_block_of(func)..).zip(module.blocks.range(f.blocks)) {
            let is_inlined = |loc: &u32| module.str(module.locations[*loc as usize].function) == name && *loc != 0;
            if let Some(n) = module.inst_locs.range(b.insts).iter().position(is_inlined) {
                goals.add(block, image.operations(block).0 + n as u32, aim);
                found = true;
            }
        }
    }
    for func in functions {
        let unit = image.program.functions()[func as usize].unit;
        let calls = |module: &Module, symbol: u32| {
            module.str(module.symbols[symbol as usize].name) == name
                && !matches!(image.callee_of(unit, symbol), Some(wryneck_exec::code::Callee::Body(_)) | None)
        };
        each_block(image, func, |module, block, first, insts| {
            for (n, inst) in (0..).zip(insts) {
                if inst.operator() == Some(Op::Call) && calls(module, inst.a) {
                    goals.add(block, first + n, aim);
                    found = true;
                }
            }
        });
    }
    found
}

/// Calls `see` with each block of a function: its number over the program, its first operation and its instructions.
fn each_block(image: &Image, func: u32, mut see: impl FnMut(&Module, u32, u32, &[wryneck_ir::Inst])) {
    let (module, f) = image.function(func);
    let blocks = module.blocks.range(f.blocks);
    let start = blocks.iter().map(|b| b.insts.first).min().unwrap_or(0);
    for (block, b) in (image.first_block_of(func)..).zip(blocks) {
        see(module, block, b.insts.first - start, module.insts.range(b.insts));
    }
}

/// Where a block comes to a line.
fn lines(file: &str, line: u32, image: &Image, aim: Aim, goals: &mut Goals) -> bool {
    let mut found = false;
    for func in 0..image.program.functions().len() as u32 {
        let (module, f) = image.function(func);
        for (block, b) in (image.first_block_of(func)..).zip(module.blocks.range(f.blocks)) {
            let is_there = |loc: &u32| {
                let at = &module.locations[*loc as usize];
                at.line == line && is_file(module.str(at.file), file)
            };
            if let Some(n) = module.inst_locs.range(b.insts).iter().position(is_there) {
                goals.add(block, image.operations(block).0 + n as u32, aim);
                found = true;
            }
        }
    }
    found
}

fn in_machine_code(wanted: &Wanted, elf: &Elf, aim: Aim, goals: &mut Goals, lower: &mut Vec<u64>) -> bool {
    match wanted {
        Wanted::Function(name) => {
            let at: Vec<u64> = elf.symbols.iter().filter(|s| s.code && s.name == *name).map(|s| s.address).collect();
            at.iter().for_each(|address| goals.mark(Mark::Address(*address), aim));
            lower.extend(&at);
            let slots: Vec<u64> = elf.imports.iter().filter(|(import, _)| import == name).map(|(_, slot)| *slot).collect();
            if !at.is_empty() || slots.is_empty() {
                return !at.is_empty();
            }
            goals.mark(Mark::Loaded(name.clone()), aim);
            slots.iter().filter(|_| aim != Aim::Avoid).for_each(|slot| toward_uses(*slot..=*slot, elf, aim, goals, lower));
            true
        }
        Wanted::Address(address) => {
            goals.mark(Mark::Address(*address), aim);
            let function = elf.function(*address).map(|f| f.address);
            lower.extend(function.into_iter().chain([*address]));
            elf.segment(*address).is_some_and(|s| s.executable)
        }
        Wanted::Line(file, line) => {
            goals.mark(Mark::Line(file.clone(), *line), aim);
            elf.lines().iter().any(|(path, at)| at == line && is_file(path, file))
        }
        Wanted::Output(_) => true,
    }
}

/// Has the search go to what uses a string with this text.
fn toward_text(text: &[u8], image: &Image, elf: Option<&Elf>, aim: Aim, goals: &mut Goals, lower: &mut Vec<u64>) {
    let Some(elf) = elf else { return users(text, image, goals) };
    let holds = |bytes: &[u8]| bytes.windows(text.len()).position(|window| window == text);
    for segment in elf.segments.iter().filter(|s| !s.executable) {
        let Some(at) = holds(&segment.bytes) else { continue };
        let start = segment.bytes[..at].iter().rposition(|b| *b == 0).map_or(0, |zero| zero + 1);
        toward_uses(segment.base + start as u64..=segment.base + at as u64, elf, aim, goals, lower);
    }
}

/// Has the search go to the code that names an address in `data`.
fn toward_uses(data: RangeInclusive<u64>, elf: &Elf, aim: Aim, goals: &mut Goals, lower: &mut Vec<u64>) {
    for code in elf.segments.iter().filter(|s| s.executable) {
        for (n, word) in code.bytes.windows(4).enumerate() {
            let Ok(word) = <[u8; 4]>::try_from(word) else { continue };
            let (here, offset) = (code.base + n as u64, i32::from_le_bytes(word));
            let relative = (here + 4).wrapping_add_signed(offset.into());
            if data.contains(&relative) || data.contains(&u64::from(u32::from_le_bytes(word))) {
                goals.mark(Mark::Hint(here), aim);
                // A stub that jumps to a library has no symbol.
                let stub = code.name.starts_with(".plt").then(|| here - n as u64 % STUB);
                lower.extend(stub.or_else(|| elf.function(here).map(|f| f.address)));
            }
        }
    }
}

/// Of bitcode: the blocks that use a variable whose initial value has this text.
fn users(text: &[u8], image: &Image, goals: &mut Goals) {
    for func in 0..image.program.functions().len() as u32 {
        let unit = image.program.functions()[func as usize].unit;
        let (module, f) = image.function(func);
        let has_text = |symbol: u32| match image.program.target(unit, symbol) {
            Target::Data(id, _) => {
                let global = image.program.globals()[id.0 as usize].place;
                let module = &image.program.units[global.unit as usize].module;
                let bytes = module.bytes.range(module.globals[global.index as usize].init);
                bytes.windows(text.len()).any(|window| window == text)
            }
            Target::Func(_) | Target::Undefined(_) | Target::Null => false,
        };
        let consts = module.consts.range(f.consts);
        let slots: Vec<u32> =
            (0..).zip(consts).filter(|(_, c)| c.symbol != wryneck_ir::NONE && has_text(c.symbol)).map(|(slot, _)| slot).collect();
        if slots.is_empty() {
            continue;
        }
        each_block(image, func, |module, block, _, insts| {
            let uses = |inst: &wryneck_ir::Inst| match inst.operator() {
                Some(Op::Call | Op::CallIndirect) => {
                    let args = module.calls[inst.b as usize].args;
                    args.count > 0 && module.slot_lists.range(args).iter().any(|slot| slots.contains(slot))
                }
                // Numbers of other things may look like the slot: the search goes there in vain.
                _ => [inst.a, inst.b, inst.c].iter().any(|slot| slots.contains(slot)),
            };
            if insts.iter().any(uses) {
                goals.toward.push(block);
            }
        });
    }
}

/// The error of a goal that the program does not have.
fn missing(option: &str, word: &str, wanted: &Wanted, image: &Image, elf: Option<&Elf>) -> anyhow::Error {
    let (what, help) = match wanted {
        Wanted::Function(name) => {
            let names: Vec<&str> = match elf {
                Some(elf) => elf.symbols.iter().filter(|s| s.code).map(|s| s.name.as_str()).collect(),
                None => (0..image.program.functions().len() as u32).map(|func| image.name(func)).collect(),
            };
            let near = names
                .iter()
                .filter(|other| other.contains(name.as_str()) || name.contains(*other) && other.len() > 2)
                .min_by_key(|n| n.len());
            let help = near.map_or_else(|| HELP.to_owned(), |near| format!("did you mean `{near}`?"));
            (format!("the program has no function `{name}`"), help)
        }
        Wanted::Line(file, line) => {
            let all = source_lines(image, elf);
            let mut there: Vec<u32> = all.iter().filter(|(path, _)| is_file(path, file)).map(|(_, line)| *line).collect();
            there.sort_by_key(|at| at.abs_diff(*line));
            match there.first() {
                Some(near) => (format!("line {line} of `{file}` has no code"), format!("the nearest line with code is {near}")),
                None => (format!("no code comes from `{file}`"), "compile with `-g`, and name the file as debug information does".into()),
            }
        }
        Wanted::Address(_) | Wanted::Output(_) => ("no code is there".into(), "give an address in the executable's code".into()),
    };
    problem(format!("`{option} {word}` does not exist: {what}"), help)
}

fn source_lines(image: &Image, elf: Option<&Elf>) -> Vec<(String, u32)> {
    if let Some(elf) = elf {
        return elf.lines();
    }
    let mut all = Vec::new();
    for func in 0..image.program.functions().len() as u32 {
        let (module, f) = image.function(func);
        for b in module.blocks.range(f.blocks) {
            let locs = module.inst_locs.range(b.insts).iter().map(|loc| &module.locations[*loc as usize]);
            all.extend(locs.filter(|at| at.line != 0).map(|at| (module.str(at.file).to_owned(), at.line)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_functions_lines_addresses_and_output() {
        let parsed = |word: &str| parse("--find", word).map_err(|e| e.to_string());
        assert_eq!(parsed("main"), Ok(Wanted::Function("main".into())));
        assert_eq!(parsed("src/a.c:12"), Ok(Wanted::Line("src/a.c".into(), 12)));
        assert_eq!(parsed("0x401136"), Ok(Wanted::Address(0x40_1136)));
        assert_eq!(parsed("output:a:1"), Ok(Wanted::Output(b"a:1".to_vec())));
        assert_eq!(parsed("ns::f"), Ok(Wanted::Function("ns::f".into())));
        for wrong in ["", "output:", "0xzz", ":3", "a.c:0", "a.c:"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_is_named_by_the_end_of_its_path() {
        assert!(is_file("/x/src/wc.c", "wc.c") && is_file("/x/src/wc.c", "src/wc.c") && is_file("wc.c", "./wc.c"));
        assert!(!is_file("/x/src/twc.c", "wc.c") && !is_file("wc.c", "src/wc.c"));
    }
}
