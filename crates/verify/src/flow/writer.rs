//! Collects what the operations of a function write: objects, by points-to sets, and environment cells, by summaries.
//!
//! Standard output and error are kept apart from other streams and descriptors: the program cannot read them back, and writing to them does
//! not fail.

use rustc_hash::FxHashSet;
use wryneck_exec::Image;
use wryneck_ir::{Inst, NONE, limbs};

use super::ObjectId;
use super::context::ContextId;
use super::effects::Facts;
use super::events::is_read_from;
use super::local::Local;
use super::objects::{MAPPED, OUTSIDE, Objects};
use super::summary::{CellKind, Place, Summary};
use super::writes::{Effects, Extent};

/// Collects what operations of a function write.
pub(super) struct Writer<'a> {
    pub facts: &'a Facts,
    pub func: u32,
    pub local: &'a Local,
    pub context: ContextId,
    /// What the function allocates is new: the effects are those of a whole call.
    pub new: bool,
    pub all: &'a mut Effects,
}

impl Writer<'_> {
    /// Writes of so many bytes to the address in a slot.
    pub(super) fn memory(&mut self, slot: u32, size: Option<u64>) {
        let points_to = &self.facts.points_to;
        if self.new && points_to.allocator(self.func).is_some_and(|fresh| fresh.contains(&self.local.class(slot))) {
            return;
        }
        if let Some((object, offset)) = self.local.fixed.get(&slot).copied() {
            let high = size.and_then(|size| offset.checked_add(size));
            match high {
                _ if (offset as i64) < 0 => drop(self.all.changes.writes.whole.insert(object.0)),
                Some(high) if high == offset => {}
                high => self.all.changes.writes.add_part(object, Extent { low: offset, high: high.unwrap_or(u64::MAX) }),
            }
            return;
        }
        if points_to.is_unknown(self.func, slot) && self.number(slot).is_none() {
            // It is put together in a way that is not followed, of objects whose addresses are taken apart.
            points_to.in_parts().iter().for_each(|object| self.whole(*object));
        }
        for place in points_to.of_slot(self.func, slot) {
            let high = place.offset.and_then(|low| u64::from(low).checked_add(size?));
            match (place.offset, high) {
                (Some(low), high) => self.part(place.object, Extent { low: low.into(), high: high.unwrap_or(u64::MAX) }),
                (None, _) => self.whole(place.object),
            }
        }
    }

    fn part(&mut self, object: ObjectId, extent: Extent) {
        let objects = &self.facts.points_to.objects;
        if !objects.is_function(object) {
            objects.with_clones(object, &mut |o| self.all.changes.writes.add_part(o, extent));
        }
    }

    fn whole(&mut self, object: ObjectId) {
        let objects = &self.facts.points_to.objects;
        if object == MAPPED {
            // It may be a file's.
            self.all.changes.cells.add_any(CellKind::Contents);
            // A mapping is told apart from what the program is given only as long as points-to sets are made.
            self.all.changes.writes.whole.insert(OUTSIDE.0);
        }
        if !objects.is_function(object) {
            objects.with_clones(object, &mut |o| {
                self.all.changes.writes.whole.insert(o.0);
            });
        }
    }

    /// Writes of a cell; of the streams that the address in a slot may lead to.
    fn cell(&mut self, kind: CellKind, stream: Option<u32>) {
        let facts = self.facts;
        let Some(slot) = stream else {
            match kind {
                CellKind::Locale => {
                    self.all.changes.cells.add_any(kind);
                    facts.locale.into_iter().for_each(|object| self.whole(object));
                }
                CellKind::StreamOutput => facts.standard[1.min(facts.standard.len())..].iter().for_each(|(o, _)| self.stream(kind, *o)),
                kind => self.all.changes.cells.add_any(kind),
            }
            return;
        };
        let (mut none, mut objects) = (true, Vec::new());
        for object in facts.objects_of(self.func, self.local, slot) {
            none = false;
            match object {
                MAPPED | OUTSIDE => self.any_stream(kind),
                object => facts.points_to.objects.with_clones(object, &mut |o| objects.push(o)),
            }
        }
        objects.into_iter().for_each(|object| self.stream(kind, object));
        // A variable that never holds an address is null, which is no stream's.
        if none && !is_read_from(self.local, slot, &|_| true) {
            self.any_stream(kind);
        }
    }

    fn any_stream(&mut self, kind: CellKind) {
        self.all.changes.cells.add_any(kind);
        if kind == CellKind::StreamOutput {
            self.output_of_the_program();
        }
    }

    /// Writes of what the stream in an object knows.
    fn stream(&mut self, kind: CellKind, object: ObjectId) {
        let facts = self.facts;
        let cells = &mut self.all.changes.cells;
        cells.add_of(kind, object);
        match kind {
            CellKind::StreamInput if facts.shares => cells.add_any(kind),
            CellKind::StreamOutput if !facts.standard.iter().skip(1).any(|(standard, _)| *standard == object) => {
                cells.add_of(CellKind::StreamInput, object);
                cells.add_of(CellKind::StreamError, object);
                if facts.shares {
                    cells.add_any(CellKind::StreamInput);
                }
                self.output_of_the_program();
            }
            _ => {}
        }
        self.whole(object);
    }

    /// Writes of what the program may read again, or may fail to write.
    fn output_of_the_program(&mut self) {
        self.all.changes.cells.add_any(CellKind::Contents);
        if self.facts.maps {
            self.all.changes.writes.whole.insert(OUTSIDE.0);
        }
        self.errno();
    }

    fn errno(&mut self) {
        if let Some((object, offset)) = self.facts.errno {
            self.all.changes.writes.add_part(object, Extent { low: offset, high: offset + 4 });
        }
    }

    /// The number in a slot, if it is known.
    fn number(&self, slot: u32) -> Option<u64> {
        self.facts.value(self.func, self.context, slot)
    }

    /// Writes of all that can be reached from the address in a slot.
    fn reachable(&mut self, slot: u32) {
        let points_to = &self.facts.points_to;
        let mut todo: Vec<ObjectId> = points_to.of_slot(self.func, slot).map(|place| place.object).collect();
        todo.extend(self.local.fixed.get(&slot).map(|(object, _)| *object));
        let mut seen = FxHashSet::default();
        while let Some(object) = todo.pop() {
            if seen.insert(object) {
                self.whole(object);
                todo.extend(points_to.in_object(object));
            }
        }
    }

    /// `values`: all arguments; `args`: those that may be addresses.
    pub(super) fn summary(&mut self, summary: &Summary, args: &[u32], values: &[u32]) {
        self.all.leaves |= summary.may_end;
        if summary.elsewhere {
            self.all.goes_elsewhere();
        }
        for place in &summary.writes {
            let raw = |i: &u32| values.get(*i as usize).copied().filter(|slot| *slot != NONE);
            let arg = |i: &u32| args.get(*i as usize).copied().filter(|slot| *slot != NONE);
            match place {
                Place::Result | Place::Arg(_) => {}
                Place::Errno => self.errno(),
                Place::NewDescriptor => self.all.changes.cells.add_any(CellKind::Numbers),
                Place::Written(i) => {
                    let standard = raw(i).and_then(|slot| self.number(slot)).is_some_and(is_standard_output);
                    if !standard {
                        [CellKind::StreamInput, CellKind::StreamOutput].into_iter().for_each(|kind| self.all.changes.cells.add_any(kind));
                        self.output_of_the_program();
                    }
                }
                Place::Standard(i) => self.all.standard |= raw(i).is_some_and(|slot| self.may_be_standard(slot)),
                Place::Memory(i) => arg(i).into_iter().for_each(|slot| self.memory(slot, None)),
                Place::Reachable(i) => arg(i).into_iter().for_each(|slot| self.reachable(slot)),
                Place::Cell(kind, stream) => self.cell(*kind, stream.as_ref().and_then(arg)),
                Place::Everything => *self.all = Effects { slots: std::mem::take(&mut self.all.slots), ..Effects::anything(0) },
            }
        }
    }

    /// Whether an argument names a standard descriptor, or may be a standard stream.
    fn may_be_standard(&self, slot: u32) -> bool {
        let stream = |object| self.facts.standard.iter().any(|(standard, _)| *standard == object);
        self.number(slot).is_some_and(|number| number as u32 <= 2) || self.facts.objects_of(self.func, self.local, slot).any(stream)
    }

    /// A function nobody knows.
    pub(super) fn unknown(&mut self, args: &[u32]) {
        args.iter().filter(|slot| **slot != NONE).for_each(|slot| self.reachable(*slot));
        CellKind::all().for_each(|kind| self.all.changes.cells.add_any(kind));
        self.all.goes_elsewhere();
        self.all.exits = true;
        for object in self.facts.points_to.escaped() {
            self.whole(object);
        }
    }
}

