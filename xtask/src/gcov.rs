//! Lines that native runs cover, as gcov counts them.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::{cache, process};

const GCOV: &str = "llvm-cov-22";

/// Flags of clang for a program that counts its lines.
pub const FLAGS: &str = "-g -O0 -w --coverage";

/// Lines with code of files, and whether they ran.
pub type Coverage = BTreeMap<(String, u64), bool>;

/// The user and group without rights that run programs on inputs: an argument may name any file.
const NOBODY: u32 = 65534;

/// Seconds of one run.
const LIMIT: &str = "3";

/// What a native run is given.
#[derive(Default)]
pub struct Run {
    pub args: Vec<Vec<u8>>,
    pub stdin: Vec<u8>,
    /// Files of its working directory.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

/// The lines that `program` covers in all of the runs together. It is a product of the cache, compiled in the folder `sources` of it.
/// A run that a signal ends is not counted, because the counts are written at exit.
pub fn of_runs(program: &Path, sources: &Path, runs: &[Run]) -> Result<Coverage> {
    let scratch = tempfile::tempdir()?;
    fs::set_permissions(scratch.path(), Permissions::from_mode(0o755))?;
    let (copy, counts, work) = (scratch.path().join("program"), scratch.path().join("counts"), scratch.path().join("work"));
    fs::copy(program, &copy).with_context(|| format!("cannot copy `{}`", program.display()))?;
    ours_to_nobody(&counts)?;
    for run in runs {
        let _ = fs::remove_dir_all(&work);
        ours_to_nobody(&work)?;
        for (name, bytes) in &run.files {
            let path = work.join(name);
            fs::write(&path, bytes)?;
            fs::set_permissions(&path, Permissions::from_mode(0o666))?;
        }
        let input = scratch.path().join("input");
        File::create(&input)?.write_all(&run.stdin)?;
        let mut command = Command::new("timeout");
        command
            .args(["-s", "KILL", LIMIT])
            .arg(&copy)
            .args(run.args.iter().map(|arg| std::ffi::OsStr::from_bytes(arg)))
            .current_dir(&work)
            .env_clear()
            .env("GCOV_PREFIX", &counts)
            .stdin(File::open(&input)?)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .uid(NOBODY)
            .gid(NOBODY);
        command.status().with_context(|| format!("cannot run `{}`", program.display()))?;
    }
    for unit in cache::files(&counts)? {
        let built = Path::new("/").join(unit.strip_prefix(&counts)?).with_extension("gcno");
        // A product is built beside its place.
        let from = PathBuf::from(built.to_string_lossy().replacen(".part/", "/", 1));
        fs::copy(&from, unit.with_extension("gcno")).with_context(|| format!("`{}` is missing", from.display()))?;
    }
    lines(&counts, sources)
}

/// A new folder that the user without rights can write.
fn ours_to_nobody(dir: &Path) -> Result<()> {
    fs::create_dir(dir)?;
    chown(dir, Some(NOBODY), Some(NOBODY)).context("only root can run programs as the user without rights")
}

/// What gcov makes of the counts; a line of several units ran if it did in one. It reads the sources, whose names may begin at `sources`.
pub fn lines(counts: &Path, sources: &Path) -> Result<Coverage> {
    let mut lines = Coverage::new();
    let units = cache::files(counts)?.into_iter().filter(|file| file.extension().is_some_and(|kind| kind == "gcda"));
    for unit in units {
        let text = process::output(Command::new(GCOV).current_dir(sources).args(["gcov", "-t"]).arg(unit))?;
        let mut file = String::new();
        for row in text.lines() {
            let mut parts = row.splitn(3, ':').map(str::trim);
            let (Some(count), Some(Ok(line)), Some(rest)) = (parts.next(), parts.next().map(str::parse::<u64>), parts.next()) else {
                continue;
            };
            match (count, line, rest.strip_prefix("Source:")) {
                ("-", 0, Some(name)) => file = name.to_owned(),
                ("-", ..) => {}
                _ => *lines.entry((file.clone(), line)).or_default() |= !count.starts_with(['#', '=']),
            }
        }
    }
    Ok(lines)
}
