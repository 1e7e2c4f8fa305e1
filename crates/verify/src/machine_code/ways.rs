//! Effects of blocks of machine code, of the alternatives of branches, and of calls.

use std::rc::Rc;

use wryneck_exec::Image;
use wryneck_exec::code::Callee;
use wryneck_ir::{Inst, Module, Op, call_flags};

use super::code::{Called, Facts, Function};
use super::effects::{ERRNO, Effects, Memory, any_call, anything, called};
use super::layout::Layout;
use super::pointers::Row;
use super::values::{Value, Values};
use crate::flow::cfg::End;
use crate::flow::{CellKind, Grows, Place, SYSTEM_CALL, Summary, is_standard_output};
use crate::operand::slots_written;

impl Facts {
    /// The effects of a block of a function, including the call that ends it.
    pub(super) fn block(&mut self, image: &Image, function: &Function, local: u32) -> Rc<Effects> {
        if let Some(known) = function.done.borrow().get(&local) {
            return known.clone();
        }
        let (module, code) = (image.function(self.func).0, image.code(self.func));
        let mut all = Effects { leaves: function.cfg.endless(local), ..Effects::default() };
        let mut values = function.values[local as usize].clone();
        let record = &function.cfg.blocks[local as usize];
        let row = self.row(image, function, local);
        for op in record.ops.clone() {
            let inst = self.inst(image, op);
            all.slots.extend(slots_written(module, &inst));
            match inst.operator() {
                Some(Op::Store) => match row.store(op) {
                    Some(stores) => all.changes.write_through(stores.iter().copied()),
                    None => write(&mut all, values.get(code, inst.a), u64::from(inst.width.div_ceil(8)), self.layout.errno()),
                },
                Some(Op::MemUndef | Op::MemCopy | Op::MemMove | Op::MemSet) => all.changes.anywhere = true,
                Some(Op::Call | Op::CallIndirect) => self.called_model(image, module, &inst, &values, &mut all),
                Some(Op::Unsupported) | None => all.goes_elsewhere(),
                Some(_) => {}
            }
            values.pass(module, code, &inst, &self.layout, &function.saves);
        }
        let global = function.blocks[local as usize];
        all.changes.tables |= self.registers_functions(global);
        match function.calls.get(&global) {
            Some(Called { callee: Some(callee), .. }) => {
                all.event |= self.is_event(image, global, *callee);
                match self.is_exit(*callee) {
                    true => all.exits = true,
                    false => self.add_call(image, *callee, &values, &row, &mut all),
                }
            }
            Some(Called { callee: None, .. }) if self.leads_nowhere(image, record.ops.clone(), &values) => {}
            Some(Called { callee: None, .. }) => all.add(&any_call(self.slots)),
            None if record.end == Some(End::Jump) => all.add(&anything(self.slots)),
            None => {}
        }
        let all = Rc::new(all);
        function.done.borrow_mut().insert(local, all.clone());
        all
    }

    /// Whether a block ends with a call by a pointer that is always null, which is a fault.
    fn leads_nowhere(&self, image: &Image, ops: std::ops::Range<u32>, values: &Values) -> bool {
        let last = self.inst(image, ops.end - 1);
        last.operator() == Some(Op::Jump) && values.get(image.code(self.func), last.a) == Some(Value::Number(0))
    }

    /// The effects of a call of a function, with these known values of registers.
    fn add_call(&mut self, image: &Image, callee: u32, values: &Values, row: &Row, all: &mut Effects) {
        let code = image.code(self.func);
        let Some(registers) = &self.registers else { return all.add(&anything(self.slots)) };
        let (clobbered, arguments) = (registers.clobbered.clone(), registers.arguments.clone());
        all.slots.union_with(&clobbered);
        let pushed = match values.get(code, registers.stack_pointer) {
            Some(Value::Frame(k)) => Some(k),
            _ => None,
        };
        let argument = |i: u32| arguments.get(i as usize).and_then(|slot| values.get(code, *slot));
        if let Some(summary) = self.summary_of_call(callee, &argument) {
            // Its inner calls are not analysed.
            all.event |= self.inside_libraries;
            return self.by_summary(&summary, &argument, row, all);
        }
        // Effects of the component that is being closed are added to all of its functions.
        if let Some(function) = self.functions.get(&callee) {
            let mut effects = called(&function.whole, pushed, &clobbered);
            self.for_caller(&mut effects.changes, row);
            self.for_caller(&mut effects.at_exit, row);
            all.add(&effects);
        }
    }

