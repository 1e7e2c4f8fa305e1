//! Confinement without namespaces, as in a container that allows none: which files a program may open (Landlock, Linux 5.13).
//!
//! It may read the system's folders and what its job names, and change the folders of its own. Landlock does not watch who changes
//! permissions, owners and times, and its older versions neither truncation, signals nor abstract sockets: the filter of system calls
//! refuses these ([`crate::filter`]). Devices, FIFOs and sockets are outside of what may be read but for a few.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, Scope,
};

use crate::sys::{self, Errno};
use crate::{Failure, Job, Step};

/// Where programs and what they are linked with lie.
const SYSTEM: [&str; 9] = ["/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/etc", "/opt"];
/// Devices that a program may have.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// The newest version that is asked for; what the kernel does not know is left out.
const NEWEST: ABI = ABI::V6;

/// A set of rules that a process can put itself under.
pub(crate) struct Jail {
    rules: OwnedFd,
    /// Signals and abstract sockets are kept inside.
    pub(crate) scoped: bool,
}

impl Jail {
    pub(crate) fn new(job: &Job) -> Result<Jail, Failure> {
        let failed = |detail: String| Failure { step: Step::Landlock, errno: None, detail };
        let version = version().map_err(|errno| Failure { step: Step::Landlock, errno: Some(errno), detail: String::new() })?;
        let rules = rules(job, version).map_err(|error| failed(error.to_string()))?;
        let rules: Option<OwnedFd> = rules.into();
        Ok(Jail { rules: rules.ok_or_else(|| failed("the kernel has it switched off".into()))?, scoped: version >= 6 })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.rules.as_raw_fd()
    }
}

fn rules(job: &Job, version: i64) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(AccessFs::from_all(NEWEST))?;
    if version >= 4 {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut rules = rules.scope(Scope::from_all(NEWEST))?.create()?;
    let (read, all) = (AccessFs::from_read(NEWEST), AccessFs::from_all(NEWEST));
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    let system = SYSTEM.iter().map(|path| (Path::new(path), read));
    let devices = DEVICES.iter().map(|path| (Path::new(path), device));
    let own = [&job.program, &job.stdin].into_iter().chain(&job.readable).map(|path| (path.as_path(), read));
    let changed = [&job.work].into_iter().chain(&job.collect).map(|path| (path.as_path(), all));
    for (path, access) in system.chain(devices).chain(own).chain(changed) {
        // What is not there cannot be opened either.
        if let Ok(fd) = PathFd::new(path) {
            let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
            rules = rules.add_rule(PathBeneath::new(fd, access))?;
        }
    }
    Ok(rules)
}

/// The kernel's version of Landlock.
fn version() -> Result<i64, Errno> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the call reads no memory.
    sys::check_long(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) })
}

/// Puts the process under the rules behind the descriptor `rules`, for good; it may read its own part of `/proc`. Only system calls.
pub(crate) fn enter(rules: RawFd) -> Result<(), Errno> {
    #[repr(C, packed)]
    struct Beneath {
        access: u64,
        parent: i32,
    }
    const EXECUTE: u64 = 1;
    const READ_FILE: u64 = 4;
    const READ_DIR: u64 = 8;
    const PATH_BENEATH: libc::c_int = 1;
    let parent = sys::open(c"/proc/self", libc::O_PATH | libc::O_DIRECTORY, 0)?;
    let beneath = Beneath { access: (READ_FILE | READ_DIR) & !EXECUTE, parent };
    // SAFETY: the structure lives through the call.
    sys::check_long(unsafe { libc::syscall(libc::SYS_landlock_add_rule, rules, PATH_BENEATH, &raw const beneath, 0) })?;
    sys::close(parent);
    sys::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0)?;
    // SAFETY: the call takes two numbers.
    sys::check_long(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules, 0) }).map(drop)
}
