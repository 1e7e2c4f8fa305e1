//! Truth: random sequences of file-system calls give byte for byte the same under `wryneck run` and on the real kernel.
//!
//! One C program makes the calls that its argument lists. Each sequence runs in a furnished directory of its own: under the tool
//! first, which must leave it as it was, then natively, with musl as `wryneck replay` builds.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{seeds, watched};
use crate::cache::Cache;
use crate::process;
use crate::random::Random;

#[derive(clap::Args)]
pub struct Args {
    /// How many sequences, seeds 1 to N
    #[arg(long, default_value_t = 500)]
    sequences: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// Calls in a sequence
    #[arg(long, default_value_t = 40)]
    calls: usize,
    /// Calls about descriptors that are watched (epoll, eventfd, poll, sockets, pipes), instead of files
    #[arg(long)]
    watched: bool,
    /// Print the calls and both results of the sequences that differ
    #[arg(long)]
    show: bool,
}

/// Who runs every second sequence, if the superuser asks.
const NOBODY: u32 = 65534;
const PROGRAM: &str = include_str!("files.c");
/// Seconds; a call that blocks is a difference, not a hang.
const NATIVE_LIMIT: &str = "10";
const MUSL_INCLUDE: &str = "/usr/include/x86_64-linux-musl";
const MUSL_LIB: &str = "/usr/lib/x86_64-linux-musl";

/// How a sequence ended: status and output.
#[derive(PartialEq, Eq)]
struct End(i32, String);

pub fn run(args: &Args) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let (bitcode, native) = build(dir.path())?;
    let tool = readable_tool(dir.path())?;
    let counted = counts_links(dir.path())?;
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755))?;
    let is_root = fs::metadata(dir.path())?.uid() == 0;
    // So that each user finds the bitcode lowered.
    for (n, user) in [None, is_root.then_some(NOBODY)].into_iter().enumerate().filter(|(n, user)| *n == 0 || user.is_some()) {
        let place = dir.path().join(format!("first{n}"));
        fs::create_dir(&place)?;
        if let Some(user) = user {
            give(&place, user)?;
        }
        tool.run(&bitcode, &place, &place.join("out"), "", user)?;
    }
    let (calls, differ) = (Mutex::new(0), Mutex::new(Vec::new()));
    let seeds: Vec<u64> = (args.first..args.first + args.sequences).collect();
    process::parallel(&seeds, |&seed| {
        let script = if args.watched { watched::script(seed, args.calls) } else { script(seed, args.calls, counted) };
        // Deep enough that `..` stays in the scratch directory.
        let top = dir.path().join(seed.to_string());
        let home = top.join("x/y/home");
        furnish(&home)?;
        let user = (is_root && seed % 2 == 0).then_some(NOBODY);
        if let Some(user) = user {
            give(&top, user)?;
        }
        let before = tree(&home)?;
        let ours = tool.run(&bitcode, &home, &top.join("out"), &script, user)?;
        ensure!(tree(&home)? == before, "seed {seed}: the tool changed the real file system");
        let real = run_as(user, Command::new("timeout").arg(NATIVE_LIMIT).arg(&native).arg(&script).current_dir(&home)).output()?;
        let real = End(real.status.code().unwrap_or(-1), String::from_utf8_lossy(&real.stdout).into_owned());
        *calls.lock().expect("no holder panics") += real.1.lines().filter(|l| !l.starts_with(' ')).count();
        if ours != real {
            if args.show {
                println!("{script}\n--- kernel\n{}--- ours\n{}", real.1, ours.1);
            }
            differ.lock().expect("no holder panics").push(format!("seed {seed}: {}", difference(&real, &ours)));
        }
        Ok(fs::remove_dir_all(&top)?)
    })?;
    let (calls, differ) = (calls.into_inner().expect("no holder panics"), differ.into_inner().expect("no holder panics"));
    differ.iter().for_each(|line| println!("{line}"));
    println!("files: {} of {} sequences as on the kernel ({calls} calls)", seeds.len() - differ.len(), seeds.len());
    ensure!(differ.is_empty(), "{} sequences differ from the kernel's", differ.len());
    ensure!(calls > seeds.len() * args.calls / 2, "most calls were skipped");
    Ok(())
}

/// The first lines that differ, with the one before them.
fn difference(real: &End, ours: &End) -> String {
    if real.1 == ours.1 {
        return format!("the kernel's status is {}, ours {}", real.0, ours.0);
    }
    let (a, b): (Vec<_>, Vec<_>) = (real.1.lines().collect(), ours.1.lines().collect());
    let at = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let line = |all: &[&str]| all.get(at).map_or_else(|| "nothing".to_owned(), |l| format!("`{l}`"));
    let before = if at > 0 { a[at - 1] } else { "" };
    format!("after `{before}`: kernel {}, ours {} (status {})", line(&a), line(&b), ours.0)
}

