//! The file system that a confined program sees: copies in memory of what the machine has, which end with it.
//!
//! Root gets an overlay (overlayfs, changes in a tmpfs) of every mounted file system. An ordinary user may not lay one over a folder that
//! has mounts below it (the kernel protects what those hide), so such folders are made anew and what is in them is laid out one by one.
//! An overlay has inodes of its own: FIFOs and sockets of the machine are there by name, but lead to nobody. Devices are a few harmless
//! ones. What can be had neither as an overlay nor as a plain file is left out.
//!
//! Planned in the parent, where memory can be allocated; carried out between fork and exec by system calls alone. About 0.1 ms an overlay.

use std::ffi::{CStr, CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io, ptr};

use crate::sys::{self, Errno};
use crate::{Job, Step};

/// Devices that a program may have.
const DEVICES: [&CStr; 5] = [c"null", c"zero", c"full", c"random", c"urandom"];
/// Names that programs use for their open files.
const LINKS: [(&CStr, &CStr); 4] = [
    (c"/proc/self/fd", c"dev/fd"),
    (c"/proc/self/fd/0", c"dev/stdin"),
    (c"/proc/self/fd/1", c"dev/stdout"),
    (c"/proc/self/fd/2", c"dev/stderr"),
];
/// Parts of `/proc` that tell of the whole machine, or take from it what is read.
const MASKED: [&CStr; 6] = [c"proc/kcore", c"proc/kmsg", c"proc/keys", c"proc/key-users", c"proc/timer_list", c"proc/sysrq-trigger"];
/// Mounted below these are no files.
const NO_FILES: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Where the memory file system is mounted until the new root is entered: a folder that is no part of what is shown.
const BASES: [&CStr; 2] = [c"/sys", c"/dev/shm"];
/// Most pieces that an ordinary user's root is made of.
const MOST: usize = 400;
const UNCHANGING: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
const HARMLESS: libc::c_ulong = libc::MS_NOSUID | libc::MS_NODEV;

type Done = Result<(), (Step, Errno)>;

/// A piece of the new root. Paths of places are relative to it.
enum Piece {
    /// A folder's own copy-on-write view.
    Overlay {
        place: CString,
        lower: CString,
        /// Without characters that mean something in the options of a mount.
        plain: bool,
        /// Whether programs may change it; else it is shown without.
        writable: bool,
    },
    Folder {
        place: CString,
        mode: libc::mode_t,
    },
    /// A regular file, read only.
    File {
        place: CString,
        from: CString,
    },
    Link {
        place: CString,
        target: CString,
    },
}

/// All that is to be done, made before the fork.
pub(crate) struct Mounts {
    base: CString,
    options: CString,
    pieces: Vec<Piece>,
    /// Whether overlays are mounted in a user namespace.
    user: bool,
    files: Vec<(CString, CString, bool)>,
    /// Shown as they are, with the path from the root: what is written there stays.
    kept: Vec<(CString, CString)>,
}

impl Mounts {
    /// `user`: by an ordinary user. `size` is in bytes.
    pub(crate) fn new(user: bool, job: &Job, size: u64) -> io::Result<Mounts> {
        let needed = job.work.as_path();
        let places = mounted()?;
        let mut pieces = Vec::new();
        if user {
            cover(Path::new("/"), &places, &mut pieces)?;
            let covered = |piece: &Piece| match piece {
                Piece::Overlay { lower, writable, .. } => *writable && needed.as_os_str().as_bytes().starts_with(lower.as_bytes()),
                Piece::Folder { .. } | Piece::File { .. } | Piece::Link { .. } => false,
            };
            if !pieces.iter().any(covered) {
                return Err(io::Error::other(format!("`{}` cannot be laid over", needed.display())));
            }
        } else {
            for place in &places {
                match fs::metadata(place) {
                    Ok(about) if about.is_dir() => pieces.push(overlay(place, true)?),
                    Ok(about) if about.is_file() => pieces.push(Piece::File { place: inside(place)?, from: text(place)? }),
                    Ok(_) | Err(_) => {}
                }
            }
        }
        let base = BASES.iter().find(|base| Path::new(base.to_str().unwrap_or_default()).is_dir());
        let base = base.ok_or_else(|| io::Error::other("there is neither `/sys` nor `/dev/shm`"))?;
        let files = job.files.iter().map(|put| Ok((text(&put.from)?, text(&put.to)?, put.must))).collect::<io::Result<_>>()?;
        let options = CString::new(format!("size={size},mode=755"))?;
        let scratch = job.scratch.iter().map(|from| Ok((text(from)?, inside(Path::new("/tmp"))?)));
        let kept = job.keep.iter().map(|path| Ok((text(path)?, inside(path)?)));
        let kept = scratch.chain(kept).collect::<io::Result<_>>()?;
        Ok(Mounts { base: (*base).to_owned(), options, pieces, user, files, kept })
    }

