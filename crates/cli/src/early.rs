//! Native programs that are built while the exploration goes on: a large one takes longer than what a run keeps of its time for replays.
//!
//! The first finding begins the plain program, the first that only sanitizers show the watched one. Each is built once, by a thread of its own or
//! by the replay that needs it, whoever is first; the run waits for all of them before it ends.

use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, thread};

use anyhow::{Context, Result};

use crate::explored::Explored;
use crate::judge::Expected;
use crate::native::{Native, Sanitizer};
use crate::scratch::Scratch;
use crate::symbolic;

/// The native programs of a run, and the folder where they are built.
#[derive(Clone)]
pub struct Place {
    pub native: Arc<Native>,
    /// Absolute and without links; it lives as long as `scratch`.
    pub dir: PathBuf,
    _scratch: Arc<Scratch>,
}

impl Place {
    /// A new folder.
    pub fn new(explored: &Explored) -> Result<Place> {
        let scratch = Scratch::new().context("cannot make a scratch folder")?;
        let dir = fs::canonicalize(scratch.path()).context("cannot find the scratch folder")?;
        let Explored { facts, program, bitcode, objects, cc_flags, .. } = explored;
        let fails = facts.get("fail_calls").is_some_and(|n| n != "0");
        let libc = facts.need("libc")? == "true";
        let mut native = Native::new(program.clone(), bitcode.clone(), objects.clone(), cc_flags.clone(), libc, fails, dir.clone());
        let words = symbolic::parse(&facts.words("words")?)?;
        native.sym_sockets = !words.sockets.is_empty();
        native.sym_calls = words.calls.into_iter().map(|call| call.name).collect();
        Ok(Place { native: Arc::new(native), dir, _scratch: Arc::new(scratch) })
    }
}

/// Builds that have begun.
pub struct Early {
    place: Place,
    sanitized: Vec<Sanitizer>,
    builds: Vec<thread::JoinHandle<()>>,
}

impl Early {
    /// Begins the plain program.
    pub fn new(explored: &Explored) -> Result<Early> {
        let mut early = Early { place: Place::new(explored)?, sanitized: Vec::new(), builds: Vec::new() };
        early.begin(|native| _ = native.plain());
        Ok(early)
    }

    /// Begins the program that shows a fault of this kind, if the plain one may not.
    pub fn shows(&mut self, kind: &str) {
        let needed = Expected::Fault(kind.to_owned()).needs_sanitizer().map(|(_, sanitizer)| sanitizer);
        if let Some(sanitizer) = needed.filter(|sanitizer| !self.sanitized.contains(sanitizer)) {
            self.sanitized.push(sanitizer);
            self.begin(move |native| _ = native.under(sanitizer));
        }
    }

    fn begin(&mut self, build: impl FnOnce(&Native) + Send + 'static) {
        let native = self.place.native.clone();
        self.builds.push(thread::spawn(move || build(&native)));
    }

    pub fn place(&self) -> Place {
        self.place.clone()
    }
}

impl Drop for Early {
    /// A compiler that still runs would lose its folder.
    fn drop(&mut self) {
        self.builds.drain(..).for_each(|build| _ = build.join());
    }
}
