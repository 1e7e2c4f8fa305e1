//! Operations on the walk: their position in the code, and the memory they access.

use wryneck_exec::CodePos;
use wryneck_exec::memory::{Heap, heap};
use wryneck_ir::Inst;

use super::group::Group;
use super::{Frame, Mismatch, Walk};
use crate::flow::BitSet;
use crate::slice::backward::{Backward, Course, Former, Taken};
use crate::slice::live::Placed;
use crate::slice::needs::Needs;

/// Functions that give the program memory of its own.
const ALLOCATES: [&str; 8] = ["aligned_alloc", "calloc", "malloc", "memalign", "posix_memalign", "realloc", "reallocarray", "valloc"];

impl<'a> Backward<'a> for Walk<'a> {
    fn course(&self) -> &Course<'a> {
        &self.course
    }
    fn course_mut(&mut self) -> &mut Course<'a> {
        &mut self.course
    }
    fn step(&mut self) -> Result<(), Mismatch> {
        self.back()
    }
    fn is_over(&self) -> bool {
        self.frames.is_empty()
    }
    fn depth(&self) -> usize {
        self.frames.len() + self.inside.len()
    }
    fn needs(&self) -> Needs {
        self.needed()
    }
    fn taken_in_call(&mut self) -> &mut Taken {
        &mut self.top().taken
    }
    fn at(&mut self) -> CodePos {
        let frame = self.top();
        CodePos { func: frame.func, op: frame.cursor.saturating_sub(1) }
    }
    fn slots(&mut self) -> &mut BitSet {
        &mut self.top().live
    }

    fn kill(&mut self, address: u64, len: u64) -> bool {
        if self.course.path.compared {
            self.course.read.kill(Placed::default, address, len);
        }
        if !self.course.live.is_live(address, len) {
            return false;
        }
        if let Some(exit) = &mut self.exit {
            exit.changed |= exit.live.is_live(address, len);
        }
        let placed = self.placed(address);
        self.course.live.kill(|| placed, address, len)
    }

    fn add_reads(&mut self, reads: impl Iterator<Item = (u64, u64)>) {
        for (address, len) in reads {
            let placed = self.placed(address);
            self.course.live.add(placed, address, len);
        }
    }

    fn known(&self, _: u32) -> u8 {
        0
    }

    fn wrote(&mut self, op: u32, address: u64, len: u64) {
        if !self.checked.is_on() {
            return;
        }
        let frame = self.top();
        let (at, context) = (CodePos { func: frame.func, op }, frame.context);
        let placed = self.placed(address);
        if !self.allocated.contains(&placed.1) {
            self.checked.wrote(self.flow, self.course.path.image, at, context, placed, (address, len));
        }
    }

    fn came_to_be(&mut self, address: u64) {
        self.allocated.insert(address);
    }

    fn was_replaced(&mut self, former: Former) {
        self.allocated.remove(&former.base);
        self.former.extend(Heap::slot(former.base).map(|slot| (slot.start, former)));
    }

    fn may_write(&mut self, op: u32) -> bool {
        let func = self.top().func;
        !self.course.live.is_empty() && self.may_matter(func, op)
    }

    fn announced(&mut self, inst: &Inst, mask: u32, group: &Group<'a>) {
        self.is_announced(inst, mask, group);
    }
    fn called(&mut self, inst: &Inst, op: u32, group: &Group<'a>) {
        self.is_called(inst, op, group);
    }
}

impl Walk<'_> {
    /// A call's memory was created by the call.
    pub(super) fn kill_frame(&mut self, frame: &Frame) {
        let traced = self.course.path.trace.frames[frame.number as usize];
        let len = traced.top.saturating_sub(traced.base);
        if !self.course.live.is_live(traced.base, len) {
            return;
        }
        for (slot, i) in self.course.path.image.code(frame.func).frame.iter().zip(0..) {
            let base = traced.base + slot.offset;
            self.course.live.kill(|| (self.flow.alloca_object(frame.func, i), base), base, slot.size);
        }
        self.course.live.kill(|| (self.flow.dynamic_object(frame.func), traced.base), traced.base, len);
    }

    /// The object an address lies in, if the program can see it: it is one of its variables, or what it allocated itself.
    pub(super) fn visible(&self, address: u64) -> Option<Placed> {
        let image = self.course.path.image;
        let heap = || {
            let object = self.heap_object(address)?;
            let allocated = object.own && !self.allocated.contains(&object.base);
            let stack = self.course.path.stacks.get(object.origin);
            let call = stack.iter().find(|pos| !image.is_library(pos.func)).filter(|_| allocated)?;
            let callee = self.callee(call.func, &self.inst(call.func, call.op))?;
            ALLOCATES.contains(&image.callee_name(callee)).then_some(())
        };
        let variable = || {
            let (_, base) = self.flow.global_object(address)?;
            self.flow.is_variable_of_the_program(base).then_some(())
        };
        let frame = || {
            let mut frames = self.frames.iter().rev().map(|frame| self.course.path.trace.frames[frame.number as usize]);
            let frame = frames.find(|frame| (frame.base..frame.top).contains(&address))?;
            (!image.is_library(frame.func)).then_some(())
        };
        variable().or_else(frame).or_else(heap).map(|()| self.placed(address))
    }

    /// The object an address lies in.
    pub(super) fn placed(&self, address: u64) -> Placed {
        let image = self.course.path.image;
        if let Some(placed) = self.flow.global_object(address) {
            return placed;
        }
        for frame in self.frames.iter().rev() {
            let traced = self.course.path.trace.frames[frame.number as usize];
            // Below a call's frame lies what it allocated as it went, then the frames of its callees.
            if address >= traced.top || !heap::is_stack(address) {
                continue;
            }
            let Some(offset) = address.checked_sub(traced.base) else { return (self.flow.dynamic_object(frame.func), traced.base) };
            let slots = &image.code(frame.func).frame;
            let at = slots.partition_point(|slot| slot.offset <= offset);
            return match at.checked_sub(1).filter(|at| offset - slots[*at].offset < slots[*at].size) {
                Some(at) => (self.flow.alloca_object(frame.func, at as u32), traced.base + slots[at].offset),
                None => (self.flow.dynamic_object(frame.func), traced.base),
            };
        }
        match self.heap_object(address) {
            Some(object) if object.own => (self.flow.heap_object(self.course.path.stacks.get(object.origin)), object.base),
            Some(object) => (self.flow.outside_object(), object.base),
            None => (self.flow.outside_object(), 0),
        }
    }

    /// The object that lies, at the current point of the path, in the heap slot of an address.
    fn heap_object(&self, address: u64) -> Option<Former> {
        let slot = Heap::slot(address)?;
        if let Some(former) = self.former.get(&slot.start) {
            return Some(*former);
        }
        let object = self.course.path.state.memory.heap.find(address)?;
        Some(Former { own: self.course.path.environment.allocates(&object), origin: object.origin, base: object.base })
    }
}
