//! Lines that native runs cover, as gcov counts them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use wryneck_confine::{self as confine, Confinement, Level, Limits};

use crate::{cache, process};

const GCOV: &str = "llvm-cov-22";

/// Flags of clang for a program that counts its lines.
pub const FLAGS: &str = "-g -O0 -w --coverage";

/// Lines with code of files, and whether they ran.
pub type Coverage = BTreeMap<(String, u64), bool>;

/// Wall time of one run.
const LIMIT: Duration = Duration::from_secs(3);

/// What a native run is given.
#[derive(Default)]
pub struct Run {
    pub args: Vec<Vec<u8>>,
    pub stdin: Vec<u8>,
    /// Files of its working directory.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

/// The lines that `program` covers in all of the runs together. It is a product of the cache, compiled in the folder `sources` of it.
/// The runs are confined, because an argument may name any file. A run that a signal ends is not counted, because the counts are written at exit.
pub fn of_runs(program: &Path, sources: &Path, runs: &[Run]) -> Result<Coverage> {
    let scratch = tempfile::tempdir()?;
    let here = scratch.path().canonicalize()?;
    let (counts, work, input) = (here.join("counts"), here.join("work"), here.join("input"));
    let confinement = Confinement::probe_level(Level::Full).map_err(|why| anyhow!("programs cannot be confined here: {why}"))?;
    let limits = Limits { time: LIMIT, ..Limits::default() };
    fs::create_dir(&counts)?;
    for run in runs {
        let _ = fs::remove_dir_all(&work);
        fs::create_dir(&work)?;
        for (name, bytes) in &run.files {
            fs::write(work.join(name), bytes)?;
        }
        fs::write(&input, &run.stdin)?;
        let job = confine::Job {
            program: program.canonicalize()?,
            args: [program.as_os_str().as_bytes()].into_iter().chain(run.args.iter().map(Vec::as_slice)).map(<[u8]>::to_vec).collect(),
            env: vec![[b"GCOV_PREFIX=", counts.as_os_str().as_bytes()].concat()],
            work: work.clone(),
            stdin: input.clone(),
            keep: vec![counts.clone(), work.clone()],
            ..confine::Job::default()
        };
        confinement.run(&job, &limits, &|| false).with_context(|| format!("cannot run `{}`", program.display()))?;
    }
    for unit in cache::files(&counts)? {
        let built = Path::new("/").join(unit.strip_prefix(&counts)?).with_extension("gcno");
        // A product is built beside its place.
        let from = PathBuf::from(built.to_string_lossy().replacen(".part/", "/", 1));
        fs::copy(&from, unit.with_extension("gcno")).with_context(|| format!("`{}` is missing", from.display()))?;
    }
    lines(&counts, sources)
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
