//! Which system calls a confined program may make (seccomp(2)): a list of what is allowed, and what the others answer.
//!
//! A call that is not listed fails as on a kernel without it (`ENOSYS`); [`REFUSED`] gives the calls that an ordinary user sees fail
//! another way. Calls of other architectures (`int 0x80`, x32) kill the program. Without namespaces ([`Strict`]) more is refused: what
//! Landlock does not watch kills the program, so that its end is not taken for its own.
//!
//! The kernel takes the most severe answer of all filters, and among error numbers the one of the filter installed last.
//! One more call: a word of [`ALLOWED`], and a fixture in `tests/hostile` if it can reach outside.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    sock_filter,
};

/// What a process does to files, memory, its own threads and children, and to time.
#[rustfmt::skip]
const ALLOWED: &[libc::c_long] = &[
    // files by path
    libc::SYS_open, libc::SYS_openat, libc::SYS_openat2, libc::SYS_creat, libc::SYS_stat, libc::SYS_lstat, libc::SYS_fstat,
    libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_access, libc::SYS_faccessat, libc::SYS_faccessat2, libc::SYS_readlink,
    libc::SYS_readlinkat, libc::SYS_chdir, libc::SYS_fchdir, libc::SYS_getcwd, libc::SYS_mkdir, libc::SYS_mkdirat, libc::SYS_rmdir,
    libc::SYS_unlink, libc::SYS_unlinkat, libc::SYS_rename, libc::SYS_renameat, libc::SYS_renameat2, libc::SYS_link, libc::SYS_linkat,
    libc::SYS_symlink, libc::SYS_symlinkat, libc::SYS_truncate, libc::SYS_chmod, libc::SYS_fchmod, libc::SYS_fchmodat, FCHMODAT2,
    libc::SYS_chown, libc::SYS_fchown, libc::SYS_lchown, libc::SYS_fchownat, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat,
    libc::SYS_utimensat, libc::SYS_statfs, libc::SYS_fstatfs, libc::SYS_mknod, libc::SYS_mknodat, libc::SYS_umask, libc::SYS_getdents,
    libc::SYS_getdents64, libc::SYS_getxattr, libc::SYS_lgetxattr, libc::SYS_fgetxattr, libc::SYS_listxattr, libc::SYS_llistxattr,
    libc::SYS_flistxattr, libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr, libc::SYS_removexattr, libc::SYS_lremovexattr,
    libc::SYS_fremovexattr, libc::SYS_inotify_init, libc::SYS_inotify_init1, libc::SYS_inotify_add_watch, libc::SYS_inotify_rm_watch,
    // open files
    libc::SYS_read, libc::SYS_write, libc::SYS_readv, libc::SYS_writev, libc::SYS_pread64, libc::SYS_pwrite64, libc::SYS_preadv,
    libc::SYS_pwritev, libc::SYS_preadv2, libc::SYS_pwritev2, libc::SYS_lseek, libc::SYS_close, libc::SYS_close_range, libc::SYS_dup,
    libc::SYS_dup2, libc::SYS_dup3, libc::SYS_fcntl, libc::SYS_flock, libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_sync,
    libc::SYS_syncfs, libc::SYS_sync_file_range, libc::SYS_ftruncate, libc::SYS_fallocate, libc::SYS_fadvise64, libc::SYS_readahead,
    libc::SYS_sendfile, libc::SYS_copy_file_range, libc::SYS_splice, libc::SYS_tee, libc::SYS_vmsplice, libc::SYS_ioctl, libc::SYS_pipe,
    libc::SYS_pipe2, libc::SYS_poll, libc::SYS_ppoll, libc::SYS_select, libc::SYS_pselect6, libc::SYS_epoll_create,
    libc::SYS_epoll_create1, libc::SYS_epoll_ctl, libc::SYS_epoll_wait, libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2,
    libc::SYS_eventfd, libc::SYS_eventfd2, libc::SYS_signalfd, libc::SYS_signalfd4, libc::SYS_timerfd_create, libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    // memory
    libc::SYS_brk, libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect, libc::SYS_madvise, libc::SYS_mincore,
    libc::SYS_msync, libc::SYS_mlock, libc::SYS_mlock2, libc::SYS_munlock, libc::SYS_mlockall, libc::SYS_munlockall,
    libc::SYS_membarrier, libc::SYS_pkey_alloc, libc::SYS_pkey_free, libc::SYS_pkey_mprotect, libc::SYS_get_mempolicy,
    // itself, its threads and children
    libc::SYS_arch_prctl, libc::SYS_prctl, libc::SYS_seccomp, libc::SYS_set_tid_address, libc::SYS_set_robust_list,
    libc::SYS_get_robust_list, libc::SYS_rseq, libc::SYS_futex, FUTEX_WAITV, libc::SYS_clone, libc::SYS_fork, libc::SYS_vfork,
    libc::SYS_execve, libc::SYS_execveat, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_wait4, libc::SYS_waitid, libc::SYS_getpid,
    libc::SYS_getppid, libc::SYS_gettid, libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid, libc::SYS_getresuid,
    libc::SYS_getresgid, libc::SYS_getgroups, libc::SYS_setuid, libc::SYS_setgid, libc::SYS_setreuid, libc::SYS_setregid,
    libc::SYS_setresuid, libc::SYS_setresgid, libc::SYS_setgroups, libc::SYS_setfsuid, libc::SYS_setfsgid, libc::SYS_getpgrp,
    libc::SYS_getpgid, libc::SYS_setpgid, libc::SYS_getsid, libc::SYS_setsid, libc::SYS_getrlimit, libc::SYS_setrlimit,
    libc::SYS_prlimit64, libc::SYS_getrusage, libc::SYS_times, libc::SYS_sysinfo, libc::SYS_uname, libc::SYS_getcpu,
    libc::SYS_getpriority, libc::SYS_setpriority, libc::SYS_sched_yield, libc::SYS_sched_getaffinity, libc::SYS_sched_setaffinity,
    libc::SYS_sched_getparam, libc::SYS_sched_setparam, libc::SYS_sched_getscheduler, libc::SYS_sched_setscheduler,
    libc::SYS_sched_getattr, libc::SYS_sched_setattr, libc::SYS_sched_get_priority_max, libc::SYS_sched_get_priority_min,
    libc::SYS_sched_rr_get_interval, libc::SYS_ioprio_get, libc::SYS_capget, libc::SYS_capset, libc::SYS_personality,
    libc::SYS_getrandom, libc::SYS_restart_syscall,
    // signals and time
    libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn, libc::SYS_rt_sigpending, libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigsuspend, libc::SYS_sigaltstack, libc::SYS_pause, libc::SYS_alarm, libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo, libc::SYS_getitimer, libc::SYS_setitimer, libc::SYS_timer_create,
    libc::SYS_timer_settime, libc::SYS_timer_gettime, libc::SYS_timer_getoverrun, libc::SYS_timer_delete, libc::SYS_time,
    libc::SYS_gettimeofday, libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_nanosleep, libc::SYS_clock_nanosleep,
    // sockets, in a network of its own
    libc::SYS_socket, libc::SYS_socketpair, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4, libc::SYS_connect,
    libc::SYS_getsockname, libc::SYS_getpeername, libc::SYS_sendto, libc::SYS_recvfrom, libc::SYS_sendmsg, libc::SYS_recvmsg,
    libc::SYS_sendmmsg, libc::SYS_recvmmsg, libc::SYS_shutdown, libc::SYS_setsockopt, libc::SYS_getsockopt,
];
const FCHMODAT2: libc::c_long = 452;
const FUTEX_WAITV: libc::c_long = 449;

