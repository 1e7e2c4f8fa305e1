//! The inputs of a link, and whether their symbols are those that they were compiled with.
//!
//! `objcopy` renames symbols of an object's machine code and changes how they bind. The bitcode that the object carries keeps them as they were, so the
//! bitcode of a program that is linked of such objects is another program. Each symbol table is compared with what the bitcode defines and
//! refers to. What the compiler does after it has written the bitcode is no change: it removes weak definitions and references, and
//! adds references to functions of its own or of the C library ([`COMPILER_CALLS`]). Another binding is a change only if another input has the symbol, too.
//!
//! Not found: a renamed reference if the object refers to the new name anyway, or if the project defines neither name.
//!
//! Cost: `llvm-nm` once, and one look at each symbol table.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use object::{Object, ObjectSymbol};

use crate::carried;
use crate::native::tool;
use crate::scratch::Scratch;
use crate::toolchain::NM;

/// Functions of the C library that the compiler calls where bitcode has an instruction, an intrinsic or another call; sorted. Mathematical functions
/// are without the last letter of those of `float` and `long double`.
const COMPILER_CALLS: [&str; 52] = [
    "acos", "asin", "atan", "atan2", "bcmp", "calloc", "cbrt", "ceil", "copysign", "cos", "cosh", "exp", "exp10", "exp2", "fabs", "floor",
    "fma", "fmax", "fmin", "fmod", "fputc", "fputs", "frexp", "fwrite", "ldexp", "log", "log10", "log2", "lrint", "lround", "memccpy",
    "memchr", "memcmp", "memcpy", "memmove", "mempcpy", "memset", "modf", "nearbyint", "pow", "putchar", "puts", "rint", "round",
    "roundeven", "sin", "sincos", "sqrt", "stpcpy", "strcpy", "strlen", "trunc",
];
/// How names begin of what the compiler defines by itself.
const COMPILER_DEFINES: [&str; 3] = ["DW.ref.", "_.stapsdt", "__"];

/// What an object has of a symbol; of several, the last of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Has {
    Reference,
    Local,
    Weak,
    Strong,
}

impl Has {
    fn is_defined(self) -> bool {
        self >= Has::Weak
    }
}

#[derive(Default)]
struct Symbols(BTreeMap<String, Has>);

impl Symbols {
    fn add(&mut self, name: &str, has: Has) {
        // Without the version that `.symver` adds.
        let name = name.split_once('@').map_or(name, |(name, _)| name);
        let known = self.0.entry(name.to_owned()).or_insert(has);
        *known = has.max(*known);
    }

    fn of_machine_code(content: &[u8]) -> Symbols {
        let mut symbols = Symbols::default();
        let Ok(elf) = object::File::parse(content) else { return symbols };
        for symbol in elf.symbols() {
            let has = match () {
                () if symbol.is_undefined() => Has::Reference,
                () if symbol.is_local() => Has::Local,
                () if symbol.is_weak() => Has::Weak,
                () => Has::Strong,
            };
            if let Ok(name) = symbol.name()
                && !name.is_empty()
            {
                symbols.add(name, has);
            }
        }
        symbols
    }

    fn get(&self, name: &str) -> Option<Has> {
        self.0.get(name).copied()
    }

    /// Names and what there is of each, if `keep` says so.
    fn those<'a>(&'a self, keep: impl Fn(&str, Has) -> bool + 'a) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(name, has)| keep(name, **has)).map(|(name, _)| name.as_str())
    }
}

/// An object of a link.
pub struct Input {
    /// As lld's `--trace` lists it: `a.o`, `b.a(c.o)`.
    pub name: String,
    /// It carries bitcode, or could not be read.
    pub carries: bool,
    /// It is not of the C library or the compiler.
    pub of_the_program: bool,
    machine_code: Symbols,
    bitcode: Symbols,
}

