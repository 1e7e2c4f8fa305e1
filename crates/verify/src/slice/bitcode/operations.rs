//! Operations on the walk: their position in the code, and the memory they access.

use wryneck_exec::CodePos;
use wryneck_exec::ground::memory::{Heap, heap};

use super::Over;
use crate::flow::ContextId;
use crate::slice::live::Placed;
use crate::slice::walk::{Former, Frame, Walk};

/// Functions that give the program memory of its own.
const ALLOCATES: [&str; 9] =
    ["aligned_alloc", "calloc", "malloc", "memalign", "posix_memalign", "pvalloc", "realloc", "reallocarray", "valloc"];

impl Over<'_> {
    pub(super) fn came(&mut self, address: u64) {
        self.allocated.insert(address);
    }

    pub(super) fn replaced(&mut self, former: Former) {
        self.allocated.remove(&former.base);
        self.former.extend(Heap::slot(former.base).map(|slot| (slot.start, former)));
    }
}

impl<'a> Walk<'a, '_, Over<'a>> {
    /// A store wrote these bytes.
    pub(super) fn has_written(&mut self, op: u32, address: u64, len: u64) {
        if !self.code.checked.is_on() {
            return;
        }
        let (func, context) = self.here();
        let placed = self.object_at(address);
        if !self.code.allocated.contains(&placed.1) {
            self.code.checked.wrote(self.code.flow, self.code.path.image, CodePos { func, op }, context, placed, (address, len));
        }
    }

    /// A call's memory was created by the call.
    pub(super) fn kill_frame(&mut self, frame: &Frame<ContextId>) {
        let traced = self.code.path.trace.frames[frame.number as usize];
        let len = traced.top.saturating_sub(traced.base);
        if !self.course.live.is_live(traced.base, len) {
            return;
        }
        for (slot, i) in self.code.path.image.code(frame.func).frame.iter().zip(0..) {
            let base = traced.base + slot.offset;
            self.course.live.kill(|| (self.code.flow.alloca_object(frame.func, i), base), base, slot.size);
        }
        self.course.live.kill(|| (self.code.flow.dynamic_object(frame.func), traced.base), traced.base, len);
    }

    /// The object an address lies in, if the program can see it: it is one of its variables, or what it allocated itself.
    pub(super) fn visible(&self, address: u64) -> Option<Placed> {
        let image = self.code.path.image;
        let heap = || {
            let object = self.heap_object(address)?;
            let allocated = object.own && !self.code.allocated.contains(&object.base);
            let stack = self.code.path.stacks.get(object.origin);
            let call = stack.iter().find(|pos| !image.is_library(pos.func)).filter(|_| allocated)?;
            let callee = self.callee(call.func, &self.inst(call.func, call.op))?;
            ALLOCATES.contains(&image.callee_name(callee)).then_some(())
        };
        let variable = || {
            let (_, base) = self.code.flow.global_object(address)?;
            self.code.flow.is_variable_of_the_program(base).then_some(())
        };
        let frame = || {
            let mut frames = self.frames.iter().rev().map(|frame| self.code.path.trace.frames[frame.number as usize]);
            let frame = frames.find(|frame| (frame.base..frame.top).contains(&address))?;
            (!image.is_library(frame.func)).then_some(())
        };
        variable().or_else(frame).or_else(heap).map(|()| self.object_at(address))
    }

    /// The object an address lies in.
    pub(super) fn object_at(&self, address: u64) -> Placed {
        let image = self.code.path.image;
        if let Some(placed) = self.code.flow.global_object(address) {
            return placed;
        }
        for frame in self.frames.iter().rev() {
            let traced = self.code.path.trace.frames[frame.number as usize];
            // Below a call's frame lies what it allocated as it went, then the frames of its callees.
            if address >= traced.top || !heap::is_stack(address) {
                continue;
            }
            let Some(offset) = address.checked_sub(traced.base) else { return (self.code.flow.dynamic_object(frame.func), traced.base) };
            let slots = &image.code(frame.func).frame;
            let at = slots.partition_point(|slot| slot.offset <= offset);
            return match at.checked_sub(1).filter(|at| offset - slots[*at].offset < slots[*at].size) {
                Some(at) => (self.code.flow.alloca_object(frame.func, at as u32), traced.base + slots[at].offset),
                None => (self.code.flow.dynamic_object(frame.func), traced.base),
            };
        }
        match self.heap_object(address) {
            Some(object) if object.own => (self.code.flow.heap_object(self.code.path.stacks.get(object.origin)), object.base),
            Some(object) => (self.code.flow.outside_object(), object.base),
            None => (self.code.flow.outside_object(), 0),
        }
    }

    /// The object that lies, at the current point of the path, in the heap slot of an address.
    fn heap_object(&self, address: u64) -> Option<Former> {
        let slot = Heap::slot(address)?;
        if let Some(former) = self.code.former.get(&slot.start) {
            return Some(*former);
        }
        let object = self.code.path.state.memory.heap.find(address)?;
        Some(Former { own: self.code.path.environment.allocates(&object), origin: object.origin, base: object.base })
    }
}
