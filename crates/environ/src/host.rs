//! The host's answers: each is requested once and shared by all paths.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::errno::Errno;
use crate::input::{DirEntry, Host, NamedFiles, Stat};
use crate::observed::{self, Log};

type Answers<K, T> = RefCell<BTreeMap<K, Result<T, Errno>>>;

/// Answers to other questions.
type Seen = RefCell<BTreeMap<Vec<u8>, Option<Rc<[u8]>>>>;

/// A [`Host`] with a memory.
pub struct Captured {
    pub(crate) host: Rc<dyn Host>,
    /// What paths ask, if that is to be known.
    pub(crate) log: Option<RefCell<Log>>,
    stats: Answers<(Vec<u8>, bool), Stat>,
    files: Answers<Vec<u8>, Arc<Vec<u8>>>,
    dirs: Answers<Vec<u8>, Rc<[DirEntry]>>,
    links: Answers<Vec<u8>, Rc<[u8]>>,
    seen: Seen,
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
        Captured {
            host,
            log: None,
            stats: Default::default(),
            files: Default::default(),
            dirs: Default::default(),
            links: Default::default(),
            seen: Default::default(),
        }
    }

    pub fn stat(&self, path: &[u8], follow: bool) -> Result<Stat, Errno> {
        let answer = once(&self.stats, (path.to_vec(), follow), |(path, follow)| self.host.stat(path, *follow));
        self.note(|| (observed::question("kind", path), observed::kind(&answer)));
        answer
    }

    pub fn file(&self, path: &[u8]) -> Result<Arc<Vec<u8>>, Errno> {
        let answer = once(&self.files, path.to_vec(), |path| self.host.read_file(path));
        self.note(|| (observed::question("file", path), observed::content(&answer, &|content| self.host.digest(content))));
        self.note_apart(path);
        answer
    }

    /// A file whose content is symbolic, as it is now: what a path branches on of it is no fact, but its length is, unless that is input (`any_length`).
    /// `None`: the content is a fact.
    pub fn short_file(&self, path: &[u8], which: &NamedFiles, any_length: bool) -> Option<Arc<Vec<u8>>> {
        self.log.as_ref()?;
        let content = once(&self.files, path.to_vec(), |path| self.host.read_file(path)).ok()?;
        if !which.has(path, content.len()) {
            return None;
        }
        if !any_length {
            self.note(|| (observed::question("length", path), content.len().to_string().into_bytes()));
        }
        self.note_apart(path);
        Some(content)
    }

    /// How many bytes such a file has, if its length is to be input.
    pub fn any_length(&self, path: &[u8], which: &NamedFiles) -> Option<u64> {
        self.log.as_ref().filter(|_| which.up_to > 0)?;
        let content = once(&self.files, path.to_vec(), |path| self.host.read_file(path)).ok()?;
        which.has_any_length(path, content.len()).then_some(content.len() as u64)
    }

    /// Sorted by name; in the host's own order where facts are noted.
    pub fn dir(&self, path: &[u8]) -> Result<Rc<[DirEntry]>, Errno> {
        let answer = once(&self.dirs, path.to_vec(), |path| {
            let mut entries = self.host.list_dir(path)?;
            if self.log.is_none() {
                entries.sort();
            }
            Ok(entries.into())
        });
        self.note(|| (observed::question("dir", path), observed::listing(&answer)));
        answer
    }

    pub fn link(&self, path: &[u8]) -> Result<Rc<[u8]>, Errno> {
        let answer = once(&self.links, path.to_vec(), |path| self.host.read_link(path).map(Rc::from));
        self.note(|| (observed::question("link", path), observed::target(&answer)));
        answer
    }

    /// The answer to any other question. It is not noted: who asks says what the path depends on.
    pub fn seen(&self, question: &[u8]) -> Option<Rc<[u8]>> {
        if let Some(known) = self.seen.borrow().get(question) {
            return known.clone();
        }
        let answer: Option<Rc<[u8]>> = self.host.seen(question).map(Rc::from);
        self.seen.borrow_mut().insert(question.to_vec(), answer.clone());
        answer
    }
}
