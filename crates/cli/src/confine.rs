//! Confinement of native replays: what a program does to files, it does to a copy of its own. A test may be `rm -r /`.
//!
//! In a mount namespace of its own the child sees an overlay of every mounted file system, whose changes go to memory and are gone when
//! it ends, as the explored path's were; one folder is shared. The devices are the harmless ones, there is no network, signals reach
//! only the process itself and its group, and the powers to change the clock, the kernel or the machine are dropped. For users other
//! than root this is done in a user namespace that maps the user to itself; the kernel gives no overlay of the machine's root there, so
//! everything can be read and nothing but the shared folder written. Needs Linux 5.12; where the kernel or a container refuses,
//! [`possible`] says so. Cost: about a millisecond per run.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{fs, ptr};

/// Devices that a program may have.
const DEVICES: [&CStr; 6] = [c"null", c"zero", c"full", c"random", c"urandom", c"tty"];
/// Mounted below these are no files.
const NO_FILES: [&str; 3] = ["/proc", "/sys", "/dev"];
/// `CAP_SYS_MODULE`, `_RAWIO`, `_PTRACE`, `_PACCT`, `_ADMIN`, `_BOOT`, `_TIME`.
const POWERS: [libc::c_ulong; 7] = [16, 17, 19, 20, 21, 22, 25];

/// Whether children can be confined here; if not, why.
pub fn possible() -> &'static Result<(), String> {
    static POSSIBLE: OnceLock<Result<(), String>> = OnceLock::new();
    POSSIBLE.get_or_init(|| {
        let shared = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut command = Command::new("/bin/true");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        confine(&mut command, shared.path(), shared.path(), &[]).map_err(|e| e.to_string())?;
        let ended = command.status().map_err(|e| e.to_string())?;
        ended.success().then_some(()).ok_or(ended.to_string())
    })
}

