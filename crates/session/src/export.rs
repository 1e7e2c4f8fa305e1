//! `--export`: the input of each test as a plain file, for a fuzzer's corpus.
//!
//! A file has the name of its content, so the runs of a loop add to one folder, and nothing is there twice.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::Result;
use wryneck_environ::ProgramInput;
use wryneck_report::KTest;

use crate::cache;
use crate::problem::problem;
use crate::seeds::slot::{Slot, only, slots};

/// Where inputs go, and which.
pub struct Export {
    dir: PathBuf,
    slot: Slot,
    written: u64,
    failed: Option<anyhow::Error>,
}

impl Export {
    /// As `[INPUT=]DIR` says. The folder is made.
    pub fn new(word: &str, input: &ProgramInput) -> Result<Export> {
        let slots = slots(input);
        let named = word.split_once('=').and_then(|(name, dir)| Some((slots.iter().find(|slot| slot.name == name)?, dir)));
        let (slot, dir) = match named {
            Some(named) => named,
            None => (only("--export", &slots)?, word),
        };
        let dir = PathBuf::from(dir);
        fs::create_dir_all(&dir).map_err(|e| problem(format!("`--export {word}`: cannot make the folder: {e}"), "give another folder"))?;
        Ok(Export { dir, slot: slot.clone(), written: 0, failed: None })
    }

    /// Writes a test's input, if its path got so far that it made it.
    pub fn test(&mut self, test: &KTest) {
        let Some(bytes) = test.object(&self.slot.bytes) else { return };
        let bytes = self.slot.content(bytes);
        let name: String = cache::digest(&[bytes]).chars().take(32).collect();
        let path = self.dir.join(format!("wryneck-{name}"));
        let written = fs::File::create_new(&path).and_then(|mut file| std::io::Write::write_all(&mut file, bytes));
        match written {
            Ok(()) => self.written += 1,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                self.failed.get_or_insert_with(|| problem(format!("cannot write `{}`: {error}", path.display()), ""));
            }
        }
    }

    /// What was written, in words, or the first thing that went wrong.
    pub fn finish(self) -> Result<String> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(format!("{} new inputs (`{}`) in `{}`", self.written, self.slot.name, self.dir.display())),
        }
    }
}
