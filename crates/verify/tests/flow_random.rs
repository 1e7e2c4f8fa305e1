//! Random programs, run by a small interpreter that knows which object each byte belongs to. Everything that happens on an alternative,
//! after a call, or in a call must be among the results of the static analysis.
//!
//! Objects have one layout (two words of data, two addresses of such objects), so any address that is loaded can be used. Variables are
//! written at many places, temporaries are used again and again.

mod common;

use std::collections::BTreeMap;
use std::rc::Rc;

use common::image;
use wryneck_exec::code::Callee;
use wryneck_exec::{CodePos, Image};
use wryneck_ir::link::Target;
use wryneck_ir::{Module, NONE, Op, Range};
use wryneck_verify::flow::{Effects, Flow, ObjectId, Solution, Summaries};

struct Generator {
    seed: u64,
    labels: u32,
    /// Functions that may be called: those with a higher number.
    function: u64,
    out: String,
}

const FUNCTIONS: u64 = 4;

impl Generator {
    fn program(seed: u64) -> String {
        let mut g = Generator { seed, labels: 0, function: 0, out: String::new() };
        g.line("declare func @malloc\ndeclare func @exit\ndeclare func @memcpy\ndata strong @input size 8 align 8\ndata strong @depth size 8 align 8");
        for i in 0..4 {
            g.line(&format!("data strong @g{i} size 32 align 8 {{ 16: @g{}, 24: @g{} }}", (i + 1) % 4, (i + 2) % 4));
        }
        g.line("data strong @hooks size 32 align 8 { 0: @f3, 8: @f2, 16: @f3, 24: @event }");
        g.line("func strong @event(%a: ptr, %b: ptr) -> 64 { entry: ret.64 %a }");
        g.line(
            "func strong @xalloc() -> 64 { entry: %p = call.64 @malloc(32:64) %c = eq.64 %p, 0 condbr %c, bad, good
             bad: call @exit(3:32) unreachable
             good: %q = ptradd %p, 16 store.64 %q, @g0 %q = ptradd %p, 24 store.64 %q, @g1 ret.64 %p }",
        );
        g.line(
            "func strong @fail(%s: 32, %p: ptr) { entry: call @told(%s:32, %p:64) %c = ne.32 %s, 0 condbr %c, bad, good
             bad: store.64 @g2, 1 call @exit(%s:32) ret
             good: store.64 %p, 9 ret }
             func strong @told(%s: 32, %p: ptr) { entry: %c = eq.32 %s, 0 condbr %c, good, bad
             bad: %q = ptradd %p, 8 store.64 %q, 8 ret
             good: store.64 @g3, 9 ret }",
        );
        for f in 0..FUNCTIONS {
            g.function(f);
        }
        g.line("func strong @main() -> 64 { entry: %r = call.64 @f0(@g0:64, @g1:64) %s = call.64 @f1(%r:64, @g2:64) ret.64 0 }");
        g.out
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn below(&mut self, n: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 33) % n
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("l{}", self.labels)
    }

    fn function(&mut self, f: u64) {
        self.function = f;
        self.line(&format!("func strong @f{f}(%a: ptr, %b: ptr) -> 64 {{\n  $x: 32 align 8\n  $y: 32 align 8\nentry:"));
        self.line("  %x = alloca $x\n  %y = alloca $y\n  %p0 = copy.64 %a\n  %p1 = copy.64 %b\n  %p2 = copy.64 %x\n  %p3 = copy.64 @g3\n  %v0 = copy.64 1");
        for object in ["%x", "%y"] {
            for at in [16, 24] {
                self.line(&format!("  %t0 = ptradd {object}, {at}\n  store.64 %t0, @g{}", at / 8 - 1));
            }
        }
        self.statements(3, 5);
        let p = self.pointer();
        self.line(&format!("  ret.64 {p}\n}}"));
    }

    /// A variable, or an argument, that holds an address; of the frame only `%p2` may, so that what is returned is alive.
    fn pointer(&mut self) -> String {
        match self.below(6) {
            0 => "@g0".into(),
            1 => "%b".into(),
            n => format!("%p{}", [0, 1, 3, 0][n as usize % 4]),
        }
    }

    fn any_pointer(&mut self) -> String {
        match self.below(5) {
            0 => "%p2".into(),
            1 => "%y".into(),
            _ => self.pointer(),
        }
    }

    /// An address in an object, in a temporary.
    fn address(&mut self, low: u64, count: u64) -> String {
        let (p, t) = (self.any_pointer(), self.below(3));
        if self.below(5) == 0 {
            let byte = self.below(8);
            self.line(&format!("  %w = load.8 @input+{byte}\n  %w = zext.64 %w from 8\n  %w = urem.64 %w, {count}"));
            self.line(&format!("  %t{t} = ptradd {p}, {low}\n  %t{t} = ptradd %t{t}, %w scale 8"));
        } else {
            let at = low + 8 * self.below(count);
            self.line(&format!("  %t{t} = ptradd {p}, {at}"));
        }
        format!("%t{t}")
    }

    fn statements(&mut self, depth: u32, most: u64) {
        for _ in 0..1 + self.below(most) {
            self.statement(depth);
        }
    }

    fn condition(&mut self) -> String {
        let (at, n) = (self.below(8), self.below(4));
        self.line(&format!("  %w = load.8 @input+{at}\n  %c = ult.8 %w, {}", 64 * n + 32));
        "%c".into()
    }

    fn statement(&mut self, depth: u32) {
        let kind = if depth == 0 { 3 + self.below(10) } else { self.below(14) };
        match kind {
            0 | 1 => {
                let (c, yes, no, end) = (self.condition(), self.label(), self.label(), self.label());
                self.line(&format!("  condbr {c}, {yes}, {no}\n{yes}:"));
                self.statements(depth - 1, 3);
                match self.below(12) {
                    0 => {
                        let p = self.pointer();
                        self.line(&format!("  ret.64 {p}\n{no}:"));
                    }
                    1 => self.line(&format!("  call @exit(1:32)\n  br {end}\n{no}:")),
                    _ => {
                        let (to, from) = ([0, 1, 3][self.below(3) as usize], self.pointer());
                        self.line(&format!("  br {end}(%v0 = 5, %p{to} = {from})\n{no}:"));
                    }
                }
                self.statements(depth - 1, 2);
                self.line(&format!("  br {end}\n{end}:"));
            }
            2 => {
                let (head, body, end, n) = (self.label(), self.label(), self.label(), self.label());
                let rounds = 1 + self.below(3);
                self.line(&format!("  br {head}(%n{n} = 0)\n{head}:\n  %c = ult.8 %n{n}, {rounds}\n  condbr %c, {body}, {end}\n{body}:"));
                self.statements(depth - 1, 2);
                self.line(&format!("  %t0 = add.8 %n{n}, 1\n  br {head}(%n{n} = %t0)\n{end}:"));
            }
            3 | 4 => {
                let (a, width) = (self.address(0, 2), [8, 32, 64][self.below(3) as usize]);
                self.line(&format!("  store.{width} {a}, {}", self.labels));
            }
            5 | 6 => {
                let a = self.address(16, 2);
                let p = self.pointer();
                self.line(&format!("  store.64 {a}, {p}"));
            }
            7 => {
                let (a, p) = (self.address(16, 2), [0, 1, 3][self.below(3) as usize]);
                self.line(&format!("  %p{p} = load.64 {a}"));
            }
            8 => {
                let p = [0, 1, 3][self.below(3) as usize];
                let call = if self.below(2) == 0 { "@malloc(32:64)" } else { "@xalloc()" };
                self.line(&format!(
                    "  %p{p} = call.64 {call}\n  %t1 = ptradd %p{p}, 16\n  store.64 %t1, @g1\n  %t1 = ptradd %p{p}, 24\n  store.64 %t1, @g2"
                ));
            }
            9 | 10 if self.function + 1 < FUNCTIONS => {
                let f = self.function + 1 + self.below(FUNCTIONS - 1 - self.function);
                let (a, b, p) = (self.any_pointer(), self.pointer(), [0, 1, 3][self.below(3) as usize]);
                // What comes back may be a variable of this frame: it is not kept.
                let to = if a.starts_with("%p2") || a == "%y" { "%v0".to_owned() } else { format!("%p{p}") };
                let callee = if self.below(4) == 0 { "@event".to_owned() } else { format!("@f{f}") };
                self.line(&format!("  {to} = call.64 {callee}({a}:64, {b}:64)"));
            }
            11 if self.function < 2 => {
                let (h, b) = (8 * self.below(4), self.pointer());
                if self.below(3) == 0 {
                    let f = 2 + self.below(2);
                    self.line(&format!("  store.64 @hooks+{h}, @f{f}"));
                }
                let h = 8 * self.below(4);
                self.line(&format!("  %t2 = load.64 @hooks+{h}\n  %v0 = call.indirect.64 %t2({b}:64, @g2:64)"));
            }
            13 => {
                // Any function, a few times in a run: recursion, with addresses of this frame.
                let (f, a, b, yes, end) = (self.below(FUNCTIONS), self.any_pointer(), self.pointer(), self.label(), self.label());
                self.line("  %t0 = load.64 @depth\n  %t1 = add.64 %t0, 1\n  store.64 @depth, %t1\n  %c = ult.64 %t0, 12");
                self.line(&format!("  condbr %c, {yes}, {end}\n{yes}:\n  %v0 = call.64 @f{f}({a}:64, {b}:64)\n  br {end}\n{end}:"));
            }
            12 => {
                let (a, b) = (self.any_pointer(), self.pointer());
                let n = self.below(12);
                if n > 8 {
                    return self.line(&format!("  call @fail({}:32, {a}:64)", u64::from(n == 9)));
                }
                self.line(&if n == 0 { format!("  mem.move {a}, {b}, 32") } else { format!("  mem.set {a}, 7, {n}") });
            }
            _ => {
                let (x, y) = (self.pointer(), self.pointer());
                let (p, c) = ([0, 1, 3][self.below(3) as usize], self.condition());
                self.line(&format!("  %p{p} = select.64 {c}, {x}, {y}"));
            }
        }
    }
}

