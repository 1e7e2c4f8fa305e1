//! The lookup of an input, and what comes of it: the native run, a refusal, a verification first.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;
use wryneck_guard::lookup::Order;
use wryneck_guard::{Loaded, Store, Verdict, find};

use super::options::{GuardArgs, Lookup, OnFault, OnMiss, Siblings};
use super::policy::Policy;
use super::program::{self, Program};
use super::shape::Actual;
use super::verify::{Reply, Request};
use super::world::{Asked, Assume, Here, of_process};
use super::{process, worker};
use crate::{cache, output, seal};

/// The exit code where the program does not run: as `env` and `timeout` have it.
pub const NOT_RUN: u8 = 125;
/// Largest content of standard input that is looked at.
const STDIN: u64 = 1 << 20;
/// Leaves that are remembered as met last.
const RECENT: usize = 1 << 16;

/// What is known of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    Clean,
    /// The fault, in words.
    Faulty(String),
    /// Why nothing is known though the path was looked at.
    Unverified(String),
    Miss,
}

/// A program, an input, and the store that knows about both.
pub struct Question<'a> {
    args: &'a GuardArgs,
    policy: Policy,
    store: Store,
    pub program: Program,
    actual: Actual,
    inputs: BTreeMap<String, Vec<u8>>,
    here: Here,
}

/// An answer, and what it cost.
pub struct Answered {
    pub known: Known,
    pub steps: u64,
    /// The number of the path that was met, if it is asked for.
    pub path: Option<u32>,
    pub paths: u32,
    /// Time of the lookup itself, the mapping of the store left out.
    pub time: Duration,
}

/// The folder of the stores: `$WRYNECK_GUARD`, or `guard` in the cache.
pub fn store() -> Result<Store> {
    let dir = match std::env::var_os("WRYNECK_GUARD") {
        Some(dir) => std::path::absolute(dir)?,
        None => cache::root()?.join("guard"),
    };
    Ok(Store::open(&dir, seal::user_key()?)?)
}

/// Asks about a program with these arguments, in this process's world.
pub fn question<'a>(args: &'a GuardArgs, name: &OsStr, file: &Path, arguments: &[Vec<u8>]) -> Result<Question<'a>> {
    let store = store()?;
    let program = Program::open(file, args.front, args.assume, &store)?;
    let policy = args.policy()?;
    let actual = Actual {
        name: args.name.as_deref().map_or(name, OsStr::new).as_bytes().to_vec(),
        arguments: arguments.to_vec(),
        environment: process::environment(),
        stdin: process::stdin_content(STDIN),
    };
    let inputs = actual.answers(&policy);
    Ok(Question { args, policy, store, program, actual, inputs, here: Here::new(BTreeMap::new()) })
}

