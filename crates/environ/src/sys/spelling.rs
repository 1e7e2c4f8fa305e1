//! Symbolic file paths: which files their strings may lead to.
//!
//! A path with symbolic bytes is walked for all its strings at once, byte by byte. For each directory there is the condition that a name
//! begins at this byte there. Each name of the directory, `.` and `..` included, is compared with the bytes that follow; all other names
//! are one case. [`Sys::walk`] gives the outcome of one spelling. Strings that the call cannot distinguish (`A` and `./A` lead to one
//! file, most strings to none) form a [`Class`]: the path of execution decides among classes, and its bytes stay symbolic. The name of a
//! created file stays symbolic too: it is stored in [`World::names`], and names read later are compared with it.
//!
//! It is an assumption that a host directory has none of the other names, unless all its names are too long for the path. Cost: without
//! the solver, one walk per known name and directory, and comparisons of bytes × directories × names.

use std::collections::BTreeMap;
use std::rc::Rc;

use wryneck_exec::{LedgerKind, Value};
use wryneck_expr::ExprId;

use super::Sys;
use super::path::{Follow, Given, NAME_MAX, PATH_MAX, Place};
use crate::errno::{ENAMETOOLONG, ENOENT, Errno, Halt};
use crate::input::mode;
use crate::state::{World, key};

/// File paths with up to this many symbolic bytes are followed for all their strings; longer ones are fixed to one value.
const LONGEST: usize = 64;
/// Symbolic strings up to this length are enumerated where a concrete string is needed; longer ones are fixed to one value. In file paths up to
/// this length, all strings that lead nowhere share one decision.
const SHORT: usize = 3;

/// What a call makes of a string.
#[derive(PartialEq)]
enum Outcome {
    Fails(Errno),
    /// The file, where only that matters.
    Leads(Place),
    /// A name that is there, where the name matters.
    Named(Vec<u8>),
    /// A name that may be made: the path, and the byte at which the name begins.
    New(Vec<u8>, usize),
}

/// Strings of one outcome.
struct Class {
    outcome: Outcome,
    /// The first name in them decides, so that the condition is a short one.
    early: bool,
    /// The condition that the path is one of them.
    holds: ExprId,
    /// One of them; where the name is not known, its key stands in it.
    path: Vec<u8>,
    /// Where a name is none that is known: in this directory, from this byte on.
    unknown: Vec<(usize, usize)>,
}

/// A directory that the path may lead through.
struct Directory {
    /// A path to it with a slash after; empty where a relative path starts.
    path: Vec<u8>,
    /// None if it cannot be entered.
    place: Option<Place>,
    /// The names in it, keys of symbolic ones among them.
    names: Vec<Vec<u8>>,
}

/// A name in a directory, which a slash follows. Names that lead alike are one.
struct Step {
    path: Vec<u8>,
    /// The directory it leads to, if to any.
    into: Option<usize>,
    /// If nothing comes after.
    ends: Outcome,
    /// If a name comes after and this is no directory.
    goes_on: Option<Outcome>,
}

/// What may come from a byte on, for each byte and the end.
struct Tails {
    /// No slash.
    plain: Vec<ExprId>,
    /// A slash at last, and nothing but slashes after the first.
    trailing: Vec<ExprId>,
}

/// By index of a [`Directory`] or a [`Step`]: the condition that the path leads there.
type Fronts = BTreeMap<usize, ExprId>;

/// A walk along all strings of a path.
struct Spelling<'w, 's, 'c> {
    sys: &'w mut Sys<'s, 'c>,
    at: i32,
    follow: Follow,
    bytes: &'w [ExprId],
    /// Which bytes, and the one after them, are zero or a slash.
    ends: Vec<ExprId>,
    slashes: Vec<ExprId>,
    tails: Option<Tails>,
    directories: Vec<Directory>,
    steps: Vec<Step>,
    step_of: BTreeMap<(usize, Vec<u8>), usize>,
    classes: Vec<Class>,
    class_of: BTreeMap<(bool, Vec<u8>), usize>,
    /// Directories in which a name begins at a byte, and steps which a slash before it ends.
    begins: Vec<Fronts>,
    after: Vec<Fronts>,
}

