//! What a program may not get back: capabilities, set-uid programs, more resources (capabilities(7), getrlimit(2)).

use crate::sys::{self, Errno};
use crate::{Limits, Step};

/// `SECBIT_NOROOT`, `SECBIT_NO_SETUID_FIXUP`, `SECBIT_NO_CAP_AMBIENT_RAISE` and the locks of these and of `SECBIT_KEEP_CAPS`.
const SECURE: libc::c_ulong = 0x1 | 0x2 | 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
/// `CAP_LAST_CAP` of no kernel is above.
const MOST: libc::c_ulong = 63;
/// `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;

/// Gives up every capability in every set, for good.
pub(crate) fn drop_all() -> Result<(), (Step, Errno)> {
    let failed = |why| (Step::Capabilities, why);
    // Without CAP_SETPCAP neither can be set; then the bounding set alone stays, which `no_new_privs` makes useless.
    let _ = sys::prctl(libc::PR_SET_SECUREBITS, SECURE, 0);
    for capability in 0..=MOST {
        if sys::prctl(libc::PR_CAPBSET_DROP, capability, 0) == Err(libc::EINVAL) {
            break;
        }
    }
    let _ = sys::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong, 0);
    let (header, sets) = ([VERSION, 0], [0u32; 6]);
    // SAFETY: the structures of capset(2) are two and three words, the latter twice; both live through the call.
    sys::check_long(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) }).map_err(failed)?;
    sys::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0).map(drop).map_err(failed)
}

/// Bounds what the program and each of its children may use.
pub(crate) fn limit(limits: &Limits) -> Result<(), (Step, Errno)> {
    let seconds = limits.cpu_seconds();
    let bounds = [
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_CPU, seconds),
        (libc::RLIMIT_FSIZE, limits.file),
        (libc::RLIMIT_MSGQUEUE, 0),
        (libc::RLIMIT_NOFILE, limits.descriptors),
    ];
    for (resource, bound) in bounds {
        let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `now` lives through the call, which fills it.
        sys::check(unsafe { libc::getrlimit(resource, &raw mut now) }).map_err(|why| (Step::Limits, why))?;
        let bound = bound.min(now.rlim_max);
        let wanted = libc::rlimit { rlim_cur: bound, rlim_max: bound };
        // SAFETY: `wanted` lives through the call.
        sys::check(unsafe { libc::setrlimit(resource, &raw const wanted) }).map_err(|why| (Step::Limits, why))?;
    }
    Ok(())
}

/// Whether this process has `CAP_SYS_ADMIN` in effect, which making namespaces without one for users takes.
pub(crate) fn may_mount() -> bool {
    const ADMIN: u32 = 1 << 21;
    let (header, mut sets) = ([VERSION, 0], [0u32; 6]);
    // SAFETY: as in `drop_all`; the call fills `sets`.
    let got = unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr()) };
    got == 0 && sets[0] & ADMIN != 0
}