    /// Builds the new root and enters it. Only system calls, no allocation.
    pub(crate) fn carry_out(&self) -> Done {
        let step = |step: Step| move |why| (step, why);
        sys::mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE, None).map_err(step(Step::Private))?;
        sys::mount(Some(c"tmpfs"), &self.base, Some(c"tmpfs"), HARMLESS, Some(&self.options)).map_err(step(Step::Memory))?;
        sys::chdir(&self.base).map_err(step(Step::Memory))?;
        sys::mkdir(c"root", 0o755).map_err(step(Step::Memory))?;
        if self.user {
            sys::mount(Some(c"tmpfs"), c"root", Some(c"tmpfs"), HARMLESS, Some(c"size=16m,mode=555")).map_err(step(Step::Memory))?;
        }
        for (number, piece) in self.pieces.iter().enumerate() {
            match (self.lay(number, piece), piece) {
                // Root's first overlay is the root; without it there is nothing to enter.
                (Err(why), Piece::Overlay { .. }) if number == 0 && !self.user => return Err((Step::Overlay, why)),
                // What cannot be laid out is left out; whether the rest is enough is looked at last.
                (Ok(()) | Err(_), _) => {}
            }
        }
        for (from, place) in &self.kept {
            self.keep(from, place).map_err(step(Step::Folders))?;
        }
        if !self.kept.is_empty() {
            self.freeze();
        }
        enter_root().map_err(step(Step::Root))?;
        devices()?;
        proc()?;
        leave_old_root().map_err(step(Step::Root))?;
        Ok(())
    }

    /// Makes `/proc` read only, and then puts files where the program is to find them: names of files may come from strangers, and the init
    /// has powers over the kernel's settings.
    pub(crate) fn complete(&self) -> Done {
        sys::restrict_mount(c"/proc", UNCHANGING | libc::MOUNT_ATTR_NODEV).map_err(|why| (Step::Proc, why))?;
        for (from, to, must) in &self.files {
            if let (Err(why), true) = (copy(from, to), must) {
                return Err((Step::Files, why));
            }
        }
        Ok(())
    }

    /// Makes the overlays read only: what would be written there would be lost.
    fn freeze(&self) {
        let mut buffer = [0; libc::PATH_MAX as usize];
        for piece in &self.pieces {
            if let Piece::Overlay { place, .. } = piece
                && let Ok(place) = joined(&mut buffer, place)
            {
                // One that is not there was left out.
                let _ = sys::restrict_mount(place, libc::MOUNT_ATTR_RDONLY);
            }
        }
    }

    /// Shows a folder of the machine as it is. Its place may be below another one of these.
    fn keep(&self, from: &CStr, place: &CStr) -> Result<(), Errno> {
        let mut buffer = [0; libc::PATH_MAX as usize];
        let path = joined(&mut buffer, place)?.to_bytes_with_nul();
        // The folders on the way are there, unless a scratch folder hides them.
        let mut way = [0; libc::PATH_MAX as usize];
        for end in (1..path.len()).filter(|&end| matches!(path[end], b'/' | 0)) {
            way[..end].copy_from_slice(&path[..end]);
            way[end] = 0;
            let _ = sys::mkdir(CStr::from_bytes_with_nul(&way[..=end]).map_err(|_| libc::EINVAL)?, 0o755);
        }
        let place = CStr::from_bytes_with_nul(path).map_err(|_| libc::EINVAL)?;
        sys::bind(from, place)?;
        sys::restrict_mount(place, libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV)
    }

    /// From the memory file system, whose folder `root` is the new root.
    fn lay(&self, number: usize, piece: &Piece) -> Result<(), Errno> {
        let mut buffer = [0; libc::PATH_MAX as usize];
        match piece {
            Piece::Folder { place, mode } => sys::mkdir(joined(&mut buffer, place)?, *mode),
            Piece::File { place, from } => {
                let place = joined(&mut buffer, place)?;
                sys::close(sys::open(place, libc::O_CREAT | libc::O_WRONLY, 0o600)?);
                sys::bind(from, place)?;
                sys::restrict_mount(place, UNCHANGING & !libc::MOUNT_ATTR_NOEXEC | libc::MOUNT_ATTR_NODEV)
            }
            Piece::Link { place, target } => {
                // SAFETY: the strings live through the call.
                sys::check(unsafe { libc::symlink(target.as_ptr(), joined(&mut buffer, place)?.as_ptr()) }).map(drop)
            }
            Piece::Overlay { place, lower, plain, writable } => {
                let place = joined(&mut buffer, place)?;
                let names = Names::new(number);
                sys::mkdir(names.lower(), 0o700)?;
                let lower = if *plain {
                    lower.as_c_str()
                } else {
                    sys::bind(lower, names.lower())?;
                    names.lower()
                };
                let mut options = [0; libc::PATH_MAX as usize];
                let options = names.options(&mut options, lower, self.user)?;
                sys::mkdir(names.upper(), 0o755)?;
                sys::mkdir(names.work(), 0o755)?;
                like(names.upper(), lower, *writable)?;
                let _ = sys::mkdir(place, 0o755);
                sys::mount(Some(c"overlay"), place, Some(c"overlay"), HARMLESS, Some(options))
            }
        }
    }
}

