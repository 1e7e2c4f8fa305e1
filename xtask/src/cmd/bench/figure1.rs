//! The program of paper 1's Figure 1 under open-close: three two-byte arguments, two eight-byte files. It is clean, which the paper's tool
//! showed in 212.7 s. Its variant that closes only what does not begin with `-` is not; a native run on the reported input, with its
//! streams counted, leaves one open. Both are verified as bitcode and as static executables.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::explore::{Exploration, Mode};
use crate::bitcode::{CLANG, NativeMusl};
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Seconds for each exploration
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// A program, its input, and whether it keeps the rule.
struct Case {
    file: &'static str,
    input: &'static [&'static str],
    clean: bool,
}

/// What the program is explored as.
enum Form {
    Bitcode,
    /// Compiled at this level, linked statically against musl.
    Executable(&'static str),
}

const FORMS: [Form; 3] = [Form::Bitcode, Form::Executable("-O0"), Form::Executable("-O2")];

impl Form {
    fn words(&self) -> String {
        match self {
            Form::Bitcode => "bitcode".to_owned(),
            Form::Executable(level) => format!("x86-64 {level}"),
        }
    }

    /// The file to explore, made in `dir` if it is not the source.
    fn of(&self, source: &Path, dir: &Path) -> Result<PathBuf> {
        let Form::Executable(level) = self else { return Ok(source.to_owned()) };
        let program = dir.join("program");
        process::output(NativeMusl::debian()?.linking(&[source], &program)?.args(["-g", level]))?;
        Ok(program)
    }
}

const RULE: &str = "open-close";
const CASES: [Case; 2] = [
    Case { file: "tests/pass/rules/concatenate.c", input: &["--sym-args", "0", "3", "2", "--sym-files", "2", "8"], clean: true },
    Case {
        file: "tests/fail/rules/concatenate.c",
        // The engine knows no file whose name it is not told.
        input: &["--sym-args", "0", "3", "2", "--sym-files", "1", "8", "--sym-file", "-x:8"],
        clean: false,
    },
];

pub fn run(args: &Args) -> Result<()> {
    println!("{:<32} {:<11} {:<9} {:<11} {:>8} {:>9} {:>10}", "program", "", "", "verdict", "seconds", "paths", "sequences");
    let dir = tempfile::tempdir()?;
    for (case, form) in CASES.iter().flat_map(|case| FORMS.iter().map(move |form| (case, form))) {
        let source = Path::new(case.file).canonicalize().with_context(|| format!("`{}` is missing", case.file))?;
        let target = form.of(&source, dir.path())?;
        for mode in Mode::BOTH {
            let exploration = Exploration {
                target: &target,
                input: case.input,
                rules: &[RULE],
                mode,
                summaries: None,
                seconds: args.seconds,
                memory: "8G",
                search: None,
                off: None,
                tree: None,
            };
            let explored = exploration.run()?;
            let (rule, run) = (explored.rule(RULE), &explored.run);
            println!(
                "{:<32} {:<11} {:<9} {:<11} {:>8.1} {:>9} {:>10}  {}",
                case.file,
                form.words(),
                mode.word(),
                rule["verdict"].as_str().unwrap_or(""),
                run["seconds"].as_f64().unwrap_or(0.0),
                run["totals"]["paths"],
                explored.sequences,
                rule["why"].as_str().unwrap_or(""),
            );
            if !case.clean {
                println!("{:>54} {}", "natively:", natively(&source, &run["findings"][0])?);
            }
            ensure!(!case.clean || rule["verdict"] != "VIOLATED", "the program of Figure 1 keeps the rule");
        }
    }
    Ok(())
}

/// What a native run on a finding's input says of its streams.
fn natively(source: &Path, finding: &Value) -> Result<String> {
    let dir = tempfile::tempdir()?;
    let (program, watch) = (dir.path().join("program"), dir.path().join("watch.c"));
    fs::write(&watch, include_str!("watch.c"))?;
    let object = dir.path().join("watch.o");
    process::output(Command::new(CLANG).args(["-w", "-c", "-o"]).arg(&object).arg(&watch))?;
    let renamed = ["-w", "-Dfopen=watched_fopen", "-Dfclose=watched_fclose", "-o"];
    process::output(Command::new(CLANG).args(renamed).arg(&program).arg(source).arg(&object))?;
    let (mut arguments, mut given) = (Vec::new(), usize::MAX);
    for input in finding["inputs"].as_array().into_iter().flatten() {
        let name = input["name"].as_str().unwrap_or_default();
        let bytes: Vec<u8> = input["bytes"].as_array().into_iter().flatten().filter_map(|b| b.as_u64()?.try_into().ok()).collect();
        if let Some(file) = name.strip_suffix("_data") {
            fs::write(dir.path().join(file), &bytes)?;
        } else if name == "n_args" {
            given = bytes.first().copied().unwrap_or(0).into();
        } else if name.starts_with("arg") {
            let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
            arguments.push(OsString::from_vec(bytes[..end].to_vec()));
        }
    }
    let done = Command::new(&program).current_dir(dir.path()).args(arguments.iter().take(given)).output()?;
    Ok(String::from_utf8_lossy(&done.stderr).trim().to_owned())
}
