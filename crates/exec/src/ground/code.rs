//! Functions prepared for the inner loop: one operation per IR instruction, at the same index.
//!
//! Preparing selects a [`Kind`] by operator and width, so that the inner loop never tests for widths above 64. It resolves callees and
//! edges. It fuses a comparison with the branch after it; the branch stays in place and is skipped. It relies on the verifier's promise
//! that every slot and table index is in range.

use wryneck_ir::{self as ir, Inst, Module, NONE, Op, limbs};

use crate::ground::exposed::leaves_address_behind;
use crate::ground::image::First;
use crate::ground::places;

/// What the inner loop does for an operation. Widths are at most 64 bits unless the name says `Slow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Done outside the inner loop, by operator: wide values, everything that may fork or fault, rare operators.
    Slow,
    Copy,
    /// dst = the constant in a (low) and b (high).
    Imm,
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    /// Division, handled here if both operands are concrete and nothing is wrong.
    Udiv,
    Sdiv,
    Urem,
    Srem,
    Shl,
    Lshr,
    Ashr,
    /// Funnel shift by a concrete amount.
    Fshl,
    Fshr,
    /// Overflow of concrete operands.
    UaddOverflow,
    SaddOverflow,
    UsubOverflow,
    SsubOverflow,
    /// Bits set in a concrete operand.
    Ctpop,
    Eq,
    Ne,
    Ult,
    Ule,
    Slt,
    Sle,
    /// A comparison and the conditional branch on it that follows.
    EqBr,
    NeBr,
    UltBr,
    UleBr,
    SltBr,
    SleBr,
    Sext,
    Trunc,
    /// dst = (a >> b) & mask; a may be one limb of a wide value.
    Extract,
    /// dst = a << c | b.
    Concat,
    Select,
    Bswap,
    PtrAdd,
    /// 1, 2, 4, 8 bytes, width = 8 x bytes.
    Load8,
    Load16,
    Load32,
    Load64,
    Store8,
    Store16,
    Store32,
    Store64,
    Alloca,
    /// Direct call of a defined function: a is the function, b the call.
    Call,
    Ret,
    Br,
    CondBr,
    Switch,
    /// Float arithmetic at 32 and 64 bits on concrete operands.
    Fadd32,
    Fadd64,
    Fsub32,
    Fsub64,
    Fmul32,
    Fmul64,
    Fdiv32,
    Fdiv64,
    Fcmp32,
    Fcmp64,
}

/// A prepared operation. `shift` is 64 - width of the operands (for masking and sign extension).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Prepared {
    pub kind: Kind,
    pub shift: u8,
    pub extra: u16,
    pub dst: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

impl Kind {
    /// Whether it is a comparison with its branch.
    pub fn is_fused(self) -> bool {
        matches!(self, Kind::EqBr | Kind::NeBr | Kind::UltBr | Kind::UleBr | Kind::SltBr | Kind::SleBr)
    }
}

/// Where an edge leads.
#[derive(Clone, Copy, Debug, Default)]
pub struct PreparedEdge {
    /// First operation of the target block.
    pub target: u32,
    /// Number of the target block over the whole program, for coverage.
    pub block: u32,
    /// Instructions of the target block, counted when the edge is taken.
    pub weight: u32,
    /// Whether other edges lead to the target block, too.
    pub joins: bool,
    /// Whether it is a side of a branch or switch that came with no library.
    pub decided: bool,
    /// Copies to make, in this order.
    pub copies: ir::Range,
}

impl PreparedEdge {
    /// Whether it is one of the sides that tell what is new ([`crate::step::sides`]).
    #[inline]
    pub fn is_side(&self) -> bool {
        self.joins & self.decided
    }
}

#[derive(Clone, Debug)]
pub struct PreparedSwitch {
    pub default: u32,
    /// (value, edge), sorted.
    pub cases: Box<[(u64, u32)]>,
}

/// Placement of a static alloca: offset in bytes from the frame's base.
#[derive(Clone, Copy, Debug)]
pub struct FrameSlot {
    pub offset: u64,
    pub size: u64,
}

