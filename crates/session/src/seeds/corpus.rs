//! The seeds in a folder.

use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

/// Most seeds of a folder.
const MOST: usize = 1 << 18;

/// The folders of an instance of AFL++ that have inputs.
const OF_AFL: [&str; 2] = ["queue", "crashes"];

/// The files that are seeds: of a run folder its tests; of AFL++'s output, whose own folder or whose instances' have a `queue`, what is queued and
/// what crashes; else all, those in folders below too, as libFuzzer reads a corpus. Sorted by name.
pub fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    if dir.join("run.db").is_file() {
        let tests = entries(dir)?.into_iter().map(|entry| entry.0).filter(|path| path.extension().is_some_and(|end| end == "ktest"));
        all.extend(tests);
    } else {
        let folders = entries(dir)?.into_iter().filter(|entry| entry.1.is_dir() || entry.1.is_symlink()).map(|entry| entry.0);
        let instances: Vec<PathBuf> = [dir.to_owned()].into_iter().chain(folders).filter(|at| at.join("queue").is_dir()).collect();
        match instances.is_empty() {
            true => walk(dir, &mut all)?,
            false => {
                let folders = instances.iter().flat_map(|at| OF_AFL.map(|name| at.join(name))).filter(|at| at.is_dir());
                folders.into_iter().try_for_each(|at| walk(&at, &mut all))?;
            }
        }
        all.retain(|path| path.file_name().is_some_and(|name| name != "README.txt"));
    }
    Ok(all)
}

/// What is in a folder, and of what kind, but for names that begin with a dot, sorted.
fn entries(dir: &Path) -> io::Result<Vec<(PathBuf, FileType)>> {
    let mut all =
        fs::read_dir(dir)?.map(|entry| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))).collect::<io::Result<Vec<_>>>()?;
    all.retain(|(path, _)| path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b".")));
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}

/// Fuzzers may remove files meanwhile, so each file is asked for its kind with its name.
fn walk(dir: &Path, all: &mut Vec<PathBuf>) -> io::Result<()> {
    for (path, kind) in entries(dir)? {
        if all.len() >= MOST {
            return Err(io::Error::other(format!("it has more than {MOST} files")));
        }
        // A link to a folder may lead round in a circle.
        if kind.is_dir() {
            walk(&path, all)?;
        } else if kind.is_file() || kind.is_symlink() && path.is_file() {
            all.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_of_fuzzers_are_read_and_their_notes_are_not() {
        let scratch = tempfile::tempdir().expect("there is room");
        let put = |name: &str| {
            let path = scratch.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("there is room");
            fs::write(&path, "x").expect("there is room");
        };
        ["plain/b", "plain/sub/a", "plain/.hidden"].into_iter().for_each(put);
        ["afl/main/queue/id:000000,time:0,execs:0,orig:x", "afl/main/queue/.state/auto", "afl/main/crashes/README.txt"]
            .into_iter()
            .for_each(put);
        ["afl/main/crashes/id:000000,sig:06", "afl/main/fuzzer_stats", "run/run.db", "run/test000001.ktest", "run/test000001.json"]
            .into_iter()
            .for_each(put);
        let found = |name: &str| {
            let dir = scratch.path().join(name);
            let files = files(&dir).expect("it is readable");
            files.iter().map(|f| f.strip_prefix(&dir).expect("it lies there").display().to_string()).collect::<Vec<_>>()
        };
        std::os::unix::fs::symlink(scratch.path(), scratch.path().join("plain/round")).expect("there is room");
        assert_eq!(found("plain"), ["b", "sub/a"]);
        assert_eq!(found("afl"), ["main/queue/id:000000,time:0,execs:0,orig:x", "main/crashes/id:000000,sig:06"]);
        assert_eq!(found("afl/main"), ["queue/id:000000,time:0,execs:0,orig:x", "crashes/id:000000,sig:06"]);
        assert_eq!(found("run"), ["test000001.ktest"]);
    }
}
