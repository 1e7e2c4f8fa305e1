//! Modules for tests: one small module with a record of every kind, and random well-formed ones.

use crate::build::{CallDef, Callee, DataDef, FunctionBuilder, FunctionDef, ModuleBuilder, ParamDef, Slot};
use crate::float::Format;
use crate::inst::{NONE, Op, Operand, X87};
use crate::module::{Loc, Module, Reloc, call_flags, function_flags, global_flags, linkage, param_kind};

/// One of each kind of record.
pub(crate) fn everything() -> Module {
    let mut m = ModuleBuilder::new();
    let (file, main) = (m.str("dir/a b.c"), m.str("main"));
    let outer = m.loc(Loc { file, line: 3, column: 7, function: main, inlined_at: 0, library: 0 });
    let inner = m.loc(Loc { file, line: 9, column: 1, function: file, inlined_at: outer, library: 1 });
    let (f, table, printf) = (m.symbol("f"), m.symbol("table"), m.symbol("printf"));
    m.declare_function(printf);
    let weak = m.symbol("maybe");
    m.extern_weak(weak);
    let relocs = [Reloc { offset: 16, addend: -4, symbol: f, _pad: 0 }, Reloc { offset: 8, addend: 0, symbol: table, _pad: 0 }];
    let data = DataDef { size: 32, align: 8, init: &[1, 0, 255, 0], relocs: &relocs, flags: global_flags::READ_ONLY, loc: outer };
    m.data(table, linkage::STRONG, data).unwrap();
    let local = m.local_symbol(".str\n\"1\"");
    m.data(local, linkage::INTERNAL, DataDef { size: 3, init: b"hi", ..DataDef::default() }).unwrap();
    let alias = m.symbol("alias");
    m.alias(alias, linkage::WEAK, table, 8).unwrap();
    m.ctor(f, 65535, 0);
    let params = [
        ParamDef { width: 32, name: "n", ..ParamDef::default() },
        ParamDef { width: 64, kind: param_kind::POINTER, name: "p", ..ParamDef::default() },
        ParamDef { width: 128, ..ParamDef::default() },
        ParamDef { width: 64, kind: param_kind::BY_VALUE, size: 24, name: "s" },
        ParamDef { width: 64, kind: param_kind::VARIADIC, ..ParamDef::default() },
    ];
    let def = FunctionDef { name: "f", params: &params, ret_width: 128, flags: function_flags::VARIADIC, loc: outer };
    let mut b = m.function(f, linkage::STRONG, def).unwrap();
    b.loc = inner;
    body(&mut b, table, printf);
    b.finish().unwrap();
    m.finish()
}

fn body(b: &mut FunctionBuilder, table: u32, printf: u32) {
    let (entry, head, case, out, dead) = (b.block(), b.block(), b.block(), b.block(), b.block());
    let (n, p, wide) = (b.param(0), b.param(1), b.param(2));
    b.start(entry);
    let var = b.alloca(16, 8, "var");
    let address = b.value(Op::Alloca, 64, var, NONE, NONE);
    b.store(128, address, wide, 8);
    let at = b.address(table, 8);
    let two = b.int(64, 2);
    let element = b.value(Op::PtrAdd, 64, at, two, 4u32);
    let x = b.load(32, element, 0);
    let big = b.wide(128, &[5, 6]);
    let sum = b.binary(Op::Add, 128, wide, big);
    let i = b.temp(32);
    let zero = b.int(32, 0);
    let edge = b.edge(head);
    b.copy_on(edge, 32, i, zero);
    b.copy_on(edge, 128, wide, sum);
    b.br(edge);

    b.start(head);
    let (a, z, e) = (b.edge(case), b.edge(out), b.edge(dead));
    b.switch(32, n, e, &[(7, z), (0, a)]);

    b.start(case);
    let args = [(p, 64), (sum, 128), (x, 32)];
    let def = CallDef { args: &args, ret_width: 32, flags: call_flags::VARIADIC, named: 1 };
    let r = b.call(Callee::Symbol(printf), def);
    let less = b.binary(Op::Slt, 32, r, i);
    let (back, leave) = (b.edge(head), b.edge(out));
    b.copy_on(back, 32, i, r);
    b.cond_br(less, back, leave);

    b.start(out);
    let args = [(two, 64)];
    b.call_to(None, Callee::Address(p), CallDef { args: &args, ..CallDef::default() });
    let half = b.cast(Op::Trunc, 64, 128, sum);
    let ext = b.value(Op::Extract, 16, sum, 60u32, 128u32);
    let both = b.value(Op::Concat, 80, ext, half, 64u32);
    let real = b.value(Op::Fround, 80, both, 3u32, NONE);
    let angle = b.value(Op::X87, 80, real, both, 3u32);
    let narrow = b.cast(Op::Fcast, 64, 80, angle);
    b.value(Op::Fcmp, 64, narrow, half, 9u32);
    b.ret(128, Some(sum));

    b.start(dead);
    b.unsupported("an \"odd\" thing");
}

