//! The scratch world of the gate: what is precious, what leaves a mark when it runs, the run folders that are altered, and one run of the tool in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;
use wryneck_report::shown::is_hidden;

/// What takes longer is a hang, unless a replay of an unaltered folder takes long at that moment, too: then the machine is busy.
const HANG: Duration = Duration::from_secs(5);
/// So many times the unaltered replay.
const TIMES: u32 = 4;
const KILL: &str = "30";

/// A plugin of clang, a program and a library: loaded or run, it leaves its mark.
const MARK: &str = "#include <fcntl.h>\n__attribute__((constructor)) static void mark(void) { open(PLACE, O_CREAT | O_WRONLY, 0600); }\n";
const FAULTY: &str =
    "#include <string.h>\nint main(int c, char **v) { char b[4]; if (v[1][0] == 'a') strcpy(b, v[1] + 1); return v[1][0] == 'b'; }\n";
const FILES: &str = "#include <stdio.h>\nint main(int c, char **v) {\n  char b[9] = \"\"; FILE *f = fopen(\"in\", \"r\"), *g = fopen(\"data.txt\", \"r\");\n  \
    if (!f || !g) return 2;\n  fread(b, 1, 2, f); int n = fgetc(g); fclose(f);\n  if (b[0] == 'x') fclose(g);\n  return b[1] == n;\n}\n";
/// Uses most kinds of instruction.
const WIDE: &str = "struct s { int a; char b[6]; struct s *n; } t[3] = {{1, \"a\", t + 1}, {2, \"b\", t + 2}, {3, \"c\", 0}};\n\
    static int f(int x) { switch (x) { case 1: return 5; case 3: return 7; case 9: return 1; default: return x * 3 / 2; } }\n\
    static int g(int x) { return x - 1; }\nint (*p[2])(int) = {f, g};\n\
    int main(int c, char **v) { double d = v[1][0]; int r = 0; for (struct s *s = t; s; s = s->n) r += p[s->a & 1](s->a + (int)d);\n\
    char b[16]; __builtin_memset(b, r, 8); __builtin_memcpy(b + 8, t[1].b, 6); return v[1][1] == b[9] ? r & 7 : (unsigned)r >> 3; }\n";

/// A file outside, as it must stay.
type Snapshot = BTreeMap<PathBuf, (u32, u64, i64, Vec<u8>)>;

pub struct World {
    root: TempDir,
    pub precious: PathBuf,
    before: Snapshot,
}

/// The sources, their words, and what explores them.
static BASES: &[(&str, &str, &[&str], &[&str])] = &[
    ("faulty", FAULTY, &["run", "--emit", "all"], &["--sym-arg", "5"]),
    ("files", FILES, &["run", "--emit", "all"], &["--sym-file", "in:2"]),
    ("rule", FILES, &["verify", "--rule", "open-close"], &["--sym-file", "in:2"]),
];

