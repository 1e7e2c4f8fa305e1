//! `wryneck ld`: lld, whose programs carry their whole bitcode.
//!
//! It links twice with the same arguments: once for machine code, as lld alone would, and once for bitcode (`--fat-lto-objects
//! --plugin-opt=emit-llvm`). So the linker itself resolves symbols, archive members, weak symbols and groups, and the bitcode
//! matches the machine code. Neither it nor `objcopy` renames symbols in bitcode, so a program with renamed symbols carries none. The second
//! result becomes a section of the first. If bitcode is missing or cannot be linked, the build does not fail: standard error,
//! `wryneck build` and the program's label report it.
//!
//! The bitcode is not optimised as one program (`--lto-O0`): the machine code is not, either. Across files the optimiser removes accesses that are out of
//! bounds and calls that may fail.
//!
//! Cost: two links and a copy of the program.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, path};

use anyhow::{Context, Result};

use crate::build::missing;
use crate::carried::{self, Label};
use crate::child;
use crate::output;
use crate::scratch::Scratch;
use crate::symbols::{self, Input};
use crate::toolchain::{self, INSTALL, LINKER, OBJCOPY};

/// Names the file that collects what a build made: lines of [`Made`].
pub const JOURNAL: &str = "WRYNECK_JOURNAL";

/// The extension of an empty file beside the journal: the build has compiled C++.
pub const HAS_CXX: &str = "cxx";

/// A program that was linked, as a line of the journal.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Made {
    pub program: PathBuf,
    pub label: Label,
}

/// The type of the section [`carried::IN_OBJECT`], `SHT_LLVM_LTO`.
const OBJECT_SECTION_TYPE: u32 = 0x6fff_4c0c;

pub fn run(words: Vec<String>) -> Result<u8> {
    let began = SystemTime::now();
    let scratch = Scratch::new().context("cannot make a scratch folder")?;
    let mut linker = bound(LINKER);
    linker.args(&words).arg("--no-fat-lto-objects");
    let extracted = scratch.path().join("extracted");
    if !words.iter().any(|word| word.contains(EXTRACTED)) {
        linker.arg(format!("--{EXTRACTED}={}", extracted.display()));
    }
    let status = linker.status().map_err(|e| missing(e, LINKER, INSTALL))?;
    if !status.success() {
        return Ok(exit_code(status));
    }
    let link = Link::of(&words);
    // Questions (`--version`) make no file; `/dev/null` holds none.
    let made = fs::metadata(&link.output).is_ok_and(|m| m.is_file() && m.modified().is_ok_and(|t| t >= began - FILE_CLOCK));
    if !made {
        return Ok(0);
    }
    let label = link.carry(&words, &scratch, &fs::read_to_string(extracted).unwrap_or_default())?;
    if let Some(why) = &label.none {
        output::say("wryneck", format!("`{}` carries no bitcode: {why}", link.output.display()));
    }
    if !link.relocatable {
        tell(&link.output, label)?;
    }
    Ok(0)
}

/// A tool that ends when this process does.
fn bound(tool: &str) -> Command {
    let mut command = Command::new(tool);
    child::bind(&mut command, libc::SIGKILL);
    command
}

/// Options that rename symbols or begin elsewhere. Their value is the next word, or behind `=`.
const RENAMES: [&str; 7] = ["--defsym", "--entry", "--wrap", "-defsym", "-e", "-entry", "-wrap"];
/// The option for a file with the members of archives that are linked: a line of each, its second field.
const EXTRACTED: &str = "why-extract";
/// Where a program begins in any case: a value of these options that changes nothing.
const BEGINNING: &str = "_start";

/// File times are coarser than the clock.
const FILE_CLOCK: std::time::Duration = std::time::Duration::from_millis(50);