/// Whether a confined child may write outside of the shared folder, to what only it sees.
pub fn writes_everywhere() -> bool {
    static EVERYWHERE: OnceLock<bool> = OnceLock::new();
    *EVERYWHERE.get_or_init(|| {
        let Ok(place) = tempfile::tempdir() else { return false };
        let (shared, work) = (place.path().join("shared"), place.path().join("work"));
        let mut command = Command::new("/bin/mkdir");
        command.arg(work.join("made")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let made =
            fs::create_dir_all(&shared).and_then(|()| fs::create_dir_all(&work)).and_then(|()| confine(&mut command, &shared, &work, &[]));
        made.is_ok() && command.status().is_ok_and(|status| status.success()) && !work.join("made").exists()
    })
}

/// A file that the child is to find.
pub struct Put {
    pub from: PathBuf,
    /// Absolute.
    pub to: PathBuf,
    /// Without it there is no point in running.
    pub must: bool,
}

/// Has the child run confined, in the folder `work`; `shared`, an absolute path, is the folder where it meets the rest of the world.
/// `files` are put there first.
pub fn confine(command: &mut Command, shared: &Path, work: &Path, files: &[Put]) -> io::Result<()> {
    let mut plan = Plan::new(shared, work)?;
    plan.files = files.iter().map(|put| Ok((text(&put.from)?, text(&put.to)?, put.must))).collect::<io::Result<_>>()?;
    // SAFETY: between fork and exec only system calls are made, on memory that `plan` owns.
    unsafe {
        command.pre_exec(move || plan.carry_out());
    }
    Ok(())
}

/// A mounted file system and its place in the new root.
struct Mount {
    place: CString,
    upper: CString,
    scratch: CString,
    options: CString,
    old: CString,
}

/// All that is to be done, in memory before the fork.
struct Plan {
    /// Where the memory file system is mounted, over an empty folder.
    memory: CString,
    root: CString,
    /// Parents first: the first is the root.
    mounts: Vec<Mount>,
    devices: Vec<(CString, CString)>,
    dev: CString,
    proc: CString,
    /// Folders to make on the way to the shared one, and it.
    way: Vec<CString>,
    shared: CString,
    shared_inside: CString,
    work: CString,
    /// As in [`Put`].
    files: Vec<(CString, CString, bool)>,
    /// Lines of the user namespace, if there is to be one.
    user: Option<(CString, CString)>,
}

impl Plan {
    fn new(shared: &Path, work: &Path) -> io::Result<Plan> {
        let memory = shared.join(".root");
        fs::create_dir_all(&memory)?;
        let root = memory.join("root");
        let inside = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
        let mut mounts = Vec::new();
        for (number, place) in mounted()?.iter().enumerate() {
            let (upper, scratch) = (memory.join(format!("upper{number}")), memory.join(format!("work{number}")));
            let options = format!("lowerdir={place},upperdir={},workdir={}", upper.display(), scratch.display());
            mounts.push(Mount {
                place: text(&inside(Path::new(place)))?,
                upper: text(&upper)?,
                scratch: text(&scratch)?,
                options: CString::new(options)?,
                old: CString::new(place.as_str())?,
            });
        }
        let shared_inside = inside(shared);
        let mut way: Vec<_> = shared_inside.ancestors().take_while(|dir| *dir != root).map(text).collect::<io::Result<_>>()?;
        way.reverse();
        let device = |name: &CStr| -> io::Result<(CString, CString)> {
            let path = Path::new("/dev").join(name.to_string_lossy().as_ref());
            Ok((text(&path)?, text(&inside(&path))?))
        };
        // SAFETY: these calls cannot fail and touch no memory.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        let line = |id: u32| CString::new(format!("{id} {id} 1"));
        Ok(Plan {
            memory: text(&memory)?,
            mounts,
            devices: DEVICES.iter().map(|name| device(name)).collect::<io::Result<_>>()?,
            dev: text(&inside(Path::new("/dev")))?,
            proc: text(&inside(Path::new("/proc")))?,
            way,
            shared: text(shared)?,
            shared_inside: text(&shared_inside)?,
            work: text(work)?,
            files: Vec::new(),
            user: if uid == 0 { None } else { Some((line(uid)?, line(gid)?)) },
            root: text(&root)?,
        })
    }

    /// Only system calls, no allocation.
    fn carry_out(&self) -> io::Result<()> {
        let namespaces = libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
        // SAFETY: plain system calls on strings that live as long as `self`.
        unsafe {
            check(libc::unshare(namespaces | if self.user.is_some() { libc::CLONE_NEWUSER } else { 0 }))?;
            if let Some((uid, gid)) = &self.user {
                write(c"/proc/self/setgroups", c"deny")?;
                write(c"/proc/self/uid_map", uid)?;
                write(c"/proc/self/gid_map", gid)?;
            }
            mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE, None)?;
            mount(Some(c"tmpfs"), &self.memory, Some(c"tmpfs"), 0, Some(c"size=2g,mode=755"))?;
            check(libc::mkdir(self.root.as_ptr(), 0o755))?;
            // Users other than root may not lay anything over the root of a machine: they can only read it.
            if overlay(&self.mounts[0]).is_err() {
                mount(Some(c"/"), &self.root, None, libc::MS_BIND | libc::MS_REC, None)?;
                read_only(&self.root)?;
            } else {
                for mounted in &self.mounts[1..] {
                    if overlay(mounted).is_err() {
                        mount(Some(&mounted.old), &mounted.place, None, libc::MS_BIND, None)?;
                        read_only(&mounted.place)?;
                    }
                }
            }
            mount(Some(c"tmpfs"), &self.dev, Some(c"tmpfs"), 0, Some(c"mode=755"))?;
            for (old, new) in &self.devices {
                let file = check(libc::open(new.as_ptr(), libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC, 0o666))?;
                libc::close(file);
                mount(Some(old), new, None, libc::MS_BIND, None)?;
            }
            mount(Some(c"/proc"), &self.proc, None, libc::MS_BIND | libc::MS_REC, None)?;
            read_only(&self.proc)?;
            for dir in &self.way {
                libc::mkdir(dir.as_ptr(), 0o755);
            }
            mount(Some(&self.shared), &self.shared_inside, None, libc::MS_BIND, None)?;
            // The old root is put upon the new one and taken away (pivot_root(2), "pivot_root(., .)").
            check(libc::chdir(self.root.as_ptr()))?;
            check(libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) as libc::c_int)?;
            check(libc::umount2(c".".as_ptr(), libc::MNT_DETACH))?;
            for (from, to, must) in &self.files {
                if let (Err(why), true) = (copy(from, to), must) {
                    return Err(why);
                }
            }
            check(libc::chdir(self.work.as_ptr()))?;
            for power in POWERS {
                libc::prctl(libc::PR_CAPBSET_DROP, power, 0, 0, 0);
            }
        }
        only_own_signals()
    }
}

