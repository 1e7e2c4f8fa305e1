//! Where pointers lead on a path: the objects that the roots of a store's address lead to ([`crate::machine_code::pointers`]).
//!
//! A pointer is followed through the arguments of the calls in progress, which are the same on all paths that make these calls. It ends at a
//! constant address, or at a variable. The word that the variable holds on this path tells the object. So the variable becomes live: with
//! another word, the store would be another one.

use std::rc::Rc;

use wryneck_exec::ground::memory::Heap;

use super::{Over, Running};
use crate::flow::fitting::Dangers;
use crate::machine_code::effects::{Around, ERRNO, Led, Memory, THREAD, reached};
use crate::machine_code::pointers::{self, Root, Row, as_pointer, with_assigned};
use crate::slice::explain::Why;
use crate::slice::live::Live;
use crate::slice::walk::{Frame, Walk};

/// Calls from inner to outer ones that an argument is followed through.
const MOST_CALLS: usize = 16;

/// What a root comes from: constant addresses, and variables of calls in progress, each with the call's place among them.
#[derive(Default)]
struct Sources {
    addresses: Vec<u64>,
    variables: Vec<(usize, i64)>,
    /// The pointer may be at some distance from them.
    moved: bool,
}

/// Addresses and lengths.
type Objects = Vec<(u64, u64)>;