impl World {
    pub fn new() -> Result<World> {
        let root = tempfile::tempdir()?;
        let at = |name: &str| root.path().join(name);
        for dir in ["precious", "cache", "tmp", "home", "src", "base", "case"] {
            fs::create_dir(at(dir))?;
        }
        let cache = std::env::var_os("WRYNECK_CACHE")
            .map_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/wryneck"), PathBuf::from);
        symlink(
            cache.join("libc.bc").canonicalize().context("the C library is not set up: `cargo xtask setup libc`")?,
            at("cache/libc.bc"),
        )?;
        let precious = at("precious");
        fs::write(precious.join("file"), "precious\n")?;
        fs::write(at("src/data.txt"), "data\n")?;
        fs::write(at("src/in"), "in\n")?;
        fs::write(at("src/wide.c"), WIDE)?;
        let mark = at("src/mark.c");
        fs::write(&mark, MARK)?;
        let place = format!("-DPLACE=\"{}\"", precious.join("mark").display());
        let library = ["-shared", "-fPIC", "-o"].map(str::to_owned);
        process(Command::new("clang-22").arg(&place).args(library).arg(at("src/mark.so")).arg(&mark))?;
        fs::write(at("src/mark.sh"), format!("#!/bin/sh\n: > {}\n", precious.join("mark").display()))?;
        fs::set_permissions(at("src/mark.sh"), fs::Permissions::from_mode(0o755))?;
        fs::create_dir(at("src/tools"))?;
        for name in ["ld", "ld.lld", "clang-22", "cc1"] {
            symlink(at("src/mark.sh"), at("src/tools").join(name))?;
        }
        fs::write(at("src/flags"), format!("-fplugin={}\n", at("src/mark.so").display()))?;
        let mut world = World { root, precious, before: Snapshot::new() };
        for (name, source, command, words) in BASES {
            let file = world.at("src").join(format!("{name}.c"));
            fs::write(&file, source)?;
            let out = world.at("base").join(name);
            let done = world.command(None).args(*command).arg("--output").arg(&out).arg(&file).args(*words).output()?;
            ensure!(out.join("run.db").exists(), "`{name}` does not run: {}", String::from_utf8_lossy(&done.stderr));
        }
        world.before = snapshot(&world.precious)?;
        Ok(world)
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Whether what must not run leaves a mark where it does, so that the gate can fail.
    pub fn try_marks(&self) -> Result<()> {
        let mark = self.precious.join("mark");
        let plugin = format!("-fplugin={}", self.at("src/mark.so").display());
        for command in [
            Command::new("clang-22").arg(plugin).args(["-c", "-o", "/dev/null"]).arg(self.at("src/faulty.c")),
            &mut Command::new(self.at("src/tools/ld")),
        ] {
            // What becomes of it otherwise does not matter.
            let _ = command.stderr(Stdio::null()).status()?;
            ensure!(mark.exists(), "the mark of {command:?} does not show");
            fs::remove_file(&mark)?;
        }
        Ok(())
    }

    /// A copy of a base folder, to be altered.
    pub fn copy(&self, base: usize, case: &Path) -> Result<PathBuf> {
        let (from, to) = (self.at("base").join(BASES[base % BASES.len()].0), case.join("x"));
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
        Ok(to)
    }

    /// The tool, in this world; with a cache of its own if one is given.
    pub fn command(&self, cache: Option<&Path>) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", KILL]).arg(super::super::wryneck().canonicalize().unwrap_or_else(|_| super::super::wryneck()));
        command.current_dir(self.at("src")).env("TMPDIR", self.at("tmp")).env("HOME", self.at("home"));
        command.env("WRYNECK_CACHE", cache.map_or(self.at("cache"), Path::to_owned)).stdin(Stdio::null());
        command
    }

    /// Runs the tool with these words; how it ended, if that is as it should be.
    pub fn run(&self, cache: Option<&Path>, words: &[String]) -> Result<(String, Output)> {
        let start = Instant::now();
        let mut done = self.command(cache).args(words).output()?;
        if start.elapsed() > HANG {
            let again = Instant::now();
            done = self.command(cache).args(words).output()?;
            let (took, plain) = (again.elapsed(), Instant::now());
            self.command(None).arg("replay").arg(self.at("base/faulty")).output()?;
            let most = HANG.max(plain.elapsed() * TIMES);
            ensure!(took <= most, "`wryneck {}` took {:.1} s, more than {:.1} s", words.join(" "), took.as_secs_f64(), most.as_secs_f64());
        }
        let said = [&done.stdout[..], &done.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let shown = || format!("`wryneck {}`: {}", words.join(" "), said.chars().take(600).collect::<String>().escape_debug());
        let Some(code @ 0..=3) = done.status.code() else {
            bail!("{}: signal {:?}, exit {:?}", shown(), done.status.signal(), done.status.code());
        };
        ensure!(!said.contains("panicked") && !said.contains("wryneck broke down"), "it panicked: {}", shown());
        let hidden = said.chars().find(|c| is_hidden(*c) && !matches!(c, '\n' | '\t'));
        ensure!(hidden.is_none(), "it printed {:?}: {}", hidden, shown());
        let after = snapshot(&self.precious)?;
        ensure!(after == self.before, "it changed what is outside: {:?}: {}", after.keys().collect::<Vec<_>>(), shown());
        Ok((format!("{} {code}", words[0]), done))
    }
}

fn snapshot(dir: &Path) -> Result<Snapshot> {
    let mut all = Snapshot::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let m = fs::symlink_metadata(&path)?;
        let content = if m.is_file() { fs::read(&path)? } else { Vec::new() };
        all.insert(path, (m.mode(), m.len(), m.mtime(), content));
    }
    Ok(all)
}

fn process(command: &mut Command) -> Result<()> {
    let done = command.output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}