/// Reads the inputs of a link, named as lld's `--trace` lists them. Those below the folder `ours` are the C library's and the compiler's.
pub fn inputs<'a>(names: impl IntoIterator<Item = &'a str>, ours: Option<&Path>) -> Vec<Input> {
    let mut files: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
    for (place, name) in names.into_iter().enumerate() {
        files.entry(file_of(name)).or_default().push((place, name));
    }
    let mut inputs = Vec::new();
    for (file, names) in files {
        let of_the_program = ours.is_none_or(|ours| !Path::new(file).starts_with(ours));
        let content = fs::read(file).unwrap_or_default();
        let members = carried::members_of(Path::new(file), &content).unwrap_or_default();
        for (place, name) in names {
            // Several members may have the same name.
            let mut parts: Vec<&[u8]> = members.iter().filter(|(member, _)| member == name).map(|(_, content)| &**content).collect();
            if name == file && !content.is_empty() {
                parts.push(&content);
            }
            let mut machine_code = Symbols::default();
            for part in &parts {
                Symbols::of_machine_code(part).0.iter().for_each(|(name, has)| machine_code.add(name, *has));
            }
            let carries = parts.iter().all(|part| carried::carries(part));
            inputs.push((place, Input { name: name.to_owned(), carries, of_the_program, machine_code, bitcode: Symbols::default() }));
        }
    }
    inputs.sort_by_key(|(place, _)| *place);
    inputs.into_iter().map(|(_, input)| input).collect()
}

/// The file of an input.
fn file_of(input: &str) -> &str {
    input.strip_suffix(')').and_then(|input| input.rsplit_once('(')).map_or(input, |(archive, _)| archive)
}

/// The first change of an object's symbols that makes its bitcode link otherwise.
pub fn change(inputs: &mut [Input]) -> Result<Option<String>> {
    read_bitcode(inputs)?;
    let program_defines = |name: &str| inputs.iter().any(|i| i.of_the_program && i.machine_code.get(name).is_some_and(Has::is_defined));
    for (number, input) in inputs.iter().enumerate().filter(|(_, input)| input.carries && input.of_the_program) {
        let others = |name: &str, does: fn(Has) -> bool| {
            let others = inputs.iter().enumerate().filter(|(other, _)| *other != number);
            others.flat_map(|(_, other)| [&other.machine_code, &other.bitcode]).any(|symbols| symbols.get(name).is_some_and(does))
        };
        if let Some(what) = change_of(&input.machine_code, &input.bitcode, program_defines, others) {
            return Ok(Some(format!("the symbols of `{}` were changed after it was compiled: {what}", input.name)));
        }
    }
    Ok(None)
}

fn change_of(
    machine_code: &Symbols,
    bitcode: &Symbols,
    program_defines: impl Fn(&str) -> bool,
    others: impl Fn(&str, fn(Has) -> bool) -> bool,
) -> Option<String> {
    // Bitcode alone, or nothing but machine code.
    if machine_code.0.is_empty() || bitcode.0.is_empty() {
        return None;
    }
    let any = |has: Has| has != Has::Local;
    for (name, in_bitcode) in &bitcode.0 {
        match (in_bitcode, machine_code.get(name)) {
            (Has::Strong, None | Some(Has::Reference)) => {
                return Some(format!("its bitcode defines `{name}`, and its machine code does not"));
            }
            (Has::Strong | Has::Weak, Some(Has::Local)) if others(name, any) => {
                return Some(format!("`{name}` is local in its machine code, and not in its bitcode"));
            }
            (Has::Strong, Some(Has::Weak)) if others(name, Has::is_defined) => {
                return Some(format!("`{name}` is weak in its machine code, and not in its bitcode"));
            }
            (Has::Local, Some(Has::Weak | Has::Strong)) if others(name, any) => {
                return Some(format!("`{name}` is local in its bitcode, and not in its machine code"));
            }
            _ => {}
        }
    }
    let lost = |what: Has| bitcode.those(move |name, has| has == what && machine_code.get(name).is_none());
    let mut defined = machine_code.those(|name, has| {
        has.is_defined()
            && bitcode.get(name).is_none_or(|has| has == Has::Reference)
            && !COMPILER_DEFINES.iter().any(|begin| name.starts_with(begin))
    });
    if let (Some(old), Some(new)) = (lost(Has::Weak).next(), defined.next()) {
        return Some(format!("its bitcode defines `{old}`, and its machine code `{new}`"));
    }
    let lost: Vec<&str> = lost(Has::Reference).collect();
    let of_program = lost.iter().any(|name| program_defines(name));
    let mut added = machine_code.those(|name, has| {
        has == Has::Reference
            && bitcode.get(name).is_none()
            && !is_compiler_call(name)
            && (program_defines(name) || of_program && !name.starts_with('_'))
    });
    let (old, new) = (lost.first()?, added.next()?);
    Some(format!("its bitcode refers to `{old}`, and its machine code to `{new}`"))
}

fn is_compiler_call(name: &str) -> bool {
    let known = |name: &str| COMPILER_CALLS.binary_search(&name).is_ok();
    known(name) || name.strip_suffix(['f', 'l']).is_some_and(known)
}