/// The program as bitcode and as an executable, both for musl.
fn build(dir: &Path) -> Result<(PathBuf, PathBuf)> {
    let (source, bitcode, native) = (dir.join("files.c"), dir.join("files.bc"), dir.join("files"));
    fs::write(&source, PROGRAM)?;
    let musl = ["--target=x86_64-linux-musl", "-nostdlibinc", "-isystem", MUSL_INCLUDE, "-w", "-g", "-O1"];
    process::output(Command::new("clang-22").args(musl).args(["-emit-llvm", "-c", "-o"]).arg(&bitcode).arg(&source))?;
    let support = process::output(Command::new("clang-22").arg("-print-libgcc-file-name"))?;
    let part = |name: &str| Path::new(MUSL_LIB).join(name);
    let mut link = Command::new("clang-22");
    link.args(["--target=x86_64-linux-musl", "-nostdlib", "-static", "-fuse-ld=lld", "-w"])
        .args([part("crt1.o"), part("crti.o"), bitcode.clone(), part("libc.a"), support.trim().into(), part("crtn.o")])
        .arg("-o")
        .arg(&native);
    process::output(&mut link)?;
    Ok((bitcode, native))
}

/// What each sequence finds.
fn furnish(home: &Path) -> Result<()> {
    fs::create_dir_all(home.join("hd/deep"))?;
    fs::write(home.join("host"), "contents of the file\n")?;
    fs::write(home.join("hd/in"), "inner\n".repeat(1000))?;
    fs::hard_link(home.join("host"), home.join("twin"))?;
    symlink("host", home.join("hl"))?;
    symlink("../host", home.join("hd/up"))?;
    symlink("hd/", home.join("dl"))?;
    symlink("nowhere", home.join("lost"))?;
    Ok(symlink("round", home.join("round"))?)
}

/// Whether this file system counts the links of directories.
fn counts_links(dir: &Path) -> Result<bool> {
    let probe = dir.join("probe");
    fs::create_dir_all(probe.join("sub"))?;
    Ok(fs::metadata(&probe)?.nlink() == 3)
}

/// Every file below a directory, with its content.
fn tree(dir: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir)? {
        let (path, kind) = entry.and_then(|e| Ok((e.path(), e.file_type()?)))?;
        if kind.is_dir() {
            all.extend(tree(&path)?);
        }
        let content = if kind.is_file() { fs::read(&path)? } else { Vec::new() };
        all.push((path, content));
    }
    all.sort();
    Ok(all)
}

/// Gives a directory and all below it to a user.
fn give(path: &Path, user: u32) -> Result<()> {
    lchown(path, Some(user), Some(user))?;
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), user)?;
        }
    }
    Ok(())
}

fn run_as(user: Option<u32>, command: &mut Command) -> &mut Command {
    match user {
        Some(user) => command.uid(user).gid(user),
        None => command,
    }
}

/// The tool under test, where every user may read (a home directory may be closed to all others), and a cache for each user.
struct Tool {
    program: PathBuf,
    dir: PathBuf,
}

fn readable_tool(dir: &Path) -> Result<Tool> {
    let tool = Tool { program: dir.join("wryneck"), dir: dir.to_owned() };
    let built = super::wryneck();
    for (from, to) in [(built.with_file_name("wryneck-lower"), dir.join("wryneck-lower")), (built, tool.program.clone())] {
        fs::copy(&from, to).with_context(|| format!("no `{}`: build it with `cargo build --release`", from.display()))?;
    }
    for user in [None, Some(NOBODY)] {
        let cache = tool.cache(user);
        fs::create_dir(&cache)?;
        fs::set_permissions(&cache, fs::Permissions::from_mode(0o700))?;
        fs::copy(Cache::open()?.path("libc.bc"), cache.join("libc.bc")).context("no C library: make it with `cargo xtask setup libc`")?;
        if let Some(user) = user.filter(|_| fs::metadata(dir).is_ok_and(|about| about.uid() == 0)) {
            give(&cache, user)?;
        }
    }
    Ok(tool)
}

impl Tool {
    fn cache(&self, user: Option<u32>) -> PathBuf {
        self.dir.join(user.map_or("cache".to_owned(), |user| format!("cache-{user}")))
    }

