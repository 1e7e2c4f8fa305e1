//! Calls that are added to the slice as a whole or not at all, by what their summaries say.

use std::rc::Rc;

use super::{Code, Group, Walk};
use crate::flow::{CellKind, Effects, Gives, Place, Summary};

/// A call that is not walked through.
pub struct Skipped<'s, C> {
    pub summary: &'s Summary,
    /// Its arguments' slots.
    pub args: &'s [u32],
    /// The slot of the function pointer, if the call is made through one.
    pub by_pointer: Option<u32>,
    /// Its result is live.
    pub result: bool,
    /// What it is assumed to return.
    pub gives: Option<Gives>,
    /// The argument that `gives` depends on: with another value of it the result may differ.
    pub rests_on: Option<u32>,
    /// The values of arguments, where they are known.
    pub key: &'s dyn Fn(u32) -> Option<u64>,
    /// Its effects with any arguments.
    pub effects: Rc<Effects<C>>,
    /// It returns, and decisions inside do not determine whether it is an event.
    pub mere_event: &'s dyn Fn() -> bool,
}

impl<'a, C: Code<'a>> Walk<'a, '_, C> {
    /// Walks over a call with a summary at the operation `op`, whose steps are `group`.
    pub fn by_summary(&mut self, op: u32, group: &Group<'_>, call: &Skipped<'_, C::Changes>) {
        let Skipped { summary, args, result, gives, key, .. } = *call;
        if group.happens() {
            self.happened = self.course.time + 1;
            C::happened(self, op);
        }
        // What decides whether control goes elsewhere is read by the call.
        let mut relevant = summary.elsewhere || result && !gives.is_some_and(Gives::is_known);
        relevant |= self.kill_writes(group);
        let writes = |code: &C, live: &_| summary.writes.iter().any(|place| code.writes_live(place, live, key));
        relevant |= writes(&self.code, &self.course.live);
        if let Some(exit) = &mut self.exit {
            exit.changed |= writes(&self.code, &exit.live);
        }
        if !relevant && summary.writes_sometimes() {
            // In another state it may write memory that it did not write here. Which places of the environment it writes, its arguments say.
            let top = self.frames.last();
            relevant = top.is_some_and(|top| C::touched_memory(self, top, &self.course.live, &call.effects.changes).is_some());
        }
        if !relevant && !self.end_matters() {
            let top = self.frames.last();
            let changes = || top.is_some_and(|top| C::touched(self, top, &self.course.live, &call.effects.changes).is_some());
            if !group.happens() && (call.mere_event)() && !changes() {
                self.take();
            } else if self.may_matter(&call.effects) {
                // The location of its writes may be relevant, but not their value.
                self.take();
                self.want(group);
                self.live_call(call);
                self.top().live.extend(C::deciding(summary, args));
                if self.course.record.compared {
                    self.course.read.add_all(&group.exposed());
                }
            }
            C::settle(self);
            // Its assumed result depends on one argument only, or on nothing.
            let of = match gives {
                Some(Gives::Arg { arg, .. }) => Some(arg),
                Some(Gives::Zero | Gives::Natural) | None => None,
            };
            let rests_on: Vec<u32> = of.into_iter().chain(call.rests_on).filter(|_| result).collect();
            if !rests_on.is_empty() {
                self.take();
                self.top().live.extend(rests_on.into_iter().filter_map(|arg| args.get(arg as usize).copied()));
            }
            return;
        }
        self.take();
        self.want(group);
        if self.course.record.compared {
            self.course.read.add_all(&group.exposed());
        }
        self.live_call(call);
        for place in &summary.reads {
            self.live_place(*place, group, call);
        }
    }

    /// Steps of the monitor at the current call: an event is added to the slice, and so are their decisions.
    pub fn happens_here(&mut self, group: &Group<'_>) {
        if group.happens() {
            self.take();
            self.happened = self.course.time;
            let op = self.at().op;
            C::happened(self, op);
        }
        self.want(group);
    }

    /// The arguments that say where a call writes become live, and the pointer it is made by.
    fn live_call(&mut self, call: &Skipped<'_, C::Changes>) {
        self.top().live.extend(call.by_pointer);
        self.live_places(&call.summary.writes, call.args);
    }

    /// What a call in the slice reads becomes live.
    fn live_place(&mut self, place: Place, group: &Group<'_>, call: &Skipped<'_, C::Changes>) {
        let Skipped { args, key, .. } = *call;
        match place {
            Place::Arg(i) => {
                let slot = args.get(i as usize).copied();
                self.top().live.extend(slot);
            }
            Place::Memory(i) => {
                let slot = args.get(i as usize).copied();
                self.top().live.extend(slot);
                let all: Vec<_> = group.reads().collect();
                let of_object = match key(i) {
                    Some(address) => C::of_object(self, address, all),
                    None => all,
                };
                self.add_reads(of_object.into_iter());
            }
            Place::Reachable(_) | Place::Everything => {
                if place == Place::Everything {
                    CellKind::all().for_each(|kind| self.course.live.add_cell(kind, None));
                }
                self.top().live.extend(args.iter().copied());
                self.add_reads(group.reads());
            }
            Place::Cell(kind, stream) => {
                let of = stream.and_then(key).map(|address| (address, C::placed(self, address).0));
                self.course.live.add_cell(kind, of);
                // `setlocale` and `uselocale` are walked: they write variables of the library and of the thread, where this call found the locale.
                if kind == CellKind::Locale {
                    self.add_reads(group.reads());
                }
                // A descriptor that was not open is one that another way may have opened.
                if kind == CellKind::Descriptors && !self.course.record.open_descriptors {
                    self.course.live.add_cell(CellKind::Numbers, None);
                }
            }
            Place::Result | Place::Errno | Place::NewDescriptor | Place::Written(_) | Place::Standard(_) => {}
        }
    }
}