/// Copies a file with its permissions and times.
fn copy(from: &CStr, to: &CStr) -> io::Result<()> {
    // SAFETY: plain system calls on strings and structures that live through them; zero is a valid `stat`.
    unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        let source = check(libc::open(from.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC))?;
        let target = check(libc::open(to.as_ptr(), libc::O_CREAT | libc::O_TRUNC | libc::O_WRONLY | libc::O_CLOEXEC, 0o644))?;
        check(libc::fstat(source, &raw mut about))?;
        while libc::sendfile(target, source, ptr::null_mut(), 1 << 20) > 0 {}
        check(libc::fchmod(target, about.st_mode & 0o7777))?;
        let time = |seconds| libc::timespec { tv_sec: seconds, tv_nsec: 0 };
        check(libc::futimens(target, [time(about.st_atime), time(about.st_mtime)].as_ptr()))?;
        libc::close(source);
        libc::close(target);
    }
    Ok(())
}

/// A copy-on-write view of a mounted file system in its place.
///
/// # Safety
/// None: system calls on strings.
unsafe fn overlay(mounted: &Mount) -> io::Result<()> {
    // SAFETY: the strings live through the calls.
    unsafe {
        libc::mkdir(mounted.upper.as_ptr(), 0o755);
        libc::mkdir(mounted.scratch.as_ptr(), 0o755);
        mount(Some(c"overlay"), &mounted.place, Some(c"overlay"), libc::MS_NODEV, Some(&mounted.options))
    }
}

/// Where file systems with files are mounted, parents first.
fn mounted() -> io::Result<Vec<String>> {
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    let mut places: Vec<String> = table.lines().filter_map(|line| line.split(' ').nth(4)).map(str::to_owned).collect();
    places.retain(|place| !NO_FILES.iter().any(|dir| Path::new(place).starts_with(dir)));
    // Overlays have no way to write these in their options, and none is to be expected.
    places.retain(|place| !place.contains(['\\', ',', ':']));
    places.push("/".into());
    places.sort();
    places.dedup();
    Ok(places)
}

fn text(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// # Safety
/// None: a system call that reads strings.
unsafe fn mount(from: Option<&CStr>, place: &CStr, kind: Option<&CStr>, flags: libc::c_ulong, options: Option<&CStr>) -> io::Result<()> {
    let pointer = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: the strings live through the call.
    check(unsafe { libc::mount(pointer(from), place.as_ptr(), pointer(kind), flags, pointer(options).cast()) }).map(drop)
}

/// Nothing below `place` can be written any more.
fn read_only(place: &CStr) -> io::Result<()> {
    let attributes: [u64; 4] = [libc::MOUNT_ATTR_RDONLY, 0, 0, 0];
    // SAFETY: the structure `mount_attr` is four words; the strings live through the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            place.as_ptr(),
            libc::AT_RECURSIVE,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    };
    check(done as libc::c_int).map(drop)
}

fn write(file: &CStr, content: &CStr) -> io::Result<()> {
    // SAFETY: plain system calls on strings that live through them.
    unsafe {
        let fd = check(libc::open(file.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC))?;
        let written = libc::write(fd, content.as_ptr().cast(), content.count_bytes());
        libc::close(fd);
        check(written as libc::c_int).map(drop)
    }
}

/// `kill`, `tkill` and `tgkill` reach the process itself and its group (seccomp(2)); `EPERM` otherwise.
fn only_own_signals() -> io::Result<()> {
    const LOAD: u16 = 0x20;
    const EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const ERRNO: u32 = 0x0005_0000;
    let op = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    // SAFETY: these calls cannot fail and touch no memory.
    let own = unsafe { libc::getpid() } as u32;
    // The call's number is at offset 0, its first argument at 16; jumps count from the next line.
    let mut program = [
        op(LOAD, 0, 0, 0),
        op(EQUAL, 2, 0, libc::SYS_kill as u32),
        op(EQUAL, 1, 0, libc::SYS_tkill as u32),
        op(EQUAL, 0, 3, libc::SYS_tgkill as u32),
        op(LOAD, 0, 0, 16),
        op(EQUAL, 1, 0, own),
        op(EQUAL, 0, 1, 0),
        op(RETURN, 0, 0, ALLOW),
        op(RETURN, 0, 0, ERRNO | libc::EPERM as u32),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: `filter` points to the program above, which the kernel copies.
    unsafe {
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        check(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter, 0, 0)).map(drop)
    }
}
