//! From bitcode to an IR file, by `wryneck-lower`: a limited child whose results are cached by content.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, io};

use anyhow::{Context, Result};
use wryneck_ir::verify::verify;
use wryneck_ir::{Module, file};

use crate::child::{self, Limits};
use crate::problem::problem;
use crate::{cache, carried, data, source};

const LOWER_LIMITS: Limits = Limits { time: Duration::from_secs(300), memory: Some(8 << 30), file: 4 << 30 };

/// What kind of file the target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    C,
    Cxx,
    Rust,
    /// LLVM's bitcode or text.
    Llvm,
    /// A program, an object or a static library, which carries its bitcode.
    Native,
}

impl Kind {
    /// By its name, else by its first bytes.
    pub fn of(target: &Path) -> Result<Kind> {
        match target.extension().and_then(|e| e.to_str()) {
            Some("c") => Ok(Kind::C),
            Some("cc" | "cpp" | "cxx" | "C") => Ok(Kind::Cxx),
            Some("rs") => Ok(Kind::Rust),
            Some("bc" | "ll") => Ok(Kind::Llvm),
            _ if begins_as_native(target)? => Ok(Kind::Native),
            _ => Err(problem(
                format!("`{}` is not a `.c`, `.cc`, `.rs`, `.bc` or `.ll` file, nor a program", target.display()),
                "compile with `wryneck cc`, or with `clang-22 -g -c -emit-llvm` and give the `.bc` file",
            )),
        }
    }
}

fn begins_as_native(target: &Path) -> Result<bool> {
    match data::beginning(target, 8) {
        Ok(magic) => Ok(carried::is_native(&magic)),
        Err(error) => Err(problem(
            format!("cannot read `{}`: {error}", target.display()),
            "if it is gone, build it again with `wryneck build -- make` (or whatever builds it)",
        )),
    }
}

/// The error of a tool that could not be started.
pub fn missing(error: io::Error, tool: &str, help: &str) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => problem(format!("the tool `{tool}` is not installed"), help),
        _ => anyhow::Error::new(error).context(format!("cannot start `{tool}`")),
    }
}

/// What was lowered, and what the lowering had to say about it.
pub struct Lowered {
    pub file: PathBuf,
    pub module: Module,
    pub notes: Vec<String>,
}

/// The command of this project.
const COMMAND: &str = "wryneck";
/// The program that reads bitcode.
pub const LOWER: &str = "wryneck-lower";
/// The C library's bitcode, in the cache.
pub const LIBC: &str = "libc.bc";

/// The IR file of a program's bitcode, from the cache if it is there; `overflow`: with checks of the operations that promise not to overflow.
pub fn lower(bitcode: &Path, overflow: bool) -> Result<Lowered> {
    let content = data::read(bitcode, data::PROGRAM).with_context(|| format!("cannot read `{}`", bitcode.display()))?;
    let lower = lower_tool()?;
    let flags: &[&str] = if overflow { &["--overflow"] } else { &[] };
    let name = cache::digest(&[&content, cache::identity(&lower)?.as_bytes(), flags.concat().as_bytes()]);
    cached(&lower, bitcode, &name, flags)
}

/// The IR file of the C library; its bitcode is not read to find it, since the set-up never changes a file in place.
pub fn lower_libc() -> Result<Option<Lowered>> {
    let bitcode = cache::root()?.join(LIBC);
    if !bitcode.exists() {
        return Ok(None);
    }
    let lower = lower_tool()?;
    let name = cache::digest(&[b"libc", cache::identity(&bitcode)?.as_bytes(), cache::identity(&lower)?.as_bytes()]);
    cached(&lower, &bitcode, &name, &["--library"]).map(Some)
}

/// The files that decide what an analysis finds, beside the program: this executable, the one that lowers, the C library's bitcode.
pub fn tools() -> Vec<PathBuf> {
    let lower = env::current_exe().map(|here| lower_place(&here));
    // Not by its name: that may be another file by now.
    let own = PathBuf::from("/proc/self/exe");
    [Ok(own), lower.map_err(anyhow::Error::from), cache::root().map(|root| root.join(LIBC))].into_iter().flatten().collect()
}

/// Where a tool is for this executable: beside it; for the examples and tests of cargo, which lie one folder deeper, beside that folder.
fn beside(executable: &Path, tool: &str) -> PathBuf {
    let folder = executable.parent().unwrap_or(Path::new("/"));
    let is_cargo_s = folder.file_name().is_some_and(|name| name == "examples" || name == "deps");
    let folder = folder.parent().filter(|_| is_cargo_s).unwrap_or(folder);
    folder.join(tool)
}