/// Where a folder's changes go, what an overlay works in, and another name for the folder itself.
struct Names([[u8; 8]; 3]);

impl Names {
    fn new(number: usize) -> Names {
        let digits = [number / 100 % 10, number / 10 % 10, number % 10].map(|digit| b'0' + digit as u8);
        Names([b'u', b'w', b'l'].map(|kind| [kind, digits[0], digits[1], digits[2], 0, 0, 0, 0]))
    }

    fn name(&self, which: usize) -> &CStr {
        CStr::from_bytes_until_nul(&self.0[which]).unwrap_or(c"u")
    }

    fn upper(&self) -> &CStr {
        self.name(0)
    }

    fn work(&self) -> &CStr {
        self.name(1)
    }

    fn lower(&self) -> &CStr {
        self.name(2)
    }

    /// The options of the overlay's mount; paths are relative to the memory file system.
    fn options<'a>(&self, buffer: &'a mut [u8], lower: &CStr, user: bool) -> Result<&'a CStr, Errno> {
        let parts: [&[u8]; 8] = [
            b"lowerdir=",
            lower.to_bytes(),
            b",upperdir=",
            self.upper().to_bytes(),
            b",workdir=",
            self.work().to_bytes(),
            if user { b",userxattr" } else { b"" },
            b"\0",
        ];
        text_of(buffer, &parts)
    }
}

/// `root/` and `path`, in `buffer`.
fn joined<'a>(buffer: &'a mut [u8], path: &CStr) -> Result<&'a CStr, Errno> {
    text_of(buffer, &[b"root/", path.to_bytes(), b"\0"])
}

fn text_of<'a>(buffer: &'a mut [u8], parts: &[&[u8]]) -> Result<&'a CStr, Errno> {
    let mut end = 0;
    for part in parts {
        buffer.get_mut(end..end + part.len()).ok_or(libc::ENAMETOOLONG)?.copy_from_slice(part);
        end += part.len();
    }
    CStr::from_bytes_with_nul(&buffer[..end]).map_err(|_| libc::EINVAL)
}

/// Gives the folder `upper`, whose attributes an overlay shows, those of `lower`.
fn like(upper: &CStr, lower: &CStr, writable: bool) -> Result<(), Errno> {
    // SAFETY: plain system calls on strings and structures that live through them; zero is a valid `stat`.
    unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        sys::check(libc::stat(lower.as_ptr(), &raw mut about))?;
        // Users other than root have no right to give it away, and as its owner may write it only where they could before.
        let _ = libc::chown(upper.as_ptr(), about.st_uid, about.st_gid);
        let mode = if writable { about.st_mode & 0o7777 } else { 0o555 };
        sys::check(libc::chmod(upper.as_ptr(), mode))?;
        let times = [(about.st_atime, about.st_atime_nsec), (about.st_mtime, about.st_mtime_nsec)];
        let times = times.map(|(seconds, nanoseconds)| libc::timespec { tv_sec: seconds, tv_nsec: nanoseconds });
        sys::check(libc::utimensat(libc::AT_FDCWD, upper.as_ptr(), times.as_ptr(), 0)).map(drop)
    }
}

