//! `wryneck ld`: lld, whose programs carry their whole bitcode.
//!
//! A link is done twice with the same arguments: once for machine code, as it would be without us, and once for bitcode
//! (`--fat-lto-objects --plugin-opt=emit-llvm`). So symbols are resolved by the linker itself, archive members, weak symbols,
//! wraps and groups included, and the bitcode has what the machine code has. The second result becomes a section of the first.
//! That the bitcode cannot be linked does not fail the build: it is told on standard error and to `wryneck build`.
//!
//! Cost: two links and a copy of the program.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, path};

use anyhow::{Context, Result, anyhow};

use crate::build::missing;
use crate::carried;
use crate::toolchain::{INSTALL, LINKER, OBJCOPY};

/// Names the file that collects what a build made: lines of [`Made`].
pub const JOURNAL: &str = "WRYNECK_JOURNAL";

/// A program that was linked, as a line of the journal.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Made {
    pub program: PathBuf,
    /// Why it carries no bitcode, if it does not.
    pub bare: Option<String>,
}

/// The type of the section [`carried::IN_OBJECT`], `SHT_LLVM_LTO`.
const OBJECT_SECTION_TYPE: u32 = 0x6fff_4c0c;

pub fn run(words: Vec<String>) -> Result<u8> {
    let began = SystemTime::now();
    let status = Command::new(LINKER).args(&words).arg("--no-fat-lto-objects").status().map_err(|e| missing(e, LINKER, INSTALL))?;
    if !status.success() {
        return Ok(exit_code(status));
    }
    let link = Link::of(&words);
    // Questions (`--version`) make no file; `/dev/null` holds none.
    let made = fs::metadata(&link.output).is_ok_and(|m| m.is_file() && m.modified().is_ok_and(|t| t >= began - FILE_CLOCK));
    if !made {
        return Ok(0);
    }
    let bare = match link.carry(&words) {
        Ok(Carries::Bitcode) => None,
        Ok(Carries::Nothing) => Some("none of its objects does".to_owned()),
        Err(error) => Some(format!("{error:#}")),
    };
    if let Some(why) = &bare {
        eprintln!("wryneck: `{}` carries no bitcode: {why}", link.output.display());
    }
    if !link.relocatable {
        tell(&Made { program: path::absolute(&link.output)?, bare })?;
    }
    Ok(0)
}

/// File times are coarser than the clock.
const FILE_CLOCK: std::time::Duration = std::time::Duration::from_millis(50);

/// An exit code for how a child ended, as shells have it.
pub fn exit_code(status: std::process::ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(u8::MAX)
}

fn tell(made: &Made) -> Result<()> {
    let Some(journal) = env::var_os(JOURNAL) else { return Ok(()) };
    let line = serde_json::to_string(made)? + "\n";
    // One write of a short line: linkers that run at once do not mix theirs.
    let file = OpenOptions::new().append(true).create(true).open(&journal);
    file.and_then(|mut f| f.write_all(line.as_bytes())).with_context(|| format!("cannot write `{}`", Path::new(&journal).display()))
}

/// What a linked file has got.
enum Carries {
    Bitcode,
    Nothing,
}

/// What the arguments of a link ask for.
#[derive(Debug, PartialEq, Eq)]
struct Link {
    output: PathBuf,
    /// The result is an object again.
    relocatable: bool,
}

impl Link {
    fn of(words: &[String]) -> Link {
        let mut link = Link { output: "a.out".into(), relocatable: false };
        link.read(words);
        link
    }

    fn read(&mut self, words: &[String]) {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-o" | "--output" => self.output = words.next().map_or_else(PathBuf::new, PathBuf::from),
                "-r" | "-relocatable" | "--relocatable" => self.relocatable = true,
                // An argument of its own, which may look like one of these.
                "-z" | "-L" | "-l" | "-m" | "-e" | "-u" | "-T" | "-h" | "-soname" | "-rpath" | "-mllvm" => drop(words.next()),
                word => {
                    if let Some(file) = word.strip_prefix('@')
                        && let Ok(text) = fs::read_to_string(file)
                    {
                        self.read(&response(&text));
                    } else if let Some(output) = word.strip_prefix("--output=") {
                        self.output = output.into();
                    } else if let Some(output) = word.strip_prefix("-o").filter(|rest| !rest.is_empty() && !word.starts_with("-omagic")) {
                        self.output = output.into();
                    }
                }
            }
        }
    }

    /// Links the bitcode and puts it into the output.
    fn carry(&self, words: &[String]) -> Result<Carries> {
        let scratch = tempfile::tempdir().context("cannot make a scratch folder")?;
        let bitcode = scratch.path().join("bc");
        let linked = Command::new(LINKER)
            .args(words)
            .args(["--fat-lto-objects", "--plugin-opt=emit-llvm", "-o"])
            .arg(&bitcode)
            .output()
            .map_err(|e| missing(e, LINKER, INSTALL))?;
        if !linked.status.success() {
            return Err(anyhow!("its bitcode does not link: {}", String::from_utf8_lossy(&linked.stderr).trim_end()));
        }
        // Without any bitcode among its inputs lld links machine code.
        if !is_bitcode(&fs::read(&bitcode)?) {
            return Ok(Carries::Nothing);
        }
        let mut objcopy = Command::new(OBJCOPY);
        if self.relocatable {
            let name = carried::IN_OBJECT;
            objcopy.arg(format!("--add-section={name}={}", bitcode.display()));
            objcopy.arg(format!("--set-section-flags={name}=exclude")).arg(format!("--set-section-type={name}={OBJECT_SECTION_TYPE}"));
        } else {
            objcopy.arg(format!("--add-section={}={}", carried::IN_PROGRAM, bitcode.display()));
            if let Some(hash) = carried::code_hash(&fs::read(&self.output)?) {
                let file = scratch.path().join("hash");
                fs::write(&file, hash)?;
                objcopy.arg(format!("--add-section={}={}", carried::CODE_HASH, file.display()));
            }
        }
        let copied = objcopy.arg(&self.output).output().map_err(|e| missing(e, OBJCOPY, INSTALL))?;
        match copied.status.success() {
            true => Ok(Carries::Bitcode),
            false => Err(anyhow!("{}", String::from_utf8_lossy(&copied.stderr).trim_end())),
        }
    }
}

fn is_bitcode(content: &[u8]) -> bool {
    content.starts_with(b"BC\xc0\xde")
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
