//! Exceptions: invokes, landing pads and `resume`; the jumps of `__builtin_setjmp`.
//!
//! An invoke is a call with [`Op::Unwound`] behind it: a bit that is set when an exception lands here, and a branch on it. So a landing pad is a
//! block as any other: nothing else in the IR knows of exceptions. What a pad catches is a table in the program's data ([`wryneck_ir::pad`]),
//! made once for each pad. The unwinder leaves the exception and the selector in a variable of its own, which the landing pad reads.
//! A type's selector is its number among the module's symbols, which `llvm.eh.typeid.for` asks for.

use wryneck_ir::build::{BuildError, CallDef, Callee, DataDef, ModuleBuilder, Slot};
use wryneck_ir::{NONE, Op, SymbolId, call_flags, global_flags, linkage, pad};

use crate::body::Body;
use crate::constant::{Image, Linear};
use crate::context::{Context, instructions};
use crate::error::Unsupported;
use crate::ffi::{Block, Opcode, TypeKind, Value};
use crate::inst::Lowered;

/// The unwinder's variable: the exception, then the selector, as a landing pad of C++ and of Rust has them.
const LANDED: &str = "__wryneck_landed";
/// What goes on unwinding.
const RESUME: &str = "_Unwind_Resume";
/// The selector of a clause that catches anything.
const ANYTHING: u64 = 0x7fff_ffff;

/// The table of a landing pad.
pub struct Pad {
    symbol: SymbolId,
    words: Vec<Linear>,
}

impl<'m> Body<'_, 'm> {
    /// Behind the call of an invoke: on to one of its two blocks.
    pub fn land_or_go_on(&mut self, invoke: Value<'m>) -> Result<(), Unsupported> {
        let (from, pad, normal) = (invoke.parent(), invoke.unwind_dest(), invoke.normal_dest());
        let Some(table) = self.pad_table(pad)? else { return self.go_on(from, normal) };
        let landed = self.b.value(Op::Unwound, 0, table, NONE, NONE);
        let (landing, normal) = (self.edge(from, pad)?, self.edge(from, normal)?);
        self.b.cond_br(landed, landing, normal);
        Ok(())
    }

    /// The table of the landing pad that a block begins with.
    fn pad_table(&mut self, block: Block<'m>) -> Result<Option<SymbolId>, Unsupported> {
        let Some(pad) = instructions(block).find(|i| i.opcode() == Opcode::LLVMLandingPad) else { return Ok(None) };
        if let Some(&known) = self.cx.pad_symbols.get(&pad) {
            return Ok(Some(known));
        }
        let mut words = vec![Linear::number(pad.is_cleanup().into()), Linear::number(pad.clauses().into())];
        for clause in (0..pad.clauses()).map(|i| pad.clause(i)) {
            if clause.ty().kind() == TypeKind::LLVMArrayTypeKind {
                let types: Vec<Value<'m>> = (0..clause.ty().array_len() as u32).filter_map(|i| clause.element(i)).collect();
                words.extend([Linear::number(u64::MAX), Linear::number(types.len() as u64)]);
                for listed in types {
                    words.push(self.cx.fold(listed).ok_or(Unsupported::Constant)?);
                }
            } else {
                let caught = self.cx.fold(clause).ok_or(Unsupported::Constant)?;
                words.extend([Linear::number(selector(caught)), caught]);
            }
        }
        let symbol = self.b.local_symbol("landing pad");
        self.cx.pad_symbols.insert(pad, symbol);
        self.cx.pads.push(Pad { symbol, words });
        Ok(Some(symbol))
    }

    /// What landed: the exception and the selector.
    pub fn landing_pad(&mut self, v: Value<'m>) -> Lowered {
        let landed = self.unwinder(LANDED);
        self.load(v.ty(), landed).map(Some)
    }

    pub fn resume(&mut self, v: Value<'m>) -> Lowered {
        let exception = *self.value(v.operand(0))?.leaves().first().ok_or(Unsupported::Constant)?;
        let symbol = self.b.names.symbol(self.b.module, RESUME);
        let def = CallDef { args: &[(exception, 64)], flags: call_flags::NO_RETURN, ..CallDef::default() };
        self.b.call_to(None, Callee::Symbol(symbol), def);
        self.b.unreachable();
        Ok(None)
    }

    fn unwinder(&mut self, name: &str) -> Slot {
        let symbol = self.b.names.symbol(self.b.module, name);
        self.b.address(symbol, 0)
    }
}

/// `llvm.eh.typeid.for`: the selector of a type.
pub fn type_id<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let caught = s.cx.fold(v.operand(0)).ok_or(Unsupported::Constant)?;
    Ok(Some(s.b.int(32, selector(caught)).into()))
}

/// `__builtin_setjmp`: `_setjmp`, whose models fill no more of a buffer than its five words.
pub fn set_jump<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let buffer = s.scalar(v.operand(0))?;
    let symbol = s.b.names.symbol(s.b.module, "_setjmp");
    Ok(Some(s.b.call(Callee::Symbol(symbol), CallDef { args: &[(buffer, 64)], ret_width: 32, flags: 0, named: 1 }).into()))
}

/// `__builtin_longjmp`, whose value is always 1.
pub fn long_jump<'m>(s: &mut Body<'_, 'm>, v: Value<'m>) -> Lowered {
    let (buffer, one) = (s.scalar(v.operand(0))?, s.b.int(32, 1));
    let symbol = s.b.names.symbol(s.b.module, "_longjmp");
    let def = CallDef { args: &[(buffer, 64), (one, 32)], ret_width: 0, flags: call_flags::NO_RETURN, named: 2 };
    s.b.call_to(None, Callee::Symbol(symbol), def);
    s.b.unreachable();
    Ok(None)
}

fn selector(caught: Linear) -> u64 {
    match caught.as_number() {
        Some(_) => ANYTHING,
        None => u64::from(caught.symbol) + 1,
    }
}

/// Defines the tables of the landing pads that the module's functions have.
///
/// # Errors
/// The builder's, which are defects of this crate.
pub fn define_pads(cx: &mut Context, b: &mut ModuleBuilder) -> Result<(), BuildError> {
    for Pad { symbol, words } in std::mem::take(&mut cx.pads) {
        let mut image = Image::default();
        for (word, offset) in words.iter().zip((0..).step_by(pad::WORD as usize)) {
            image.put_linear(offset, *word, pad::WORD);
        }
        let size = words.len() as u64 * pad::WORD;
        let flags = global_flags::READ_ONLY | global_flags::UNNAMED;
        b.data(symbol, linkage::INTERNAL, DataDef { size, align: 8, init: &image.bytes, relocs: &image.relocs, flags, loc: 0 })?;
    }
    Ok(())
}