impl<'w, 's, 'c> Spelling<'w, 's, 'c> {
    fn new(sys: &'w mut Sys<'s, 'c>, at: i32, follow: Follow, bytes: &'w [ExprId]) -> Self {
        let pool = &mut sys.cx.core.pool;
        let mut is = |byte: u8| -> Vec<ExprId> {
            let byte = pool.bits(8, byte.into());
            bytes.iter().map(|b| pool.eq(*b, byte)).collect()
        };
        let (mut ends, mut slashes) = (is(0), is(b'/'));
        ends.push(pool.bits(1, 1));
        slashes.push(pool.bits(1, 0));
        let fronts = || (0..bytes.len() + 2).map(|_| Fronts::new()).collect::<Vec<_>>();
        let (begins, after) = (fronts(), fronts());
        let (step_of, class_of) = (BTreeMap::new(), BTreeMap::new());
        Spelling {
            sys,
            at,
            follow,
            bytes,
            ends,
            slashes,
            tails: None,
            directories: vec![],
            steps: vec![],
            step_of,
            classes: vec![],
            class_of,
            begins,
            after,
        }
    }

    /// The classes of all strings, exactly one of which holds.
    fn classes(mut self) -> Result<(Vec<Class>, Vec<Directory>), Halt> {
        let (empty, absolute) = (self.ends[0], self.slashes[0]);
        self.class(b"", empty, 0)?;
        let here = self.directory(b"")?;
        let relative = self.neither(0);
        self.add_front(0, here, relative);
        let root = self.directory(b"/")?;
        let ends = self.outcome(b"/", 1)?;
        self.steps.push(Step { path: Vec::new(), into: Some(root), ends, goes_on: None });
        self.add_step(1, self.steps.len() - 1, absolute);
        for i in 0..=self.bytes.len() {
            for (step, holds) in std::mem::take(&mut self.after[i]) {
                self.pass_slashes(i, step, holds)?;
            }
            for (directory, holds) in std::mem::take(&mut self.begins[i]) {
                self.pass_name(i, directory, holds)?;
            }
        }
        self.classes.sort_by_key(|class| match class.outcome {
            _ if class.early => 0,
            Outcome::Leads(_) | Outcome::Named(_) | Outcome::New(..) => 1,
            Outcome::Fails(e) => 2 + u8::from(e == ENOENT),
        });
        Ok((self.classes, self.directories))
    }

    /// A step and a slash lie after: the path ends, or has one more slash, or a name.
    fn pass_slashes(&mut self, i: usize, step: usize, holds: ExprId) -> Result<(), Halt> {
        let path = [&self.steps[step].path[..], b"/"].concat();
        let (end, slash, name) = (self.and(holds, self.ends[i]), self.and(holds, self.slashes[i]), self.neither(i));
        self.class(&path, end, i)?;
        self.add_step(i + 1, step, slash);
        let name = self.and(holds, name);
        match self.steps[step].into {
            Some(directory) => self.add_front(i, directory, name),
            None => self.class(&[path, key_of_unknown(self.sys)].concat(), name, i)?,
        }
        Ok(())
    }