/// A call site: its arguments' limbs in [`Code::lists`], and its record in the module.
#[derive(Clone, Copy, Debug)]
pub struct PreparedCall {
    pub args: ir::Range,
    pub ret_width: u32,
    /// Index into the module's calls.
    pub record: u32,
    /// How many named arguments are before the list of variable ones, if there is one.
    pub variadic: Option<u32>,
}

/// How many named arguments a call has before the list of variable ones, if there is one.
pub fn variadic(call: &ir::Call) -> Option<u32> {
    (call.flags & ir::call_flags::VARIADIC != 0).then_some(call.named)
}

/// A callee, as a call finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A function with a body: its number in the program.
    Body(u32),
    /// A function the environment models (model number), whether or not it has a body.
    Model(u32),
    /// Defined nowhere: index into the program's undefined symbols.
    Undefined(u32),
}

/// A function, prepared.
pub struct Code {
    /// Its number in the program.
    pub func: u32,
    pub module: u32,
    pub ops: Vec<Prepared>,
    pub edges: Vec<PreparedEdge>,
    /// By block of the function: the first edge that leads to it, or [`NONE`].
    first_edges: Vec<u32>,
    pub copies: Vec<ir::SlotCopy>,
    pub switches: Vec<PreparedSwitch>,
    /// Calls, in the order of their operations; `b` of a call operation is its index here.
    pub calls: Vec<PreparedCall>,
    /// Slots that calls and returns list.
    pub lists: Vec<u32>,
    /// First instruction in the module's table: operation i is instruction `first_inst + i`.
    pub first_inst: u32,
    /// Slots, one scratch slot for cyclic copies included.
    pub slots: u32,
    pub consts: Box<[u64]>,
    /// Constants that are addresses of thread-local variables: the slot, the variable's number, and the offset in it.
    pub locals: Box<[(u32, u32, u64)]>,
    /// Limbs of the parameters.
    pub param_slots: u32,
    pub by_value: bool,
    /// How many named parameters it has, if it takes variable arguments.
    pub variadic: Option<u32>,
    pub frame: Box<[FrameSlot]>,
    /// Bytes of all static allocas with their slack; 0 if there are none.
    pub frame_size: u64,
    pub frame_align: u64,
    /// It may return with the address of a variable of its own stored elsewhere.
    pub leaves_address: bool,
    pub first: First,
    pub entry: PreparedEdge,
}

/// What preparing needs from the program: addresses of constants, callees, the numbers of the first block and edge.
pub struct Context<'a> {
    pub module: &'a Module,
    pub module_index: u32,
    pub func: u32,
    pub first: First,
    pub address_of: &'a mut dyn FnMut(u32) -> u64,
    pub callee_of: &'a mut dyn FnMut(u32) -> Callee,
    /// The number of the thread-local variable that a symbol stands for, and the offset in it.
    pub local_of: &'a mut dyn FnMut(u32) -> Option<(u32, u64)>,
}

/// Dead bytes between the variables of a frame.
const FRAME_SLACK: u64 = 16;

fn small(width: u16) -> bool {
    (1..=64).contains(&width)
}

impl Code {
    /// Prepares function `index` of the context's module.
    pub fn prepare(cx: &mut Context<'_>, index: usize) -> Code {
        let m = cx.module;
        let f = &m.functions[index];
        let blocks = m.blocks.range(f.blocks);
        let first_inst = blocks.iter().map(|b| b.insts.first).min().unwrap_or(0);
        let (frame, frame_size, frame_align) = lay_out(m.allocas.range(f.allocas));
        let mut code = Code {
            func: cx.func,
            module: cx.module_index,
            ops: Vec::new(),
            edges: Vec::new(),
            first_edges: Vec::new(),
            copies: Vec::new(),
            switches: m.switches.range(f.switches).iter().map(|s| prepare_switch(m, s)).collect(),
            calls: Vec::new(),
            lists: Vec::new(),
            first_inst,
            slots: f.slots + 1,
            consts: m.consts.range(f.consts).iter().map(|c| constant(c, cx.address_of)).collect(),
            locals: locals(m.consts.range(f.consts), cx.local_of),
            param_slots: m.params.range(f.params).iter().map(|p| limbs(p.width)).sum(),
            variadic: (f.flags & ir::function_flags::VARIADIC != 0).then(|| f.params.count - 1),
            by_value: m.params.range(f.params).iter().any(|p| p.kind == ir::param_kind::BY_VALUE),
            frame,
            frame_size,
            frame_align,
            leaves_address: leaves_address_behind(m, f),
            first: cx.first,
            entry: PreparedEdge { block: cx.first.block, ..PreparedEdge::default() },
        };
        code.append(cx, index);
        if let Some(b) = blocks.first() {
            code.entry.target = b.insts.first - first_inst;
            code.entry.weight = b.insts.count;
        }
        code
    }