impl Question<'_> {
    /// Looks the input up. The world is left as it is: where asking changed when a file was read last, all is asked again.
    pub fn look_up(&self) -> Result<Answered> {
        let mut answered = self.look_up_once()?;
        if answered.known == Known::Clean && self.here.is_disturbed() {
            self.here.forget();
            answered = self.look_up_once()?;
            if answered.known == Known::Clean && self.here.is_disturbed() {
                answered.known = Known::Unverified("each look at a file changes when it was read last".to_owned());
            }
        }
        Ok(answered)
    }

    fn look_up_once(&self) -> Result<Answered> {
        let nothing = |known| Answered { known, steps: 0, path: None, paths: 0, time: Duration::ZERO };
        let mapped = match self.store.load(&self.program.key)? {
            Loaded::Nothing => return Ok(nothing(Known::Miss)),
            Loaded::SetAside(file) => {
                output::note(format!("the verified paths of this program are damaged; they are set aside as `{}`", file.display()));
                return Ok(nothing(Known::Miss));
            }
            Loaded::Paths(mapped) => mapped,
        };
        let view = mapped.view()?;
        let recent = if self.args.lookup == Lookup::Recent { self.recent() } else { Vec::new() };
        let began = Instant::now();
        let mut world = Asked { here: &self.here, inputs: &self.inputs, assume: self.args.assume };
        let order = match self.args.lookup {
            Lookup::Tree => Order::Tree,
            Lookup::Linear => Order::Linear,
            Lookup::Recent => Order::Recent(&recent),
        };
        let mut found = find(&view, order, &mut world)?;
        for _ in 1..self.args.repeat {
            let order = match self.args.lookup {
                Lookup::Tree => Order::Tree,
                Lookup::Linear => Order::Linear,
                Lookup::Recent => Order::Recent(&recent),
            };
            found = find(&view, order, &mut world)?;
        }
        let time = began.elapsed() / u32::try_from(self.args.repeat.max(1)).unwrap_or(u32::MAX);
        let text = || String::from_utf8_lossy(found.text).into_owned();
        let known = match found.verdict {
            None => Known::Miss,
            Some(Verdict::Clean) => Known::Clean,
            Some(Verdict::Faulty(_)) => Known::Faulty(text()),
            Some(Verdict::Unverified(_)) => Known::Unverified(text()),
        };
        if self.args.lookup == Lookup::Recent
            && let Some(leaf) = found.leaf
        {
            self.met(recent, leaf);
        }
        let path = if self.args.answer { view.leaf_at(found.node) } else { None };
        Ok(Answered { known, steps: found.steps, path, paths: view.leaves(), time })
    }

    /// What no stored path gets past for this input.
    fn obstacle(&self) -> Option<String> {
        let Ok(Loaded::Paths(mapped)) = self.store.load(&self.program.key) else { return None };
        let mut world = Asked { here: &self.here, inputs: &self.inputs, assume: self.args.assume };
        wryneck_guard::obstacle(&mapped.view().ok()?, &mut world).ok()?
    }

    fn recent_file(&self) -> PathBuf {
        self.store.dir().join(format!("{}.recent", wryneck_guard::store::hex(&self.program.key)))
    }

    /// Leaves that were met last, latest first. Only an order: what is wrong in it costs time.
    fn recent(&self) -> Vec<u32> {
        let bytes = crate::data::read_here(&self.recent_file(), 4 * RECENT as u64).unwrap_or_default();
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    }

    fn met(&self, mut recent: Vec<u32>, leaf: u32) {
        recent.retain(|other| *other != leaf);
        recent.insert(0, leaf);
        recent.truncate(RECENT);
        let bytes: Vec<u8> = recent.iter().flat_map(|leaf| leaf.to_le_bytes()).collect();
        // Without it the next lookup takes longer.
        let _ = self.store.replace(&self.recent_file(), &bytes);
    }

    fn request(&self, siblings: bool, background: bool) -> Request {
        Request {
            file: self.program.file.clone(),
            key: self.program.key,
            front: self.args.front,
            assume: self.args.assume,
            store: self.store.dir().to_owned(),
            actual: self.actual.clone(),
            policy: self.policy.clone(),
            answers: of_process(&self.here).into_iter().collect(),
            time: self.args.budget,
            paths: self.args.paths,
            memory: self.args.memory,
            siblings,
            background,
        }
    }

    /// Verifies the input's path, then looks it up again.
    pub fn verify(&self) -> Result<Answered> {
        let done = worker::wait_for(&self.request(self.args.siblings == Siblings::Wait, false)).and_then(|reply| {
            if self.args.siblings == Siblings::Background {
                worker::detach(&self.request(true, true))?;
            }
            Ok(reply)
        });
        // A verification that cannot be done is no reason not to run: nothing is known.
        let reply = done.unwrap_or_else(|error| Reply { first: format!("it cannot be verified: {error:#}"), ..Reply::default() });
        // It may have taken long: the world is another one, and later.
        self.here.forget();
        let mut answered = self.look_up()?;
        if answered.known == Known::Miss {
            let why = match self.obstacle() {
                _ if reply.first.is_empty() => "the budget ended first".to_owned(),
                // It ended without a path.
                _ if reply.paths == 0 => reply.first,
                Some(obstacle) => {
                    format!("the path ends by {}, but it depends on what cannot be checked before the run: {obstacle}", reply.first)
                }
                None => reply.first,
            };
            answered.known = Known::Unverified(why);
        }
        Ok(answered)
    }

    /// Becomes the program, if it is still the one that was looked up.
    fn become_program(&self) -> Result<u8> {
        self.program.is_same()?;
        let mut arguments = vec![self.actual.name.clone()];
        arguments.extend(self.actual.arguments.iter().cloned());
        let error = process::become_program(&self.program.file, &arguments);
        Err(program::cannot_start(&self.program.file, &error))
    }

    fn say(&self, text: &str) {
        let assumed = match self.args.assume {
            Assume::Nothing => "",
            Assume::ArgumentsOnly => " (arguments only: nothing else was checked)",
        };
        output::say("guard", format!("{text}{assumed}"));
    }

    /// Runs the program, or does not, as the options say; the exit code if it does not.
    pub fn act(&self) -> Result<u8> {
        let mut answered = self.look_up()?;
        let misses = answered.known == Known::Miss;
        match self.args.on_miss {
            OnMiss::Verify if misses => answered = self.verify()?,
            OnMiss::Background if misses => {
                answered.known = Known::Unverified(match worker::detach(&self.request(true, true)) {
                    Ok(()) => "it is verified while the program runs".into(),
                    Err(error) => format!("it cannot be verified: {error:#}"),
                });
            }
            OnMiss::Verify | OnMiss::Background | OnMiss::Run | OnMiss::Refuse => {}
        }
        match &answered.known {
            Known::Clean => {
                if self.args.verbose {
                    self.say("clean: the path of this input was verified");
                }
            }
            Known::Faulty(fault) => match self.args.on_fault {
                OnFault::Refuse => {
                    self.say(&format!("not run: the path of this input has a fault\n{fault}\n`--on-fault warn` runs it all the same"));
                    return Ok(NOT_RUN);
                }
                OnFault::Warn => self.say(&format!("the path of this input has a fault\n{fault}")),
                OnFault::Run => {}
            },
            Known::Unverified(_) | Known::Miss => {
                let why = match &answered.known {
                    Known::Unverified(why) => format!("not verified: {why}"),
                    _ => "not verified: no path of this kind is known".to_owned(),
                };
                if self.args.on_miss == OnMiss::Refuse {
                    self.say(&format!("not run: {why}"));
                    return Ok(NOT_RUN);
                }
                if self.args.on_miss != OnMiss::Run || self.args.verbose {
                    self.say(&why);
                }
            }
        }
        self.become_program()
    }

    /// Says what is known, as JSON; verifies first if asked to.
    pub fn answer(&self) -> Result<u8> {
        let mut answered = self.look_up()?;
        let hit = answered.known != Known::Miss;
        if !hit && self.args.on_miss == OnMiss::Verify {
            answered = self.verify()?;
        }
        let (name, text, code) = match &answered.known {
            Known::Clean => ("clean", "", 0),
            Known::Faulty(fault) => ("faulty", fault.as_str(), 1),
            Known::Unverified(why) => ("unverified", why.as_str(), 3),
            Known::Miss => ("miss", "", 3),
        };
        let assume = if self.args.assume == Assume::Nothing { "nothing" } else { "arguments-only" };
        let micros = answered.time.as_secs_f64() * 1e6;
        let line = json!({ "answer": name, "assume": assume, "text": text, "hit": hit, "paths": answered.paths, "path": answered.path, "steps": answered.steps,
            "lookup_us": (micros * 10.0).round() / 10.0 });
        output::write(|out| writeln!(out, "{line}"))?;
        Ok(code)
    }
}
