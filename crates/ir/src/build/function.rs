//! Building one function: slots, blocks, edges and instructions (see the parent's header for the technique).

use rustc_hash::FxHashMap;

use super::{BuildError, Names, undefined};
use crate::inst::{Flow, Inst, NONE, Op, Operand, limbs};
use crate::module::{Alloca, Block, Call, Case, Const, Edge, Function, LocId, Module, Range, SlotCopy, Switch, Symbol, SymbolId, linkage};

/// A slot of the function being built: where a value's lowest limb lives. Not yet the number it has in the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(u32);

const CONST_BIT: u32 = 1 << 31;

impl Slot {
    /// The slot `n` limbs higher in the same value.
    pub fn limb(self, n: u32) -> Slot {
        Slot(self.0 + n)
    }
    /// Slot `n` after the constants.
    pub(crate) fn local(n: u32) -> Slot {
        Slot(n)
    }
    /// Its number as an operand field, good until `finish`.
    pub fn raw(self) -> u32 {
        self.0
    }
}

/// A block of the function being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockId(u32);

/// An edge of the function being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EdgeId(u32);

/// A static alloca of the function being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AllocaId(u32);

impl BlockId {
    /// Its number within the function.
    pub fn index(self) -> u32 {
        self.0
    }
}

/// An operand field of an instruction: anything with a number.
pub trait Field {
    fn field(self) -> u32;
}
impl Field for u32 {
    fn field(self) -> u32 {
        self
    }
}
impl Field for Slot {
    fn field(self) -> u32 {
        self.0
    }
}
impl Field for EdgeId {
    fn field(self) -> u32 {
        self.0
    }
}
impl Field for AllocaId {
    fn field(self) -> u32 {
        self.0
    }
}
impl<F: Field> Field for Option<F> {
    fn field(self) -> u32 {
        self.map_or(NONE, Field::field)
    }
}

/// What a call goes to.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    Symbol(SymbolId),
    Address(Slot),
}

/// The facts of a call, see [`Call`]. Arguments are a slot and a width each.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallDef<'a> {
    pub args: &'a [(Slot, u16)],
    pub ret_width: u16,
    /// [`crate::call_flags`].
    pub flags: u32,
    pub named: u32,
}

struct NewEdge {
    block: u32,
    copies: Vec<SlotCopy>,
}

/// A function's body under construction. Borrow it from [`ModuleBuilder::function`]; end with [`FunctionBuilder::finish`].
pub struct FunctionBuilder<'m> {
    pub module: &'m mut Module,
    pub names: &'m mut Names,
    index: u32,
    /// More blocks for a function that runs already: constants become instructions.
    growing: bool,
    /// Position given to the instructions emitted from now on.
    pub loc: LocId,
    error: Option<BuildError>,
    /// Slots handed out that are not constants.
    locals: u32,
    params: Vec<Slot>,
    consts: Vec<Const>,
    const_slots: FxHashMap<Box<[Const]>, Slot>,
    /// New blocks: their instructions (module-wide), empty until started.
    blocks: Vec<Block>,
    current: Option<u32>,
    edges: Vec<NewEdge>,
    switches: Vec<Switch>,
    first_inst: usize,
    first_call: usize,
}