    /// A name begins in a directory: one of those there, or another.
    fn pass_name(&mut self, i: usize, directory: usize, holds: ExprId) -> Result<(), Halt> {
        let mut other = holds;
        let names = match self.concrete_name(i) {
            Some(name) => vec![name],
            None => self.directories[directory].names.clone(),
        };
        for name in names {
            for (len, same) in self.matches(i, &name) {
                let (same, end, slash) = (self.and(holds, same), self.ends[i + len], self.slashes[i + len]);
                if self.is_false(same) {
                    continue;
                }
                let (last, inner) = (self.and(same, end), self.and(same, slash));
                let path = [&self.directories[directory].path[..], &name].concat();
                self.class(&path, last, i)?;
                if !self.is_false(inner) {
                    let step = self.step(directory, &name, path)?;
                    self.add_step(i + len + 1, step, inner);
                }
                let pool = &mut self.sys.cx.core.pool;
                let whole = pool.or(last, inner);
                let not = pool.not(whole);
                other = self.and(other, not);
            }
        }
        self.pass_unknown(i, directory, other)
    }

    /// A name begins that is none of those in the directory.
    fn pass_unknown(&mut self, i: usize, directory: usize, holds: ExprId) -> Result<(), Halt> {
        if self.is_false(holds) {
            return Ok(());
        }
        let path = [&self.directories[directory].path[..], &key_of_unknown(self.sys)].concat();
        let (slash, deeper) = ([&path[..], b"/"].concat(), [&path[..], b"/", &key_of_unknown(self.sys)].concat());
        let outcome = self.outcome(&path, i)?;
        let mut cases = vec![(path, holds)];
        if outcome != self.outcome(&slash, i)? || outcome != self.outcome(&deeper, i)? {
            let (plain, trailing) = self.tails(i);
            let (plain, trailing) = (self.and(holds, plain), self.and(holds, trailing));
            let pool = &mut self.sys.cx.core.pool;
            let ended = pool.or(plain, trailing);
            let goes_on = pool.not(ended);
            let goes_on = self.and(holds, goes_on);
            cases[0].1 = plain;
            cases.extend([(slash, trailing), (deeper, goes_on)]);
        }
        // Most strings begin with a name that is not known. On their paths of execution a short condition is worth a decision.
        let early = i == 0 && self.bytes.len() > SHORT;
        for (path, holds) in cases {
            if let Some(class) = self.class_where(early, &path, holds, i)? {
                self.classes[class].unknown.push((directory, i));
            }
        }
        Ok(())
    }

    /// The name that begins at a byte, if nothing of it is symbolic: it may be the host's.
    fn concrete_name(&self, i: usize) -> Option<Vec<u8>> {
        let pool = &self.sys.cx.core.pool;
        let bytes = self.bytes[i..].iter().map(|b| pool.as_u64(*b).map(|b| b as u8));
        bytes.take_while(|b| *b != Some(b'/')).collect()
    }

    /// How long a name in a directory may be, and the condition that it stands at a byte, whatever follows.
    fn matches(&mut self, i: usize, name: &[u8]) -> Vec<(usize, ExprId)> {
        let pool = &mut self.sys.cx.core.pool;
        let (zero, symbolic) = (pool.bits(8, 0), self.sys.cx.state.env::<World>().symbolic_name(name).cloned());
        let bytes = symbolic.clone().unwrap_or_else(|| name.iter().map(|b| pool.bits(8, (*b).into())).collect());
        let shortest = if symbolic.is_some() { 1 } else { bytes.len() };
        let (mut found, mut same) = (Vec::new(), pool.bits(1, 1));
        for (j, (ours, theirs)) in self.bytes[i..].iter().zip(bytes.iter()).enumerate() {
            let equal = pool.eq(*ours, *theirs);
            same = pool.and(same, equal);
            if j + 1 < shortest {
                continue;
            }
            let is_last = bytes.get(j + 1).map_or(pool.bits(1, 1), |next| pool.eq(*next, zero));
            let begun = pool.eq(*theirs, zero);
            let begun = pool.not(begun);
            let here = pool.and(is_last, begun);
            found.push((j + 1, pool.and(same, here)));
        }
        found
    }

