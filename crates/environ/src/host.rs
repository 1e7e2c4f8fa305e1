//! The host's answers: each is requested once and shared by all paths.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::errno::Errno;
use crate::input::{DirEntry, Host, Stat};

type Answers<K, T> = RefCell<BTreeMap<K, Result<T, Errno>>>;

/// A [`Host`] with a memory.
pub struct Captured {
    host: Rc<dyn Host>,
    stats: Answers<(Vec<u8>, bool), Stat>,
    files: Answers<Vec<u8>, Arc<Vec<u8>>>,
    dirs: Answers<Vec<u8>, Rc<[DirEntry]>>,
    links: Answers<Vec<u8>, Rc<[u8]>>,
}

fn once<K: Ord, T: Clone>(answers: &Answers<K, T>, key: K, ask: impl FnOnce(&K) -> Result<T, i32>) -> Result<T, Errno> {
    if let Some(known) = answers.borrow().get(&key) {
        return known.clone();
    }
    let answer = ask(&key).map_err(Errno);
    answers.borrow_mut().insert(key, answer.clone());
    answer
}

impl Captured {
    pub fn new(host: Rc<dyn Host>) -> Captured {
        Captured { host, stats: Default::default(), files: Default::default(), dirs: Default::default(), links: Default::default() }
    }

    pub fn stat(&self, path: &[u8], follow: bool) -> Result<Stat, Errno> {
        once(&self.stats, (path.to_vec(), follow), |(path, follow)| self.host.stat(path, *follow))
    }

    pub fn file(&self, path: &[u8]) -> Result<Arc<Vec<u8>>, Errno> {
        once(&self.files, path.to_vec(), |path| self.host.read_file(path))
    }

    /// Sorted by name.
    pub fn dir(&self, path: &[u8]) -> Result<Rc<[DirEntry]>, Errno> {
        once(&self.dirs, path.to_vec(), |path| {
            let mut entries = self.host.list_dir(path)?;
            entries.sort();
            Ok(entries.into())
        })
    }

    pub fn link(&self, path: &[u8]) -> Result<Rc<[u8]>, Errno> {
        once(&self.links, path.to_vec(), |path| self.host.read_link(path).map(Rc::from))
    }
}