    /// Adds the effects of a call with this summary. The format may be one that a pointer is derived from.
    fn by_summary(&self, summary: &Summary, argument: &dyn Fn(u32) -> Option<Value>, row: &Row, all: &mut Effects) {
        let formats = summary.format.filter(|i| argument(*i).is_none()).and_then(|i| row.argument(i));
        let Some(formats) = formats else { return by_summary(summary, argument, &self.layout, all) };
        all.changes.say(formats);
        by_summary(&Summary { format: None, ..summary.clone() }, argument, &self.layout, all);
    }

    /// The effects of a call of the IR, by which machine code reaches a model or a replacement of a function.
    fn called_model(&self, image: &Image, module: &Module, inst: &Inst, values: &Values, all: &mut Effects) {
        let call = &module.calls[inst.b as usize];
        if call.flags & (call_flags::TELLS_CALL | call_flags::TELLS_RETURN) != 0 {
            // The call that observes a jump to the function. If the function is called, the event belongs to its caller.
            let jumps = call.flags & (call_flags::STANDS_IN | call_flags::TELLS_RETURN) == 0;
            all.event |= jumps;
            return;
        }
        let code = image.code(self.func);
        let args = if call.args.count == 0 { &[][..] } else { module.slot_lists.range(call.args) };
        let argument = |i: u32| args.get(i as usize).and_then(|slot| values.get(code, *slot));
        let callee = (inst.operator() == Some(Op::Call)).then(|| image.callee_of(code.module, inst.a)).flatten();
        let summary = callee.and_then(|callee| self.summary_of(image, callee, argument(0)));
        match summary {
            Some(summary) => by_summary(&summary, &argument, &self.layout, all),
            None => all.add(&anything(self.slots)),
        }
    }

    /// The summary of a call of the IR. `number` is its first argument, if known.
    pub fn summary_of(&self, image: &Image, callee: Callee, number: Option<Value>) -> Option<Summary> {
        let name = match callee {
            Callee::Body(f) => image.name(f),
            Callee::Model(m) => image.model_name(m),
            Callee::Undefined(u) => image.undefined_name(u),
        };
        let number = match number {
            Some(Value::Number(number)) if name == SYSTEM_CALL => Some(number),
            _ => None,
        };
        self.summaries.of_call(name, number).cloned()
    }

    /// The effects of these blocks of a function. `arrives` says whether a block can reach their end.
    pub(super) fn on_ways(&mut self, image: &Image, function: &Function, blocks: &[u32], arrives: &dyn Fn(u32) -> bool) -> Effects {
        let (mut all, mut written) = (Effects::default(), Memory::default());
        for block in blocks {
            let effects = self.block(image, function, *block);
            written.add(&effects.changes);
            if arrives(*block) { all.add(&effects) } else { all.add_end(&effects) }
        }
        all.close(&written);
        let assigned = self.assigned(image, function, blocks);
        self.follow(&mut all.changes, &assigned);
        self.follow(&mut all.at_exit, &assigned);
        all
    }

    /// The effects of taking `edge` at the branch that ends `block`, up to its immediate post-dominator or the function's return.
    pub fn side(&mut self, image: &Image, function: &Function, block: u32, edge: u32) -> Rc<Effects> {
        let Some(local) = function.local(block) else { return Rc::new(anything(self.slots)) };
        if let Some(known) = function.sides.borrow().get(&(local, edge)) {
            return known.clone();
        }
        let join = function.cfg.join(local);
        let target = function.cfg.blocks[local as usize].edges.iter().find(|(e, _)| *e == edge).map(|(_, to)| *to);
        let mut all = match target {
            Some(target) => self.ways(image, function, [target], join),
            None => anything(self.slots),
        };
        if let Some(join) = join {
            // Above all the stack pointer, which has its old value again on all paths.
            function.values[join as usize].slots().for_each(|slot| all.slots.remove(slot));
        }
        let all = Rc::new(all);
        function.sides.borrow_mut().insert((local, edge), all.clone());
        all
    }

    /// The effects after a block until the function returns.
    pub fn rest(&mut self, image: &Image, function: &Function, block: u32) -> Rc<Effects> {
        let Some(local) = function.local(block) else { return Rc::new(anything(self.slots)) };
        if let Some(known) = function.rests.borrow().get(&local) {
            return known.clone();
        }
        let next: Vec<u32> = function.cfg.blocks[local as usize].edges.iter().map(|(_, to)| *to).collect();
        let all = Rc::new(self.ways(image, function, next, None));
        function.rests.borrow_mut().insert(local, all.clone());
        all
    }

    fn ways(&mut self, image: &Image, function: &Function, starts: impl IntoIterator<Item = u32>, stop: Option<u32>) -> Effects {
        let blocks = function.cfg.reachable(starts, stop);
        let arriving = function.cfg.arriving(&blocks, stop);
        self.on_ways(image, function, &blocks, &|block| arriving[block as usize])
    }