    /// The two conditions of [`Tails`] from a byte on.
    fn tails(&mut self, i: usize) -> (ExprId, ExprId) {
        let pool = &mut self.sys.cx.core.pool;
        let tails = self.tails.get_or_insert_with(|| {
            let (mut plain, mut trailing) = (vec![pool.bits(1, 1)], vec![pool.bits(1, 0)]);
            let mut only_slashes = plain[0];
            for (end, slash) in self.ends.iter().zip(&self.slashes).rev().skip(1) {
                let (more, slashes) = (plain[plain.len() - 1], trailing[trailing.len() - 1]);
                let (no_end, no_slash) = (pool.not(*end), pool.not(*slash));
                let more = pool.and(no_slash, more);
                plain.push(pool.or(*end, more));
                let slashes = pool.ite(*slash, only_slashes, slashes);
                trailing.push(pool.and(no_end, slashes));
                let more = pool.and(*slash, only_slashes);
                only_slashes = pool.or(*end, more);
            }
            plain.reverse();
            trailing.reverse();
            Tails { plain, trailing }
        });
        (tails.plain[i], tails.trailing[i])
    }

    /// The directory at a path that ends in a slash, or is empty.
    fn directory(&mut self, path: &[u8]) -> Result<usize, Halt> {
        let place = self.sys.directory_at(self.at, path)?;
        if let Some(known) = self.directories.iter().position(|d| place.is_some() && d.place == place) {
            return Ok(known);
        }
        let mut names = Vec::new();
        if let Some(Place::Node(id)) = &place {
            let entries = self.sys.world().node(*id).entries.iter();
            names.extend(entries.filter(|(_, node)| node.is_some()).map(|(name, _)| name.to_vec()));
        }
        if place.is_some() {
            names.extend([b".".to_vec(), b"..".to_vec()]);
        }
        self.directories.push(Directory { path: path.to_vec(), place, names });
        Ok(self.directories.len() - 1)
    }

    /// The step of a name in a directory, the last in a path.
    fn step(&mut self, directory: usize, name: &[u8], path: Vec<u8>) -> Result<usize, Halt> {
        if let Some(known) = self.step_of.get(&(directory, name.to_vec())) {
            return Ok(*known);
        }
        let inside = [&path[..], b"/"].concat();
        let into = if self.sys.directory_at(self.at, &inside)?.is_some() { Some(self.directory(&inside)?) } else { None };
        let ends = self.outcome(&inside, 0)?;
        let goes_on = match into {
            Some(_) => None,
            None => Some(self.outcome(&[&inside[..], &key_of_unknown(self.sys)].concat(), 0)?),
        };
        let alike = self.steps.iter().position(|s| (s.into, &s.ends, &s.goes_on) == (into, &ends, &goes_on));
        let step = alike.unwrap_or(self.steps.len());
        if alike.is_none() {
            self.steps.push(Step { path, into, ends, goes_on });
        }
        self.step_of.insert((directory, name.to_vec()), step);
        Ok(step)
    }

    /// What the call makes of a path whose last name begins at a byte.
    fn outcome(&mut self, path: &[u8], start: usize) -> Result<Outcome, Halt> {
        let found = match self.sys.walk(&Given::from(self.at, path.to_vec()), self.follow) {
            Ok(found) => found,
            Err(Halt::Errno(e)) => return Ok(Outcome::Fails(e)),
            Err(stop) => return Err(stop),
        };
        let makes = matches!(self.follow, Follow::Make { .. } | Follow::Name { makes: true });
        Ok(match (found.entry(), self.follow) {
            (Err(Halt::Errno(e)), _) => Outcome::Fails(e),
            (Err(stop), _) => return Err(stop),
            (Ok(None), _) if makes => Outcome::New(path.to_vec(), start),
            (Ok(None), _) => Outcome::Fails(ENOENT),
            (Ok(Some(_)), Follow::Name { .. }) => Outcome::Named(path.to_vec()),
            (Ok(Some(place)), Follow::Yes | Follow::No | Follow::Make { .. }) => Outcome::Leads(place.clone()),
        })
    }

