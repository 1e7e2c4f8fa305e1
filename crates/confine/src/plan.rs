//! All that the child needs between fork and exec, in memory before the fork.

use std::ffi::{CString, c_char};
use std::ptr;

use seccompiler::BpfProgram;

use crate::filter::{self, Strict};
use crate::landlock::Jail;
use crate::mounts::{Mounts, text};
use crate::{Failure, Job, Kind, Limits, Step, absolute};

pub(crate) struct Plan {
    pub(crate) kind: Kind,
    pub(crate) mounts: Option<Mounts>,
    pub(crate) jail: Option<Jail>,
    pub(crate) filters: Vec<BpfProgram>,
    /// Lines of the maps of users and groups.
    pub(crate) users: CString,
    pub(crate) groups: CString,
    pub(crate) limits: Limits,
    pub(crate) program: CString,
    pub(crate) work: CString,
    /// None where the program inherits this process's.
    pub(crate) stdin: Option<CString>,
    pub(crate) collect: Vec<CString>,
    args: Strings,
    env: Strings,
}

/// Strings as execve(2) takes them.
struct Strings {
    pointers: Vec<*const c_char>,
    _strings: Vec<CString>,
}

impl Strings {
    fn new(texts: &[Vec<u8>]) -> Result<Strings, std::ffi::NulError> {
        let strings = texts.iter().map(|text| CString::new(text.as_slice())).collect::<Result<Vec<_>, _>>()?;
        let pointers = strings.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect();
        Ok(Strings { pointers, _strings: strings })
    }
}

impl Plan {
    pub(crate) fn new(kind: Kind, job: &Job, limits: &Limits) -> Result<Plan, Failure> {
        let failed = |error: std::io::Error| Failure::new(Step::Plan, &error);
        let filter_failed = |detail| Failure { step: Step::Filter, errno: None, detail };
        let path = |path| text(absolute(path)?).map_err(failed);
        let mounts = match kind {
            Kind::Root | Kind::User => Some(Mounts::new(kind == Kind::User, job, limits.disk)),
            Kind::Plain | Kind::None => None,
        };
        let jail = (kind == Kind::Plain).then(|| Jail::new(job)).transpose()?;
        let filters = match (kind, &jail) {
            (Kind::None, _) => Vec::new(),
            (_, None) => filter::filters(None, job.traces).map_err(filter_failed)?,
            (_, Some(jail)) => filter::filters(Some(Strict { scoped: jail.scoped }), job.traces).map_err(filter_failed)?,
        };
        // SAFETY: these calls cannot fail and touch no memory.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        // Root's program sees all users by their numbers; it has no power over any.
        let map = |id: u32| if kind == Kind::Root { "0 0 4294967295".into() } else { format!("{id} {id} 1") };
        let strings = |texts| Strings::new(texts).map_err(|error| failed(error.into()));
        Ok(Plan {
            kind,
            mounts: mounts.transpose().map_err(failed)?,
            jail,
            filters,
            users: CString::new(map(uid)).map_err(|error| failed(error.into()))?,
            groups: CString::new(map(gid)).map_err(|error| failed(error.into()))?,
            limits: *limits,
            program: path(&job.program)?,
            work: path(&job.work)?,
            stdin: (!job.inherits).then(|| path(&job.stdin)).transpose()?,
            collect: job.collect.iter().map(|dir| path(dir)).collect::<Result<_, _>>()?,
            args: strings(&job.args)?,
            env: strings(&job.env)?,
        })
    }

    /// Replaces the process by the program; returns only where that fails.
    pub(crate) fn execute(&self) -> crate::sys::Errno {
        // SAFETY: the strings and the lists of pointers to them, which end with a null pointer, live as long as `self`.
        unsafe { libc::execve(self.program.as_ptr(), self.args.pointers.as_ptr(), self.env.pointers.as_ptr()) };
        crate::sys::errno()
    }
}
