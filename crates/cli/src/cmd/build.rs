//! `wryneck build`: any build command, with compilers and linker replaced by ours, so that its programs can be explored.
//!
//! `CC`, `CXX` and `LD` name them, and they come first on `PATH` under their usual names for projects that ignore these variables.
//! `pkg-config` and cmake find what `wryneck deps` built, and not the machine's libraries, which are for another C library.
//! Archivers and `nm` are not replaced, because objects are ordinary ELF files with one more section. Cost: that of the compilers.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{env, fs};

use anyhow::{Context, Result};
use wryneck_confine::{Confinement, Job, Level, Limits};

use super::deps;
use super::ld::{self, Made};
use crate::build::missing;
use crate::carried::Label;
use crate::child;
use crate::problem::{self, problem};
use crate::scratch::Scratch;
use crate::{output, toolchain};

const HELP: &str = "usage: wryneck build [--confined] [--] COMMAND…\n\n\
    Runs COMMAND (make, cmake --build …, a script) with compilers whose programs carry their bitcode:\n\
    CC, CXX and LD are set, and cc, gcc, clang, c++, g++, clang++ and ld come first on PATH. Cargo's programs carry theirs, too.\n\
    Libraries beside the C library: `wryneck deps` builds some.\n\
    A build directory that was configured before with another compiler has to be configured again:\n\n\
    \x20 wryneck build -- ./configure --disable-shared\n\
    \x20 wryneck build -- make\n\
    \x20 wryneck run src/program --sym-arg 3\n\n\
    A build can do what you can. With `--confined` it has no network, and writes below this folder and in a /tmp of its own\n\
    only; fetch what it needs before.\n\n\
    exit code: that of COMMAND\n";

pub fn help() -> String {
    HELP.to_owned()
}

pub fn run(mut words: Vec<String>) -> Result<u8> {
    let confined = words.first().is_some_and(|word| word == "--confined");
    words.drain(..usize::from(confined));
    if words.first().is_some_and(|word| word == "--") {
        words.remove(0);
    }
    let Some((program, arguments)) = words.split_first() else {
        return Err(problem("no command is given", "write `wryneck build -- make`, or whatever builds the project"));
    };
    let removed_at_last = Scratch::new().context("cannot make a scratch folder")?;
    let scratch = fs::canonicalize(removed_at_last.path()).context("cannot find the scratch folder")?;
    let journal = scratch.join("journal");
    let tools = toolchain::tools()?;
    toolchain::sysroot()?;
    let libraries = toolchain::libraries()?;
    let in_each = |name: &str| libraries.iter().map(|library| library.join(name)).collect::<Vec<_>>();
    // Before those of the user, or before `last`.
    let joined = |name: &str, paths: Vec<PathBuf>, last: &str| {
        let users = env::var_os(name).unwrap_or_else(|| last.into());
        let all = paths.into_iter().chain(env::split_paths(&users).filter(|path| !path.as_os_str().is_empty()));
        env::join_paths(all).with_context(|| format!("`{name}` cannot be extended"))
    };
    let path = joined("PATH", [tools.clone()].into_iter().chain(in_each("bin")).collect(), "")?;
    let settings = [
        ("PATH", path),
        // Instead of the machine's, whose libraries are for another C library. What needs no library stays.
        ("PKG_CONFIG_LIBDIR", joined("PKG_CONFIG_LIBDIR", in_each("lib/pkgconfig"), "/usr/share/pkgconfig")?),
        ("CMAKE_PREFIX_PATH", joined("CMAKE_PREFIX_PATH", libraries.clone(), "")?),
        ("CC", tools.join("wryneck-cc").into()),
        ("CXX", tools.join("wryneck-c++").into()),
        ("LD", tools.join("wryneck-ld").into()),
        ("RUSTC_WRAPPER", tools.join("wryneck-rustc").into()),
        // So that cargo does not take what another build made for its own. Programs can ask for it: `#[cfg(wryneck)]`.
        ("RUSTFLAGS", [env::var_os("RUSTFLAGS").unwrap_or_default(), "--cfg=wryneck".into()].join(OsStr::new(" "))),
        (ld::JOURNAL, journal.clone().into()),
    ];
    let status = if confined {
        run_confined(&words, &settings, scratch)?
    } else {
        eprintln!("wryneck: the build runs unconfined, with all that you may do; see `wryneck build --confined`");
        let mut command = Command::new(program);
        // So that it can tidy up after itself.
        child::bind(&mut command, libc::SIGTERM);
        command.args(arguments).envs(settings);
        command.status().map_err(|e| missing(e, program, "the command after `--` is run as it stands, without a shell"))?
    };
    if journal.with_extension(ld::HAS_CXX).exists() {
        deps::warn_of_stale_cxx()?;
    }
    say(&journal, status.success())?;
    if !status.success() {
        problem::print(&problem(format!("the build failed: `{}` ended with {}", words.join(" "), how(status)), ""));
    }
    Ok(ld::exit_code(status))
}