/// Makes the new root the root, with the old one on top of it until [`leave_old_root`] (pivot_root(2), "pivot_root(., .)").
fn enter_root() -> Result<(), Errno> {
    sys::chdir(c"root")
}

fn leave_old_root() -> Result<(), Errno> {
    // SAFETY: system calls on strings that live through them.
    unsafe {
        sys::check_long(libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()))?;
        sys::check(libc::umount2(c".".as_ptr(), libc::MNT_DETACH))?;
    }
    sys::chdir(c"/")
}

/// A `/dev` with harmless devices. From within the new root, with the old one still there.
fn devices() -> Done {
    let failed = |why| (Step::Devices, why);
    sys::mkdir(c"dev", 0o755).map_err(failed)?;
    sys::mount(Some(c"tmpfs"), c"dev", Some(c"tmpfs"), HARMLESS, Some(c"size=64m,mode=755")).map_err(failed)?;
    let (mut old, mut new) = ([0; 32], [0; 32]);
    for name in DEVICES {
        let old = text_of(&mut old, &[b"/dev/", name.to_bytes(), b"\0"]).map_err(failed)?;
        let new = text_of(&mut new, &[b"dev/", name.to_bytes(), b"\0"]).map_err(failed)?;
        sys::close(sys::open(new, libc::O_CREAT | libc::O_WRONLY, 0o666).map_err(failed)?);
        sys::bind(old, new).map_err(failed)?;
        // Read only: permissions and times of a device node are those of the machine's.
        sys::restrict_mount(new, UNCHANGING).map_err(failed)?;
    }
    for (target, link) in LINKS {
        // SAFETY: the strings live through the call.
        sys::check(unsafe { libc::symlink(target.as_ptr(), link.as_ptr()) }).map_err(failed)?;
    }
    sys::mkdir(c"dev/shm", 0o1777).map_err(failed)
}

/// A `/proc` of this process namespace, which can be written until [`Mounts::complete`].
fn proc() -> Done {
    let failed = |why| (Step::Proc, why);
    sys::mkdir(c"proc", 0o555).map_err(failed)?;
    sys::mount(Some(c"proc"), c"proc", Some(c"proc"), HARMLESS | libc::MS_NOEXEC, None).map_err(failed)?;
    for masked in MASKED {
        match sys::bind(c"dev/null", masked) {
            Ok(()) => sys::restrict_mount(masked, UNCHANGING).map_err(failed)?,
            Err(libc::ENOENT) => {}
            Err(why) => return Err(failed(why)),
        }
    }
    Ok(())
}

/// Copies a file with its permissions and times.
fn copy(from: &CStr, to: &CStr) -> Result<(), Errno> {
    let source = sys::open(from, libc::O_RDONLY, 0)?;
    let target = sys::open(to, libc::O_CREAT | libc::O_TRUNC | libc::O_WRONLY, 0o644)?;
    // SAFETY: plain system calls on structures that live through them; zero is a valid `stat`.
    unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        sys::check(libc::fstat(source, &raw mut about))?;
        while libc::sendfile(target, source, ptr::null_mut(), 1 << 20) > 0 {}
        sys::check(libc::fchmod(target, about.st_mode & 0o7777))?;
        let time = |seconds| libc::timespec { tv_sec: seconds, tv_nsec: 0 };
        sys::check(libc::futimens(target, [time(about.st_atime), time(about.st_mtime)].as_ptr()))?;
    }
    sys::close(source);
    sys::close(target);
    Ok(())
}