    fn run(&self, bitcode: &Path, home: &Path, out: &Path, script: &str, user: Option<u32>) -> Result<End> {
        let mut command = Command::new(&self.program);
        command.args(["run", "--quiet", "--emit", "all", "--output"]).arg(out).arg(bitcode).args(["--", script]);
        let done = run_as(user, command.env("WRYNECK_CACHE", self.cache(user)).current_dir(home)).output()?;
        let text = fs::read(out.join("test000001.json")).with_context(|| String::from_utf8_lossy(&done.stderr).into_owned())?;
        let test: Value = serde_json::from_slice(&text)?;
        let status = test["what"].as_str().filter(|_| test["class"] == "exit").and_then(|s| s.parse().ok());
        let bytes = seeds::bytes(&test["stdout"]);
        Ok(match status {
            Some(status) => End(status, String::from_utf8_lossy(&bytes).into_owned()),
            None => End(-1, format!("{} {} {}", test["class"], test["what"], test["message"])),
        })
    }
}

/// Names that sequences use: few, so that they meet; of the host, made, through links, and wrong ones.
const NAMES: &[&str] = &[
    "a", "b", "c", "d", "e", "a", "b", "d", "d/a", "d/b", "d/e", "d/e/f", "e/a", "host", "twin", "hd", "hd/in", "hd/new", "hd/deep", "hl",
    "dl", "dl/in", "dl/deep/x", "hd/up", "lost", "round", "a/", "d/", "hd/", "dl/", "hl/", "lost/", ".", "..", "d/.", "d/..", "d/../a",
    "./b", "../home/c", "dl/../a", "host/x", "none/x", "~/a", "~/d/b", "~", "@", "^", "d//a", "e/..", "round/x",
];
const FLAGS: &[u32] =
    &[0, 0, 0o100, 0o100, 0o100, 0o200, 0o1000, 0o1000, 0o2000, 0o4000, 0o200_000, 0o400_000, 0o2_000_000, 0o10_000_000, 0o20_200_000];
const USERS: &[i32] = &[-1, 0, 0, NOBODY as i32];
const SIZES: &[u32] = &[0, 1, 5, 20, 100, 1000, 1024, 4096, 5000, 9000];

fn script(seed: u64, calls: usize, counted: bool) -> String {
    let mut r = Random::new(seed);
    let mut lines = vec![if counted { "links".to_owned() } else { String::new() }];
    for _ in 0..calls {
        lines.push(call(&mut r));
    }
    lines.join(";")
}

pub fn pick<T: Copy>(r: &mut Random, all: &[T]) -> T {
    all[r.below(all.len())]
}

