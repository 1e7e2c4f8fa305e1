//! Which confinement works here: a small program is run under each, strongest first, and what it wrote is looked for outside.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::{Confinement, Ended, Job, Kind, Level, Limits, powers};

/// The shell that is run, which every system has.
const SHELL: &str = "/bin/sh";
/// Exits well if it could write in its working directory.
const SCRIPT: &str = "echo made > made && read line < made && test \"$line\" = made";

pub(crate) fn probe(place: &Path) -> Result<Confinement, String> {
    let tried = [Level::Full, Level::Plain].map(|level| probe_level(level, place));
    let mut reasons = Vec::new();
    for outcome in tried {
        match outcome {
            Ok(confinement) => return Ok(confinement),
            Err(why) => reasons.push(why),
        }
    }
    Err(reasons.join("; "))
}

pub(crate) fn probe_level(level: Level, place: &Path) -> Result<Confinement, String> {
    let kinds: &[Kind] = match level {
        Level::Full if powers::may_mount() => &[Kind::Root, Kind::User],
        Level::Full => &[Kind::User],
        Level::Plain => &[Kind::Plain],
        Level::None => return Err("no confinement is none".into()),
    };
    let mut reasons = Vec::new();
    for &kind in kinds {
        match attempt(kind, place) {
            Ok(()) => return Ok(Confinement { kind }),
            Err(why) => reasons.push(why),
        }
    }
    Err(format!("with {}: {}", level.name(), reasons.join(", ")))
}

fn attempt(kind: Kind, place: &Path) -> Result<(), String> {
    let scratch = tempfile::tempdir_in(place).map_err(|error| error.to_string())?;
    let path = fs::canonicalize(scratch.path()).map_err(|error| error.to_string())?;
    let work = path.join("work");
    fs::create_dir(&work).map_err(|error| error.to_string())?;
    let job = Job {
        program: SHELL.into(),
        args: vec![b"sh".into(), b"-c".into(), SCRIPT.into()],
        env: vec![b"PATH=/usr/bin:/bin".into()],
        work: work.clone(),
        stdin: "/dev/null".into(),
        ..Job::default()
    };
    let limits = Limits { time: Duration::from_secs(10), ..Limits::default() };
    let ended = (Confinement { kind }).run(&job, &limits, &|| false).map_err(|failure| failure.to_string())?;
    let Ended { status, limit, stderr, .. } = &ended;
    if let Some(limit) = limit {
        return Err(format!("a shell does not run: {limit}"));
    }
    if !status.success() {
        return Err(format!("a shell ends with {status}: {}", String::from_utf8_lossy(stderr).trim()));
    }
    let copied = matches!(kind, Kind::Root | Kind::User);
    if copied && work.join("made").exists() {
        return Err("what a program writes is not kept from the real file system".into());
    }
    Ok(())
}
