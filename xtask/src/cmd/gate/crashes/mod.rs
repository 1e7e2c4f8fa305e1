//! Crashes that KLEE's authors found in coreutils 6.10 (OSDI 2008, section 5.2), in programs where a search does not meet them soon: `md5sum`, `pr`,
//! `tac`. The sources come from two public repositories that the user names; nothing of them is kept here. The arguments are of the paper's kind:
//! everything is symbolic, nothing is chosen to crash.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::explore::{self, Job};
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// A clone of coreutils with its tag `v6.10`
    coreutils: PathBuf,
    /// A clone of gnulib
    gnulib: PathBuf,
    /// Seconds for each program
    #[arg(long, default_value_t = 600)]
    seconds: u32,
    /// Only these programs
    #[arg(long)]
    program: Vec<String>,
    /// Options of `wryneck run` beside, separated by blanks
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    options: String,
    /// Where results are kept, one JSON object a line; programs found there are not run again
    #[arg(long, default_value = "docs/results/crashes.jsonl")]
    results: PathBuf,
}

/// The release, and what gnulib was on its day.
const RELEASE: &str = "v6.10";
const GNULIB: &str = "16c6ed60fb";
/// At least this many of the programs crash.
const FOUND: usize = 2;
/// As section 5.2 of that paper has it.
const INPUT: &str = "--sym-args 0 1 10 --sym-args 0 2 2 --sym-files 1 8 --sym-stdin 8";

/// Each program, and what its source is compiled with.
const PROGRAMS: &[(&str, &[&str])] = &[("md5sum", &["-DHASH_ALGO_MD5=1"]), ("pr", &[]), ("tac", &[])];

/// What the programs use of gnulib.
const LIBRARY: &[&str] = &[
    "basename", "c-ctype", "close-stream", "closein", "closeout", "dirname", "dup-safer", "error", "exitfail", "fd-safer", "fflush",
    "fopen-safer", "full-write", "getpagesize", "gettime", "hard-locale", "imaxtostr", "lseek", "mbswidth", "md5", "mkstemp-safer",
    "mkstemp", "mktime", "offtostr", "physmem", "posixtm", "quote", "quotearg", "regex", "safe-read", "safe-write", "sig2str", "stpcpy",
    "strftime", "stripslash", "strndup", "tempname", "time_r", "umaxtostr", "version-etc-fsf", "version-etc", "xalloc-die", "xmalloc",
    "xstrndup", "xstrtol-error", "xstrtol", "xstrtoul", "xstrtoumax",
];

const CONFIG: &str = include_str!("config.h");
/// What the library needs of modules that are left out.
const REST: &str = "int __freading(void *f);\nint freading(void *f) { return __freading(f); }\nint freadahead(void *f) { return 0; }\nconst char *locale_charset(void) { return \"UTF-8\"; }\n";

pub fn run(args: &Args) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let build = dir.path();
    unpack(&args.coreutils, RELEASE, &["src", "lib"], &build.join("coreutils"))?;
    unpack(&args.gnulib, GNULIB, &["lib"], &build.join("gnulib"))?;
    for (name, text) in [("config.h", CONFIG), ("configmake.h", ""), ("rest.c", REST)] {
        fs::write(build.join(name), text)?;
    }
    let wryneck = std::path::absolute(super::wryneck())?;
    let compile = |source: &str, options: &[&str]| {
        let mut command = Command::new(&wryneck);
        command.current_dir(build).args(["cc", "-c", "-g", "-O1", "-w", "-std=gnu89", "-DHAVE_CONFIG_H", "-I.", "-Icoreutils/src"]);
        process::output(command.args(["-Icoreutils/lib", "-Ignulib/lib"]).args(options).arg(source)).map(drop)
    };
    let mut sources: Vec<String> = LIBRARY.iter().map(|name| format!("gnulib/lib/{name}.c")).collect();
    sources.push("rest.c".into());
    process::parallel(&sources, |source| compile(source, &[]))?;
    let mut jobs = Vec::new();
    for (program, options) in PROGRAMS.iter().filter(|(name, _)| args.program.is_empty() || args.program.iter().any(|p| p == name)) {
        compile(&format!("coreutils/src/{program}.c"), options)?;
        let objects = LIBRARY.iter().copied().chain(["rest", *program]).map(|name| format!("{name}.o"));
        process::output(Command::new(&wryneck).current_dir(build).args(["cc", "-g", "-o", program]).args(objects))?;
        jobs.push(Job {
            name: format!("{program} {}", args.options).trim().to_owned(),
            target: build.join(program),
            options: args.options.split_whitespace().map(str::to_owned).collect(),
            input: INPUT.split_whitespace().map(str::to_owned).collect(),
        });
    }
    let rows = explore::all(&jobs, args.seconds, None, &args.results)?;
    let mut found = 0;
    for job in &jobs {
        let row = rows.iter().find(|row| row["program"] == job.name.as_str()).context("a program has no result")?;
        let findings = row["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
        for finding in findings {
            println!("{}: {}: {} ({})", job.name, finding["place"], finding["message"], finding["verdict"]);
        }
        found += usize::from(findings.iter().any(|finding| finding["verdict"] == "reproduced"));
    }
    println!("{found} of {} programs crash", jobs.len());
    ensure!(found >= FOUND.min(jobs.len()), "fewer than {FOUND} crashes");
    Ok(())
}

/// Folders of a repository at a revision.
fn unpack(repository: &Path, revision: &str, folders: &[&str], to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let mut git = Command::new("git");
    let mut archive = git
        .arg("-C")
        .arg(repository)
        .args(["archive", revision])
        .args(folders)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start `git`")?;
    let stream = archive.stdout.take().context("git has no output")?;
    let unpacked = Command::new("tar").arg("x").arg("-C").arg(to).stdin(stream).status().context("cannot start `tar`")?;
    let archived = archive.wait()?;
    ensure!(archived.success() && unpacked.success(), "`{}` has no revision {revision}", repository.display());
    Ok(())
}
