//! `--sym-calls NAME[:SIZE],…`: which functions' results are input, and whether a program has such functions.

use anyhow::Result;
use wryneck_environ::SymCall;
use wryneck_environ::sym_calls::{FORGETTERS, Ty, VARIABLES, is_known, signature};
use wryneck_ir::{Module, OWN_CALL, Op, call_flags};
use wryneck_machine::prototype::ParameterKind;
use wryneck_machine::{Elf, Known, Passed};

use crate::options::number;
use crate::problem::problem;

/// Bytes of a variable that `getenv` is asked for, unless others are given.
const VARIABLE: u32 = 8;
/// Most of them.
const MOST: u32 = 1 << 12;
const NUMBERS: &str = "name functions that the program calls and that return a number";
const HELP: &str = "write such as `--sym-calls rand,time,getenv:8`";

/// The functions that a word names.
///
/// # Errors
/// What is no name, or has a size and needs none.
pub fn parse(given: Option<&String>) -> Result<Vec<SymCall>> {
    let Some(text) = given else { return Err(problem("`--sym-calls` lacks its names", HELP)) };
    let wrong = |why: String| problem(format!("`--sym-calls {text}`: {why}"), HELP);
    let mut calls: Vec<SymCall> = Vec::new();
    for word in text.split(',') {
        let (name, size) = word.split_once(':').map_or((word, None), |(name, size)| (name, Some(size)));
        if !is_name(name) {
            return Err(wrong(format!("`{name}` is no name of a function")));
        }
        let size = match size.map(number::<u32>) {
            None => VARIABLE,
            Some(_) if name != "getenv" => return Err(wrong(format!("`{name}` takes no size, only `getenv` does"))),
            Some(Ok(size @ 1..=MOST)) => size,
            Some(_) => return Err(wrong(format!("the size of a variable is a number from 1 to {MOST}"))),
        };
        add(&mut calls, SymCall { name: name.to_owned(), size });
    }
    Ok(calls)
}

/// Adds a function once; what was said of it last holds.
pub fn add(calls: &mut Vec<SymCall>, call: SymCall) {
    match calls.iter_mut().find(|known| known.name == call.name) {
        Some(known) => *known = call,
        None => calls.push(call),
    }
}

/// Whether this is a name that C or an assembler takes as it is.
pub fn is_name(name: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphabetic() || b == b'_';
    name.bytes().next().is_some_and(letter) && name.bytes().all(|b| letter(b) || b.is_ascii_digit())
}

/// What cannot be with this name.
fn refused(name: &str, why: &str, help: &str) -> anyhow::Error {
    problem(format!("`--sym-calls {name}`: {why}"), help)
}

/// Whether the program calls these functions, with results that can be input.
///
/// # Errors
/// The first that it does not call, or that gives nothing, a pointer or more than a register.
pub fn check(calls: &[SymCall], module: &Module) -> Result<()> {
    for call in calls.iter().filter(|call| !is_known(&call.name)) {
        let name = &call.name;
        let refused = |why: &str| refused(name, why, NUMBERS);
        let sites = module.insts.iter().filter(|inst| inst.operator() == Some(Op::Call));
        let mut results = sites
            .filter(|inst| module.str(module.symbols[inst.a as usize].name) == name)
            .map(|inst| module.calls[inst.b as usize])
            .peekable();
        if results.peek().is_none() {
            return Err(refused("the program does not call a function of this name"));
        }
        for record in results {
            match record.ret_width {
                _ if record.flags & call_flags::RETURNS_POINTER != 0 => return Err(refused("it returns a pointer")),
                0 => return Err(refused("it returns nothing")),
                1..=64 => {}
                _ => return Err(refused("its result is wider than 64 bits")),
            }
        }
    }
    Ok(())
}

