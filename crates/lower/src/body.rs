//! A function's body: blocks, edges with the copies phis ask for, parameters.
//!
//! Blocks are lowered in reverse post-order, each when an edge to it exists, so that definitions come before uses and
//! what only unsupported code leads to is never lowered. A block that an unconditional branch alone leads to is
//! appended to its predecessor; a phi with one predecessor is its operand. Cost: linear, but for phis of blocks with
//! many predecessors.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use wryneck_ir::build::{BlockId, BuildError, EdgeId, FunctionBuilder, FunctionDef, ModuleBuilder, ParamDef, Slot};
use wryneck_ir::{LocId, function_flags, param_kind};

use crate::constant::Linear;
use crate::context::{Context, blocks, function_tables, instructions, module_tables};
use crate::error::Unsupported;
use crate::ffi::{Block, ON_FUNCTION, Opcode, Type, TypeKind, Value};
use crate::frame;
use crate::symbols::definition_linkage;
use crate::types::{Piece, Shape};
use crate::value::Val;

/// A function being lowered.
pub struct Body<'a, 'm> {
    pub cx: &'a mut Context<'m>,
    pub b: FunctionBuilder<'a>,
    pub values: FxHashMap<Value<'m>, Val>,
    /// Address of the caller's `va_list`, in a variadic function.
    pub variable_arguments: Option<Slot>,
    /// Compiled without optimisation: what stands in the code stands in the source.
    pub as_written: bool,
    pub entry: Block<'m>,
    pub function: Value<'m>,
    /// Source names and declarations of allocas.
    pub variables: FxHashMap<Value<'m>, (&'m [u8], LocId)>,
    /// What the accesses that are being lowered say of themselves: 0, or [`wryneck_ir::ATOMIC`].
    pub access: u32,
    flow: FxHashMap<Block<'m>, Flow<'m>>,
    ids: FxHashMap<Block<'m>, BlockId>,
    /// Blocks with an edge to them that are not lowered yet, by their place in reverse post-order.
    pending: BTreeMap<u32, Block<'m>>,
    /// The block to go on with in the same IR block.
    appended: Option<Block<'m>>,
}

/// A block's place in the control flow.
struct Flow<'m> {
    order: u32,
    /// Edges to it from reachable blocks.
    edges: u32,
    /// Its only predecessor, if it has one.
    single: Option<Block<'m>>,
}

/// A parameter as the IR sees it: one piece of one LLVM parameter.
struct Parameter {
    width: u16,
    kind: u32,
    size: u32,
    name: String,
}

/// Where `runtime/cxx` puts its code. Its bitcode comes with the program's, and is no part of the program.
const LIBRARY_SECTION: &[u8] = b".text.library";

/// Lowers a function that the module defines.
///
/// # Errors
/// The builder's, which are defects of this crate.
pub fn lower<'m>(cx: &mut Context<'m>, b: &mut ModuleBuilder, function: Value<'m>, flags: u32) -> Result<(), BuildError> {
    let symbol = cx.symbols[&function];
    let ty = function.value_type();
    let names = Names::of(cx, b, function);
    let signature = signature(cx, function, ty, &names);
    let loc = cx.debug.function_loc(&mut module_tables(b), function);
    let name = String::from_utf8_lossy(cx.debug.function_name(function)).into_owned();
    let no_return = function.function_attribute(ON_FUNCTION, cx.attributes.no_return).is_some();
    let mut all = flags;
    all |= if function.section() == LIBRARY_SECTION { function_flags::LIBRARY } else { 0 };
    all |= if no_return { function_flags::NO_RETURN } else { 0 };
    all |= if ty.is_var_arg() { function_flags::VARIADIC } else { 0 };
    all |= if cx.types.float(ty.return_type()).is_ok() { function_flags::RETURNS_FLOAT } else { 0 };
    let (shapes, parameters, ret_width, why) = match signature {
        Ok((shapes, parameters, ret_width)) => (shapes, parameters, ret_width, None),
        Err(why) => (Vec::new(), Vec::new(), 0, Some(why)),
    };
    let params: Vec<ParamDef> = parameters.iter().map(|p| ParamDef { width: p.width, kind: p.kind, size: p.size, name: &p.name }).collect();
    let def = FunctionDef { name: &name, params: &params, ret_width, flags: all, loc };
    let mut fb = b.function(symbol, definition_linkage(function), def)?;
    if let Some(why) = why {
        let entry = fb.block();
        fb.start(entry);
        fb.unsupported(&why.to_string());
        return fb.finish().map(|_| ());
    }
    let Some(entry) = function.first_block() else { return Ok(()) };
    let as_written = function.function_attribute(ON_FUNCTION, cx.attributes.no_optimisation).is_some();
    let mut body = Body {
        cx,
        b: fb,
        values: FxHashMap::default(),
        variable_arguments: None,
        as_written,
        entry,
        function,
        variables: names.variables,
        access: 0,
        flow: FxHashMap::default(),
        ids: FxHashMap::default(),
        pending: BTreeMap::new(),
        appended: None,
    };
    body.find_flow();
    let start = body.block_id(entry);
    body.pending.remove(&0);
    body.b.start(start);
    body.parameters(&shapes, ty.is_var_arg());
    body.lower_blocks(entry);
    let index = body.b.finish()?;
    frame::allocate(&mut b.module, index);
    Ok(())
}