impl<'m> FunctionBuilder<'m> {
    pub(super) fn over(module: &'m mut Module, names: &'m mut Names, index: u32, growing: bool) -> FunctionBuilder<'m> {
        let f = module.functions[index as usize];
        let mut locals = if growing { f.consts.count } else { 0 };
        let params = module.params.range(f.params).iter().map(|p| {
            locals += limbs(p.width);
            Slot(locals - limbs(p.width))
        });
        let params = params.collect();
        let (first_inst, first_call) = (module.insts.len(), module.calls.len());
        FunctionBuilder {
            module,
            names,
            index,
            growing,
            loc: 0,
            error: None,
            locals,
            params,
            consts: Vec::new(),
            const_slots: FxHashMap::default(),
            blocks: Vec::new(),
            current: None,
            edges: Vec::new(),
            switches: Vec::new(),
            first_inst,
            first_call,
        }
    }
    /// More blocks for the module's last function, which may be running. Its `slots` may grow by it.
    pub fn append(module: &'m mut Module, names: &'m mut Names, index: u32) -> Result<FunctionBuilder<'m>, BuildError> {
        if index as usize + 1 != module.functions.len() {
            let f = &module.functions[index as usize];
            return Err(BuildError::CannotGrow { function: module.str(f.name).to_owned() });
        }
        Ok(FunctionBuilder::over(module, names, index, true))
    }
    fn old(&self) -> &Function {
        &self.module.functions[self.index as usize]
    }
    fn name(&self) -> String {
        self.module.str(self.old().name).to_owned()
    }
    fn fail(&mut self, error: BuildError) {
        self.error.get_or_insert(error);
    }

    /// Slot of parameter `n`.
    pub fn param(&self, n: usize) -> Slot {
        self.params[n]
    }
    /// A fresh slot (slots, if wide) for a value of `width` bits.
    pub fn temp(&mut self, width: u16) -> Slot {
        let slot = Slot(self.locals);
        self.locals += limbs(u32::from(width)).max(1);
        slot
    }
    /// A constant of `width` bits, cut to them.
    pub fn int(&mut self, width: u16, value: u64) -> Slot {
        self.wide(width, &[value])
    }
    /// A constant of `width` bits by its limbs, lowest first; missing ones are 0.
    pub fn wide(&mut self, width: u16, value: &[u64]) -> Slot {
        let n = limbs(u32::from(width)) as usize;
        let mut run = vec![Const { value: 0, symbol: NONE, _pad: 0 }; n];
        for (limb, &v) in run.iter_mut().zip(value) {
            limb.value = v;
        }
        if let (Some(top), 1..) = (run.last_mut(), width % 64) {
            top.value &= (1 << (width % 64)) - 1;
        }
        self.constant(&run)
    }
    /// The address of `symbol` plus `addend` bytes. Not while growing: there is no relocation for code made at run time.
    pub fn address(&mut self, symbol: SymbolId, addend: u64) -> Slot {
        self.constant(&[Const { value: addend, symbol, _pad: 0 }])
    }
    /// A run of constant limbs, addresses among them.
    pub fn constant(&mut self, run: &[Const]) -> Slot {
        if self.growing {
            if run.iter().any(|c| c.symbol != NONE) {
                self.fail(BuildError::AddressWhileGrowing { function: self.name() });
            }
            let slot = self.temp((run.len() * 64) as u16);
            for (i, c) in run.iter().enumerate() {
                self.emit(Op::Imm, 64, slot.limb(i as u32), c.value as u32, (c.value >> 32) as u32, NONE);
            }
            return slot;
        }
        if let Some(&slot) = self.const_slots.get(run) {
            return slot;
        }
        let slot = Slot(CONST_BIT | self.consts.len() as u32);
        self.consts.extend_from_slice(run);
        self.const_slots.insert(run.into(), slot);
        slot
    }
    /// The slot of a constant of one limb, if it costs no instruction: while the function grows, one that it has had from the
    /// beginning.
    pub fn ready(&mut self, value: u64) -> Option<Slot> {
        if !self.growing {
            return Some(self.int(64, value));
        }
        let consts = self.module.consts.range(self.old().consts);
        let n = consts.iter().position(|c| c.value == value && c.symbol == NONE)?;
        Some(Slot(n as u32))
    }
    /// Makes the function have at least `n` slots besides its constants.
    pub(crate) fn reserve(&mut self, n: u32) {
        self.locals = self.locals.max(n);
    }
    /// A static alloca: `size` bytes (0 is made 1), aligned to `align`, one per call.
    pub fn alloca(&mut self, size: u64, align: u32, name: &str) -> AllocaId {
        self.alloca_exact(size.max(1), align.max(1), name)
    }
    pub(crate) fn alloca_exact(&mut self, size: u64, align: u32, name: &str) -> AllocaId {
        let name = self.names.str(self.module, name);
        let first = self.old().allocas.first;
        let alloca = Alloca { size, align, name, loc: self.loc, _pad: 0 };
        AllocaId(self.module.allocas.push(alloca) - first)
    }

    /// A new block, empty; the function's first is its entry.
    pub fn block(&mut self) -> BlockId {
        self.blocks.push(Block { insts: Range::default() });
        BlockId(self.first_block() + self.blocks.len() as u32 - 1)
    }
    /// A block the function had before it grew, by its number; it must exist.
    pub fn existing(&self, number: u32) -> BlockId {
        debug_assert!(number < self.first_block());
        BlockId(number)
    }
    fn first_block(&self) -> u32 {
        if self.growing { self.old().blocks.count } else { 0 }
    }
    /// From here to the next terminator, instructions go to `block`; each block is filled once, without interruption.
    pub fn start(&mut self, block: BlockId) {
        if let Some(open) = self.current {
            self.fail(BuildError::OpenBlock { function: self.name(), block: open });
        }
        let at = self.module.insts.len() as u32;
        let new = block.0.wrapping_sub(self.first_block());
        match self.blocks.get_mut(new as usize) {
            Some(b) if b.insts.count == 0 => b.insts.first = at,
            _ => self.fail(BuildError::Restarted { function: self.name(), block: block.0 }),
        }
        self.current = Some(block.0);
    }
    /// Is a block open, so that instructions can be emitted?
    pub fn in_block(&self) -> bool {
        self.current.is_some()
    }
    /// The open block.
    pub fn open_block(&self) -> Option<BlockId> {
        self.current.map(BlockId)
    }
    /// An edge to `block`. Its copies are added by [`FunctionBuilder::copy_on`].
    pub fn edge(&mut self, block: BlockId) -> EdgeId {
        self.edges.push(NewEdge { block: block.0, copies: Vec::new() });
        let first = if self.growing { self.old().edges.count } else { 0 };
        EdgeId(first + self.edges.len() as u32 - 1)
    }
    /// Adds dst = src (`width` bits) to the copies of an edge made in this session.
    pub fn copy_on(&mut self, edge: EdgeId, width: u16, dst: Slot, src: Slot) {
        let first = if self.growing { self.old().edges.count } else { 0 };
        let copies = &mut self.edges[(edge.0 - first) as usize].copies;
        for i in 0..limbs(u32::from(width)) {
            let (dst, src) = (dst.limb(i).0, src.limb(i).0);
            if dst != src {
                copies.push(SlotCopy { dst, src });
            }
        }
    }

    /// Emits an instruction. Slots, edges, allocas and raw numbers are all fields; absent ones are [`NONE`].
    pub fn emit(&mut self, op: Op, width: u16, dst: impl Field, a: impl Field, b: impl Field, c: impl Field) {
        let Some(block) = self.current else {
            return self.fail(BuildError::OutsideBlock { function: self.name(), op: op.name() });
        };
        let inst = Inst::new(op, width, dst.field(), a.field(), b.field(), c.field());
        self.module.insts.push(inst);
        self.module.inst_locs.push(self.loc);
        let first = self.first_block();
        self.blocks[(block - first) as usize].insts.count += 1;
        if op.flow() == Flow::Ends {
            self.current = None;
        }
    }
    /// A new symbol not found by its name.
    pub fn local_symbol(&mut self, name: &str) -> SymbolId {
        let name = self.names.str(self.module, name);
        self.module.symbols.push(Symbol { linkage: linkage::INTERNAL, ..undefined(name) })
    }
    /// Emits an instruction with a fresh result.
    pub fn value(&mut self, op: Op, width: u16, a: impl Field, b: impl Field, c: impl Field) -> Slot {
        let dst = match op.operands()[0] {
            Operand::Bit => self.temp(1),
            Operand::Word => self.temp(64),
            _ => self.temp(width),
        };
        self.emit(op, width, dst, a, b, c);
        dst
    }
    /// `a op b` of operators with two operands; shifts are the defined ones (`c` = 0).
    pub fn binary(&mut self, op: Op, width: u16, a: Slot, b: Slot) -> Slot {
        let c = if op.operands()[3] == Operand::Imm { 0 } else { NONE };
        self.value(op, width, a, b, c)
    }
    /// `op a` of operators with one operand.
    pub fn unary(&mut self, op: Op, width: u16, a: Slot) -> Slot {
        self.value(op, width, a, NONE, NONE)
    }
    /// A cast of `a`, of `from` bits, to `width`.
    pub fn cast(&mut self, op: Op, width: u16, from: u16, a: Slot) -> Slot {
        self.value(op, width, a, NONE, u32::from(from))
    }
    /// The `width` bits at `address`.
    pub fn load(&mut self, width: u16, address: Slot, align: u32) -> Slot {
        self.value(Op::Load, width, address, align, NONE)
    }
    pub fn store(&mut self, width: u16, address: Slot, value: Slot, align: u32) {
        self.emit(Op::Store, width, NONE, address, value, align);
    }
    /// Emits a call. The result goes to `dst`, if there is one and it is wanted.
    pub fn call_to(&mut self, dst: Option<Slot>, callee: Callee, def: CallDef) {
        let limbs_of = |&(slot, width): &(Slot, u16)| (0..limbs(u32::from(width))).map(move |i| slot.limb(i));
        let slots: Vec<Slot> = def.args.iter().flat_map(limbs_of).collect();
        let widths: Vec<u32> = def.args.iter().map(|&(_, width)| u32::from(width)).collect();
        self.call_limbs(dst, callee, &slots, &widths, def);
    }
    /// As `call_to`, but with the arguments limb by limb, wherever each is; `def.args` is not used.
    pub fn call_limbs(&mut self, dst: Option<Slot>, callee: Callee, slots: &[Slot], widths: &[u32], def: CallDef) {
        let slots: Vec<u32> = slots.iter().map(|s| s.0).collect();
        let lists = &mut self.module.slot_lists;
        let (args, widths) = (lists.extend(&slots), lists.extend(widths));
        let CallDef { ret_width, flags, named, .. } = def;
        let record = Call { args, widths, ret_width: u32::from(ret_width), flags, named };
        let call = self.module.calls.push(record);
        match callee {
            Callee::Symbol(symbol) => self.emit(Op::Call, ret_width, dst, symbol, call, NONE),
            Callee::Address(slot) => self.emit(Op::CallIndirect, ret_width, dst, slot, call, NONE),
        }
    }
    /// Emits a call and returns its result's slot (unused by anyone when there is no result).
    pub fn call(&mut self, callee: Callee, def: CallDef) -> Slot {
        let dst = self.temp(def.ret_width);
        self.call_to((def.ret_width > 0).then_some(dst), callee, def);
        dst
    }

    pub fn br(&mut self, edge: EdgeId) {
        self.emit(Op::Br, 0, NONE, edge, NONE, NONE);
    }
    /// Goes to `block`, copying nothing.
    pub fn jump_to(&mut self, block: BlockId) {
        let edge = self.edge(block);
        self.br(edge);
    }
    pub fn cond_br(&mut self, cond: Slot, then: EdgeId, other: EdgeId) {
        self.emit(Op::CondBr, 0, NONE, cond, then, other);
    }
    /// A switch on a value of at most 64 bits; cases in any order.
    pub fn switch(&mut self, width: u16, value: Slot, default: EdgeId, cases: &[(u64, EdgeId)]) {
        let mut cases: Vec<Case> = cases.iter().map(|&(value, edge)| Case { value, edge: edge.0, _pad: 0 }).collect();
        cases.sort_by_key(|c| c.value);
        if let Some(twice) = cases.windows(2).find(|w| w[0].value == w[1].value) {
            self.fail(BuildError::DuplicateCase { function: self.name(), value: twice[0].value });
        }
        let cases = self.module.cases.extend(&cases);
        let first = if self.growing { self.old().switches.count } else { 0 };
        self.switches.push(Switch { default: default.0, cases });
        self.emit(Op::Switch, width, NONE, value, first + self.switches.len() as u32 - 1, NONE);
    }
    /// Returns `value` (`width` bits; 0: nothing).
    pub fn ret(&mut self, width: u16, value: Option<Slot>) {
        let limbs = if value.is_some() { limbs(u32::from(width)) } else { 0 };
        let slots: Vec<Slot> = value.iter().flat_map(|v| (0..limbs).map(|i| v.limb(i))).collect();
        self.ret_limbs(width, &slots);
    }
    /// Returns a value limb by limb, wherever each is.
    pub fn ret_limbs(&mut self, width: u16, slots: &[Slot]) {
        let slots: Vec<u32> = slots.iter().map(|s| s.0).collect();
        let list = self.module.slot_lists.extend(&slots);
        self.emit(Op::Ret, width, NONE, list.first, list.count, NONE);
    }
    pub fn jump(&mut self, address: Slot) {
        self.emit(Op::Jump, 0, NONE, address, NONE, NONE);
    }
    pub fn unreachable(&mut self) {
        self.emit(Op::Unreachable, 0, NONE, NONE, NONE, NONE);
    }
    /// Ends the block with what the front end cannot express.
    pub fn unsupported(&mut self, why: &str) {
        let why = self.names.str(self.module, why);
        self.emit(Op::Unsupported, 0, NONE, why, NONE, NONE);
    }
    pub fn trap(&mut self, which: &str) {
        let which = self.names.str(self.module, which);
        self.emit(Op::Trap, 0, NONE, which, NONE, NONE);
    }

    /// Numbers the slots for good and writes the function's records. Returns its index in the module's functions.
    pub fn finish(mut self) -> Result<u32, BuildError> {
        let first = self.first_block();
        if let Some(open) = self.blocks.iter().enumerate().find_map(|(i, b)| {
            let last = (b.insts.first + b.insts.count).checked_sub(1).filter(|_| b.insts.count > 0);
            let closed = last.and_then(|i| self.module.insts[i as usize].operator()).is_some_and(|op| op.flow() == Flow::Ends);
            (!closed).then_some(first + i as u32)
        }) {
            self.fail(BuildError::OpenBlock { function: self.name(), block: open });
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.growing {
            self.renumber();
        }
        let m = &mut *self.module;
        m.blocks.extend(&self.blocks);
        for e in &self.edges {
            let copies = m.copies.extend(&e.copies);
            m.edges.push(Edge { block: e.block, copies });
        }
        m.switches.extend(&self.switches);
        let consts = m.consts.extend(&self.consts);
        let allocas = m.allocas.len() as u32;
        let f = &mut m.functions.owned()[self.index as usize];
        if !self.growing {
            f.consts = consts;
        }
        f.slots = f.slots.max(consts.count + self.locals);
        f.blocks.count += self.blocks.len() as u32;
        f.edges.count += self.edges.len() as u32;
        f.switches.count += self.switches.len() as u32;
        f.allocas.count = allocas - f.allocas.first;
        Ok(self.index)
    }

    /// Turns provisional slots into final ones: constants first, the rest after them.
    fn renumber(&mut self) {
        let consts = self.consts.len() as u32;
        let fix = |slot: &mut u32| match *slot {
            NONE => {}
            s if s & CONST_BIT != 0 => *slot = s & !CONST_BIT,
            s => *slot = s + consts,
        };
        let Module { insts, calls, slot_lists, .. } = &mut *self.module;
        let lists = slot_lists.owned();
        for inst in &mut insts.owned()[self.first_inst..] {
            let op = inst.operator().expect("`emit` takes an `Op`");
            let fields = [&mut inst.dst, &mut inst.a, &mut inst.b, &mut inst.c];
            for (kind, field) in op.operands().into_iter().zip(fields) {
                match kind {
                    Operand::Val | Operand::Word | Operand::Bit | Operand::SrcVal => fix(field),
                    Operand::List | Operand::No | Operand::Imm | Operand::Edge | Operand::Switch => {}
                    Operand::Symbol | Operand::Str | Operand::Call | Operand::Alloca => {}
                }
            }
            if op == Op::Ret {
                lists[inst.a as usize..][..inst.b as usize].iter_mut().for_each(fix);
            }
        }
        for call in &calls[self.first_call..] {
            lists[call.args.first as usize..][..call.args.count as usize].iter_mut().for_each(fix);
        }
        for copy in self.edges.iter_mut().flat_map(|e| &mut e.copies) {
            fix(&mut copy.dst);
            fix(&mut copy.src);
        }
    }
}