    /// The number over the program of the side that an edge is, where the block that it leads to can be entered otherwise, too; of libraries' branches there is none.
    pub fn side(&self, edge: u32) -> Option<u32> {
        self.edges[edge as usize].is_side().then_some(self.first.edge + edge)
    }

    /// Adds an edge.
    fn push_edge(&mut self, mut edge: PreparedEdge) {
        let (at, block) = (self.edges.len() as u32, (edge.block - self.first.block) as usize);
        self.first_edges.resize(self.first_edges.len().max(block + 1), NONE);
        match self.first_edges[block] {
            NONE => self.first_edges[block] = at,
            first => (self.edges[first as usize].joins, edge.joins) = (true, true),
        }
        self.edges.push(edge);
    }

    /// Prepares what the function has gained since it was last prepared (machine code grows block by block). Frames made
    /// before may have fewer slots than it has now: they grow when they next run.
    pub fn append(&mut self, cx: &mut Context<'_>, index: usize) {
        let m = cx.module;
        let f = &m.functions[index];
        self.slots = f.slots + 1;
        let blocks = m.blocks.range(f.blocks);
        let end = blocks.iter().map(|b| b.insts.first + b.insts.count).max().unwrap_or(self.first_inst);
        for e in &m.edges.range(f.edges)[self.edges.len()..] {
            let b = &blocks[e.block as usize];
            let first = self.copies.len() as u32;
            sequentialise(m.copies.range(e.copies), self.slots - 1, &mut self.copies);
            self.push_edge(PreparedEdge {
                target: b.insts.first - self.first_inst,
                block: self.first.block + e.block,
                weight: b.insts.count,
                copies: ir::Range { first, count: self.copies.len() as u32 - first },
                ..PreparedEdge::default()
            });
        }
        let known = self.ops.len();
        for i in self.first_inst as usize + known..end as usize {
            let op = self.prepare_inst(cx, &m.insts[i]);
            self.ops.push(op);
            if !places::came_with_library(m, f, i) {
                self.note_decided(&m.insts[i]);
            }
        }
        self.fuse(known, m);
    }

    /// Its edges are sides of a branch, if it is one.
    fn note_decided(&mut self, inst: &ir::Inst) {
        match inst.operator() {
            Some(Op::CondBr) => [inst.b, inst.c].into_iter().for_each(|edge| self.edges[edge as usize].decided = true),
            Some(Op::Switch) => {
                let switch = &self.switches[inst.b as usize];
                let edges = switch.cases.iter().map(|case| case.1).chain([switch.default]);
                edges.for_each(|edge| self.edges[edge as usize].decided = true);
            }
            _ => {}
        }
    }

    /// Turns comparison + conditional branch on it into one operation.
    fn fuse(&mut self, from: usize, m: &Module) {
        for i in from..self.ops.len().saturating_sub(1) {
            let fused = match self.ops[i].kind {
                Kind::Eq => Kind::EqBr,
                Kind::Ne => Kind::NeBr,
                Kind::Ult => Kind::UltBr,
                Kind::Ule => Kind::UleBr,
                Kind::Slt => Kind::SltBr,
                Kind::Sle => Kind::SleBr,
                _ => continue,
            };
            let inst = &m.insts[self.first_inst as usize + i + 1];
            if inst.operator() == Some(Op::CondBr) && inst.a == self.ops[i].dst {
                self.ops[i].kind = fused;
            }
        }
    }

    fn list(&mut self, slots: &[u32]) -> ir::Range {
        let first = self.lists.len() as u32;
        self.lists.extend_from_slice(slots);
        ir::Range { first, count: slots.len() as u32 }
    }