type Signature = (Vec<std::rc::Rc<Shape>>, Vec<Parameter>, u16);

fn signature<'m>(cx: &mut Context<'m>, function: Value<'m>, ty: Type<'m>, names: &Names<'m>) -> Result<Signature, Unsupported> {
    let mut shapes = Vec::new();
    let mut parameters = Vec::new();
    for i in 0..function.params() {
        let param = function.param(i);
        let shape = cx.types.shape(param.ty())?;
        let by_value = function.function_attribute(i + 1, cx.attributes.by_value);
        for (refused, name) in [(cx.attributes.in_alloca, "inalloca"), (cx.attributes.preallocated, "preallocated")] {
            if function.function_attribute(i + 1, refused).is_some() {
                return Err(Unsupported::Passing(name));
            }
        }
        let name = String::from_utf8_lossy(names.params.get(&param).copied().unwrap_or(param.name())).into_owned();
        let kind = match (by_value, param.ty().kind()) {
            (Some(_), _) => param_kind::BY_VALUE,
            (None, TypeKind::LLVMPointerTypeKind) => param_kind::POINTER,
            (None, _) if cx.types.float(param.ty()).is_ok() => param_kind::FLOAT,
            (None, _) => param_kind::INTEGER,
        };
        let size = by_value.map_or(0, |attribute| cx.llvm.alloc_size(attribute.ty()) as u32);
        parameters.extend(shape.pieces.iter().map(|p| Parameter { width: p.width(), kind, size, name: name.clone() }));
        shapes.push(shape);
    }
    if ty.is_var_arg() {
        parameters.push(Parameter { width: 64, kind: param_kind::VARIADIC, size: 0, name: "...".to_owned() });
    }
    let ret_width = cx.types.shape(ty.return_type())?.result_width();
    Ok((shapes, parameters, ret_width))
}

/// Source names of a function's parameters and allocas, from debug records.
struct Names<'m> {
    params: FxHashMap<Value<'m>, &'m [u8]>,
    variables: FxHashMap<Value<'m>, (&'m [u8], LocId)>,
}

impl<'m> Names<'m> {
    fn of(cx: &mut Context<'m>, b: &mut ModuleBuilder, function: Value<'m>) -> Names<'m> {
        let mut names = Names { params: FxHashMap::default(), variables: FxHashMap::default() };
        let Some(subprogram) = function.subprogram() else { return names };
        let mut stores = Vec::new();
        for instruction in blocks(function).flat_map(instructions) {
            for (value, di) in instruction.records().filter_map(|r| r.variable()) {
                let parameter = value.kind() == crate::ffi::ValueKind::LLVMArgumentValueKind;
                let alloca = value.is_instruction() && value.opcode() == Opcode::LLVMAlloca;
                if !parameter && !alloca {
                    continue;
                }
                let variable = cx.debug.variable(&mut module_tables(b), di);
                if parameter && variable.subprogram == Some(subprogram) {
                    names.params.entry(value).or_insert(variable.name);
                } else if alloca {
                    names.variables.entry(value).or_insert((variable.name, variable.loc));
                }
            }
            if instruction.opcode() == Opcode::LLVMStore {
                stores.push((instruction.operand(0), instruction.operand(1)));
            }
        }
        // Without optimisation a parameter is stored into its variable first thing.
        for i in 0..function.params() {
            let param = function.param(i);
            let home = stores.iter().find(|(value, _)| *value == param).and_then(|(_, to)| names.variables.get(to));
            if let Some(&(name, _)) = home {
                names.params.entry(param).or_insert(name);
            }
        }
        names
    }
}

