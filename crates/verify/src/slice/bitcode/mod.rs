//! Bitcode, as the backward walk sees it: functions with slots of their own, objects, and contexts of calls.

mod calls;
mod operations;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_exec::{CodePos, Step, Traced, Wanted};
use wryneck_ir::{Inst, Module, Op};

use super::checked::Checked;
use super::explain::{Explain, Why};
use super::live::{Live, Placed};
use super::needs::{Known, Needs};
use super::walk::{Asks, Code, Former, Frame, Group, Mismatch, Record, Walk, hold};
use super::{Front, Slicer};
use crate::flow::{BitSet, Changes, ContextId, Effects, Flow, ObjectId, Place, Summary};

/// The static analysis of a program as bitcode, and where recorded paths contradict it.
pub struct Bitcode {
    flow: Flow,
    checked: Checked,
}

impl Slicer {
    /// `checks`: recorded paths are compared with the static analysis.
    pub fn new(flow: Flow, explain: Option<Explain>, checks: bool) -> Slicer {
        Slicer::over(Bitcode { flow, checked: Checked::new(checks) }, explain)
    }
}

impl Front for Bitcode {
    fn slice(
        &self,
        known: &Known,
        path: &Traced<'_>,
        from: Option<&Needs>,
        see: &mut dyn FnMut(CodePos, Option<Why>),
    ) -> Result<Wanted, Mismatch> {
        hold(path)?;
        let (allocated, former) = Default::default();
        let mut walk = Walk::new(Over { path, flow: &self.flow, checked: &self.checked, allocated, former }, Record::of(path), see);
        for (number, op) in &path.trace.end {
            let call = walk.frames.last().map(|caller| caller.cursor - 1);
            walk.enter(*number, call, *op + 1, false);
        }
        if let Some(needs) = from {
            walk.resume(needs)?;
        }
        let wanted = walk.found(known)?;
        // The effects of sides may rest on it, and are found on the way.
        match self.flow.assumes_input() && !path.environment.premises(path.state).standard_input {
            false => Ok(wanted),
            true => Err(Mismatch("standard input was closed or is another file, and the program may close its stream")),
        }
    }

    fn contradicted(&self) -> Vec<String> {
        self.checked.take()
    }

    fn object_name(&self, object: ObjectId) -> String {
        self.flow.object_name(object)
    }
}

/// Bitcode under a walk.
struct Over<'a> {
    path: &'a Traced<'a>,
    flow: &'a Flow,
    checked: &'a Checked,
    /// Addresses at which the path allocates heap objects after the current point. Before that, other objects are there.
    allocated: FxHashSet<u64>,
    /// For each heap slot that the path uses again after the current point, by its first address: the object that is there before.
    former: FxHashMap<u64, Former>,
}

/// The known constant arguments of a call.
type InContext = ContextId;