/// What fails with `EPERM` for an ordinary user: powers over the machine, file systems and other processes.
#[rustfmt::skip]
const REFUSED: &[libc::c_long] = &[
    libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot, libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_reboot,
    libc::SYS_sethostname, libc::SYS_setdomainname, libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_init_module, libc::SYS_finit_module,
    libc::SYS_delete_module, libc::SYS_kexec_load, libc::SYS_kexec_file_load, libc::SYS_acct, libc::SYS_settimeofday,
    libc::SYS_clock_settime, libc::SYS_adjtimex, libc::SYS_clock_adjtime, libc::SYS_quotactl, libc::SYS_bpf, libc::SYS_perf_event_open,
    libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_open_by_handle_at, libc::SYS_setns,
    libc::SYS_unshare, libc::SYS_fanotify_init, libc::SYS_syslog, libc::SYS_userfaultfd, libc::SYS_vhangup, libc::SYS_pidfd_getfd,
    libc::SYS_migrate_pages, libc::SYS_move_pages, libc::SYS_fsopen, libc::SYS_fspick, libc::SYS_move_mount, libc::SYS_open_tree,
    libc::SYS_mount_setattr, libc::SYS_lookup_dcookie, libc::SYS_ioprio_set,
];

/// Requests of ioctl(2) that ordinary programs make; others fail as on a file that knows none (`ENOTTY`).
const REQUESTS: &[libc::c_ulong] = &[
    libc::TCGETS,
    libc::TCSETS,
    libc::TCSETSW,
    libc::TCSETSF,
    libc::TIOCGWINSZ,
    libc::TIOCGPGRP,
    libc::FIONREAD,
    libc::FIONBIO,
    libc::FIOCLEX,
    libc::FIONCLEX,
];