    /// The effects of the call that ends a block, of a function with this summary.
    pub fn call_effects(&mut self, image: &Image, function: &Function, site: u32, summary: &Summary) -> Rc<Effects> {
        let values = self.values_between(image, function, self.ops(image, site));
        let code = image.code(self.func);
        let mut all = Effects::default();
        let registers = self.registers.as_ref();
        let argument = |i: u32| registers.and_then(|r| r.arguments.get(i as usize)).and_then(|slot| values.get(code, *slot));
        let row = function.local(site).map(|local| self.row(image, function, local)).unwrap_or_default();
        self.by_summary(summary, &argument, &row, &mut all);
        Rc::new(all)
    }

    /// The effects of a call of a function with this summary, with any arguments.
    pub fn effects_of(&self, summary: &Summary) -> Rc<Effects> {
        let mut all = Effects::default();
        by_summary(summary, &|_| None, &self.layout, &mut all);
        Rc::new(all)
    }

    /// The effects of any computed jump or call.
    pub fn anything(&self) -> Effects {
        anything(self.slots)
    }
}

/// Adds a write of this many bytes to an address, as far as it is known.
fn write(all: &mut Effects, address: Option<Value>, bytes: u64, errno: Option<i64>) {
    match address {
        Some(Value::Frame(k)) => all.changes.write_frame(k, k.saturating_add_unsigned(bytes)),
        Some(Value::Number(address)) => all.changes.write_fixed(address, bytes),
        Some(Value::Shadow) => {}
        Some(Value::Thread(k)) if Some(k) == errno && bytes <= ERRNO => all.changes.errno = true,
        Some(Value::Thread(_) | Value::Saved(_)) | None => all.changes.anywhere = true,
    }
}

/// The effects of a call with this summary.
pub fn by_summary(summary: &Summary, argument: &dyn Fn(u32) -> Option<Value>, layout: &Layout, all: &mut Effects) {
    let stream = |i: u32| match argument(i) {
        Some(Value::Number(address)) => Some(address),
        _ => None,
    };
    let standard = |i: u32| stream(i).filter(|address| layout.is_standard(*address, false));
    all.leaves |= summary.may_end;
    if summary.elsewhere {
        all.goes_elsewhere();
    }
    if let Some(format) = summary.format {
        let dangers = layout.format(stream(format));
        all.changes.anywhere |= dangers.writes;
        all.changes.errno |= dangers.fails;
    }
    for place in &summary.writes {
        match place {
            Place::Result | Place::Arg(_) => {}
            Place::Errno => all.changes.errno = true,
            Place::NewDescriptor => all.changes.write_cell(CellKind::Numbers, None),
            Place::Cell(CellKind::StreamOutput, Some(i)) => match (standard(*i), layout.only_inputs()) {
                (Some(address), _) => all.changes.write_cell(CellKind::StreamOutput, Some(address)),
                // If it is no standard output, it is standard input, which some programs lack, and to which nothing is written.
                (None, Some(inputs)) => {
                    all.changes.write_cell(CellKind::StreamOutput, None);
                    for input in inputs.iter().flatten() {
                        all.changes.write_cell(CellKind::StreamError, Some(*input));
                        all.changes.errno = true;
                    }
                }
                (None, None) => output(all),
            },
            Place::Written(i) => {
                let standard = argument(*i).is_some_and(|value| matches!(value, Value::Number(number) if is_standard_output(number)));
                if !standard {
                    output(all);
                }
            }
            Place::Standard(i) => all.standard |= matches!(argument(*i), Some(Value::Number(0..=2))),
            Place::Cell(kind, of) => all.changes.write_cell(*kind, of.and_then(stream)),
            Place::Memory(i) => match argument(*i) {
                Some(Value::Frame(k)) if k < 0 => all.changes.lend(k),
                // No object lies at null.
                Some(Value::Number(0)) => {}
                _ => all.changes.anywhere = true,
            },
            Place::Reachable(_) | Place::Everything => all.changes.anywhere = true,
        }
    }
    if summary.writes.contains(&Place::Everything) {
        (all.changes.errno, all.changes.tables, all.changes.named) = (true, true, true);
        CellKind::all().for_each(|kind| all.changes.write_cell(kind, None));
    }
}

/// Output to what may be no standard stream: the program may read it again, and it may fail.
fn output(all: &mut Effects) {
    let kinds = [CellKind::StreamOutput, CellKind::StreamInput, CellKind::StreamError, CellKind::Contents];
    kinds.into_iter().for_each(|kind| all.changes.write_cell(kind, None));
    all.changes.errno = true;
}
