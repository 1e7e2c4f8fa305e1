//! Files made below a folder by names that data gives: the kernel itself keeps every step below the folder's handle, and follows no link
//! (`openat2`, `RESOLVE_BENEATH`).

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{self, CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// An open folder.
pub struct Beneath(OwnedFd);

impl Beneath {
    pub fn open(folder: &Path) -> io::Result<Beneath> {
        Ok(Beneath(fs::openat(CWD, folder, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// Makes a file with its folders, or replaces its content; the file, open to write.
    pub fn write(&self, path: &Path, content: &[u8]) -> io::Result<File> {
        let path = inside(path).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the name leads outside"))?;
        let mut made = PathBuf::new();
        for part in path.parent().into_iter().flat_map(Path::components) {
            made.push(part);
            match self.make_folder(&made) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(self.resolve(&path, flags, Mode::from_raw_mode(0o644))?);
        file.write_all(content)?;
        Ok(file)
    }

    fn make_folder(&self, path: &Path) -> rustix::io::Result<()> {
        let mode = Mode::from_raw_mode(0o755);
        let name = path.file_name().unwrap_or(OsStr::new("."));
        match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => {
                let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
                fs::mkdirat(self.resolve(parent, flags, Mode::empty())?, name, mode)
            }
            None => fs::mkdirat(&self.0, name, mode),
        }
    }

    fn resolve(&self, path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        let rules = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        fs::openat2(&self.0, path, flags, mode, rules)
    }
}

/// A relative path without `.` and `..`; `None` if it leads outside, or nowhere. Links are not asked: below such a folder there are none.
pub fn inside(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::CurDir => {}
            Component::ParentDir => out.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!out.as_os_str().is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_is_made_outside() {
        let scratch = tempfile::tempdir().expect("there is room");
        let (outside, folder) = (scratch.path().join("outside"), scratch.path().join("folder"));
        std::fs::create_dir_all(&folder).expect("there is room");
        std::fs::create_dir_all(&outside).expect("there is room");
        let beneath = Beneath::open(&folder).expect("it is there");
        for good in ["a", "b/c/d", "./e", "x/../f", "b/c/../g"] {
            beneath.write(Path::new(good), b"text").expect(good);
        }
        for name in ["a", "b/c/d", "e", "f", "b/g"] {
            assert_eq!(std::fs::read(folder.join(name)).ok().as_deref(), Some(&b"text"[..]), "{name}");
        }
        symlink(&outside, folder.join("link")).expect("there is room");
        symlink(outside.join("file"), folder.join("leaf")).expect("there is room");
        let absolute = outside.join("file");
        let absolute = absolute.to_str().expect("it is UTF-8");
        for bad in ["../outside/file", "b/../../outside/file", absolute, "link/file", "link/deep/file", "leaf", "..", ".", "", "b/.."] {
            assert!(beneath.write(Path::new(bad), b"text").is_err(), "{bad}");
        }
        assert_eq!(std::fs::read_dir(&outside).expect("it is there").count(), 0);
    }
}