/// A deterministic generator (xorshift64*).
pub(crate) struct Rng(pub u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// Below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const WIDTHS: &[u16] = &[1, 7, 8, 16, 31, 32, 33, 64, 65, 80, 127, 128, 200, 256];

/// A well-formed module of random functions, every operator among them.
pub(crate) fn random(seed: u64) -> Module {
    let rng = &mut Rng(seed.wrapping_mul(0x9e37_79b9) | 1);
    let mut m = ModuleBuilder::new();
    let names: Vec<u32> = (0..4).map(|i| m.symbol(format!("f{i}"))).collect();
    let unit = m.str("r.c");
    for (i, &symbol) in names.iter().take(1 + rng.below(3)).enumerate() {
        let params: Vec<ParamDef> = (0..rng.below(4)).map(|_| ParamDef { width: rng.pick(WIDTHS), ..ParamDef::default() }).collect();
        let ret_width = rng.pick(&[0, 1, 32, 64, 128]);
        let loc = m.loc(Loc { file: unit, line: i as u32 + 1, column: 1, function: unit, inlined_at: 0, library: 0 });
        let def = FunctionDef { name: "r", params: &params, ret_width, flags: 0, loc };
        let linkage = rng.pick(&[linkage::STRONG, linkage::WEAK, linkage::INTERNAL]);
        let b = m.function(symbol, linkage, def).unwrap();
        function(rng, b, &params, ret_width, &names);
    }
    m.finish()
}

fn function(rng: &mut Rng, mut b: FunctionBuilder, params: &[ParamDef], ret_width: u16, symbols: &[u32]) {
    let mut values: Vec<(Slot, u16)> = params.iter().enumerate().map(|(i, p)| (b.param(i), p.width)).collect();
    let blocks: Vec<_> = (0..1 + rng.below(5)).map(|_| b.block()).collect();
    let allocas = [b.alloca(8, 8, "x"), b.alloca(3, 1, "")];
    for &block in &blocks {
        b.start(block);
        for _ in 0..rng.below(12) {
            let op = rng.pick(Op::ALL);
            if let Some(value) = instruction(rng, &mut b, op, &mut values, symbols, &allocas) {
                values.push(value);
            }
        }
        let edge = |rng: &mut Rng, b: &mut FunctionBuilder, values: &mut Vec<(Slot, u16)>| {
            let edge = b.edge(rng.pick(&blocks));
            for &(dst, width) in values.iter().skip(params.len()).take(rng.below(3)) {
                let src = operand(rng, b, values, width);
                b.copy_on(edge, width, dst, src);
            }
            edge
        };
        match rng.below(7) {
            0 => {
                let e = edge(rng, &mut b, &mut values);
                b.br(e);
            }
            1 => {
                let cond = operand(rng, &mut b, &values, 1);
                let (t, e) = (edge(rng, &mut b, &mut values), edge(rng, &mut b, &mut values));
                b.cond_br(cond, t, e);
            }
            2 => {
                let value = operand(rng, &mut b, &values, 31);
                let default = edge(rng, &mut b, &mut values);
                let cases: Vec<_> = (0..rng.below(4) as u64).map(|i| (i * 77, edge(rng, &mut b, &mut values))).collect();
                b.switch(31, value, default, &cases);
            }
            3 => b.unreachable(),
            4 => b.trap("ud2"),
            _ if ret_width == 0 => b.ret(0, None),
            _ => {
                let value = operand(rng, &mut b, &values, ret_width);
                b.ret(ret_width, Some(value));
            }
        }
    }
    b.finish().unwrap();
}

/// A value of that width: an earlier one, or a constant.
fn operand(rng: &mut Rng, b: &mut FunctionBuilder, values: &[(Slot, u16)], width: u16) -> Slot {
    let fitting: Vec<Slot> = values.iter().filter(|v| v.1 == width).map(|v| v.0).collect();
    if !fitting.is_empty() && rng.below(3) > 0 {
        return rng.pick(&fitting);
    }
    let limbs: Vec<u64> = (0..width.div_ceil(64)).map(|_| rng.next() >> rng.below(64)).collect();
    b.wide(width, &limbs)
}

/// Emits `op` on random operands; returns its result.
fn instruction(
    rng: &mut Rng,
    b: &mut FunctionBuilder,
    op: Op,
    values: &mut [(Slot, u16)],
    symbols: &[u32],
    allocas: &[crate::build::AllocaId],
) -> Option<(Slot, u16)> {
    let float = |rng: &mut Rng| rng.pick(&Format::ALL).width() as u16;
    let any = |rng: &mut Rng| rng.pick(WIDTHS);
    // Width, then the raw number in `c` (a source width, if the operator has one).
    let (width, c) = match op {
        Op::Zext | Op::Sext | Op::Concat => (rng.pick(&[64, 65, 130]), u32::from(rng.pick(&[1u16, 8, 63]))),
        Op::Trunc | Op::Extract => (rng.pick(&[1, 8, 63]), rng.pick(&[64, 65, 130])),
        Op::Bswap => (rng.pick(&[8, 16, 48, 64, 128]), NONE),
        Op::Imm => (64, NONE),
        Op::Shl | Op::Lshr | Op::Ashr => (any(rng), rng.below(2) as u32),
        Op::Fcmp => (float(rng), rng.below(16) as u32),
        Op::X87 => (80, rng.below(X87::ALL.len()) as u32),
        Op::Fcast => rng.pick(&[(32, 64), (64, 32), (80, 64), (128, 80), (16, 128)]),
        Op::FtoS | Op::FtoU => (rng.pick(&[1, 8, 32, 64, 128]), u32::from(float(rng))),
        Op::StoF | Op::UtoF => (float(rng), rng.pick(&[1, 8, 32, 64, 128])),
        Op::PtrAdd | Op::Anchor => (64, 1 + rng.below(40) as u32),
        Op::Alloca | Op::AllocaDyn | Op::StackSave => (64, NONE),
        Op::Unwound => (0, NONE),
        Op::Store => (any(rng), 4),
        Op::StackRestore | Op::MemUndef | Op::MemCopy | Op::MemMove | Op::MemSet => (0, NONE),
        Op::Br | Op::CondBr | Op::Switch | Op::Ret | Op::Jump | Op::Unreachable | Op::Unsupported | Op::Trap => return None,
        _ if op >= Op::Fadd => (float(rng), NONE),
        _ => (any(rng), NONE),
    };
    if matches!(op, Op::Call | Op::CallIndirect) {
        let callee = match op {
            Op::Call => Callee::Symbol(rng.pick(symbols)),
            _ => Callee::Address(operand(rng, b, values, 64)),
        };
        let widths: Vec<u16> = (0..rng.below(3)).map(|_| any(rng)).collect();
        let args: Vec<_> = widths.into_iter().map(|w| (operand(rng, b, values, w), w)).collect();
        let def = CallDef { args: &args, ret_width: rng.pick(&[0, 32, 128]), flags: 0, named: 0 };
        let result = b.call(callee, def);
        return (def.ret_width > 0).then_some((result, def.ret_width));
    }
    let kinds = op.operands();
    let field = |rng: &mut Rng, b: &mut FunctionBuilder, n: usize| match kinds[n] {
        Operand::Val => operand(rng, b, values, width).raw(),
        Operand::Word => operand(rng, b, values, 64).raw(),
        Operand::Bit => operand(rng, b, values, 1).raw(),
        Operand::SrcVal if op == Op::Concat && n == 1 => operand(rng, b, values, width - c as u16).raw(),
        Operand::SrcVal => operand(rng, b, values, c as u16).raw(),
        Operand::Imm if n == 3 => c,
        Operand::Imm => match op {
            Op::Imm => rng.next() as u32,
            Op::Fround => rng.below(5) as u32,
            Op::Extract => rng.below(64 - width as usize + 1) as u32,
            _ => 8,
        },
        Operand::Alloca => crate::build::Field::field(rng.pick(allocas)),
        Operand::Symbol => rng.pick(symbols),
        _ => NONE,
    };
    let (x, y, z) = (field(rng, b, 1), field(rng, b, 2), field(rng, b, 3));
    if kinds[0] == Operand::No {
        b.emit(op, width, NONE, x, y, z);
        return None;
    }
    let result = match kinds[0] {
        Operand::Bit => 1,
        Operand::Word => 64,
        _ => width,
    };
    Some((b.value(op, width, x, y, z), result))
}

#[test]
fn samples_are_well_formed() {
    crate::verify::verify(&everything()).unwrap();
    for seed in 0..300 {
        crate::verify::verify(&random(seed)).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}