impl<'a> Code<'a> for Over<'a> {
    type Call = InContext;
    type Changes = Changes;

    fn inst(&self, func: u32, op: u32) -> Inst {
        let code = self.path.image.code(func);
        self.path.image.function(func).0.insts[(code.first_inst + op) as usize]
    }
    fn block_of(&self, func: u32, op: u32) -> u32 {
        self.flow.block_of(func, op)
    }
    fn first_op(&self, func: u32, block: u32) -> u32 {
        self.flow.first_op(func, block)
    }
    fn known(_: &Walk<'a, '_, Self>, _: u32) -> u8 {
        0
    }

    fn function(&self, frame: &Frame<InContext>) -> u32 {
        frame.func
    }
    fn depth(walk: &Walk<'a, '_, Self>) -> usize {
        walk.frames.len() + walk.inside.len()
    }
    fn is_over(walk: &Walk<'a, '_, Self>) -> bool {
        walk.frames.is_empty()
    }
    fn compared(_: &mut Walk<'a, '_, Self>, _: &mut Needs) {}
    fn state_frame(_: &Walk<'a, '_, Self>, call: usize) -> Option<u32> {
        Some(call as u32)
    }

    /// Leaves a block by its beginning: through the edge into the block, or by the call of the function.
    fn at_start(walk: &mut Walk<'a, '_, Self>) -> Result<(), Mismatch> {
        match walk.peek() {
            Some(Step::Edge { op, edge }) => {
                walk.course.position -= 1;
                walk.edge(op, edge, None)
            }
            Some(Step::Slow { count, .. }) => {
                let group = walk.group(count)?;
                match group.edge() {
                    Some((op, edge)) => walk.edge(op, edge, Some(&group)),
                    None if group.enters() > 0 => walk.entered(group.enters(), Some(&group)),
                    None => Err(Mismatch("a block was entered by no edge")),
                }
            }
            Some(Step::Enter { .. }) => {
                walk.course.position -= 1;
                walk.entered(1, None)
            }
            // A function that a model called before this one.
            Some(Step::Leave { op, frame }) => {
                walk.course.position -= 1;
                walk.enter(frame, None, op + 1, true);
                walk.pass_return(op);
                Ok(())
            }
            Some(_) | None => Err(Mismatch("a block was entered by no step")),
        }
    }

    fn left(walk: &mut Walk<'a, '_, Self>, inst: &Inst, op: u32, ret: u32, frame: u32) -> Result<(), Mismatch> {
        walk.leave(inst, op, ret, frame)
    }

    fn asks(walk: &Walk<'a, '_, Self>, inst: &Inst, op: u32, edge: Option<u32>, _: bool) -> Result<Asks, Mismatch> {
        match (inst.operator(), walk.frames.last(), edge) {
            (Some(Op::Br), ..) => Ok(Asks::No),
            (Some(Op::CondBr | Op::Switch), Some(top), Some(edge)) => {
                let (flow, func) = (walk.code.flow, top.func);
                match flow.edges(func, top.call, flow.block_of(func, op)).contains(&edge) {
                    true => Ok(Asks::Edge(edge)),
                    false => Err(Mismatch("an allocation failed, which slices take for impossible")),
                }
            }
            _ => Err(Mismatch("an edge leaves from what is no branch")),
        }
    }

    fn announced(walk: &mut Walk<'a, '_, Self>, inst: &Inst, mask: u32, group: &Group<'a>) {
        walk.is_announced(inst, mask, group);
    }
    fn shown(walk: &mut Walk<'a, '_, Self>, inst: &Inst, group: &Group<'a>) {
        walk.is_shown(inst, group);
    }
    fn called(walk: &mut Walk<'a, '_, Self>, inst: &Inst, op: u32, group: &Group<'a>) {
        walk.is_called(inst, op, group);
    }

    fn join(walk: &Walk<'a, '_, Self>, block: u32) -> Option<Option<u32>> {
        let top = walk.frames.last()?;
        Some(walk.code.flow.join(top.func, top.call, block))
    }
    fn others(walk: &Walk<'a, '_, Self>, block: u32, edge: u32) -> Vec<u32> {
        let edges = walk.frames.last().map(|top| walk.code.flow.edges(top.func, top.call, block));
        edges.into_iter().flatten().filter(|other| *other != edge).collect()
    }
    fn side(walk: &mut Walk<'a, '_, Self>, block: u32, edge: u32) -> Rc<Effects> {
        let (func, context) = walk.here();
        walk.code.flow.side(func, context, block, edge)
    }
    fn differing(walk: &Walk<'a, '_, Self>, block: u32) -> Option<Rc<BitSet>> {
        walk.frames.last().map(|top| walk.code.flow.differing(top.func, top.call, block))
    }
    fn rest(walk: &mut Walk<'a, '_, Self>, call: usize, op: u32) -> (Rc<Effects>, bool) {
        let (flow, frame) = (walk.code.flow, &walk.frames[call]);
        (flow.rest(frame.func, frame.call, op), flow.returns(frame.func, frame.call, op))
    }
    fn event_at_exit(&self) -> bool {
        self.flow.event_at_exit()
    }
    fn touched(_: &Walk<'a, '_, Self>, _: &Frame<InContext>, live: &Live, changes: &Changes) -> Option<Why> {
        live.touched_by(changes)
    }
    fn touched_memory(_: &Walk<'a, '_, Self>, _: &Frame<InContext>, live: &Live, changes: &Changes) -> Option<Why> {
        live.written_by(&changes.writes).map(Why::Object)
    }
    fn may_write(walk: &mut Walk<'a, '_, Self>, op: u32, _: &[(u64, u64)], _: bool) -> bool {
        let (func, context) = walk.here();
        !walk.course.live.is_empty() && walk.may_matter(&walk.code.flow.operation(func, context, op))
    }

    fn placed(walk: &Walk<'a, '_, Self>, address: u64) -> Placed {
        walk.object_at(address)
    }
    fn is_hidden(&self, _: u64) -> bool {
        false
    }
    fn is_mapped(_: &Walk<'a, '_, Self>, _: u64) -> bool {
        false
    }
    fn deciding(_: &Summary, args: &[u32]) -> Vec<u32> {
        args.to_vec()
    }
    fn writes_live(&self, place: &Place, live: &Live, key: &dyn Fn(u32) -> Option<u64>) -> bool {
        calls::writes_live(self.flow, place, live, key)
    }
    fn of_object(walk: &Walk<'a, '_, Self>, address: u64, bytes: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        let object = walk.object_at(address);
        bytes.into_iter().filter(|(address, _)| walk.object_at(*address) == object).collect()
    }

    fn happened(walk: &Walk<'a, '_, Self>, op: u32) {
        if let Some(top) = walk.frames.last() {
            let at = CodePos { func: top.func, op };
            walk.code.checked.happened(walk.code.flow, walk.code.path.image, at, top.call);
        }
    }
    fn never_met(walk: &Walk<'a, '_, Self>, op: u32) {
        if let Some(top) = walk.frames.last() {
            walk.code.checked.never_met(walk.code.path.image, CodePos { func: top.func, op });
        }
    }
    fn wrote(walk: &mut Walk<'a, '_, Self>, op: u32, address: u64, len: u64) {
        walk.has_written(op, address, len);
    }
    fn came_to_be(&mut self, address: u64) {
        self.came(address);
    }
    fn was_replaced(&mut self, former: Former) {
        self.replaced(former);
    }
}