/// An exit code for how a child ended, as shells have it.
pub fn exit_code(status: std::process::ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Notes in the journal of `wryneck build` that a program was made.
pub fn tell(program: &Path, label: Label) -> Result<()> {
    let Some(journal) = env::var_os(JOURNAL) else { return Ok(()) };
    let line = serde_json::to_string(&Made { program: path::absolute(program)?, label })? + "\n";
    // One write of a short line: linkers that run at once do not mix theirs.
    let file = OpenOptions::new().append(true).create(true).open(&journal);
    file.and_then(|mut f| f.write_all(line.as_bytes())).with_context(|| format!("cannot write `{}`", Path::new(&journal).display()))
}

/// What the arguments of a link ask for.
#[derive(Debug, PartialEq, Eq)]
struct Link {
    output: PathBuf,
    /// The result is an object again.
    relocatable: bool,
    /// An option that renames symbols, or begins elsewhere.
    renames: Option<String>,
}

impl Link {
    fn of(words: &[String]) -> Link {
        let mut link = Link { output: "a.out".into(), relocatable: false, renames: None };
        link.read(words);
        link
    }

    fn read(&mut self, words: &[String]) {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-o" | "--output" => self.output = words.next().map_or_else(PathBuf::new, PathBuf::from),
                "-r" | "-relocatable" | "--relocatable" => self.relocatable = true,
                option if RENAMES.contains(&option) => self.rename(option, words.next()),
                // An argument of its own, which may look like one of these.
                "-z" | "-L" | "-l" | "-m" | "-u" | "-T" | "-h" | "-soname" | "-rpath" | "-mllvm" => drop(words.next()),
                word => {
                    if let Some(file) = word.strip_prefix('@')
                        && let Ok(text) = fs::read_to_string(file)
                    {
                        self.read(&response(&text));
                    } else if let Some((option, value)) = word.split_once('=').filter(|(option, _)| RENAMES.contains(option)) {
                        self.rename(option, Some(value));
                    } else if let Some(output) = word.strip_prefix("--output=") {
                        self.output = output.into();
                    } else if let Some(output) = word.strip_prefix("-o").filter(|rest| !rest.is_empty() && !word.starts_with("-omagic")) {
                        self.output = output.into();
                    }
                }
            }
        }
    }

    fn rename(&mut self, option: &str, value: Option<impl AsRef<str>>) {
        if value.is_some_and(|value| value.as_ref() != BEGINNING) {
            self.renames = Some(option.to_owned());
        }
    }

    /// Links the bitcode and puts it into the output; what the output then says of itself.
    fn carry(&self, words: &[String], scratch: &Scratch, extracted: &str) -> Result<Label> {
        let bitcode = scratch.path().join("bc");
        let linked = bound(LINKER)
            .args(words)
            .args(["--fat-lto-objects", "--plugin-opt=emit-llvm", "--lto-O0", "--trace", "-o"])
            .arg(&bitcode)
            .output()
            .map_err(|e| missing(e, LINKER, INSTALL))?;
        let trace = String::from_utf8_lossy(&linked.stdout);
        // The C library and the compiler's own objects are below this folder.
        let ours = toolchain::sysroot().ok();
        let mut inputs = symbols::inputs(trace.lines(), ours.as_deref());
        let bare = |input: &&Input| input.of_the_program && !input.carries;
        let mut label = Label { bare: inputs.iter().filter(bare).map(|input| input.name.clone()).collect(), ..Label::default() };
        // With other names, other members of archives are linked.
        let known: BTreeSet<&str> = trace.lines().collect();
        let members = extracted.lines().skip(1).filter_map(|line| line.split('\t').nth(1));
        inputs.extend(symbols::inputs(members.filter(|member| !known.contains(member)), ours.as_deref()));
        label.none = if let Some(option) = &self.renames {
            Some(format!("`{option}` changes what symbols mean, which bitcode does not follow"))
        } else if let Some(change) = symbols::change(&mut inputs)? {
            Some(change)
        } else if !linked.status.success() {
            Some(format!("it does not link: {}", String::from_utf8_lossy(&linked.stderr).trim_end()))
        } else {
            // Without any bitcode among its inputs lld writes nothing, or machine code.
            let is_bitcode = fs::read(&bitcode).is_ok_and(|content| content.starts_with(b"BC\xc0\xde"));
            (!is_bitcode).then(|| "none of its objects does".into())
        };
        if !self.relocatable {
            put(&self.output, Some(&bitcode), &mut label)?;
        } else if label.none.is_none() {
            let name = carried::IN_OBJECT;
            let flags = [format!("--set-section-flags={name}=exclude"), format!("--set-section-type={name}={OBJECT_SECTION_TYPE}")];
            add(&self.output, &[(name, &bitcode)], &flags, &mut label)?;
        }
        Ok(label)
    }
}

/// Puts a label into a program, and its bitcode where the label does not say that it carries none.
pub fn put(program: &Path, bitcode: Option<&Path>, label: &mut Label) -> Result<()> {
    let scratch = Scratch::new().context("cannot make a scratch folder")?;
    let mut sections = Vec::new();
    if let Some(bitcode) = bitcode.filter(|_| label.none.is_none()) {
        sections.push((carried::IN_PROGRAM, bitcode));
        label.digest = carried::digest(&fs::read(program)?, &fs::read(bitcode)?).unwrap_or_default();
    }
    let file = scratch.path().join("label");
    fs::write(&file, serde_json::to_vec(label)?)?;
    sections.push((carried::LABEL, &file));
    add(program, &sections, &[], label)
}

/// Adds sections to a file; the label says why, if that fails.
fn add(file: &Path, sections: &[(&str, &Path)], flags: &[String], label: &mut Label) -> Result<()> {
    let mut objcopy = bound(OBJCOPY);
    objcopy.args(sections.iter().map(|(section, content)| format!("--add-section={section}={}", content.display())));
    let copied = objcopy.args(flags).arg(file).output().map_err(|e| missing(e, OBJCOPY, INSTALL))?;
    if !copied.status.success() {
        label.none = Some(format!("it cannot be put in: {}", String::from_utf8_lossy(&copied.stderr).trim_end()));
    }
    Ok(())
}

/// The words of a response file: quotes group, a backslash takes the next character as it is.
fn response(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(q)) if c == q => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(line: &str) -> (String, bool) {
        let link = Link::of(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        (link.output.display().to_string(), link.relocatable)
    }

    #[test]
    fn the_output_is_found_among_the_arguments() {
        assert_eq!(link("a.o b.o"), ("a.out".into(), false));
        assert_eq!(link("-static -o prog a.o -z -r"), ("prog".into(), false));
        assert_eq!(link("-r -oall.o a.o"), ("all.o".into(), true));
        assert_eq!(link("--output=x -L -o -o y"), ("y".into(), false));
    }

    #[test]
    fn response_files_are_read() {
        assert_eq!(response("-o 'my prog'\n a\\ b.o \"x\\\"y\" ''"), ["-o", "my prog", "a b.o", "x\"y", ""]);
        let dir = tempfile::tempdir().expect("there is room");
        let file = dir.path().join("words");
        fs::write(&file, "-r -o out.o").expect("there is room");
        assert_eq!(link(&format!("@{}", file.display())), ("out.o".into(), true));
    }
}