/// One call.
fn call(r: &mut Random) -> String {
    let name = pick(r, NAMES);
    let other = pick(r, NAMES);
    let fd = if r.below(12) == 0 { pick(r, &[-1, 50, -100]) } else { 3 + r.below(6) as i32 };
    let fd2 = 3 + r.below(6);
    let size = pick(r, SIZES);
    let at = pick(r, SIZES);
    let letter = char::from(b'a' + r.below(26) as u8);
    let permissions = pick(r, &["0644", "0600", "0777", "0444", "0755", "01777", "0"]);
    let map = r.below(4);
    let flags = (0..r.below(3)).fold(pick(r, &[0, 1, 2, 2, 3]), |all, _| all | pick(r, FLAGS));
    match r.below(70) {
        0..=8 => format!("open {name} 0{flags:o} {permissions}"),
        9 => format!("openat {fd} {name} 0{flags:o} {permissions}"),
        10 => format!("creat {name} {permissions}"),
        11 => format!("close {fd}"),
        12 | 13 => format!("read {fd} {size}"),
        14 => format!("pread {fd} {size} {at}"),
        15 => format!("readv {fd} {size} {at}"),
        16 | 17 => format!("write {fd} {size} {letter}"),
        18 => format!("pwrite {fd} {size} {letter} {at}"),
        19 => format!("writev {fd} {}", size % 7),
        20 | 21 => format!("lseek {fd} {} {}", at as i32 - 10 * r.below(2) as i32, r.below(3)),
        22 => format!("holes {name} {size} {at}"),
        23 => format!("truncate {name} {}", pick(r, &[-1, 0, 3, 900, 5000])),
        24 => format!("ftruncate {fd} {}", pick(r, &[-1, 0, 3, 900, 5000])),
        25 => format!("fallocate {fd} {} {at} {size}", pick(r, &[0, 0, 1, 3, 16, 17, 2, 64])),
        26 | 27 => format!("stat {name}"),
        28 => format!("lstat {name}"),
        29 => format!("fstat {fd}"),
        30 => format!("fstatat {fd} {name} {:#x}", pick(r, &[0, 0x100, 0x1000])),
        31 | 32 => format!("link {name} {other}"),
        33 => format!("linkat -100 {name} -100 {other} {:#x}", pick(r, &[0, 0x400, 1])),
        34 | 35 => format!("symlink {} {other}", name.trim_start_matches('~').trim_start_matches('/')),
        36 => format!("readlink {name} {}", pick(r, &[0, 3, 100])),
        37..=39 => format!("rename {name} {other}"),
        40 => format!("renameat2 -100 {name} -100 {other} {}", pick(r, &[0, 1, 2, 3])),
        41 | 42 => format!("unlink {name}"),
        43 => format!("unlinkat {fd} {name} {:#x}", pick(r, &[0, 0x200, 1])),
        44 => format!("mkdir {name} {permissions}"),
        45 => pick(r, &["mkdir d 0755", "mkdir d/e 0700", "mkdir e 0755"]).to_owned(),
        46 => format!("rmdir {name}"),
        47 => format!("chdir {name}"),
        48 => format!("fchdir {fd};getcwd"),
        49 => format!("getcwd;list {}", pick(r, &[".", ".", "..", "d", "hd", "dl"])),
        50 => format!("list {name}"),
        51 => match r.below(3) {
            0 => format!("dup {fd}"),
            1 => format!("dup2 {fd} {fd2}"),
            _ => format!("dup3 {fd} {fd2} 0{}", pick(r, &["0", "2000000", "1"])),
        },
        52 => format!("pipe 0{:o}", pick(r, &[0o4000, 0o2_004_000])),
        53 => format!("fcntl {fd} {} {}", pick(r, &[0, 1, 2, 3, 3, 1030, 1032, 77]), pick(r, &[0, 1, 4, 7])),
        54 => format!("fcntl {fd} 4 0{:o}", pick(r, &[0o4000, 0o6000])),
        55 => match r.below(3) {
            0 => format!("fsync {fd}"),
            1 => format!("fdatasync {fd}"),
            _ => format!("flock {fd} {}", pick(r, &[5, 6, 8, 4])),
        },
        56 => format!("access {name} {}", pick(r, &[0, 1, 2, 4, 7, 8])),
        57 => match r.below(3) {
            0 => format!("chmod {name} {permissions}"),
            1 => format!("fchmod {fd} {permissions}"),
            _ => format!("umask {permissions}"),
        },
        58 => {
            format!("utimensat {name} {} {} 77 {} {:#x}", 1000 + at, pick(r, &[5, 1_073_741_822, 1_000_000_000]), 99, pick(r, &[0, 0x100]))
        }
        59 => match r.below(3) {
            0 => format!("statfs {name}"),
            1 => format!("copy {fd} {fd2} {size}"),
            _ => format!("brk {} {}", pick(r, &[5000, 9000, 20000]), pick(r, &[0, 100, 5000])),
        },
        60 => {
            let (protection, how) = (pick(r, &[1, 3, 3]), pick(r, &[0x22, 0x21, 1, 1, 2, 0x20]));
            format!("mmap {map} {} {protection} {how:#x} {fd} {}", pick(r, &[0, 100, 4096, 9000, 12288]), pick(r, &[0, 0, 4096, 5]))
        }
        61 => format!("preadv {fd} {size} {at}"),
        62 => format!("pwritev {fd} {} {at}", size % 7),
        63 => format!("poll {fd} {fd2} {} {:#x} {:#x}", pick(r, &[-1, 3, 60]), pick(r, &[1, 4, 5, 0x145]), pick(r, &[0, 1, 4])),
        64 => format!("sendfile {fd} {fd2} {size} {}", pick(r, &[-1, 0, 10])),
        65 => match r.below(3) {
            0 => format!("chown {name} {} {}", pick(r, USERS), pick(r, USERS)),
            1 => format!("lchown {name} {} {}", pick(r, USERS), pick(r, USERS)),
            _ => format!("fchown {fd} {} {}", pick(r, USERS), pick(r, USERS)),
        },
        66 => match r.below(3) {
            0 => format!("mknod {name} {permissions}"),
            1 => format!("faccessat {fd} {name} {}", pick(r, &[0, 1, 2, 4])),
            _ => format!("readlinkat {fd} {name} {}", pick(r, &[0, 3, 100])),
        },
        67 => pick(r, &[format!("touch {name}"), format!("unnamed {name} {permissions}")].each_ref()).clone(),
        _ => match r.below(7) {
            0 | 1 => format!("mread {map}"),
            2 | 3 => format!("mwrite {map} {at} {} {letter};read {fd} {size}", size % 200),
            4 => format!("mremap {map} {}", pick(r, &[4096, 9000, 20000])),
            5 => format!("msync {map} {};mfixed {map}", pick(r, &[1, 4, 5])),
            _ => format!("munmap {map}"),
        },
    }
}