/// The functions of an executable, or of linked objects, whose results are input. `library`: a function of the C library with its parameters and result.
///
/// # Errors
/// The first that the executable does not have, or of which it is not known that it returns a number of at most 64 bits.
pub fn of_machine_code(calls: &[SymCall], elf: &Elf, library: &dyn Fn(&str) -> Known) -> Result<Vec<Known>> {
    let mut all = Vec::new();
    for SymCall { name, .. } in calls {
        let refused = |why: &str, help: &str| Err(refused(name, why, help));
        if name == "getenv" {
            if variables(elf).is_none() && !elf.is_loaded {
                return refused("the executable has no symbol `__environ`", "give it variables: `--sym-env NAME:SIZE`");
            }
            let is_there = |name: &str| elf.is_loaded || elf.symbols.iter().any(|symbol| symbol.code && symbol.name == name);
            let there = FORGETTERS.iter().filter(|name| is_there(name));
            all.extend(there.map(|name| Known { asks: Some(OWN_CALL), ..Known::of_words(name, [], 32) }));
        }
        let mut found = elf.symbols.iter().filter(|symbol| symbol.code && symbol.name == *name).peekable();
        let (params, result) = match (signature(name), found.peek()) {
            // It may come with a library that is loaded later.
            (Some((params, result)), first) if first.is_some() || elf.is_loaded => (params, passed(result)),
            (_, None) => {
                let help = "`nm` lists its functions; a stripped executable has no names";
                return refused("the executable has no function of this name", help);
            }
            (_, Some(first)) if first.library => match library(name).result {
                Some(result) => (&[][..], result),
                None => return refused("it returns nothing", NUMBERS),
            },
            (_, Some(first)) => (&[][..], own_result(name, elf, first.address)?),
        };
        let params = params.iter().copied().map(passed).collect();
        all.push(Known { params, result: Some(result), asks: Some(OWN_CALL), ..Known::of_words(name, [], 64) });
    }
    Ok(all)
}

/// How a value of this type is passed and returned.
fn passed(ty: Ty) -> Passed {
    let width = ty.width() as u16;
    if ty == Ty::Double { Passed::Float(width) } else { Passed::Word(width) }
}

/// Where an executable keeps the pointer to its variables, if that is not in a library that is loaded later.
pub fn variables(elf: &Elf) -> Option<u64> {
    elf.symbols.iter().find(|symbol| !symbol.code && symbol.name == VARIABLES).map(|symbol| symbol.address)
}

/// What a function of the program returns, by its debug information.
fn own_result(name: &str, elf: &Elf, address: u64) -> Result<Passed> {
    let refused = |why: &str, help: &str| Err(refused(name, why, help));
    match elf.dwarf.iter().find_map(|dwarf| dwarf.result(address)) {
        Some(Some(ParameterKind::Integer(bytes))) => Ok(Passed::Word(8 * bytes as u16)),
        Some(Some(ParameterKind::Float(bytes))) => Ok(Passed::Float(8 * bytes as u16)),
        Some(Some(ParameterKind::Pointer)) => refused("it returns a pointer", NUMBERS),
        Some(Some(ParameterKind::Other | ParameterKind::Rest)) => refused("its result is no number of at most 64 bits", NUMBERS),
        Some(None) => refused("it returns nothing", NUMBERS),
        None => refused("what it returns is not known without debug information", "build the program with `-g`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_sizes_where_they_need_one() {
        let read = |text: &str| parse(Some(&text.to_owned())).map_err(|e| e.to_string());
        let call = |name: &str, size| SymCall { name: name.into(), size };
        assert_eq!(read("rand,getenv:3,rand"), Ok(vec![call("rand", 8), call("getenv", 3)]));
        for bad in ["", "rand,", "a b", "1st", "rand:4", "getenv:0", "getenv:x", "-x"] {
            assert!(read(bad).is_err_and(|e| e.starts_with(&format!("`--sym-calls {bad}`: "))), "{bad}");
        }
        assert!(parse(None).is_err());
    }
}
