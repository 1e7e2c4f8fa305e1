//! Truth: the programs of gcc's C torture tests, which take no input and end with 0, do so under `wryneck run`. A program that clang does not compile, or that
//! does not end with 0 natively, is not compared; the summary counts both. `tests/torture-misses.txt` has the programs that are known to end otherwise,
//! each with its reason. It is wrong, too, if one of them ends well.
//!
//! The programs are those of Debian's package `gcc-12-source`, which is fetched once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::bitcode::CLANG;
use crate::cache::{Cache, Inputs};
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// A folder with the programs (default: `gcc.c-torture/execute` of Debian's gcc 12)
    #[arg(long)]
    programs: Option<PathBuf>,
    /// Only programs whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Only one program in so many
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Explore static executables of musl instead of bitcode
    #[arg(long)]
    executables: bool,
    /// Explore dynamic executables of the host's C library instead of bitcode
    #[arg(long, conflicts_with = "executables")]
    host: bool,
}

const PACKAGE: &str = "gcc-12-source";
const FOLDER: &str = "gcc/testsuite/gcc.c-torture/execute";
/// Most of them are of the language before C99.
const FLAGS: [&str; 3] = ["-w", "-O1", "-std=gnu89"];
/// Seconds of a native program, and of ours.
const LIMITS: [&str; 2] = ["10", "30s"];

#[derive(Default)]
struct Counts {
    same: usize,
    not_compiled: usize,
    not_native: usize,
    differ: BTreeMap<String, String>,
}

pub fn run(args: &Args) -> Result<()> {
    let folder = match &args.programs {
        Some(folder) => folder.clone(),
        None => fetched()?,
    };
    let mut programs = Vec::new();
    for folder in [folder.clone(), folder.join("ieee")] {
        programs.extend(fs::read_dir(&folder).with_context(|| format!("cannot read `{}`", folder.display()))?.flatten().map(|e| e.path()));
    }
    programs.retain(|path| path.extension().is_some_and(|ending| ending == "c") && name(path).contains(&args.only));
    programs.sort();
    let programs: Vec<PathBuf> = programs.into_iter().step_by(args.every.max(1)).collect();
    let (dir, counts) = (tempfile::tempdir()?, Mutex::new(Counts::default()));
    process::parallel(&programs, |program| {
        let scratch = dir.path().join(name(program));
        fs::create_dir_all(&scratch)?;
        let end = compare(program, &scratch, args)?;
        fs::remove_dir_all(&scratch)?;
        let mut counts = counts.lock().expect("no holder panics");
        match end {
            End::NotCompiled => counts.not_compiled += 1,
            End::NotNative => counts.not_native += 1,
            End::Same => counts.same += 1,
            End::Other(what) => _ = counts.differ.insert(name(program), what),
        }
        Ok(())
    })?;
    let counts = counts.into_inner().expect("no holder panics");
    let misses = misses(if args.executables || args.host { "executable" } else { "bitcode" })?;
    let mut wrong = 0;
    for (name, what) in &counts.differ {
        match misses.get(name) {
            Some(why) => println!("{name}: known miss: {why}"),
            None => {
                wrong += 1;
                println!("{name}: {what}");
            }
        }
    }
    let all = args.only.is_empty() && args.every == 1;
    for name in misses.keys().filter(|name| all && !counts.differ.contains_key(*name)) {
        wrong += 1;
        println!("{name}: is as it should be now; take it out of torture-misses.txt");
    }
    let Counts { same, not_compiled, not_native, differ } = &counts;
    println!(
        "torture: {same} programs as natively, {} not; {not_compiled} that do not compile, {not_native} that fail natively",
        differ.len()
    );
    ensure!(wrong == 0, "{wrong} programs are not as they should be");
    ensure!(*same > 0, "no program was compared");
    Ok(())
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The folder of the programs, from Debian's package.
fn fetched() -> Result<PathBuf> {
    let inputs = Inputs::default().text(PACKAGE);
    let made = Cache::open()?.product("torture", &inputs, |dir| {
        let shell = format!(
            "apt-get -q download {PACKAGE} && dpkg-deb --fsys-tarfile {PACKAGE}_*.deb | tar -x --wildcards '*/gcc-12.*.tar.xz' && \
             tar -xf usr/src/gcc-12/gcc-12.*.tar.xz --strip-components 1 --wildcards '*/{FOLDER}/*' && rm -r usr *.deb"
        );
        process::output(Command::new("sh").args(["-ec", &shell]).current_dir(dir))
            .with_context(|| format!("cannot get Debian's package `{PACKAGE}`; `--programs` takes a folder instead"))?;
        Ok(())
    })?;
    Ok(made.join(FOLDER))
}

/// How a program ended.
enum End {
    NotCompiled,
    NotNative,
    Same,
    Other(String),
}

fn compare(program: &Path, scratch: &Path, args: &Args) -> Result<End> {
    let native = scratch.join("native");
    let built = Command::new(CLANG).args(FLAGS).arg("-o").arg(&native).arg(program).arg("-lm").output()?;
    if !built.status.success() {
        return Ok(End::NotCompiled);
    }
    let ran = Command::new("timeout").arg(LIMITS[0]).arg(&native).current_dir(scratch).output()?;
    if ran.status.code() != Some(0) {
        return Ok(End::NotNative);
    }
    let tool = super::wryneck();
    let mut tool = Command::new(fs::canonicalize(&tool).with_context(|| format!("`{}` is missing", Path::new(&tool).display()))?);
    tool.args(["run", "--json", "--no-replay", "--emit", "none", "--max-time", LIMITS[1], "--output"]).arg(scratch.join("out"));
    if args.host {
        tool.arg(native);
    } else if args.executables {
        let target = scratch.join("target");
        let built = Command::new("musl-gcc").args(FLAGS).args(["-static", "-o"]).arg(&target).arg(program).arg("-lm").output()?;
        if !built.status.success() {
            return Ok(End::NotCompiled);
        }
        let ran = Command::new("timeout").arg(LIMITS[0]).arg(&target).current_dir(scratch).output()?;
        if ran.status.code() != Some(0) {
            return Ok(End::NotNative);
        }
        tool.arg(target);
    } else {
        tool.args(FLAGS.iter().flat_map(|flag| ["--cc-flag", flag])).arg(program);
    }
    let done = tool.current_dir(scratch).output().context("cannot start wryneck: build it with `cargo build --release`")?;
    let Ok(run) = serde_json::from_slice::<Value>(&done.stdout) else {
        return Ok(End::Other(String::from_utf8_lossy(&done.stderr).lines().next().unwrap_or_default().to_owned()));
    };
    let ends: Vec<String> = run["ends"].as_array().into_iter().flatten().map(|e| format!("{} {}", e["class"], e["what"])).collect();
    Ok(if ends == [r#""exit" "0""#] { End::Same } else { End::Other(ends.join("; ")) })
}

/// The known misses of one form, with their reasons.
fn misses(form: &str) -> Result<BTreeMap<String, String>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/torture-misses.txt");
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let row = |line: &str| {
        let (of, rest) = line.split_once(' ')?;
        let (name, why) = rest.split_once(' ')?;
        (of == form).then(|| (name.to_owned(), why.to_owned()))
    };
    Ok(text.lines().filter_map(row).collect())
}
