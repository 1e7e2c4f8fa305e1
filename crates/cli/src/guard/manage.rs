//! Living with the guard: what is known of programs, forgetting it, warming it up, and shims that stand for programs.

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wryneck_guard::file::View;
use wryneck_guard::{Loaded, Verdict};

use super::ask;
use super::options::{GuardArgs, OPTIONS};
use super::program::{self, FrontEnd, Program};
use super::world::Assume;
use crate::options::{self, Words};
use crate::problem::problem;
use crate::{data, output};

/// Largest history or test, in bytes.
const MOST: u64 = 64 << 20;
/// The word of a shim's first line.
pub const SHIM: &str = "guard-shim";

/// Paths by verdict: clean, faulty, not verified.
fn counts(view: &View<'_>) -> Result<[u64; 3]> {
    let mut counts = [0; 3];
    for leaf in 0..view.leaves() {
        match view.node(view.leaf(leaf)?)?.verdict {
            Some(Verdict::Clean) => counts[0] += 1,
            Some(Verdict::Faulty(_)) => counts[1] += 1,
            Some(Verdict::Unverified(_)) | None => counts[2] += 1,
        }
    }
    Ok(counts)
}

/// `status`: what is known, a program a line.
pub fn status() -> Result<u8> {
    let store = ask::store()?;
    let mut lines = Vec::new();
    for (key, text) in store.described()? {
        let about: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        let program = about["program"].as_str().unwrap_or("?").to_owned();
        let kind = if about["machine_code"] == true { "machine code" } else { "default" };
        let kind = if about["arguments_only"] == true { format!("{kind}, arguments only") } else { kind.to_owned() };
        let known = match store.load(&key)? {
            Loaded::Nothing => "nothing is known".to_owned(),
            Loaded::SetAside(file) => format!("damaged, set aside as {}", file.display()),
            Loaded::Paths(mapped) => {
                let [clean, faulty, other] = counts(&mapped.view()?)?;
                let size = wryneck_report::units::bytes(mapped.size() as u64);
                format!("{clean} clean, {faulty} faulty, {other} not verified; {size}")
            }
        };
        let now = if store.try_lock(&key, "verify")?.is_none() { "; being verified now" } else { "" };
        lines.push(format!("{program} ({kind}): {known}{now}"));
    }
    output::write(|out| match lines.is_empty() {
        true => writeln!(out, "no program has been verified"),
        false => lines.iter().try_for_each(|line| writeln!(out, "{line}")),
    })?;
    Ok(0)
}

/// `forget PROGRAM…`, or `forget --all`.
pub fn forget(words: &[String]) -> Result<u8> {
    let store = ask::store()?;
    if words.is_empty() {
        return Err(problem("no program is given", "write `wryneck guard forget PROGRAM`, or `--all`"));
    }
    let all = words.iter().any(|word| word == "--all");
    let keys = if all {
        store.described()?.into_iter().map(|(key, _)| key).collect()
    } else {
        let mut keys = Vec::new();
        for word in words {
            let file = program::find(OsStr::new(word))?;
            // A program may have been verified both ways.
            for front in [FrontEnd::Carried, FrontEnd::MachineCode] {
                for assume in [Assume::Nothing, Assume::ArgumentsOnly] {
                    keys.push(Program::open(&file, front, assume, &store)?.key);
                }
            }
        }
        keys
    };
    let mut forgotten = 0;
    for key in keys {
        forgotten += u64::from(store.forget(&key)?);
    }
    output::write(|out| writeln!(out, "{forgotten} stores removed"))?;
    Ok(0)
}

/// `install [--to DIR] PROGRAM…`: a shim for each program in a folder for `PATH`.
pub fn install(words: Vec<String>) -> Result<u8> {
    let (mut dir, mut programs, mut words) = (None, Vec::new(), words.into_iter());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--to" => dir = words.next().map(PathBuf::from),
            _ => programs.push(word),
        }
    }
    let Some(dir) = dir.filter(|_| !programs.is_empty()) else {
        return Err(problem("a folder and programs are needed", "write `wryneck guard install --to DIR PROGRAM…`"));
    };
    fs::create_dir_all(&dir).with_context(|| format!("cannot make `{}`", dir.display()))?;
    let own = std::env::current_exe().context("cannot find this executable")?;
    let own = own.to_str().filter(|own| own.len() < 200 && !own.contains([' ', '\n'])).ok_or_else(|| {
        problem(
            format!("the path of this executable (`{}`) does not fit into the first line of a shim", own.display()),
            "install wryneck elsewhere",
        )
    })?;
    let store = ask::store()?;
    for name in &programs {
        let file = program::find(OsStr::new(name))?.canonicalize().with_context(|| format!("cannot find `{name}`"))?;
        // What cannot be verified gets no shim.
        Program::open(&file, GuardArgs::default().front, Assume::Nothing, &store)?;
        let shim = dir.join(Path::new(name).file_name().unwrap_or(file.as_os_str()));
        if let Some(other) =
            fs::read(&shim).ok().filter(|content| !content.starts_with(b"#!") || !content.windows(SHIM.len()).any(|w| w == SHIM.as_bytes()))
        {
            drop(other);
            return Err(problem(format!("`{}` is there, and no shim of ours", shim.display()), "give another folder by `--to`"));
        }
        let _ = fs::remove_file(&shim);
        let mut out = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o755)
            .open(&shim)
            .with_context(|| format!("cannot write `{}`", shim.display()))?;
        writeln!(out, "#!{own} {SHIM}\n{}", file.display())?;
        output::write(|out| writeln!(out, "{} guards {}", shim.display(), file.display()))?;
    }
    Ok(0)
}