impl<'a> Walk<'a, '_, Over<'a, '_>> {
    /// What an alternative in a call touches; see [`crate::slice::walk::Code::touched`].
    pub(super) fn touches(&self, frame: &Frame<Running>, live: &Live, changes: &Memory, memory_alone: bool) -> Option<Why> {
        let before = self.code.assumed.borrow().len();
        let around = Around {
            base: self.code.base(frame),
            thread: self.code.thread,
            private: &|| self.private(),
            errno: self.code.facts.layout.errno().map_or(THREAD, |at| (at, ERRNO)),
            pointed: &|root| self.pointed(frame, root),
            format: &|root| self.format(frame, root),
        };
        let why = if memory_alone { changes.touches_memory(live, &around) } else { changes.touches(live, &around) };
        if why.is_some() {
            self.code.assumed.borrow_mut().truncate(before);
        }
        why
    }

    /// Makes the variables live that the last answers rest on, as addresses.
    pub(super) fn settle_assumed(&mut self) {
        let assumed = std::mem::take(&mut *self.code.assumed.borrow_mut());
        self.add_addresses(assumed);
    }

    /// The objects that a root leads to, in a call in progress.
    fn pointed(&self, frame: &Frame<Running>, root: Root) -> Option<Vec<Led>> {
        let place = self.place_of(frame)?;
        let Sources { addresses, variables, .. } = self.sources(place, root)?;
        let (mut words, mut all) = (Vec::new(), Vec::new());
        for (call, k) in variables {
            let at = self.address_of(call, k)?;
            let to = self.code.calls.word(self.code.path, self.frames[call].number, at, self.course.position)?;
            // The store's distance is known from what the variable itself holds.
            let itself = call == place && root == Root::Variable(k);
            all.extend(self.extents(to)?.into_iter().map(|object| Led { to: itself.then_some(to), object }));
            words.push(at);
        }
        for address in addresses {
            all.extend(self.extents(address)?.into_iter().map(|object| Led { to: None, object }));
        }
        self.code.assumed.borrow_mut().extend(words);
        Some(all)
    }

    /// What a format does, in a call in progress. Which one it is has to follow from the calls.
    fn format(&self, frame: &Frame<Running>, root: Root) -> Dangers {
        let layout = &self.code.facts.layout;
        let from = self.place_of(frame).and_then(|call| self.sources(call, root)).filter(|from| from.variables.is_empty() && !from.moved);
        let Some(from) = from else { return layout.format(None) };
        from.addresses.into_iter().map(|address| layout.format(Some(address))).fold(Dangers::default(), Dangers::or)
    }

    fn place_of(&self, frame: &Frame<Running>) -> Option<usize> {
        self.frames.iter().position(|other| std::ptr::eq(other, frame))
    }

    /// The address of a variable of a call in progress.
    fn address_of(&self, call: usize, k: i64) -> Option<u64> {
        let base = self.code.base(&self.frames[call]);
        (base != 0).then(|| base.wrapping_add_signed(k))
    }

    /// Where a root of a call in progress comes from, through its callers.
    fn sources(&self, mut at: usize, root: Root) -> Option<Sources> {
        let (mut from, mut roots) = (Sources::default(), vec![root]);
        for _ in 0..MOST_CALLS {
            let function = self.frames[at].call.as_ref()?;
            let (mut places, mut numbers) = (Vec::new(), Vec::new());
            for root in roots {
                let all = with_assigned(&[root], &function.pointers.assigned).filter(|all| !all.contains(&Root::New));
                let Some(all) = all else {
                    let Root::Variable(k) = root else { return None };
                    from.variables.push((at, k));
                    continue;
                };
                for root in all {
                    match root {
                        Root::Address(address) => from.addresses.push(address),
                        Root::Argument(number) => places.push(number),
                        Root::ByArgument(number) => numbers.push(number),
                        Root::Variable(k) | Root::ByVariable(k) if function.pointers.assigned.contains_key(&k) => {}
                        Root::Moved => from.moved = true,
                        Root::Variable(_) | Root::ByVariable(_) | Root::New => return None,
                    }
                }
            }
            if places.is_empty() && numbers.is_empty() {
                return Some(from);
            }
            // A function that continues in another one has the arguments of neither.
            let activation = self.code.calls.all[self.frames[at].number as usize];
            let (site, caller) = (activation.site.filter(|_| activation.last.is_none())?, at.checked_sub(1)?);
            let row = self.row_of(caller, site)?;
            roots = Vec::new();
            for number in places {
                roots.extend(as_pointer(row.argument(number)?)?);
            }
            for number in numbers {
                roots.extend(pointers::numbers(row.argument(number)?.iter().copied())?);
            }
            at = caller;
        }
        None
    }

    fn row_of(&self, call: usize, block: u32) -> Option<Rc<Row>> {
        let function = self.frames[call].call.as_ref()?;
        Some(self.code.facts.row(self.code.path.image, function, function.local(block)?))
    }

    /// The object that an address lies in, and the one that it is the end of. Null is in none. `None`: not known.
    fn extents(&self, address: u64) -> Option<Objects> {
        if address == 0 {
            return Some(Vec::new());
        }
        let inside = self.extent(address);
        let before = self.extent(address - 1);
        match (inside, before) {
            (None, None) => None,
            (inside, before) => Some(inside.into_iter().chain(before).collect()),
        }
    }

    /// The variable of static storage or the slot of the heap that an address lies in.
    pub(super) fn extent(&self, address: u64) -> Option<(u64, u64)> {
        if let Some(slot) = Heap::slot(address) {
            return Some((slot.start, slot.end - slot.start));
        }
        self.code.facts.source.borrow().bounds(address)
    }

    /// Whether the store at `op`, which wrote these bytes on the path, writes something live wherever in its object it goes.
    pub(super) fn may_write_live(&mut self, op: u32, written: &[(u64, u64)], decides: bool) -> bool {
        if !reached(&self.course.live, &|| self.private()) {
            return false;
        }
        // The variable's word did not say where the store went.
        if decides {
            return true;
        }
        let Some(variables) = self.variables_of(op) else { return true };
        let objects: Option<Vec<_>> = written.iter().map(|(address, _)| self.extent(*address)).collect();
        let Some(objects) = objects.filter(|objects| !objects.is_empty()) else { return true };
        if objects.iter().any(|(address, len)| self.course.live.is_live(*address, *len)) {
            return true;
        }
        self.code.assumed.borrow_mut().extend(variables);
        self.settle_assumed();
        false
    }

    /// The addresses of the variables that the address of the store at `op` is derived from, if it is from nothing else.
    fn variables_of(&self, op: u32) -> Option<Vec<u64>> {
        let call = self.frames.len().checked_sub(1)?;
        let row = self.row_of(call, self.code.facts.block_of(op))?;
        let mut all = Vec::new();
        for store in row.store(op)? {
            for (call, k) in self.sources(call, store.root)?.variables {
                all.push(self.address_of(call, k)?);
            }
        }
        Some(all)
    }
}
