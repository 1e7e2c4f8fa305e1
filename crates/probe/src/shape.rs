//! The inputs that a path inferred, as C.
//!
//! Objects are named A, B, … in the order in which the path made them. Their types are not known: a field is an offset.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use wryneck_exec::Ended;
use wryneck_expr::{Kind, Pool, SymId};

use crate::MARK;
use crate::data::Inputs;

/// A parameter of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    pub name: String,
    /// Width in bits; of a structure that is passed by value, of its address.
    pub width: u32,
    /// Bytes of a structure that is passed by value; 0 for a scalar.
    pub by_value: u32,
}

/// Where a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An object, by number, and an offset in it.
    Object(usize, i64),
    /// A variable of the program, and an offset in it.
    Variable(String, i64),
    /// A function of the harness, by the number of the skipped call that reached it first.
    Function(usize),
}

/// Bytes and pointers by offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    pub bytes: BTreeMap<i64, u8>,
    pub pointers: BTreeMap<i64, Target>,
}

/// A lazily made object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The pointer because of which it was made.
    pub pointer: String,
    /// Offsets that it has.
    pub low: i64,
    pub high: i64,
    pub content: Content,
}

/// A skipped call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    /// The low 64 bits of its result.
    pub result: u64,
    pub pointer: Option<Target>,
    /// Of an unknown function: whether a harness can make its pointer point to one.
    pub placed: bool,
}

/// The inputs of one path, under its model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// One for each parameter; its bytes are from offset 0 on.
    pub arguments: Vec<Content>,
    pub objects: Vec<Object>,
    pub variables: BTreeMap<String, Content>,
    pub calls: Vec<Call>,
    /// Of each allocation that could fail: whether it did.
    pub fates: Vec<u8>,
    /// Another call that failed.
    pub failing: Option<String>,
}

/// The name of an object by its number: A … Z, A1, …
pub fn letter(number: usize) -> String {
    let letter = char::from(b'A' + (number % 26) as u8);
    if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26) }
}