/// What runs in a program's place: its words are the shim's path and the arguments.
pub fn shim(words: Vec<String>) -> Result<u8> {
    let mut words = program::given(words.len())?;
    if words.is_empty() {
        return Err(problem(format!("`{SHIM}` is for shims"), "write `wryneck guard -- PROGRAM`"));
    }
    let path = words.remove(0);
    let shim = path.display();
    let text = data::read(Path::new(&path), MOST).with_context(|| format!("cannot read the shim `{shim}`"))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let file = text.lines().nth(1).map(PathBuf::from).filter(|file| file.is_absolute());
    let file = file.ok_or_else(|| problem(format!("`{shim}` names no program"), "make it again by `wryneck guard install`"))?;
    let name = Path::new(&path).file_name().unwrap_or(&path);
    let arguments: Vec<Vec<u8>> = words.into_iter().map(OsString::into_vec).collect();
    let args = GuardArgs::default();
    ask::question(&args, name, &file, &arguments)?.act()
}

/// `warm [options] PROGRAM --history FILE|--tests DIR`: verifies the paths of inputs that are known from elsewhere.
pub fn warm(words: Vec<String>) -> Result<u8> {
    let (mut args, mut words) = (GuardArgs::default(), Words::new(words));
    options::parse(OPTIONS, &mut args, &mut words)?;
    let mut rest = words.rest().into_iter();
    let help = "write `wryneck guard warm PROGRAM --history FILE`, or `--tests DIR`";
    let (Some(name), Some(kind), Some(from)) = (rest.next(), rest.next(), rest.next()) else {
        return Err(problem("a program and where its inputs are from are needed", help));
    };
    let file = program::find(OsStr::new(&name))?;
    let inputs = match kind.as_str() {
        "--history" => of_history(&name, Path::new(&from))?,
        "--tests" => of_tests(Path::new(&from))?,
        _ => return Err(problem(format!("`{kind}` is no source of inputs"), help)),
    };
    let (mut known, mut verified, mut other) = (0, 0, 0);
    for arguments in &inputs {
        let question = ask::question(&args, OsStr::new(&name), &file, arguments)?;
        match question.look_up()?.known {
            ask::Known::Miss => match question.verify()?.known {
                ask::Known::Clean | ask::Known::Faulty(_) => verified += 1,
                ask::Known::Unverified(_) | ask::Known::Miss => other += 1,
            },
            _ => known += 1,
        }
    }
    let all = inputs.len();
    output::write(|out| writeln!(out, "{all} inputs: {known} were known, {verified} are verified now, {other} cannot be"))?;
    Ok(0)
}

/// The arguments of the commands in a history whose program has this name, split at blanks. Commands with the shell's own signs are left out.
fn of_history(name: &str, file: &Path) -> Result<Vec<Vec<Vec<u8>>>> {
    let text = data::read(file, MOST).with_context(|| format!("cannot read `{}`", file.display()))?;
    let base = Path::new(name).file_name().map_or(name.to_owned(), |name| name.to_string_lossy().into_owned());
    let mut all = Vec::new();
    for line in String::from_utf8_lossy(&text).lines() {
        // Times, as shells note them.
        let line = line.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit() || c == ' ').trim_start_matches("0;");
        if line.contains(['|', '>', '<', '&', ';', '$', '`', '"', '\'', '*', '?', '(', '\\', '~', '{']) {
            continue;
        }
        let mut words = line.split_whitespace();
        if words.next().is_some_and(|word| word == base || word == name) {
            let arguments: Vec<Vec<u8>> = words.map(|word| word.as_bytes().to_vec()).collect();
            if !all.contains(&arguments) {
                all.push(arguments);
            }
        }
    }
    Ok(all)
}

/// The arguments of the tests in a folder: `.ktest` files whose objects are arguments.
fn of_tests(dir: &Path) -> Result<Vec<Vec<Vec<u8>>>> {
    let mut all = Vec::new();
    let mut files: Vec<PathBuf> =
        fs::read_dir(dir).with_context(|| format!("cannot read `{}`", dir.display()))?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "ktest")) {
        let bytes = data::read(file, MOST).with_context(|| format!("cannot read `{}`", file.display()))?;
        let test = wryneck_report::KTest::from_bytes(&bytes).map_err(|error| problem(format!("`{}`: {error}", file.display()), ""))?;
        let of = |number: usize| {
            test.object(&format!("arg{number:02}")).map(|bytes| bytes.split(|b| *b == 0).next().unwrap_or_default().to_vec())
        };
        let arguments: Vec<Vec<u8>> = (0..).map_while(of).collect();
        if !all.contains(&arguments) {
            all.push(arguments);
        }
    }
    Ok(all)
}