/// Adds the pieces that show `dir`, in an order in which they can be laid out.
fn cover(dir: &Path, mounted: &[PathBuf], pieces: &mut Vec<Piece>) -> io::Result<()> {
    if pieces.len() > MOST {
        return Err(io::Error::other(format!("more than {MOST} pieces to show of a root with mounts in it")));
    }
    let (readable, writable) = (may(dir, libc::R_OK | libc::X_OK), may(dir, libc::W_OK));
    if NO_FILES.iter().any(|none| dir == Path::new(none)) || !readable {
        pieces.push(Piece::Folder { place: inside(dir)?, mode: if readable { 0o555 } else { 0 } });
        return Ok(());
    }
    if !mounted.iter().any(|place| place != dir && place.starts_with(dir)) && dir != Path::new("/") {
        let is_empty = fs::read_dir(dir)?.next().is_none();
        // An overlay costs more than all else.
        pieces.push(if is_empty && !writable { Piece::Folder { place: inside(dir)?, mode: 0o555 } } else { overlay(dir, writable)? });
        return Ok(());
    }
    if dir != Path::new("/") {
        pieces.push(Piece::Folder { place: inside(dir)?, mode: if writable { 0o755 } else { 0o555 } });
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(dir)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for entry in entries {
        let Ok(about) = fs::symlink_metadata(&entry) else { continue };
        let kind = about.file_type();
        if kind.is_dir() {
            cover(&entry, mounted, pieces)?;
        } else if kind.is_symlink() {
            pieces.push(Piece::Link { place: inside(&entry)?, target: text(&fs::read_link(&entry)?)? });
        } else if kind.is_file() && about.nlink() > 0 {
            pieces.push(Piece::File { place: inside(&entry)?, from: text(&entry)? });
        }
        // FIFOs, sockets and devices are left out.
    }
    Ok(())
}

fn overlay(dir: &Path, writable: bool) -> io::Result<Piece> {
    let special = |byte: &u8| matches!(byte, b'\\' | b',' | b':');
    let plain = !dir.as_os_str().as_bytes().iter().any(special);
    Ok(Piece::Overlay { place: inside(dir)?, lower: text(dir)?, plain, writable })
}

fn may(path: &Path, what: libc::c_int) -> bool {
    // SAFETY: the string lives through the call.
    text(path).is_ok_and(|path| unsafe { libc::access(path.as_ptr(), what) } == 0)
}

/// Where file systems with files are mounted, parents first.
fn mounted() -> io::Result<Vec<PathBuf>> {
    let table = fs::read("/proc/self/mountinfo")?;
    let mut places: Vec<PathBuf> =
        table.split(|&b| b == b'\n').filter_map(|line| line.split(|&b| b == b' ').nth(4)).map(unescaped).collect();
    places.retain(|place| !NO_FILES.iter().any(|dir| place.starts_with(dir)));
    places.push("/".into());
    places.sort();
    places.dedup();
    Ok(places)
}

/// A path of `mountinfo`, where blanks, newlines and backslashes are `\` and three octal digits.
fn unescaped(text: &[u8]) -> PathBuf {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((&first, tail)) = rest.split_first() {
        let digits = tail.get(..3).filter(|d| first == b'\\' && d.iter().all(|b| (b'0'..=b'7').contains(b)));
        let byte = digits.map(|d| d.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0')) as u8);
        out.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &tail[3..] } else { tail };
    }
    OsString::from_vec(out).into()
}

/// The path from the root.
fn inside(path: &Path) -> io::Result<CString> {
    text(path.strip_prefix("/").unwrap_or(path))
}

pub(crate) fn text(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_as_they_are() {
        assert_eq!(unescaped(br"/mnt/a\040b\134c"), PathBuf::from(r"/mnt/a b\c"));
        assert_eq!(unescaped(br"/a\8\04"), PathBuf::from(r"/a\8\04"));
    }

    #[test]
    fn folders_with_mounts_are_laid_out_one_by_one() {
        let scratch = tempfile::tempdir().expect("there is room");
        let root = scratch.path();
        for dir in ["plain/deep", "has/mount", "has/other"] {
            fs::create_dir_all(root.join(dir)).expect("there is room");
        }
        fs::write(root.join("has/file"), "").expect("there is room");
        std::os::unix::fs::symlink("file", root.join("has/link")).expect("there is room");
        let mut pieces = Vec::new();
        cover(root, &[root.join("has/mount")], &mut pieces).expect("it can be read");
        let mut shown: Vec<String> = pieces
            .iter()
            .map(|piece| {
                let (kind, place) = match piece {
                    Piece::Overlay { place, .. } => ("overlay", place),
                    Piece::Folder { place, .. } => ("folder", place),
                    Piece::File { place, .. } => ("file", place),
                    Piece::Link { place, .. } => ("link", place),
                };
                let place = Path::new("/").join(place.to_str().expect("it is text"));
                format!("{kind} {}", place.strip_prefix(root).expect("it is below").display())
            })
            .collect();
        shown.sort();
        assert_eq!(
            shown,
            ["file has/file", "folder ", "folder has", "link has/link", "overlay has/mount", "overlay has/other", "overlay plain"]
        );
    }
}