impl Shape {
    /// The inputs of a path that has ended.
    pub fn of(ended: &Ended, pool: &Pool, params: &[Param]) -> Shape {
        let Some(inputs) = ended.data.inputs().as_any().downcast_ref::<Inputs>() else { return Shape::default() };
        let mut shape = Shape::default();
        // Where a symbol lies: which content, at which offset.
        let mut homes: FxHashMap<SymId, (Home, i64)> = FxHashMap::default();
        for (number, param) in params.iter().enumerate() {
            let name = format!("{MARK}{}", param.name);
            let input = ended.inputs.iter().find(|input| *input.name == name);
            input.into_iter().flat_map(|input| input.bytes.iter().enumerate()).for_each(|(at, symbol)| {
                homes.insert(*symbol, (Home::Argument(number), at as i64));
            });
        }
        for initial in inputs.initial.iter() {
            let info = pool.sym_info(initial.symbol);
            let name = info.name.strip_prefix(MARK).unwrap_or(&info.name);
            let at = i64::from(info.index as i32);
            if name.contains('#') || name.contains('@') {
                continue;
            }
            let home = match inputs.objects.iter().position(|made| name.strip_prefix('*') == Some(&*made.pointer)) {
                Some(number) => Home::Object(number),
                None if !name.starts_with('*') => Home::Variable(name.to_owned()),
                None => continue,
            };
            homes.insert(initial.symbol, (home, at));
        }
        for (number, call) in inputs.skipped.iter().enumerate() {
            call.result.iter().enumerate().for_each(|(at, symbol)| {
                homes.insert(*symbol, (Home::Call(number), at as i64));
            });
        }
        for input in ended.inputs.iter() {
            let Some(call) = input.name.strip_prefix("fail_") else { continue };
            let failed = input.bytes.iter().any(|s| ended.model.get(*s) != 0);
            match call.starts_with("malloc") {
                true => shape.fates.push(failed.into()),
                false if failed => shape.failing = Some(call.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_').to_owned()),
                false => {}
            }
        }
        shape.arguments.resize(params.len(), Content::default());
        let object = |made: &crate::Made| Object {
            pointer: made.pointer.to_string(),
            low: made.low,
            high: made.high.max(made.low + 1),
            content: Content::default(),
        };
        shape.objects = inputs.objects.iter().map(object).collect();
        let call = |call: &crate::data::Skipped| Call { name: call.name.to_string(), result: 0, pointer: None, placed: false };
        shape.calls = inputs.skipped.iter().map(call).collect();
        let mut all: Vec<_> = homes.iter().collect();
        all.sort_by_key(|(symbol, _)| **symbol);
        for (symbol, (home, at)) in all {
            let byte = ended.model.get(*symbol) as u8;
            match home {
                Home::Call(number) if *at < 8 => shape.calls[*number].result |= u64::from(byte) << (8 * at),
                Home::Call(_) => {}
                _ => drop(shape.content(home).bytes.insert(*at, byte)),
            }
        }
        shape.find_pointers(inputs);
        for bound in inputs.bound.iter() {
            let mut symbols = pool.support(bound.word).to_vec();
            symbols.sort_by_key(|s| pool.sym_info(*s).index as i32);
            let Some((home, at)) = symbols.first().and_then(|first| homes.get(first)) else { continue };
            if symbols.len() != 8 || !matches!(pool.kind(bound.word), Kind::Concat(..)) {
                continue;
            }
            let Some(target) = target(bound.object, bound.at, inputs) else { continue };
            match home {
                Home::Call(number) => shape.calls[*number].pointer = Some(target),
                _ => drop(shape.content(home).pointers.insert(*at, target)),
            }
        }
        shape.point_to_functions(params);
        shape
    }

    /// Gives each pointer through which an unknown function was called a function of the harness.
    fn point_to_functions(&mut self, params: &[Param]) {
        for number in 0..self.calls.len() {
            let Some(place) = self.calls[number].name.strip_prefix('*').map(str::to_owned) else { continue };
            let first = self.calls.iter().position(|call| call.name == self.calls[number].name).unwrap_or(number);
            let inner = place.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
            let inner = inner.and_then(|(of, at)| Some((of, at.parse::<i64>().ok()?)));
            let home = match inner {
                Some((of, at)) => match of.strip_prefix('*') {
                    Some(pointer) => self.objects.iter().position(|object| object.pointer == pointer).map(|n| (Home::Object(n), at)),
                    None => Some((Home::Variable(of.to_owned()), at)),
                },
                None => match params.iter().position(|param| param.name == place) {
                    Some(n) => Some((Home::Argument(n), 0)),
                    None => Some((Home::Variable(place), 0)),
                },
            };
            self.calls[number].placed = home.is_some();
            if let Some((home, at)) = home {
                self.content(&home).pointers.insert(at, Target::Function(first));
            }
        }
    }

    /// Words that hold an object's address though the path never used them: it compared them.
    fn find_pointers(&mut self, inputs: &Inputs) {
        let object = |address: u64| {
            let found = inputs.objects.iter().position(|made| (made.low..=made.high).contains(&(address.wrapping_sub(made.at) as i64)));
            found.map(|number| Target::Object(number, address.wrapping_sub(inputs.objects[number].at) as i64))
        };
        let contents = self.arguments.iter_mut().chain(self.objects.iter_mut().map(|o| &mut o.content)).chain(self.variables.values_mut());
        for content in contents {
            for &at in content.bytes.keys() {
                let word = (0..8).try_fold(0u64, |word, i| Some(word | u64::from(*content.bytes.get(&(at + i))?) << (8 * i)));
                if let Some(target) = word.and_then(object) {
                    content.pointers.insert(at, target);
                }
            }
        }
        for call in &mut self.calls {
            call.pointer = object(call.result);
        }
    }

    fn content(&mut self, home: &Home) -> &mut Content {
        match home {
            Home::Argument(number) => &mut self.arguments[*number],
            Home::Object(number) => &mut self.objects[*number].content,
            Home::Variable(name) => self.variables.entry(name.clone()).or_default(),
            Home::Call(_) => unreachable!("a call's result is no content"),
        }
    }

    /// The inputs as C statements and comments, one a line.
    pub fn lines(&self, params: &[Param]) -> Vec<String> {
        let mut out = Vec::new();
        for (number, object) in self.objects.iter().enumerate() {
            let name = letter(number);
            out.push(format!("{name}: {} bytes, what `{}` points to", object.high - object.low, object.pointer));
            fields(&name, &object.content, &mut out);
        }
        for (name, content) in &self.variables {
            fields(&format!("&{name}"), content, &mut out);
        }
        for (param, content) in params.iter().zip(&self.arguments) {
            out.push(format!("{} = {};", param.name, value(content, param)));
        }
        for (number, _) in self.fates.iter().enumerate().filter(|(_, failed)| **failed != 0) {
            out.push(format!("allocation {} fails", number + 1));
        }
        for call in &self.calls {
            let result = call.pointer.as_ref().map_or_else(|| format!("{:#x}", call.result), target_text);
            let name = if call.name.starts_with('*') { format!("({})", call.name) } else { call.name.clone() };
            out.push(format!("{name}() returns {result}"));
        }
        out
    }
}

/// Where symbols live.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Home {
    Argument(usize),
    Object(usize),
    Variable(String),
    Call(usize),
}

