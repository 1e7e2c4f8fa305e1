//! Harnesses run natively, before their findings are reported: the bitcode under the address sanitizer, in the confinement of replays.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use wryneck_confine::{Confinement, Job, Limits};

use super::outcome::{Finding, Native};
use crate::compile::CLANG;
use crate::judge::{self, Expected, Verdict, Watched};
use crate::native::tool;
use crate::replay;
use crate::scratch::Scratch;
use crate::toolchain::{OBJCOPY, OPT};

/// LLVM's copier of objects: it makes the function and the variables that a harness names visible.
/// Where Debian puts the library of C++.
const CPP_LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
/// Findings of one function whose harnesses are run.
const MOST: usize = 24;

/// Runs the harness of each finding and notes what it showed.
pub fn run(findings: &mut [Finding], function: &str, bitcode: Option<&Path>, unconfined: bool) -> Result<()> {
    let Some(bitcode) = bitcode else {
        let why = "machine code has no source to build with a sanitizer";
        findings.iter_mut().for_each(|finding| finding.native = Native::NotRun(why.into()));
        return Ok(());
    };
    if findings.is_empty() {
        return Ok(());
    }
    let confinement = match replay::confinement(unconfined) {
        Ok(confinement) => confinement,
        Err(why) => {
            findings.iter_mut().for_each(|finding| finding.native = Native::NotRun(replay::no_confinement(&why)));
            return Ok(());
        }
    };
    let scratch = Scratch::new().context("cannot make a scratch folder")?;
    let place = fs::canonicalize(scratch.path())?;
    let object = target(bitcode, function, &place);
    for (number, finding) in findings.iter_mut().enumerate() {
        finding.native = match (&finding.harness, &object) {
            (Err(why), _) => Native::NotRun(why.clone()),
            (Ok(_), Err(why)) => Native::NotRun(format!("{why:#}")),
            (Ok(_), Ok(_)) if number >= MOST => Native::NotRun(format!("only {MOST} harnesses of a function are run")),
            (Ok(text), Ok(object)) => one(text, &finding.kind, object, &place.join(number.to_string()), &confinement)
                .unwrap_or_else(|e| Native::NotRun(format!("{e:#}"))),
        };
    }
    Ok(())
}

/// The code under test as an object with checks, in which all functions and variables are visible and `main` has another name.
fn target(bitcode: &Path, function: &str, place: &Path) -> Result<PathBuf> {
    let (marked, object) = (place.join("target.bc"), place.join("target.o"));
    tool(Command::new(OPT).args(["-passes=forceattrs", "-force-attribute=sanitize_address", "-o"]).arg(&marked).arg(bitcode))?;
    let flags = ["--target=x86_64-linux-gnu", "-g", "-O0", "-w", "-Wno-override-module", "-fsanitize=address", "-c", "-o"];
    tool(Command::new(CLANG).env("TMPDIR", place).args(flags).arg(&object).arg(&marked))?;
    let symbols = local_symbols(&object)?;
    let list = place.join("symbols");
    fs::write(&list, symbols.join("\n"))?;
    let shown = |name: &str| format!("--globalize-symbols={name}");
    let main = if function == "main" { "--redefine-sym=main=main" } else { "--redefine-sym=main=wryneck_main_of_target" };
    tool(Command::new(OBJCOPY).arg(shown(&list.display().to_string())).arg(main).arg(&object))?;
    Ok(object)
}

/// The names of an object's local functions and variables that only one of them has.
fn local_symbols(object: &Path) -> Result<Vec<String>> {
    use object::{Object, ObjectSymbol, SymbolKind};
    let bytes = fs::read(object)?;
    let file = object::File::parse(&*bytes)?;
    let mut seen = BTreeSet::new();
    let mut twice = BTreeSet::new();
    for symbol in file.symbols().filter(|s| s.is_definition() && matches!(s.kind(), SymbolKind::Text | SymbolKind::Data)) {
        let name = symbol.name().unwrap_or_default().to_owned();
        if !seen.insert(name.clone()) {
            twice.insert(name);
        }
    }
    Ok(seen
        .difference(&twice)
        .filter(|name| !name.starts_with('.') && !name.starts_with("__asan") && !name.starts_with("asan."))
        .cloned()
        .collect())
}

/// Whether an object leaves names of C++ undefined.
fn asks_for_cpp(object: &Path) -> Result<bool> {
    use object::{Object, ObjectSymbol};
    let bytes = fs::read(object)?;
    let file = object::File::parse(&*bytes)?;
    Ok(file.symbols().any(|s| s.is_undefined() && s.name().is_ok_and(|name| name.starts_with("_Z"))))
}

fn one(text: &str, kind: &str, object: &Path, place: &Path, confinement: &Confinement) -> Result<Native> {
    let work = place.join("work");
    fs::create_dir_all(&work)?;
    let (source, program, stdin) = (place.join("harness.c"), place.join("harness"), place.join("stdin"));
    fs::write(&source, text)?;
    fs::write(&stdin, b"")?;
    let flags = ["-g", "-O0", "-w", "-fno-builtin", "-fsanitize=address", "-no-pie", "-Wl,--unresolved-symbols=ignore-all"];
    let wrap = ["malloc", "calloc", "realloc"].map(|name| format!("-Wl,--wrap={name}"));
    // The operators of C++ come from its library, where the code asks for them and the machine has it.
    let cpp: &[&str] = if asks_for_cpp(object)? && Path::new(CPP_LIBRARY).exists() { &[CPP_LIBRARY] } else { &[] };
    let mut link = Command::new(CLANG);
    link.env("TMPDIR", place).args(flags).args(wrap).arg(&source).arg(object).args(cpp);
    tool(link.args(["-lm", "-o"]).arg(&program))?;
    let log = place.join("log");
    fs::create_dir_all(&log)?;
    let options =
        format!("log_path={}:detect_leaks=0:detect_stack_use_after_return=1:symbolize=0:handle_abort=0", log.join("asan").display());
    let job = Job {
        program,
        args: vec![b"harness".to_vec()],
        env: vec![format!("ASAN_OPTIONS={options}").into_bytes()],
        work: work.clone(),
        stdin,
        readable: vec![place.to_owned()],
        collect: vec![log],
        ..Job::default()
    };
    let limits = Limits { time: replay::TIME, ..Limits::default() };
    let ended = confinement.run(&job, &limits, &|| crate::budget::over_for_children().is_some()).context("the harness cannot be run")?;
    let report = ended.collected.first().and_then(|logs| {
        let name = logs.names().into_iter().find(|name| name.to_string_lossy().starts_with("asan"))?;
        logs.read(&name, 1 << 20)
    });
    let said = String::from_utf8_lossy(&report.unwrap_or_default()).into_owned();
    if let Some(limit) = ended.limit {
        return Ok(Native::NotRun(format!("natively {limit}")));
    }
    let expected = Expected::Fault(kind.to_owned());
    let verdict = judge::sanitized(&expected, &said, false).unwrap_or_else(|| judge::plain(&expected, &ended, "", &Watched::Silent));
    Ok(match verdict {
        Verdict::Same => Native::Reproduced,
        Verdict::Different(how) => Native::NotReproduced(how),
        Verdict::Cannot(why) => Native::NotRun(why),
    })
}