/// What happened, in order.
#[derive(Clone, Copy, Debug)]
enum Happened {
    Enter { frame: usize },
    Edge { frame: usize, block: u32, edge: u32, to: u32 },
    Slot { frame: usize, slot: u32 },
    Store { frame: usize, op: u32, object: usize, offset: u64 },
    Call { frame: usize, op: u32 },
    Back { frame: usize, op: u32 },
    Event,
    Leave { frame: usize },
}

struct Object {
    bytes: Vec<u8>,
    id: ObjectId,
    /// When it came to be.
    since: usize,
    /// The frame it is gone with.
    frame: Option<usize>,
}

struct Run<'a> {
    flow: &'a Flow,
    image: &'a Image,
    objects: Vec<Object>,
    globals: BTreeMap<u64, usize>,
    frames: Vec<u32>,
    running: Vec<usize>,
    stack: Vec<CodePos>,
    log: Vec<Happened>,
    steps: u32,
}

const OBJECT: u64 = 1 << 16;
type Ended<T> = Result<T, ()>;

impl Run<'_> {
    fn new<'a>(flow: &'a Flow, image: &'a Image, input: u64) -> Run<'a> {
        let mut run = Run {
            flow,
            image,
            objects: Vec::new(),
            globals: BTreeMap::new(),
            frames: Vec::new(),
            running: Vec::new(),
            stack: Vec::new(),
            log: Vec::new(),
            steps: 20_000,
        };
        for s in image.statics.iter() {
            let mut bytes = vec![0; s.size as usize];
            if &*s.name == "input" {
                bytes.copy_from_slice(&input.to_le_bytes());
            }
            let id = flow.global_object(s.base).expect("a variable has an object").0;
            run.globals.insert(s.base, run.objects.len());
            run.objects.push(Object { bytes, id, since: 0, frame: None });
        }
        let module = &image.program.units[0].module;
        for (g, global) in image.program.globals().iter().zip(&*module.globals) {
            let record = module.globals[g.place.index as usize];
            let _ = global;
            let base = run.symbol(module, record.symbol);
            for r in module.relocs.range(record.relocs) {
                let value = run.symbol(module, r.symbol).wrapping_add_signed(r.addend);
                let (object, offset) = run.place(base + r.offset);
                run.objects[object].bytes[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
            }
        }
        run
    }

    fn symbol(&self, _: &Module, symbol: u32) -> u64 {
        let target = self.image.program.target(0, symbol);
        let address = self.image.target_address(target);
        match target {
            Target::Data(..) => {
                let (base, object) = self.globals.range(..=address).next_back().expect("a variable lies there");
                (*object as u64 + 1) * OBJECT + (address - base)
            }
            _ => address,
        }
    }

    fn place(&self, address: u64) -> (usize, usize) {
        ((address / OBJECT - 1) as usize, (address % OBJECT) as usize)
    }

    fn make(&mut self, id: ObjectId, frame: Option<usize>) -> u64 {
        self.objects.push(Object { bytes: vec![0; 32], id, since: self.log.len(), frame });
        self.objects.len() as u64 * OBJECT
    }

    fn write(&mut self, frame: usize, op: u32, address: u64, bytes: &[u8]) {
        let (object, offset) = self.place(address);
        self.objects[object].bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        // The variables of a function that has returned nobody reads.
        let gone = self.objects[object].frame.is_some_and(|f| !self.running.contains(&f));
        for i in (0..bytes.len() as u64).filter(|_| !gone) {
            self.log.push(Happened::Store { frame, op, object, offset: offset as u64 + i });
        }
    }

    fn call(&mut self, func: u32, args: &[u64]) -> Ended<u64> {
        let image = self.image;
        let (module, f) = image.function(func);
        let frame = self.frames.len();
        self.frames.push(func);
        self.running.push(frame);
        self.log.push(Happened::Enter { frame });
        let mut slots = vec![0u64; f.slots as usize];
        for (slot, c) in slots.iter_mut().zip(module.consts.range(f.consts)) {
            *slot = if c.symbol == NONE { 0 } else { self.symbol(module, c.symbol) }.wrapping_add(c.value);
        }
        slots[f.consts.count as usize..][..args.len()].copy_from_slice(args);
        let allocas: Vec<u64> = (0..f.allocas.count).map(|i| self.make(self.flow.alloca_object(func, i), Some(frame))).collect();
        let first = module.blocks.range(f.blocks).iter().map(|b| b.insts.first).min().expect("a body has blocks");
        let mut block = 0;
        'block: loop {
            let insts = module.blocks.range(f.blocks)[block as usize].insts;
            for i in insts.first..insts.first + insts.count {
                self.steps = self.steps.checked_sub(1).ok_or(())?;
                let (inst, op) = (module.insts[i as usize], i - first);
                let get = |slot: u32| slots[slot as usize];
                let width = u32::from(inst.width);
                let mask = if width >= 64 || width == 0 { u64::MAX } else { (1 << width) - 1 };
                let operator = inst.operator().expect("verified");
                let edge = match operator {
                    Op::Br => Some(inst.a),
                    Op::CondBr => Some(if get(inst.a) != 0 { inst.b } else { inst.c }),
                    _ => None,
                };
                if let Some(edge) = edge {
                    let record = module.edges.range(f.edges)[edge as usize];
                    self.log.push(Happened::Edge { frame, block, edge, to: record.block });
                    let copies = module.copies.range(record.copies);
                    let values: Vec<u64> = copies.iter().map(|c| get(c.src)).collect();
                    for (c, value) in copies.iter().zip(values) {
                        slots[c.dst as usize] = value;
                        self.log.push(Happened::Slot { frame, slot: c.dst });
                    }
                    block = record.block;
                    continue 'block;
                }
                let value = match operator {
                    Op::Copy => get(inst.a),
                    Op::Add => get(inst.a).wrapping_add(get(inst.b)) & mask,
                    Op::Urem => get(inst.a) % get(inst.b),
                    Op::Eq => u64::from(get(inst.a) == get(inst.b)),
                    Op::Ne => u64::from(get(inst.a) != get(inst.b)),
                    Op::Ult => u64::from(get(inst.a) < get(inst.b)),
                    Op::Zext => get(inst.a),
                    Op::Select => get(if get(inst.a) != 0 { inst.b } else { inst.c }),
                    Op::PtrAdd => get(inst.a).wrapping_add(get(inst.b).wrapping_mul(inst.c.into())),
                    Op::Alloca => allocas[inst.a as usize],
                    Op::Load => {
                        let (object, offset) = self.place(get(inst.a));
                        let bytes = &self.objects[object].bytes[offset..offset + width as usize / 8];
                        bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
                    }
                    Op::Store => {
                        self.write(frame, op, get(inst.a), &get(inst.b).to_le_bytes()[..width as usize / 8]);
                        continue;
                    }
                    Op::MemMove => {
                        let (object, offset) = self.place(get(inst.b));
                        let bytes = self.objects[object].bytes[offset..offset + get(inst.c) as usize].to_vec();
                        self.write(frame, op, get(inst.a), &bytes);
                        continue;
                    }
                    Op::MemSet => {
                        let bytes = vec![get(inst.b) as u8; get(inst.c) as usize];
                        self.write(frame, op, get(inst.a), &bytes);
                        continue;
                    }
                    Op::Ret => {
                        let list = Range { first: inst.a, count: inst.b };
                        let result = if inst.b == 0 { 0 } else { get(module.slot_lists.range(list)[0]) };
                        self.running.pop();
                        self.log.push(Happened::Leave { frame });
                        return Ok(result);
                    }
                    Op::Call | Op::CallIndirect => {
                        let args = module.calls[inst.b as usize].args;
                        let args: Vec<u64> =
                            if args.count == 0 { Vec::new() } else { module.slot_lists.range(args).iter().map(|s| get(*s)).collect() };
                        let address = if operator == Op::Call { self.symbol(module, inst.a) } else { get(inst.a) };
                        let here = CodePos { func, op };
                        self.stack.push(here);
                        self.log.push(Happened::Call { frame, op });
                        let result = match image.callee_at(address).expect("only functions are called") {
                            Callee::Body(f) => {
                                if image.name(f) == "event" {
                                    self.log.push(Happened::Event);
                                }
                                self.call(f, &args)?
                            }
                            Callee::Model(m) if image.model_name(m) == "malloc" => {
                                let stack: Vec<CodePos> = self.stack.iter().rev().copied().collect();
                                self.make(self.flow.heap_object(&stack), None)
                            }
                            Callee::Model(_) | Callee::Undefined(_) => return Err(()),
                        };
                        self.stack.pop();
                        if inst.dst != NONE {
                            slots[inst.dst as usize] = result;
                            self.log.push(Happened::Slot { frame, slot: inst.dst });
                        }
                        self.log.push(Happened::Back { frame, op });
                        continue;
                    }
                    other => panic!("the generator makes no `{}`", other.name()),
                };
                slots[inst.dst as usize] = value;
                self.log.push(Happened::Slot { frame, slot: inst.dst });
            }
            unreachable!("a block ends with a branch");
        }
    }

    /// What happens from `start` on, until `ends` says so, is among the effects; `frame`'s slots too, if it is given.
    fn check(&self, what: &str, effects: &Effects, start: usize, frame: Option<usize>, ends: impl Fn(usize) -> bool) -> Result<(), String> {
        let end = (start..self.log.len()).find(|i| ends(*i));
        if end.is_none() && !effects.leaves {
            return Err(format!("{what}: the program ended"));
        }
        for happened in &self.log[start..end.unwrap_or(self.log.len())] {
            match *happened {
                Happened::Event if !effects.event => return Err(format!("{what}: an event")),
                // Where the program ends nobody reads what was written.
                _ if end.is_none() => {}
                Happened::Slot { frame: f, slot } if frame == Some(f) && !effects.slots.contains(slot) => {
                    return Err(format!("{what}: slot {slot} was written"));
                }
                Happened::Store { object, offset, .. } => {
                    let object = &self.objects[object];
                    // What came to be on the way nobody had before.
                    if object.since < start && !effects.changes.writes.touches(object.id, offset) {
                        return Err(format!("{what}: byte {offset} of {} was written", self.flow.object_name(object.id)));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_all(&self) -> Result<u32, String> {
        let mut checked = 0;
        let name = |frame: usize| self.image.name(self.frames[frame]);
        for (i, happened) in self.log.iter().enumerate() {
            match *happened {
                Happened::Edge { frame, block, edge, to } if self.flow.edges(self.frames[frame], 0, block).len() > 1 => {
                    let func = self.frames[frame];
                    let join = self.flow.join(func, 0, block);
                    let joins = |n: usize| matches!(self.log[n], Happened::Edge { frame: f, to, .. } if f == frame && Some(to) == join);
                    let copy = |n: usize| matches!(self.log.get(n), Some(Happened::Slot { .. }));
                    // Behind the copies of the edge into the join, or at the return.
                    let last = if Some(to) == join { Some(i) } else { (i + 1..self.log.len()).find(|n| joins(*n)) };
                    let behind = last.map(|mut n| {
                        n += 1;
                        while copy(n) && n < self.log.len() {
                            let Happened::Slot { frame: f, slot } = self.log[n] else { break };
                            if f != frame || !self.is_copied(func, last.unwrap_or(i), slot) {
                                break;
                            }
                            n += 1;
                        }
                        n
                    });
                    let what = format!("side {edge} of block {block} of `{}`", name(frame));
                    let left = |n: usize| matches!(self.log[n], Happened::Leave { frame: f } if f == frame);
                    let side = self.flow.side(func, 0, block, edge);
                    self.check(&what, &side, i + 1, Some(frame), |n| match behind {
                        Some(behind) => n >= behind,
                        None => join.is_none() && left(n),
                    })?;
                    checked += 1;
                }
                Happened::Back { frame, op } => {
                    let what = format!("the rest behind {op} of `{}`", name(frame));
                    let rest = self.flow.rest(self.frames[frame], 0, op);
                    self.check(&what, &rest, i + 1, Some(frame), |n| matches!(self.log[n], Happened::Leave { frame: f } if f == frame))?;
                }
                Happened::Enter { frame } => {
                    let effects = self.flow.function(self.frames[frame]);
                    self.check(
                        &format!("`{}`", name(frame)),
                        &effects,
                        i + 1,
                        None,
                        |n| matches!(self.log[n], Happened::Leave { frame: f } if f == frame),
                    )?;
                }
                Happened::Call { frame, op } => {
                    let effects = self.flow.operation(self.frames[frame], 0, op);
                    self.check(
                        &format!("call {op} of `{}`", name(frame)),
                        &effects,
                        i + 1,
                        None,
                        |n| matches!(self.log[n], Happened::Back { frame: f, op: o } if f == frame && o == op),
                    )?;
                }
                Happened::Store { frame, op, object, offset } => {
                    let object = &self.objects[object];
                    let effects = self.flow.operation(self.frames[frame], 0, op);
                    if !effects.changes.writes.touches(object.id, offset) {
                        return Err(format!("store {op} of `{}`: byte {offset} of {}", name(frame), self.flow.object_name(object.id)));
                    }
                }
                Happened::Edge { .. } | Happened::Slot { .. } | Happened::Event | Happened::Leave { .. } => {}
            }
        }
        Ok(checked)
    }

    /// Whether the edge at this place of the log copies to the slot.
    fn is_copied(&self, func: u32, at: usize, slot: u32) -> bool {
        let Happened::Edge { edge, .. } = self.log[at] else { return false };
        let (module, f) = self.image.function(func);
        let copies = module.edges.range(f.edges)[edge as usize].copies;
        module.copies.range(copies).iter().any(|c| c.dst == slot)
    }
}

fn flow(image: &Rc<Image>, kept: Option<Solution>) -> Flow {
    let named = image.clone();
    let is_event = move |_, callee| matches!(callee, Callee::Body(f) if named.name(f) == "event");
    Flow::new(image.clone(), Box::new(is_event), Summaries::builtin(), None, kept).expect("the programs are small")
}

#[test]
fn what_happens_is_among_the_facts() {
    let mut checked = 0;
    for seed in 0..250 {
        let text = Generator::program(seed);
        let image = image(&text);
        let flow = flow(&image, None);
        let Some(Target::Func(main)) = image.program.lookup("main") else { panic!("no main") };
        for input in 0..6u64 {
            let input = (input + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut run = Run::new(&flow, &image, input);
            let _ = run.call(main.0, &[]);
            match run.check_all() {
                Ok(n) => checked += n,
                Err(wrong) => panic!("seed {seed}: {wrong}\n{text}"),
            }
        }
    }
    assert!(checked > 12_000, "the programs have sides: {checked}");
}

#[test]
fn facts_are_the_same_with_what_was_kept() {
    let said = |flow: &Flow, image: &Image| -> Vec<String> {
        let functions = 0..image.program.functions().len() as u32;
        let own = functions.map(|f| format!("{:?} {:?}", flow.function(f), flow.targets(CodePos { func: f, op: 0 })));
        own.chain([flow.statistics()]).collect()
    };
    let mut before: Option<Solution> = None;
    for seed in 0..100 {
        let image = image(&Generator::program(seed));
        let first = flow(&image, None);
        let solution = first.solved().cloned().expect("nothing was kept");
        let again = flow(&image, Some(solution.clone()));
        assert!(again.solved().is_none(), "seed {seed}: what was kept is used");
        assert_eq!(said(&first, &image), said(&again, &image), "seed {seed}");
        // Of another program, or of none: it is solved, or whatever is said of it does no harm.
        assert_eq!(flow(&image, Some(Solution::default())).solved(), Some(&solution));
        flow(&image, before.replace(solution));
    }
}