/// Runs the build without a network, where it can write below the working directory and the folder `scratch` only.
fn run_confined(words: &[String], settings: &[(&str, OsString)], scratch: PathBuf) -> Result<ExitStatus> {
    let confinement = Confinement::probe_level_in(Level::Full, &scratch).map_err(|why| {
        problem(
            format!("the build cannot be confined: {why}"),
            "leave out `--confined`, if you trust the build as much as your own commands",
        )
    })?;
    let here = env::current_dir().context("the working directory cannot be found")?;
    let private = scratch.join("tmp");
    fs::create_dir(&private).context("cannot make a folder for temporary files")?;
    let mut env: BTreeMap<OsString, OsString> = env::vars_os().collect();
    env.extend(settings.iter().map(|(name, value)| (OsString::from(name), value.clone())));
    env.insert("TMPDIR".into(), "/tmp".into());
    let job = Job {
        program: "/bin/sh".into(),
        // The shell finds the command on the `PATH` that the build has.
        args: ["sh", "-c", "exec \"$@\"", "sh"].into_iter().chain(words.iter().map(String::as_str)).map(|word| word.into()).collect(),
        env: env.iter().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()).collect(),
        work: here.clone(),
        keep: vec![here, scratch],
        scratch: Some(private),
        inherits: true,
        ..Job::default()
    };
    Ok(confinement.run(&job, &Limits::none(), &|| false).context("the build cannot be started")?.status)
}

fn how(status: ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

/// Says which programs there are now. To standard error: standard output is the command's.
fn say(journal: &Path, done: bool) -> Result<()> {
    let text = fs::read_to_string(journal).unwrap_or_default();
    let mut made: BTreeMap<PathBuf, Label> = BTreeMap::new();
    for line in text.lines() {
        let Made { program, label } = serde_json::from_str(line).context("the build's journal is damaged")?;
        made.insert(program, label);
    }
    made = made.into_iter().map(|(program, label)| (given_name(&program).unwrap_or(program), label)).collect();
    // Those that a `configure` made to see whether they link are gone; cmake keeps its own in a folder of this name.
    made.retain(|program, _| program.is_file() && program.components().all(|part| part.as_os_str() != "CMakeFiles"));
    let here = env::current_dir().unwrap_or_default();
    let shown = |program: &Path| program.strip_prefix(&here).map_or(program.display().to_string(), |p| format!("./{}", p.display()));
    for (program, label) in &made {
        let note = match (&label.none, label.bare.as_slice()) {
            (Some(why), _) => format!(", which cannot be explored, since it carries no bitcode: {why}"),
            (None, []) => String::new(),
            (None, bare) => format!(", without the bitcode of {}", listed(bare)),
        };
        output::say("wryneck", format!("made `{}`{note}", shown(program)));
    }
    if made.is_empty() && done {
        output::say("wryneck", "no program was linked; if there should have been one, clean the build and repeat it");
    }
    Ok(())
}

/// The name under which cargo gives a program that it compiled in a folder `deps`: a hard link in the folder above.
fn given_name(program: &Path) -> Option<PathBuf> {
    let folder = program.parent().filter(|folder| folder.ends_with("deps"))?.parent()?;
    let file = fs::metadata(program).ok()?;
    let all = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    all.into_iter()
        .find(|path| fs::metadata(path).is_ok_and(|other| other.is_file() && (other.ino(), other.dev()) == (file.ino(), file.dev())))
}

/// Names in words, the first few of many.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}