impl<'m> Body<'_, 'm> {
    fn parameters(&mut self, shapes: &[std::rc::Rc<Shape>], variadic: bool) {
        let mut n = 0;
        for (i, shape) in shapes.iter().enumerate() {
            let mut leaves = Vec::new();
            for &piece in &shape.pieces {
                let whole = self.b.param(n);
                self.unpack(piece, whole, &mut leaves);
                n += 1;
            }
            self.values.insert(self.function.param(i as u32), leaves.into_iter().collect());
        }
        self.variable_arguments = variadic.then(|| self.b.param(n));
    }

    /// Numbers the reachable blocks in reverse post-order and counts the edges between them.
    fn find_flow(&mut self) {
        let mut post_order = Vec::new();
        let mut stack = vec![(self.entry, 0)];
        self.flow.insert(self.entry, Flow { order: 0, edges: 1, single: None });
        while let Some((block, next)) = stack.pop() {
            let Some(to) = successor(block, next) else {
                post_order.push(block);
                continue;
            };
            stack.push((block, next + 1));
            match self.flow.get_mut(&to) {
                Some(flow) => {
                    flow.edges += 1;
                    flow.single = flow.single.filter(|&from| from == block);
                }
                None => {
                    self.flow.insert(to, Flow { order: 0, edges: 1, single: Some(block) });
                    stack.push((to, 0));
                }
            }
        }
        for (block, order) in post_order.into_iter().rev().zip(0..) {
            if let Some(flow) = self.flow.get_mut(&block) {
                flow.order = order;
            }
        }
    }
    fn block_id(&mut self, block: Block<'m>) -> BlockId {
        if let Some(&id) = self.ids.get(&block) {
            return id;
        }
        let id = self.b.block();
        self.ids.insert(block, id);
        self.pending.insert(self.flow[&block].order, block);
        id
    }
    fn lower_blocks(&mut self, entry: Block<'m>) {
        self.lower_block(entry);
        while let Some((_, block)) = self.pending.pop_first() {
            let id = self.ids[&block];
            self.b.start(id);
            self.lower_block(block);
        }
    }
    fn lower_block(&mut self, block: Block<'m>) {
        let mut next = Some(block);
        while let Some(block) = next {
            for instruction in instructions(block) {
                if !self.b.in_block() {
                    return;
                }
                self.lower_instruction(instruction);
            }
            next = self.appended.take();
        }
    }
    fn lower_instruction(&mut self, instruction: Value<'m>) {
        self.b.loc = self.cx.debug.loc(&mut function_tables(&mut self.b), instruction.debug_loc());
        let lowered = match instruction.opcode() {
            Opcode::LLVMPHI => self.phi(instruction),
            opcode => self.operation(opcode, instruction),
        };
        match lowered {
            Ok(Some(val)) => {
                self.values.insert(instruction, val);
            }
            Ok(None) => {}
            Err(why) => self.b.unsupported(&why.to_string()),
        }
    }

    /// A phi with one predecessor is its operand; any other gets slots that the edges write.
    fn phi(&mut self, phi: Value<'m>) -> Result<Option<Val>, Unsupported> {
        match self.flow[&phi.parent()].single {
            Some(from) => self.incoming(phi, from).map(Some),
            None => self.value(phi).map(|_| None),
        }
    }
    fn incoming(&mut self, phi: Value<'m>, from: Block<'m>) -> Result<Val, Unsupported> {
        let i = (0..phi.incoming()).find(|&i| phi.incoming_block(i) == from);
        self.value(phi.incoming_value(i.expect("a verified phi has a value for every predecessor")))
    }
    /// An edge between two blocks, with the copies the target's phis ask for.
    pub fn edge(&mut self, from: Block<'m>, to: Block<'m>) -> Result<EdgeId, Unsupported> {
        let mut copies = Vec::new();
        if self.flow[&to].single.is_none() {
            for phi in instructions(to).take_while(|i| i.opcode() == Opcode::LLVMPHI) {
                let (value, shape) = (self.incoming(phi, from)?, self.cx.types.shape(phi.ty())?);
                copies.push((shape, self.value(phi)?, value));
            }
        }
        let id = self.block_id(to);
        let edge = self.b.edge(id);
        for (shape, dst, src) in copies {
            for ((width, &dst), &src) in shape.leaves().zip(dst.leaves()).zip(src.leaves()) {
                self.b.copy_on(edge, width, dst, src);
            }
        }
        Ok(edge)
    }
    /// Goes on at `to`: in the same IR block if nothing else leads there.
    pub fn go_on(&mut self, from: Block<'m>, to: Block<'m>) -> Result<(), Unsupported> {
        if self.flow[&to].edges == 1 && to != self.entry {
            self.appended = Some(to);
            return Ok(());
        }
        let edge = self.edge(from, to)?;
        self.b.br(edge);
        Ok(())
    }
    /// A constant of 64 bits.
    pub fn word(&mut self, n: u64) -> Slot {
        self.b.int(64, n)
    }
    /// Folds a scalar constant to a number.
    pub fn number(&mut self, v: Value<'m>) -> Option<u64> {
        if v.is_constant() { self.cx.fold(v).and_then(Linear::as_number) } else { None }
    }
    /// The pieces of a value with their leaves.
    pub fn pieces(shape: &Shape, val: &Val) -> Vec<(Piece, Vec<Slot>)> {
        let mut leaves = val.leaves();
        let mut out = Vec::new();
        for &piece in &shape.pieces {
            let (own, rest) = leaves.split_at(piece.len as usize);
            out.push((piece, own.to_vec()));
            leaves = rest;
        }
        out
    }
}

/// Successor `i` of a block; an asm goto's labels are never taken.
fn successor<'m>(block: Block<'m>, i: u32) -> Option<Block<'m>> {
    let end = block.terminator()?;
    let count = match end.opcode() {
        Opcode::LLVMInvoke | Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMIndirectBr => end.successors(),
        _ => 0,
    };
    (i < count).then(|| end.successor(i))
}