/// Families of sockets that a program may have in a network of its own.
const FAMILIES: [libc::c_int; 3] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];

/// Flags of clone(2) that make namespaces.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Without namespaces: calls that change files which Landlock lets be found but does not watch.
#[rustfmt::skip]
const UNWATCHED: &[libc::c_long] = &[
    libc::SYS_chmod, libc::SYS_fchmod, libc::SYS_fchmodat, FCHMODAT2, libc::SYS_chown, libc::SYS_fchown, libc::SYS_lchown,
    libc::SYS_fchownat, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat, libc::SYS_utimensat, libc::SYS_setxattr,
    libc::SYS_lsetxattr, libc::SYS_fsetxattr, libc::SYS_removexattr, libc::SYS_lremovexattr, libc::SYS_fremovexattr,
    libc::SYS_truncate, libc::SYS_flock, libc::SYS_mlockall, libc::SYS_setfsuid, libc::SYS_setfsgid,
];

/// Without namespaces: calls that could reach processes outside if Landlock does not keep them in.
const SIGNALS: &[libc::c_long] =
    &[libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo];

/// Without namespaces: calls whose first argument names a process; 0 is the caller.
const OF_PROCESSES: &[libc::c_long] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setattr,
    libc::SYS_setpgid,
];

/// What the filters are to make up for where there are no namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strict {
    /// Landlock keeps signals inside.
    pub(crate) scoped: bool,
}

/// The process number that stands in a filter for the program's own, which is not known before it begins.
pub(crate) const OWN: u32 = 0x5ead_beef;

/// The filters, in the order in which they are to be installed. `traces`: the program may trace its own threads, as leak checkers do.
pub(crate) fn filters(strict: Option<Strict>, traces: bool) -> Result<Vec<BpfProgram>, String> {
    let mut allowed: Rules = ALLOWED.iter().map(|&call| (call, Vec::new())).collect();
    if traces {
        allowed.insert(libc::SYS_ptrace, Vec::new());
    }
    let mut filters = vec![foreign(), list(allowed, SeccompAction::Errno(libc::ENOSYS as u32), SeccompAction::Allow)?];
    let mut refused: Rules =
        REFUSED.iter().filter(|&&call| !(traces && call == libc::SYS_ptrace)).map(|&call| (call, Vec::new())).collect();
    let namespace = |flag: &libc::c_int| rule(vec![condition(0, Op::MaskedEq(*flag as u64), *flag as u64)?]);
    refused.insert(libc::SYS_clone, NAMESPACES.iter().map(namespace).collect::<Result<_, _>>()?);
    filters.push(refusing(refused, libc::EPERM)?);
    filters.push(refusing(others(libc::SYS_ioctl, 1, REQUESTS)?, libc::ENOTTY)?);
    let families = FAMILIES.map(|family| family as u64);
    filters.push(refusing(others(libc::SYS_socket, 0, &families)?, libc::EAFNOSUPPORT)?);
    if let Some(strict) = strict {
        filters.extend(without_namespaces(strict)?);
    }
    Ok(filters)
}