    fn prepare_inst(&mut self, cx: &mut Context<'_>, inst: &Inst) -> Prepared {
        let op = inst.operator().expect("verified: every instruction has an operator");
        let mut p = Prepared {
            kind: Kind::Slow,
            shift: 64u16.saturating_sub(inst.width).min(63) as u8,
            extra: inst.width,
            dst: inst.dst,
            a: inst.a,
            b: inst.b,
            c: inst.c,
        };
        if matches!(op, Op::Call | Op::CallIndirect) {
            let call = cx.module.calls[inst.b as usize];
            let args = self.list(m_list(cx.module, call.args));
            p.b = self.calls.len() as u32;
            self.calls.push(PreparedCall { args, ret_width: call.ret_width, record: inst.b, variadic: variadic(&call) });
        }
        p.kind = match op {
            Op::Br => Kind::Br,
            Op::CondBr => Kind::CondBr,
            Op::Ret => {
                p.a = self.list(m_list(cx.module, ir::Range { first: inst.a, count: inst.b })).first;
                Kind::Ret
            }
            Op::Alloca => Kind::Alloca,
            // Whoever unwinds to it goes on behind it.
            Op::Unwound => {
                (p.a, p.b) = (0, 0);
                Kind::Imm
            }
            Op::Switch => Kind::Switch,
            Op::Call => match (cx.callee_of)(inst.a) {
                Callee::Body(f) => {
                    p.a = f;
                    Kind::Call
                }
                Callee::Model(_) | Callee::Undefined(_) => Kind::Slow,
            },
            Op::Load => load_store(inst.width, [Kind::Load8, Kind::Load16, Kind::Load32, Kind::Load64]),
            Op::Store => load_store(inst.width, [Kind::Store8, Kind::Store16, Kind::Store32, Kind::Store64]),
            Op::Extract if small(inst.width) => {
                let limb = inst.b / 64;
                if inst.b % 64 + u32::from(inst.width) <= 64 {
                    p.a = inst.a + limb;
                    p.b = inst.b % 64;
                    Kind::Extract
                } else {
                    Kind::Slow
                }
            }
            Op::Zext | Op::Sext | Op::Trunc if !small(inst.width) || inst.c > 64 => Kind::Slow,
            Op::Sext => {
                p.extra = 64 - inst.c as u16;
                Kind::Sext
            }
            _ if !small(inst.width) => Kind::Slow,
            _ => simple_kind(op, inst.width),
        };
        p
    }
}

fn m_list(m: &Module, range: ir::Range) -> &[u32] {
    if range.count == 0 { &[] } else { m.slot_lists.range(range) }
}

fn load_store(width: u16, kinds: [Kind; 4]) -> Kind {
    match width {
        8 => kinds[0],
        16 => kinds[1],
        32 => kinds[2],
        64 => kinds[3],
        _ => Kind::Slow,
    }
}

/// The kind of an operator whose operands are all at most 64 bits wide.
fn simple_kind(op: Op, width: u16) -> Kind {
    let float = |k32, k64| match width {
        32 => k32,
        64 => k64,
        _ => Kind::Slow,
    };
    match op {
        Op::Copy | Op::Zext => Kind::Copy,
        Op::Imm => Kind::Imm,
        Op::Add => Kind::Add,
        Op::Sub => Kind::Sub,
        Op::Mul => Kind::Mul,
        Op::And => Kind::And,
        Op::Or => Kind::Or,
        Op::Xor => Kind::Xor,
        Op::Udiv => Kind::Udiv,
        Op::Sdiv => Kind::Sdiv,
        Op::Urem => Kind::Urem,
        Op::Srem => Kind::Srem,
        Op::Shl => Kind::Shl,
        Op::Lshr => Kind::Lshr,
        Op::Ashr => Kind::Ashr,
        Op::Fshl => Kind::Fshl,
        Op::Fshr => Kind::Fshr,
        Op::UaddOverflow => Kind::UaddOverflow,
        Op::SaddOverflow => Kind::SaddOverflow,
        Op::UsubOverflow => Kind::UsubOverflow,
        Op::SsubOverflow => Kind::SsubOverflow,
        Op::Ctpop => Kind::Ctpop,
        Op::Eq => Kind::Eq,
        Op::Ne => Kind::Ne,
        Op::Ult => Kind::Ult,
        Op::Ule => Kind::Ule,
        Op::Slt => Kind::Slt,
        Op::Sle => Kind::Sle,
        Op::Trunc => Kind::Trunc,
        Op::Concat => Kind::Concat,
        Op::Select => Kind::Select,
        Op::Bswap => Kind::Bswap,
        Op::PtrAdd => Kind::PtrAdd,
        Op::Fadd => float(Kind::Fadd32, Kind::Fadd64),
        Op::Fsub => float(Kind::Fsub32, Kind::Fsub64),
        Op::Fmul => float(Kind::Fmul32, Kind::Fmul64),
        Op::Fdiv => float(Kind::Fdiv32, Kind::Fdiv64),
        Op::Fcmp => float(Kind::Fcmp32, Kind::Fcmp64),
        _ => Kind::Slow,
    }
}

