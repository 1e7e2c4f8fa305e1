//! `wryneck verify` on the programs of `tests/traps`: each verdict is as the program says, and each twin is verified; as bitcode and as a static
//! executable, at -O0 and -O2. The audit is off, so that slicing alone must be right; that the audit finds what slicing loses is tested by
//! `cargo xtask gate facts`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");

/// A program of the file: its name, and the verdict on it.
struct Trap {
    name: String,
    verdict: String,
    /// An executable would not link, or all of it can be followed.
    bitcode_alone: bool,
    /// Bitcode does not have it.
    executable_alone: bool,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traps")
}

fn traps() -> Vec<Trap> {
    let text = fs::read_to_string(folder().join("traps.c")).expect("the programs are there");
    let trap = |line: &str| {
        let (name, rest) = line.strip_prefix("void ")?.split_once("(char c) { ")?;
        let rest = rest.split_once("// ")?.1;
        let alone = |form: &str| rest.ends_with(form);
        Some(Trap {
            name: name.into(),
            verdict: rest.split(',').next()?.into(),
            bitcode_alone: alone("bitcode alone"),
            executable_alone: alone("executable alone"),
        })
    };
    text.lines().filter_map(trap).collect()
}

/// What a program is explored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Bitcode,
    Executable,
}

/// The verdict and its reason.
fn verdict(trap: &Trap, form: Form, level: &str, fixed: bool, scratch: &Path) -> (String, String) {
    let mut defines = vec![format!("-DTRAP={}", trap.name)];
    defines.extend(trap.bitcode_alone.then(|| "-DUNDEFINED".to_owned()));
    defines.extend(trap.executable_alone.then(|| "-DASSEMBLY".to_owned()));
    defines.extend(fixed.then(|| "-DFIXED".to_owned()));
    let mut command = Command::new(WRYNECK);
    let words = ["verify", "--json", "--no-replay", "--emit", "none", "--audit", "off", "--max-time", "60s", "--output", "out", "--rule"];
    command.current_dir(scratch).args(words).arg(folder().join("never.toml"));
    match form {
        Form::Bitcode => {
            let flags = defines.iter().map(String::as_str).chain(["-w", level]);
            flags.for_each(|flag| _ = command.args(["--cc-flag", flag]));
            command.arg(folder().join("traps.c"));
        }
        Form::Executable => {
            let flags = ["-static", "-g", "-w", "-fno-stack-protector", level, "-o", "program"];
            let built = Command::new("musl-gcc").current_dir(scratch).args(flags).args(&defines).arg(folder().join("traps.c")).status();
            assert!(built.expect("musl-gcc is installed").success(), "{} is compiled", trap.name);
            command.arg(scratch.join("program"));
        }
    }
    let done = command.args(["--sym-arg", "1"]).output().expect("the tool was built");
    let said = || String::from_utf8_lossy(&done.stderr).into_owned();
    let run: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{}: {e}: {}", trap.name, said()));
    let _ = fs::remove_dir_all(scratch.join("out"));
    let word = |name: &str| run["rules"][0][name].as_str().unwrap_or_default().to_owned();
    (word("verdict"), word("why"))
}

/// Checks every trap in a form; panics with a list of those that are wrong.
#[track_caller]
fn all_are_right(form: Form, level: &str) {
    let (traps, next, wrong) = (traps(), AtomicUsize::new(0), Mutex::new(Vec::new()));
    assert!(traps.len() > 35, "the programs are found: {}", traps.len());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let scratch = tempfile::tempdir().expect("there is room");
                while let Some(trap) = traps.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if trap.bitcode_alone && form == Form::Executable || trap.executable_alone && form == Form::Bitcode {
                        continue;
                    }
                    let (found, why) = verdict(trap, form, level, false, scratch.path());
                    // Code that an executable has is followed where bitcode has none.
                    let right = found == trap.verdict || form == Form::Executable && trap.verdict == "INCOMPLETE" && found == "VIOLATED";
                    let (twin, twin_why) = verdict(trap, form, level, true, scratch.path());
                    let note = |what: String| wrong.lock().expect("no thread panics").push(what);
                    if !right {
                        note(format!("{}: {found} instead of {}: {why}", trap.name, trap.verdict));
                    }
                    if twin != "VERIFIED" {
                        note(format!("{}, the twin: {twin}: {twin_why}", trap.name));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no thread panics");
    assert!(wrong.is_empty(), "{form:?} {level}:\n{}", wrong.join("\n"));
}

#[test]
fn bitcode() {
    all_are_right(Form::Bitcode, "-O0");
}

#[test]
fn optimised_bitcode() {
    all_are_right(Form::Bitcode, "-O2");
}

#[test]
fn executables() {
    all_are_right(Form::Executable, "-O0");
}

#[test]
fn optimised_executables() {
    all_are_right(Form::Executable, "-O2");
}