/// More filters for programs that see the machine's processes, network and files.
fn without_namespaces(strict: Strict) -> Result<Vec<BpfProgram>, String> {
    let mut killing: Rules = UNWATCHED.iter().map(|&call| (call, Vec::new())).collect();
    if !strict.scoped {
        let outside = |call: &libc::c_long| -> Result<_, String> {
            Ok((*call, vec![rule(vec![condition(0, Op::Ne, OWN.into())?, condition(0, Op::Ne, 0)?])?]))
        };
        for call in SIGNALS {
            let (call, mut rules) = outside(call)?;
            // Only `kill` takes 0 for the caller's group.
            if call != libc::SYS_kill {
                rules = vec![rule(vec![condition(0, Op::Ne, OWN.into())?])?];
            }
            killing.insert(call, rules);
        }
    }
    for &call in OF_PROCESSES {
        killing.insert(call, vec![rule(vec![condition(0, Op::Ne, OWN.into())?, condition(0, Op::Ne, 0)?])?]);
    }
    // Priorities: of the caller alone.
    let who = || rule(vec![condition(1, Op::Ne, 0)?, condition(1, Op::Ne, OWN.into())?]);
    killing.insert(libc::SYS_setpriority, vec![who()?, rule(vec![condition(0, Op::Ne, libc::PRIO_PROCESS as u64)?])?]);
    // Signals to a descriptor's owner, and leases, which make others wait.
    const F_SETOWN_EX: u64 = 15;
    let owner = |command: u64| rule(vec![condition(1, Op::Eq, command)?]);
    killing.insert(libc::SYS_fcntl, vec![owner(libc::F_SETOWN as u64)?, owner(F_SETOWN_EX)?, owner(libc::F_SETLEASE as u64)?]);
    // Sockets that are connected from the beginning, and cannot be sent elsewhere.
    let socket: Rules = [(libc::SYS_socket, Vec::new())].into();
    const KIND: u64 = 0xf;
    let datagram = rule(vec![condition(1, Op::MaskedEq(KIND), libc::SOCK_DGRAM as u64)?])?;
    let raw = rule(vec![condition(1, Op::MaskedEq(KIND), libc::SOCK_RAW as u64)?])?;
    let pair: Rules = [(libc::SYS_socketpair, vec![datagram, raw])].into();
    let kill = |rules| list(rules, SeccompAction::Allow, SeccompAction::KillProcess);
    Ok(vec![refusing(pair, libc::EACCES)?, refusing(socket, libc::EACCES)?, kill(killing)?])
}

type Rules = BTreeMap<libc::c_long, Vec<SeccompRule>>;

/// Fails with `errno` what has a rule that holds, or an empty list of them.
fn refusing(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, String> {
    list(rules, SeccompAction::Allow, SeccompAction::Errno(errno as u32))
}

fn list(rules: Rules, otherwise: SeccompAction, listed: SeccompAction) -> Result<BpfProgram, String> {
    let filter = SeccompFilter::new(rules, otherwise, listed, TargetArch::x86_64).map_err(|e| e.to_string())?;
    BpfProgram::try_from(filter).map_err(|e| e.to_string())
}

/// A rule that holds where argument `index` of `call` is none of `values`.
fn others(call: libc::c_long, index: u8, values: &[u64]) -> Result<Rules, String> {
    let conditions = values.iter().map(|value| condition(index, Op::Ne, *value)).collect::<Result<_, _>>()?;
    Ok([(call, vec![rule(conditions)?])].into())
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|e| e.to_string())
}

/// On the low half of an argument: the kernel takes numbers, flags and requests as `int`, and ignores what is above.
fn condition(index: u8, operator: Op, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(index, Len::Dword, operator, value).map_err(|e| e.to_string())
}

/// Kills at a call by another table of system calls: of i386, or of x32, whose numbers have bit 30.
fn foreign() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const EQUAL: u16 = 0x15;
    const AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X86_64: u32 = 0xc000_003e;
    const X32: u32 = 1 << 30;
    const KILL: u32 = 0x8000_0000;
    const ALLOW: u32 = 0x7fff_0000;
    let op = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    // The call's number is at offset 0, the architecture at 4; jumps count from the next line.
    vec![
        op(LOAD, 0, 0, 4),
        op(EQUAL, 0, 2, X86_64),
        op(LOAD, 0, 0, 0),
        op(AT_LEAST, 0, 1, X32),
        op(RETURN, 0, 0, KILL),
        op(RETURN, 0, 0, ALLOW),
    ]
}

/// Puts the program's own process number where [`OWN`] stands for it.
pub(crate) fn set_own(filters: &mut [BpfProgram], pid: libc::pid_t) {
    for op in filters.iter_mut().flatten().filter(|op| op.k == OWN) {
        op.k = pid.unsigned_abs();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_in_one_list() {
        assert!(REFUSED.iter().all(|call| !ALLOWED.contains(call)));
        assert!(UNWATCHED.iter().chain(SIGNALS).chain(OF_PROCESSES).all(|call| ALLOWED.contains(call)));
    }

    #[test]
    fn all_filters_can_be_made() {
        for strict in [None, Some(Strict { scoped: false }), Some(Strict { scoped: true })] {
            let mut filters = filters(strict, true).expect("the tables are right");
            let mut stand_ins = |pid| {
                set_own(&mut filters, pid);
                filters.iter().flatten().filter(|op| op.k == OWN).count()
            };
            assert_eq!(stand_ins(7), 0);
        }
    }
}