impl<'a> Walk<'a, '_, Over<'a>> {
    /// Pushes a call. `call`: the operation of the top call that called it, if known.
    fn enter(&mut self, number: u32, call: Option<u32>, cursor: u32, returned: bool) {
        let func = self.code.path.trace.frames[number as usize].func;
        let context = match (self.frames.last(), call) {
            (Some(caller), Some(op)) if self.calls(caller.func, &self.inst(caller.func, op), func) => {
                self.code.flow.context(caller.func, caller.call, op, func)
            }
            _ => 0,
        };
        self.push(number, func, context, cursor, returned);
    }

    fn module(&self, func: u32) -> &'a Module {
        self.code.path.image.function(func).0
    }

    /// The function of the top call, and its context.
    fn here(&mut self) -> (u32, ContextId) {
        let top = self.top();
        (top.func, top.call)
    }

    /// Moves the cursor to the return at `op`.
    fn pass_return(&mut self, op: u32) {
        let func = self.top().func;
        let start = self.block_start(func, op);
        let frame = self.top();
        frame.cursor = op;
        frame.block_start = start;
    }

    /// Walks through an edge and the branch that took it.
    fn edge(&mut self, op: u32, edge: u32, group: Option<&Group<'a>>) -> Result<(), Mismatch> {
        let func = self.top().func;
        let module = self.module(func);
        let function = self.code.path.image.function(func).1;
        let record = module.edges.range(function.edges).get(edge as usize).ok_or(Mismatch("no such edge"))?;
        let copies = module.copies.range(record.copies);
        let frame = self.top();
        let needed: Vec<_> = copies.iter().filter(|copy| frame.live.contains(copy.dst)).copied().collect();
        let live = (!needed.is_empty()).then(|| frame.live.clone());
        self.pass(record.block, live);
        let time = self.course.time;
        let frame = self.top();
        needed.iter().for_each(|copy| frame.live.remove(copy.dst));
        frame.live.extend(needed.iter().map(|copy| copy.src));
        if !needed.is_empty() {
            frame.copied = time + 1;
            self.course.time += 1;
        }
        self.branch(op, Some(edge), group)
    }
}