fn target(object: u64, at: u64, inputs: &Inputs) -> Option<Target> {
    let number = inputs.objects.iter().position(|made| made.base == object)?;
    // Its address may be that of a tagged pointer.
    let start = inputs.objects[number].at;
    Some(Target::Object(number, at.wrapping_sub(start) as i64))
}

pub(crate) fn target_text(target: &Target) -> String {
    let plus = |name: &str, offset: i64| if offset == 0 { name.to_owned() } else { format!("{name} + {offset}") };
    match target {
        Target::Object(number, offset) => plus(&letter(*number), *offset),
        Target::Variable(name, offset) => plus(&format!("(char *)&{name}"), *offset),
        Target::Function(number) => format!("(char *)function_{number}"),
    }
}

/// An argument as C.
pub(crate) fn value(content: &Content, param: &Param) -> String {
    if let Some(target) = content.pointers.get(&0) {
        return target_text(target);
    }
    let bytes = content.bytes.iter().filter(|(at, _)| **at < 8);
    let number = bytes.fold(0u64, |sum, (at, byte)| sum | u64::from(*byte) << (8 * at));
    match param.width {
        32 if number >= 1 << 31 => format!("{}", number as u32 as i32),
        _ => format!("{number}"),
    }
}

/// The fields of an object that were read, with their values, as runs of at most eight bytes.
fn fields(name: &str, content: &Content, out: &mut Vec<String>) {
    for (at, target) in &content.pointers {
        out.push(format!("*(void **)({name} + {at}) = {};", target_text(target)));
    }
    let in_pointer = |at: i64| content.pointers.keys().any(|p| (*p..*p + 8).contains(&at));
    let mut run: Vec<(i64, u8)> = Vec::new();
    let mut flush = |run: &mut Vec<(i64, u8)>| {
        if let [(at, _), ..] = run[..] {
            let number = run.iter().rev().fold(0u64, |n, (_, byte)| n << 8 | u64::from(*byte));
            let line = match run.len() {
                1 => format!("*(uint8_t *)({name} + {at}) = {number};"),
                2 => format!("*(uint16_t *)({name} + {at}) = {number};"),
                4 => format!("*(uint32_t *)({name} + {at}) = {number};"),
                8 => format!("*(uint64_t *)({name} + {at}) = {number:#x};"),
                n => format!("memcpy({name} + {at}, &(uint64_t){{{number:#x}}}, {n});"),
            };
            out.push(line);
        }
        run.clear();
    };
    for (&at, &byte) in content.bytes.iter().filter(|(at, _)| !in_pointer(**at)) {
        let joins = run.last().is_some_and(|(last, _)| last + 1 == at) && run.len() < 8 && !(run.len() >= 4 && run[0].0 % 8 != 0);
        if !joins {
            flush(&mut run);
        }
        run.push((at, byte));
    }
    flush(&mut run);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_letters() {
        assert_eq!((letter(0), letter(25), letter(26)), ("A".to_owned(), "Z".to_owned(), "A1".to_owned()));
    }
}