/// The first file of this name in the folders of `PATH` that is wanted.
pub fn on_path(name: impl AsRef<Path>, wanted: impl FnMut(&PathBuf) -> bool) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).map(|dir| dir.join(&name)).find(wanted)
}

/// The command of this project: this executable, or what is beside it.
pub fn command() -> Result<PathBuf> {
    let here = env::current_exe().context("cannot find this executable")?;
    Ok(if here.file_name().is_some_and(|name| name == COMMAND) { here } else { beside(&here, COMMAND) })
}

/// The same, or where `wryneck setup` put it, if it is not there.
fn lower_place(executable: &Path) -> PathBuf {
    let set_up = || cache::root().ok().map(|root| root.join(source::SETUP).join(LOWER)).filter(|tool| tool.exists());
    let tool = beside(executable, LOWER);
    if tool.exists() { tool } else { set_up().unwrap_or(tool) }
}

/// `wryneck-lower`, beside this executable or set up.
fn lower_tool() -> Result<PathBuf> {
    let here = env::current_exe().context("cannot find this executable")?;
    let tool = lower_place(&here);
    match tool.exists() {
        true => Ok(tool),
        false => Err(problem(
            format!("`{}` is missing", tool.display()),
            "run `wryneck setup`, or build it with `cargo build --release -p wryneck-lower` (needs Debian's `llvm-22-dev`)",
        )),
    }
}

fn cached(tool: &Path, bitcode: &Path, name: &str, flags: &[&str]) -> Result<Lowered> {
    let file = cache::folder("ir")?.join(format!("{name}.wir"));
    let notes = file.with_extension("notes");
    let module = match open(&file) {
        Ok(Some(module)) => module,
        other => {
            if let Err(why) = other {
                cache::heals(&file, &why);
            }
            let scratch = cache::scratch()?;
            let fresh = scratch.path().join("wir");
            let said = run_lower(tool, bitcode, &fresh, flags)?;
            if !said.is_empty() {
                cache::write(said.join("\n").as_bytes(), &notes)?;
            }
            cache::place(&fresh, &file)?;
            open(&file).ok().flatten().with_context(|| format!("`{}` was lowered to no good IR", bitcode.display()))?
        }
    };
    let notes = data::read_text(&notes, data::SOURCE).unwrap_or_default().lines().map(str::to_owned).collect();
    Ok(Lowered { file, module, notes })
}

/// Maps an IR file of the cache; what this very tool did not check before is verified. `None`: there is none. The error is what is wrong with it.
fn open(file: &Path) -> std::result::Result<Option<Module>, String> {
    if !file.exists() {
        return Ok(None);
    }
    let module = file::open(file).map_err(|e| format!("is damaged ({e})"))?;
    if !cache::is_ours(file) {
        verify(&module).map_err(|e| format!("breaks the rules of IR ({e})"))?;
        cache::vouch(file);
    }
    Ok(Some(module))
}

/// A line of the child's error output.
#[derive(serde::Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
    help: String,
}

/// Runs the child; its notes.
fn run_lower(tool: &Path, bitcode: &Path, file: &Path, flags: &[&str]) -> Result<Vec<String>> {
    let shown = bitcode.display();
    let ended = child::run(Command::new(tool).arg(bitcode).arg("-o").arg(file).args(flags), LOWER_LIMITS)
        .map_err(|e| missing(e, "wryneck-lower", "build it with `cargo build --release -p wryneck-lower`"))?;
    ended.check_cut(&format!("`{shown}`: lowering"))?;
    let words = String::from_utf8_lossy(&ended.stderr);
    let lines: Vec<Diagnostic> = words.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if ended.status.success() {
        return Ok(lines.into_iter().filter(|d| d.level == "note").map(|d| d.message).collect());
    }
    let damaged = "make the file again with clang 14 to 22";
    match lines.into_iter().find(|d| d.level == "error") {
        Some(error) => Err(problem(format!("`{shown}`: {}", error.message), error.help)),
        None if ended.timed_out => Err(problem(format!("`{shown}`: lowering took more than {} s", LOWER_LIMITS.time.as_secs()), damaged)),
        None => {
            let last = words.lines().last().unwrap_or("no message").to_owned();
            Err(problem(format!("`{shown}`: LLVM broke down reading the file ({}): {last}", ended.status), damaged))
        }
    }
}