    /// Adds strings to the class of one of them, whose last name begins at a byte.
    fn class(&mut self, path: &[u8], holds: ExprId, start: usize) -> Result<(), Halt> {
        self.class_where(false, path, holds, start).map(|_| ())
    }

    /// As [`Spelling::class`]; the class, if there may be such strings.
    fn class_where(&mut self, early: bool, path: &[u8], holds: ExprId, start: usize) -> Result<Option<usize>, Halt> {
        if self.is_false(holds) {
            return Ok(None);
        }
        let class = match self.class_of.get(&(early, path.to_vec())) {
            Some(known) => *known,
            None => {
                let outcome = self.outcome(path, start)?;
                let varies = matches!(outcome, Outcome::New(..));
                let known = self.classes.iter().position(|class| (class.early, &class.outcome) == (early, &outcome));
                let class = known.unwrap_or(self.classes.len());
                if known.is_none() {
                    let holds = self.sys.cx.core.pool.bits(1, 0);
                    self.classes.push(Class { outcome, early, holds, path: path.to_vec(), unknown: Vec::new() });
                }
                if !varies {
                    self.class_of.insert((early, path.to_vec()), class);
                }
                class
            }
        };
        let so_far = self.classes[class].holds;
        self.classes[class].holds = self.sys.cx.core.pool.or(so_far, holds);
        Ok(Some(class))
    }

    fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.sys.cx.core.pool.and(a, b)
    }

    fn is_false(&self, holds: ExprId) -> bool {
        self.sys.cx.core.pool.as_u64(holds) == Some(0)
    }

    /// The condition that a byte belongs to a name.
    fn neither(&mut self, i: usize) -> ExprId {
        let pool = &mut self.sys.cx.core.pool;
        let (no_end, no_slash) = (pool.not(self.ends[i]), pool.not(self.slashes[i]));
        pool.and(no_end, no_slash)
    }

    fn add_front(&mut self, i: usize, directory: usize, holds: ExprId) {
        join(self.sys, &mut self.begins[i], directory, holds);
    }

    fn add_step(&mut self, i: usize, step: usize, holds: ExprId) {
        join(self.sys, &mut self.after[i], step, holds);
    }
}

/// Adds a way to reach a front.
fn join(sys: &mut Sys<'_, '_>, fronts: &mut Fronts, which: usize, holds: ExprId) {
    let pool = &mut sys.cx.core.pool;
    if pool.as_u64(holds) != Some(0) {
        let so_far = fronts.get(&which).copied().unwrap_or(pool.bits(1, 0));
        fronts.insert(which, pool.or(so_far, holds));
    }
}

/// What stands for a name that is not known: the key of the next symbolic one.
fn key_of_unknown(sys: &Sys<'_, '_>) -> Vec<u8> {
    key(sys.world().names.len())
}

impl Sys<'_, '_> {
    /// Decides what a path with symbolic bytes, seen from the directory `at`, leads to: a path that leads there.
    pub fn symbolic_path(&mut self, at: i32, bytes: &[ExprId], follow: Follow) -> Result<Vec<u8>, Halt> {
        let symbolic = bytes.iter().filter(|b| self.cx.core.pool.as_u64(**b).is_none()).count();
        if symbolic > LONGEST || bytes.len() > NAME_MAX {
            return self.fixed(bytes, "a symbolic path");
        }
        let (classes, directories) = Spelling::new(self, at, follow, bytes).classes()?;
        let (last, others) = classes.split_last().expect("a string leads somewhere or nowhere");
        let mut chosen = last;
        for class in others {
            if self.cx.decide(class.holds)? {
                chosen = class;
                break;
            }
        }
        for (directory, start) in &chosen.unknown {
            self.note_unknown(&directories[*directory], bytes.len() - start);
        }
        if let Outcome::New(_, start) = chosen.outcome {
            self.coming = self.name_at(&bytes[start..]);
        }
        Ok(chosen.path.clone())
    }