/// Asks `llvm-nm` for the symbols of the bitcode that the program's objects carry.
fn read_bitcode(inputs: &mut [Input]) -> Result<()> {
    let files: BTreeSet<&str> = inputs.iter().filter(|i| i.carries && i.of_the_program).map(|i| file_of(&i.name)).collect();
    if files.is_empty() {
        return Ok(());
    }
    // A file with the names, because there may be more than a command line holds.
    let scratch = Scratch::new()?;
    let list = scratch.path().join("files");
    let escaped = |file: &&str| file.chars().flat_map(|c| ['\\', c]).collect::<String>();
    fs::write(&list, files.iter().map(escaped).collect::<Vec<_>>().join("\n"))?;
    let said = tool(Command::new(NM).args(["--print-file-name", "--format=posix"]).arg(format!("@{}", list.display())))?;
    let mut numbers: BTreeMap<String, usize> = inputs.iter().enumerate().map(|(number, i)| (i.name.clone(), number)).collect();
    numbers.retain(|_, number| inputs[*number].carries);
    for line in said.lines() {
        // `b.a[c.o]: NAME T 0 0`
        let Some((object, symbol)) = line.split_once(": ") else { continue };
        let object = match object.strip_suffix(']').and_then(|object| object.rsplit_once('[')) {
            Some((archive, member)) => format!("{archive}({member})"),
            None => object.to_owned(),
        };
        let mut words = symbol.split(' ');
        let (Some(name), Some(kind), Some(number)) = (words.next(), words.next(), numbers.get(&object)) else { continue };
        let has = match kind {
            "U" | "v" | "w" => Has::Reference,
            "V" | "W" => Has::Weak,
            _ if kind.starts_with(|c: char| c.is_ascii_lowercase()) && kind != "i" => Has::Local,
            _ => Has::Strong,
        };
        inputs[*number].bitcode.add(name, has);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(text: &str) -> Symbols {
        let mut symbols = Symbols::default();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let (kind, name) = word.split_once(':').expect("KIND:NAME");
            let has = ["U", "t", "W", "T"].iter().position(|k| *k == kind).expect("a kind");
            symbols.add(name, [Has::Reference, Has::Local, Has::Weak, Has::Strong][has]);
        }
        symbols
    }

    /// What is said of an object of a program that defines `own` and `bar`, whose other objects have symbols, too.
    #[track_caller]
    fn said(bitcode: &str, machine_code: &str, others: &str) -> String {
        let others = symbols(others);
        let defines = |name: &str| name == "own" || name == "bar";
        change_of(&symbols(machine_code), &symbols(bitcode), defines, |name, does| others.get(name).is_some_and(does)).unwrap_or_default()
    }

    #[test]
    fn what_the_compiler_does_is_no_change() {
        assert_eq!(said("T:f W:inline U:gone", "T:f", ""), "");
        assert_eq!(said("T:f U:gone U:own", "T:f U:memcpy U:sqrtf U:__udivti3", ""), "");
        assert_eq!(said("T:f W:inline t:s", "T:f W:DW.ref.__gxx_personality_v0", ""), "");
        assert_eq!(said("T:f", "", ""), "");
        assert!(COMPILER_CALLS.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn other_names_are_a_change() {
        assert_eq!(said("T:f", "T:g", ""), "its bitcode defines `f`, and its machine code does not");
        assert_eq!(said("T:f U:g", "T:g U:f", ""), "its bitcode defines `f`, and its machine code does not");
        assert_eq!(said("W:f T:x", "W:g T:x", ""), "its bitcode defines `f`, and its machine code `g`");
        assert_eq!(said("T:f U:foo", "T:f U:bar", ""), "its bitcode refers to `foo`, and its machine code to `bar`");
        assert_eq!(said("T:f U:own", "T:f U:malloc", ""), "its bitcode refers to `own`, and its machine code to `malloc`");
        assert_eq!(said("T:f U:malloc", "T:f U:free", ""), "");
    }

    #[test]
    fn another_binding_is_a_change_where_others_have_the_symbol() {
        for (bitcode, machine_code, matters, does_not) in
            [("T:f T:x", "t:f T:x", "U:f", "t:f"), ("t:f T:x", "T:f T:x", "U:f", "t:f"), ("T:f", "W:f", "T:f", "U:f")]
        {
            assert!(said(bitcode, machine_code, matters).starts_with("`f` is "), "{bitcode}");
            assert_eq!(said(bitcode, machine_code, does_not), "", "{bitcode}");
        }
    }
}
