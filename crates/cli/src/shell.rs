//! `wryneck replay --shell`: a test as a command line for `bash`, `ksh` or `zsh`, which runs the program on the real system.
//!
//! The line runs in a new folder, so that the test's files replace none of the user's. What no command line can give a program is an error.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wryneck_report::{KTest, units};

use crate::build::Kind;
use crate::compile::CLANG;
use crate::data;
use crate::explored::Explored;
use crate::native::MUSL_LIB;
use crate::problem::problem;
use crate::symbolic::{self, Concrete, ConcreteFile};

/// The command line of a test of a run folder.
pub fn line(folder: &Path, named: &[PathBuf], test: &Path) -> Result<String> {
    let explored = Explored::of(folder, named)?;
    let words = symbolic::parse(&explored.facts.words("words")?)?;
    let bytes = data::read(test, data::TEST).with_context(|| format!("cannot read `{}`", test.display()))?;
    let test = KTest::from_bytes(&bytes).with_context(|| format!("`{}` is no test", test.display()))?;
    let concrete = Concrete::of(&words, &test);
    refuse(&explored, &words, &test, &concrete)?;
    let mut steps = vec!["cd \"$(mktemp -d)\"".to_owned()];
    for (path, _) in explored.files.iter().filter(|(path, _)| concrete.files.iter().all(|file| file.path != *path)) {
        let from = Path::new(explored.facts.need("directory")?).join(path);
        steps.push(format!("{}cp -- {} {}", parents(path), word(from.as_os_str()), word(path.as_os_str())));
    }
    for file in &concrete.files {
        steps.push(format!("{}{} > {}", parents(&file.path), printf(&file.bytes), word(file.path.as_os_str())));
    }
    let program = match &explored.bitcode {
        Some(bitcode) if Kind::of(&explored.program)? != Kind::Native => {
            let bitcode = word(bitcode.as_os_str());
            steps.push(format!("{CLANG} -w -Wno-override-module -c {bitcode} -o program.o"));
            // First with musl, whose headers most bitcode was compiled with: it may name functions that only musl has.
            let here = format!("{CLANG} -no-pie program.o -lm -o ./program");
            steps.push(match Path::new(MUSL_LIB).join("libc.a").is_file() {
                true => format!("{{ musl-gcc -static program.o -o ./program 2> /dev/null || {here}; }}"),
                false => here,
            });
            "./program".to_owned()
        }
        Some(_) | None => word(explored.program.as_os_str()),
    };
    let mut run = match &concrete.stdin {
        Some(bytes) if !bytes.is_empty() => format!("{} | ", printf(bytes)),
        Some(_) | None => String::new(),
    };
    if !concrete.env.is_empty() {
        run += "env ";
        concrete.env.iter().for_each(|(name, value)| run += &format!("{} ", quoted(&[name, &b"="[..], value].concat())));
    }
    run += &program;
    concrete.args.iter().for_each(|arg| run += &format!(" {}", quoted(arg)));
    if concrete.stdin.as_ref().is_none_or(Vec::is_empty) {
        run += " < /dev/null";
    }
    steps.push(run);
    Ok(format!("({})", steps.join(" && ")))
}

/// Fails where a command line cannot do what a test says.
fn refuse(explored: &Explored, words: &symbolic::Words, test: &KTest, concrete: &Concrete) -> Result<()> {
    let cannot = |why: String| Err(problem(format!("no command line does what the test says: {why}"), "`wryneck replay` runs it"));
    if let Some(entry) = explored.facts.get("entry").filter(|entry| !entry.is_empty()) {
        return cannot(format!("it begins with the function `{entry}`"));
    }
    if !words.sockets.is_empty() {
        return cannot("clients connect to it".into());
    }
    if !explored.objects.is_empty() {
        return cannot("the target is objects, not a program".into());
    }
    let outside = |file: &&ConcreteFile| !file.is_below() || file.stat.is_some();
    if let Some(file) = concrete.files.iter().find(outside) {
        let why = if file.stat.is_some() { "has times and permissions of its own" } else { "lies outside of the working directory" };
        return cannot(format!("the file `{}` {why}", file.path.display()));
    }
    let mut known = vec!["stdin".to_owned(), "stdin_size".to_owned(), "model_version".to_owned()];
    known.extend(
        words.files.iter().flat_map(|file| ["data", "data_size"].map(|what| format!("{}_{what}", String::from_utf8_lossy(&file.path)))),
    );
    known.extend(words.env.iter().map(|(name, _)| format!("env_{}", String::from_utf8_lossy(name))));
    for object in &test.objects {
        let name = String::from_utf8_lossy(&object.name);
        let is_arg = name == "n_args" || name.starts_with("n_args_") || name.strip_prefix("arg").is_some_and(|n| n.parse::<u32>().is_ok());
        if !is_arg && !known.iter().any(|other| *other == name) && !symbolic::is_of_working_call(&object.name, &object.bytes) {
            return cannot(format!("the input `{name}` is made inside the program"));
        }
    }
    Ok(())
}

/// Makes the folder that a relative path lies in.
fn parents(path: &Path) -> String {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.map_or(String::new(), |parent| format!("mkdir -p -- {} && ", word(parent.as_os_str())))
}

/// Prints bytes, zeros among them.
fn printf(bytes: &[u8]) -> String {
    let byte = |b: &u8| match b {
        b'%' => "%%".to_owned(),
        b'\\' | b'\'' => format!("\\{b:03o}"),
        b' '..=b'~' => char::from(*b).to_string(),
        b'\n' => "\\n".to_owned(),
        _ => format!("\\{b:03o}"),
    };
    // A format that begins with a dash would be an option.
    format!("printf -- '{}'", bytes.iter().map(byte).collect::<String>())
}

fn word(path: &OsStr) -> String {
    quoted(path.as_bytes())
}

/// One word of a shell, which has no zero byte.
fn quoted(bytes: &[u8]) -> String {
    if let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| text.is_ascii()) {
        return units::shell_word(text);
    }
    let byte = |b: &u8| match b {
        b'\'' | b'\\' => format!("\\{}", char::from(*b)),
        b' '..=b'~' => char::from(*b).to_string(),
        _ => format!("\\{b:03o}"),
    };
    format!("$'{}'", bytes.iter().map(byte).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let all: Vec<u8> = (1..=255).collect();
        let samples: [&[u8]; 8] = [b"", b"plain", b"-n", b"it's $HOME `x` \\ \"q\" ~ * ?\n\n", b"%s%%\\n\\x41", &all, b"\n", b"a\x011"];
        for bytes in samples {
            let run = |line: String| Command::new("bash").args(["-c", &line]).output().expect("there is a bash").stdout;
            assert_eq!(run(format!("printf %s {}", quoted(bytes))), bytes, "{}", quoted(bytes));
            assert_eq!(run(printf(bytes)), bytes, "{}", printf(bytes));
        }
        let zeros = [0, b'0', 0, b'7', b'\n', 0];
        let ran = Command::new("bash").args(["-c", &printf(&zeros)]).output().expect("there is a bash");
        assert_eq!(ran.stdout, zeros);
    }
}