/// By argument: its first limb of these; [`NONE`] for those too narrow for an address.
pub(super) fn arguments(module: &wryneck_ir::Module, call: &Inst, limbs_of_all: &[u32]) -> Vec<u32> {
    by_argument(module, call, limbs_of_all, |width| width >= 64)
}

/// By argument: its first limb of these.
pub(super) fn first_limbs(module: &wryneck_ir::Module, call: &Inst, limbs_of_all: &[u32]) -> Vec<u32> {
    by_argument(module, call, limbs_of_all, |_| true)
}

fn by_argument(module: &wryneck_ir::Module, call: &Inst, limbs_of_all: &[u32], wanted: impl Fn(u32) -> bool) -> Vec<u32> {
    let widths = module.calls[call.b as usize].widths;
    let widths = if widths.count == 0 { &[][..] } else { module.slot_lists.range(widths) };
    let mut values = limbs_of_all.iter().copied();
    let argument = |width: &u32| {
        let first = values.next().unwrap_or(NONE);
        let _ = values.by_ref().take((limbs(*width) as usize).saturating_sub(1)).count();
        if wanted(*width) { first } else { NONE }
    };
    widths.iter().map(argument).collect()
}

/// Functions by which two streams come to have one descriptor, or one offset.
pub(super) const SHARING: [&str; 7] = ["dup", "dup2", "dup3", "fcntl", "fdopen", "fork", "syscall"];