fn constant(c: &ir::Const, address_of: &mut dyn FnMut(u32) -> u64) -> u64 {
    if c.symbol == NONE { c.value } else { address_of(c.symbol).wrapping_add(c.value) }
}

fn locals(consts: &[ir::Const], local_of: &mut dyn FnMut(u32) -> Option<(u32, u64)>) -> Box<[(u32, u32, u64)]> {
    let symbols = (0..).zip(consts).filter(|(_, c)| c.symbol != NONE);
    symbols.filter_map(|(slot, c)| local_of(c.symbol).map(|(number, offset)| (slot, number, offset.wrapping_add(c.value)))).collect()
}

fn prepare_switch(m: &Module, s: &ir::Switch) -> PreparedSwitch {
    PreparedSwitch { default: s.default, cases: m.cases.range(s.cases).iter().map(|c| (c.value, c.edge)).collect() }
}

/// Offsets of static allocas in their frame, with slack around each: (placements, size, alignment).
fn lay_out(allocas: &[ir::Alloca]) -> (Box<[FrameSlot]>, u64, u64) {
    let mut at = FRAME_SLACK;
    let mut align = 16;
    let frame = allocas.iter().map(|a| {
        align = align.max(u64::from(a.align));
        at = at.next_multiple_of(u64::from(a.align.max(16)));
        let slot = FrameSlot { offset: at, size: a.size };
        at += a.size + FRAME_SLACK;
        slot
    });
    let frame: Box<[FrameSlot]> = frame.collect();
    if frame.is_empty() { (frame, 0, 16) } else { (frame, at.next_multiple_of(align), align) }
}

/// Orders parallel copies so that no source is overwritten before it is read; cycles go through the scratch slot.
fn sequentialise(parallel: &[ir::SlotCopy], scratch: u32, out: &mut Vec<ir::SlotCopy>) {
    let mut todo: Vec<ir::SlotCopy> = parallel.iter().copied().filter(|c| c.dst != c.src).collect();
    while !todo.is_empty() {
        let free = todo.iter().position(|c| todo.iter().all(|d| d.src != c.dst));
        match free {
            Some(i) => out.push(todo.swap_remove(i)),
            None => {
                // Only cycles are left: save one target's old value and let its readers read the copy.
                let saved = todo[0].dst;
                out.push(ir::SlotCopy { dst: scratch, src: saved });
                for c in todo.iter_mut().filter(|c| c.src == saved) {
                    c.src = scratch;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wryneck_ir::SlotCopy;

    #[test]
    fn parallel_copies_mean_the_same_one_by_one() {
        let mut random = crate::ground::random(1);
        for _ in 0..2000 {
            let n = 1 + random(6) as u32;
            let mut targets: Vec<u32> = (0..8).collect();
            let copies: Vec<SlotCopy> = (0..n)
                .map(|_| {
                    let dst = targets.swap_remove(random(targets.len()));
                    SlotCopy { dst, src: random(8) as u32 }
                })
                .collect();
            let before: Vec<u32> = (0..9).map(|i| 100 + i).collect();
            let mut want = before.clone();
            for c in &copies {
                want[c.dst as usize] = before[c.src as usize];
            }
            let mut out = Vec::new();
            sequentialise(&copies, 8, &mut out);
            let mut got = before;
            for c in out {
                got[c.dst as usize] = got[c.src as usize];
            }
            assert_eq!(got[..8], want[..8], "{copies:?}");
        }
    }
}
