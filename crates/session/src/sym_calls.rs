//! `--sym-calls NAME[:SIZE],…`: which functions' results are input, and whether a program has such functions.

use anyhow::Result;
use wryneck_environ::SymCall;
use wryneck_environ::sym_calls::is_known;
use wryneck_ir::{Module, Op, call_flags};

use crate::options::number;
use crate::problem::problem;

/// Bytes of a variable that `getenv` is asked for, unless others are given.
const VARIABLE: u32 = 8;
/// Most of them.
const MOST: u32 = 1 << 12;
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

/// Whether the program calls these functions, with results that can be input.
///
/// # Errors
/// The first that it does not call, or that gives nothing, a pointer or more than a register.
pub fn check(calls: &[SymCall], module: &Module) -> Result<()> {
    for call in calls.iter().filter(|call| !is_known(&call.name)) {
        let name = &call.name;
        let refused =
            |why: &str| problem(format!("`--sym-calls {name}`: {why}"), "name functions that the program calls and that return a number");
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