    /// Notes the assumption that no name of up to `most` bytes in a directory is the host's, if it has one that this path does not know.
    fn note_unknown(&mut self, directory: &Directory, most: usize) {
        let (host, known) = match &directory.place {
            None => return,
            Some(Place::Host(path, _)) => (Some(path.clone()), None),
            Some(Place::Node(id)) => (self.world().node(*id).host.clone(), Some(self.world().node(*id).entries.clone())),
        };
        let Some(host) = host else { return };
        let is_known = |name: &[u8]| known.as_ref().is_some_and(|known| known.contains_key(name));
        let listed = self.linux.captured.dir(&host);
        if listed.is_ok_and(|all| all.iter().all(|entry| entry.name.len() > most || is_known(&entry.name))) {
            return;
        }
        let what = format!("a symbolic path names no file in `{}` that the run has not come across", String::from_utf8_lossy(&host));
        self.cx.state.approximates(what.as_str());
        self.cx.core.ledger.note(LedgerKind::Assumption, what);
    }

    /// The name at the beginning of some bytes: zeros from the first zero or slash on.
    fn name_at(&mut self, bytes: &[ExprId]) -> Rc<[ExprId]> {
        let pool = &mut self.cx.core.pool;
        let (zero, slash) = (pool.bits(8, 0), pool.bits(8, b'/'.into()));
        let mut over = pool.bits(1, 0);
        let mut name = |byte: &ExprId| {
            let (end, is_slash) = (pool.eq(*byte, zero), pool.eq(*byte, slash));
            let ends = pool.or(end, is_slash);
            over = pool.or(over, ends);
            pool.ite(over, zero, *byte)
        };
        bytes.iter().map(&mut name).collect()
    }

    /// The directory at a path that ends in a slash or is empty, if it is one and may be entered.
    fn directory_at(&mut self, at: i32, path: &[u8]) -> Result<Option<Place>, Halt> {
        let found = match self.walk(&Given::from(at, [path, b"."].concat()), Follow::Yes) {
            Ok(found) => found,
            Err(Halt::Errno(_)) => return Ok(None),
            Err(stop) => return Err(stop),
        };
        let place = found.entry()?.cloned();
        Ok(place.filter(|place| self.kind_of(place) == mode::DIRECTORY))
    }

    /// The string at a pointer, without following it as a path. A symbolic string of at most `SHORT` bytes is enumerated; a longer one is fixed
    /// to one value.
    pub fn text(&mut self, pointer: Value) -> Result<Vec<u8>, Halt> {
        let bytes = self.string(pointer)?;
        let text = match self.concrete(&bytes) {
            Some(text) => text,
            None => self.fixed(&bytes, "a symbolic text that a file keeps")?,
        };
        if text.len() >= PATH_MAX { Err(ENAMETOOLONG.into()) } else { Ok(text) }
    }

    /// A path with real names in place of keys.
    pub fn spelled_out(&mut self, path: &[u8]) -> Result<Vec<u8>, Halt> {
        let mut parts = Vec::new();
        for part in path.split(|b| *b == b'/') {
            parts.push(match self.world().symbolic_name(part).cloned() {
                Some(name) => self.fixed(&name, "the symbolic name of a directory")?,
                None => part.to_vec(),
            });
        }
        Ok(parts.join(&b'/'))
    }

    /// Fixes symbolic bytes up to the first zero: short ones to each of their values in turn, long ones to one.
    fn fixed(&mut self, bytes: &[ExprId], what: &str) -> Result<Vec<u8>, Halt> {
        let mut text = Vec::new();
        for byte in bytes {
            let byte = match bytes.len() <= SHORT {
                true => self.cx.concretise(Value::Sym(*byte), what)?,
                false => self.cx.pin(*byte, &format!("other strings of {what}"))?,
            };
            if byte == 0 {
                break;
            }
            text.push(byte as u8);
        }
        Ok(text)
    }
}
