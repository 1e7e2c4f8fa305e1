//! The launched half: takes the place that the setting says, then confines a program and runs it. What it says goes to standard output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch};
use wryneck_confine::{Confinement, Job, Limits};

use super::Setting;

/// Small, so that bombs end soon.
const LIMITS: Limits = Limits {
    time: Duration::from_millis(1500),
    memory: 150 << 20,
    file: 32 << 20,
    disk: 64 << 20,
    processes: 50,
    descriptors: 1024,
    stuck: false,
};

pub(super) fn run(setting: Setting, how: &str, words: &[String]) -> Result<()> {
    let Some((program, arguments)) = words.split_first() else { bail!("no program is given") };
    deny(setting)?;
    if how == "exec" {
        use std::os::unix::process::CommandExt;
        return Err(std::process::Command::new(program).args(arguments).exec()).context("cannot execute it");
    }
    let confinement = match how {
        "confined" => Confinement::probe(),
        _ => Ok(Confinement::unconfined()),
    };
    let confinement = match confinement {
        Ok(confinement) => confinement,
        Err(why) => {
            println!("REFUSED {why}");
            return Ok(());
        }
    };
    let scratch = tempfile::tempdir()?;
    let scratch = std::fs::canonicalize(scratch.path())?;
    let (work, told) = (scratch.join("work"), scratch.join("told"));
    std::fs::create_dir_all(&work)?;
    std::fs::create_dir_all(&told)?;
    let passed = ["HOSTILE_SHM", "HOSTILE_TTY"].map(|name| format!("{name}={}", std::env::var(name).unwrap_or_default()).into_bytes());
    let job = Job {
        program: PathBuf::from(program),
        args: [program].into_iter().chain(arguments).map(|word| word.clone().into_bytes()).collect(),
        env: passed.into(),
        work,
        stdin: Path::new("/dev/null").into(),
        collect: vec![told],
        ..Job::default()
    };
    match confinement.run(&job, &LIMITS, &|| false) {
        Ok(ended) => {
            print!("{}", String::from_utf8_lossy(&ended.stdout));
            let limit = ended.limit.map_or(String::new(), |limit| format!(", {limit}"));
            println!("ENDED {}: {}{limit}", confinement.level().name(), ended.status);
        }
        Err(failure) => println!("FAILED {failure}"),
    }
    Ok(())
}

/// Denies what the setting does: namespaces, mounts and file handles as Docker's filter does, and in the last setting Landlock as well.
fn deny(setting: Setting) -> Result<()> {
    if !matches!(setting, Setting::Container | Setting::Bare) {
        return Ok(());
    }
    const LANDLOCK_CREATE_RULESET: i64 = 444;
    const CLONE: i64 = 56;
    const CLONE3: i64 = 435;
    /// mount, umount2, pivot_root, unshare, setns, open_by_handle_at, fsopen, move_mount, open_tree, mount_setattr.
    const MOUNTS: [i64; 10] = [165, 166, 155, 272, 308, 304, 430, 429, 428, 442];
    /// Those of `CLONE_NEW…`.
    const NAMESPACES: [u64; 7] = [0x20000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
    let flag = |flag: &u64| {
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(*flag), *flag)?;
        SeccompRule::new(vec![condition])
    };
    let mut denied: BTreeMap<i64, Vec<SeccompRule>> = MOUNTS.iter().map(|&call| (call, vec![])).collect();
    denied.insert(CLONE, NAMESPACES.iter().map(flag).collect::<Result<_, _>>()?);
    let mut absent: BTreeMap<i64, Vec<SeccompRule>> = [(CLONE3, vec![])].into();
    if setting == Setting::Bare {
        absent.insert(LANDLOCK_CREATE_RULESET, vec![]);
    }
    const EPERM: u32 = 1;
    const ENOSYS: u32 = 38;
    for (rules, errno) in [(denied, EPERM), (absent, ENOSYS)] {
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), TargetArch::x86_64)?;
        let filter = BpfProgram::try_from(filter)?;
        seccompiler::apply_filter_all_threads(&filter)?;
    }
    Ok(())
}
