//! Executables that nobody prepared: static programs of glibc, busybox, a program of Rust, one that loads shared libraries, one that is linked to
//! high addresses. Each runs under the tool to the end that it has natively, without a finding.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::concrete::End;
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Only programs whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Where the sources are
    #[arg(long, default_value = "tests/foreign")]
    folder: PathBuf,
}

/// Programs of one file, each of an area of the C library.
const AREAS: [&str; 11] = ["getopt", "hello", "malloc", "math", "printf", "qsort", "regex", "stdio", "strings", "strtol", "time"];

/// Calls of Debian's busybox-static.
const BUSYBOX: &[&[&str]] = &[
    &["echo", "hello", "there"],
    &["expr", "6", "*", "7"],
    &["seq", "3"],
    &["basename", "/usr/lib/x.so", ".so"],
    &["printf", "%d %s\\n", "12", "x"],
    &["test", "1", "-lt", "2"],
    &["sh", "-c", "x=3; while [ $x -gt 0 ]; do echo $x; x=$((x-1)); done"],
    &["awk", "BEGIN { for (i = 1; i < 4; i++) s += i; print s, substr(\"hello\", 2, 3) }"],
];

/// A program to run.
struct Program {
    name: String,
    file: PathBuf,
    arguments: Vec<&'static str>,
}

pub fn run(args: &Args) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut programs = Vec::new();
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let source = |name: &str| args.folder.join(format!("{name}.c"));
    for area in AREAS {
        let name = format!("glibc {area}");
        let file = folder.path().join(area);
        if wanted(&name) {
            compile("gcc", &["-O2", "-static", "-w"], &[source(area)], &["-lm"], &file)?;
            programs.push(Program { name, file, arguments: vec![] });
        }
    }
    for (name, options) in [("musl at 0x1000000", "-Wl,-Ttext-segment=0x1000000"), ("musl at 0x30000000", "-Wl,-Ttext-segment=0x30000000")]
    {
        let file = folder.path().join(name.replace(' ', "-"));
        if wanted(name) {
            compile("musl-gcc", &["-O2", "-static", "-no-pie", options], &[source("hello")], &[], &file)?;
            programs.push(Program { name: name.to_owned(), file, arguments: vec!["an argument"] });
        }
    }
    if wanted("rust musl") {
        let file = folder.path().join("rust-musl");
        let target = "x86_64-unknown-linux-musl";
        compile("rustc", &["-O", "-g", "--target", target], &[args.folder.join("words.rs")], &[], &file)
            .with_context(|| format!("install the target: rustup target add {target}"))?;
        programs.push(Program { name: "rust musl".to_owned(), file, arguments: vec![] });
    }
    if wanted("two libraries") {
        let here = folder.path().to_string_lossy().into_owned();
        let (second, first, file) = (folder.path().join("libsecond.so"), folder.path().join("libfirst.so"), folder.path().join("two"));
        let (find, run) = (format!("-L{here}"), format!("-Wl,-rpath,{here}"));
        compile("musl-gcc", &["-shared", "-fPIC", "-O2"], &[source("second")], &[], &second)?;
        compile("musl-gcc", &["-shared", "-fPIC", "-O2"], &[source("first")], &[&find, "-lsecond"], &first)?;
        compile("musl-gcc", &["-O2"], &[source("main")], &[&find, "-lfirst", "-lsecond", &run], &file)?;
        programs.push(Program { name: "two libraries".to_owned(), file, arguments: vec![] });
    }
    let busybox = Path::new("/bin/busybox");
    ensure!(busybox.exists() || !wanted("busybox"), "`/bin/busybox` is not there: install Debian's package `busybox-static`");
    let calls = BUSYBOX.iter().map(|call| Program { name: format!("busybox {}", call[0]), file: busybox.into(), arguments: call.to_vec() });
    programs.extend(calls.filter(|p| wanted(&p.name)));
    let mut differ = 0;
    for program in &programs {
        let native = End::natively(&program.file, &program.arguments, folder.path())?;
        let ours = End::under_the_tool(&program.file, &program.arguments, &folder.path().join("out"))?;
        let said = match ours.result {
            Ok(ours) if ours == native => {
                println!("{}: as natively", program.name);
                continue;
            }
            Ok(ours) => format!("natively\n{native}\nours\n{ours}"),
            Err(why) => why,
        };
        differ += 1;
        println!("{}: {said}", program.name);
    }
    println!("{} programs, {} as natively", programs.len(), programs.len() - differ);
    ensure!(differ == 0, "{differ} programs do not end as natively");
    Ok(())
}

fn compile(compiler: &str, options: &[&str], sources: &[PathBuf], libraries: &[&str], to: &Path) -> Result<()> {
    let mut command = Command::new(compiler);
    command.args(options).arg("-o").arg(to).args(sources).args(libraries);
    process::output(&mut command).with_context(|| format!("{compiler} does not build `{}`", to.display()))?;
    ensure!(fs::exists(to)?, "`{}` is not there", to.display());
    Ok(())
}