/// Functions by which memory comes to be a file.
pub(super) const MAPPING: [&str; 4] = ["mmap", "mmap64", "mremap", "syscall"];

/// The variables of musl that standard input, output and error are.
const STANDARD: [&str; 3] = ["__stdin_FILE", "__stdout_FILE", "__stderr_FILE"];

/// Standard input, output and error, or none of them if the program has no such streams.
pub(super) fn standard_streams(image: &Image, objects: &Objects) -> Vec<(ObjectId, u64)> {
    STANDARD.iter().map(|name| variable(image, objects, name)).collect::<Option<_>>().unwrap_or_default()
}

/// A variable by its name: the object and its address.
pub(super) fn variable(image: &Image, objects: &Objects, name: &str) -> Option<(ObjectId, u64)> {
    let target = image.program.lookup(name).filter(|target| matches!(target, wryneck_ir::link::Target::Data(..)))?;
    let address = image.target_address(target);
    objects.global(address).map(|(object, _)| (object, address))
}

/// Whether a number is that of the descriptor of standard output or error.
pub fn is_standard_output(number: u64) -> bool {
    matches!(number as u32, 1 | 2)
}

impl Facts {
    /// The objects that an address in a slot may lead to.
    pub(super) fn objects_of(&self, func: u32, local: &Local, slot: u32) -> impl Iterator<Item = ObjectId> + '_ {
        let fixed = local.fixed.get(&slot).map(|(object, _)| *object);
        fixed.into_iter().chain(self.points_to.of_slot(func, slot).map(|place| place.object))
    }

    /// Whether an address leads to standard output or error alone, or to standard input with `input`.
    pub(super) fn is_standard(&self, func: u32, local: &Local, slot: u32, input: bool) -> bool {
        let standard = &self.standard[usize::from(!input).min(self.standard.len())..];
        let mut objects = self.objects_of(func, local, slot).peekable();
        objects.peek().is_some() && objects.all(|object| standard.iter().any(|(stream, _)| *stream == object))
    }
}
