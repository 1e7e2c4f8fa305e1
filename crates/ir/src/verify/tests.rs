//! One test per rule: a good module, one record changed, and the rule that must object; then bytes at random.

use super::*;
use crate::inst::Op;
use crate::module::{Call, Table};
use crate::{file, samples};

fn at(m: &Module, op: Op) -> usize {
    m.insts.iter().position(|i| i.operator() == Some(op)).unwrap()
}

/// The first broken rule after `edit`.
fn broken(edit: impl FnOnce(&mut Module)) -> Rule {
    let mut m = samples::everything();
    edit(&mut m);
    verify(&m).expect_err("the edit breaks a rule").rule
}

type Edit = fn(&mut Module);

/// For a rule: changes that break it and no earlier one.
fn breaking(rule: Rule) -> Vec<Edit> {
    fn edits<const N: usize>(list: [Edit; N]) -> Vec<Edit> {
        list.to_vec()
    }
    match rule {
        Rule::Strings => edits([
            |m| m.strings.owned()[2].start = 1 << 30,
            |m| m.strings.owned()[2].len = u32::MAX,
            |m| m.strings.owned()[0].len = 1,
            |m| m.strings = Table::default(),
        ]),
        Rule::Locations => edits([
            |m| m.locations.owned()[1].inlined_at = 1,
            |m| m.locations.owned()[1].file = 1000,
            |m| m.locations.owned()[1].library = 2,
            |m| m.locations.owned()[0].line = 1,
            |m| m.inst_locs.owned()[3] = 77,
            |m| _ = m.inst_locs.owned().pop(),
        ]),
        Rule::Symbols => edits([
            |m| m.symbols.owned()[0].name = 1000,
            |m| m.symbols.owned()[0].kind = 9,
            |m| m.symbols.owned()[0].linkage = 5,
            |m| m.symbols.owned()[1].index = 2,
            |m| m.symbols.owned()[2].index = 0,
            |m| m.symbols.owned()[2].linkage = linkage::INTERNAL,
            |m| m.symbols.owned()[0].offset = 1,
        ]),
        Rule::Definitions => edits([|m| m.symbols.owned()[1].index = 1, |m| m.globals.owned()[0].symbol = 4]),
        Rule::Globals => edits([
            |m| m.globals.owned()[0].size = MAX_SIZE,
            |m| m.globals.owned()[0].align = 0,
            |m| m.globals.owned()[0].align = 12,
            |m| m.globals.owned()[1].size = 1,
            |m| m.globals.owned()[0].flags = 8,
            |m| m.globals.owned()[0].init.first = u32::MAX,
            |m| m.globals.owned()[0].relocs.count = 3,
        ]),
        Rule::Relocations => edits([
            |m| m.relocs.owned()[1].offset = 25,
            |m| m.relocs.owned()[1].offset = 15,
            |m| m.relocs.owned()[0].symbol = 50,
            |m| m.globals.owned()[0].size = 7,
        ]),
        Rule::Constructors => {
            edits([|m| m.ctors.owned()[0].symbol = 1, |m| m.ctors.owned()[0].symbol = 100, |m| m.ctors.owned()[0].at_exit = 2])
        }
        Rule::Partition => edits([
            |m| m.functions.owned()[0].blocks.first = 1,
            |m| m.functions.owned()[0].blocks.count -= 1,
            |m| m.functions.owned()[0].edges.count = u32::MAX,
            |m| m.functions.owned()[0].consts.count += 1,
            |m| m.functions.owned()[0].allocas.count = 0,
        ]),
        Rule::Signature => edits([
            |m| m.params.owned()[0].width = 0,
            |m| m.params.owned()[1].width = 32,
            |m| m.params.owned()[1].kind = 5,
            |m| m.functions.owned()[0].flags = 0,
            |m| m.functions.owned()[0].flags |= 32,
            |m| m.functions.owned()[0].ret_width = 1 << 16,
            |m| m.functions.owned()[0].name = 1 << 16,
        ]),
        Rule::Slots => edits([|m| m.functions.owned()[0].slots = 8, |m| m.functions.owned()[0].slots = u32::MAX]),
        Rule::Constants => edits([|m| m.consts.owned()[0].symbol = 99]),
        Rule::Allocas => {
            edits([|m| m.allocas.owned()[0].size = 0, |m| m.allocas.owned()[0].align = 3, |m| m.allocas.owned()[0].name = 1000])
        }
        Rule::Blocks => edits([
            |m| m.blocks.owned()[1].insts.count = 0,
            |m| m.blocks.owned()[1].insts.first = u32::MAX,
            |m| m.blocks.owned()[0].insts.count -= 1,
            |m| m.blocks.owned()[0].insts.count += 1,
            |m| m.blocks.owned()[1] = m.blocks[0],
        ]),
        Rule::Operators => edits([|m| m.insts.owned()[1].op = 999]),
        Rule::Widths => edits([
            |m| inst(m, Op::Add).width = 0,
            |m| inst(m, Op::Store).c = 3,
            |m| inst(m, Op::PtrAdd).c = 0,
            |m| inst(m, Op::Trunc).c = 64,
            |m| inst(m, Op::Extract).b = 113,
            |m| inst(m, Op::Concat).c = 80,
            |m| inst(m, Op::Fround).b = 5,
            |m| inst(m, Op::X87).c = 7,
            |m| inst(m, Op::X87).width = 64,
            |m| inst(m, Op::Fround).width = 81,
            |m| inst(m, Op::Fcmp).c = 16,
            |m| inst(m, Op::Fcast).c = 64,
            |m| inst(m, Op::Switch).width = 65,
            |m| inst(m, Op::Br).width = 1,
        ]),
        Rule::Operands => edits([
            |m| inst(m, Op::Add).a = m.functions[0].slots - 1,
            |m| inst(m, Op::Add).b = NONE,
            |m| inst(m, Op::Add).dst = m.functions[0].slots,
            |m| inst(m, Op::Add).c = 0,
            |m| inst(m, Op::Br).a = m.functions[0].edges.count,
            |m| inst(m, Op::CondBr).c = NONE,
            |m| inst(m, Op::Switch).b = 1,
            |m| inst(m, Op::Call).a = 50,
            |m| inst(m, Op::Call).b = 2,
            |m| inst(m, Op::Alloca).a = 1,
            |m| inst(m, Op::Unsupported).a = 1000,
            |m| inst(m, Op::Ret).a = u32::MAX,
        ]),
        Rule::Results => edits([|m| inst(m, Op::Load).dst = 0, |m| inst(m, Op::Add).dst = inst(m, Op::Add).a + 1]),
        Rule::Fit => edits([
            |m| {
                let zero = m.copies[0].src;
                inst(m, Op::Slt).a = zero;
                m.consts.owned()[zero as usize].value = 1 << 32;
            },
            |m| inst(m, Op::Slt).a = 0,
        ]),
        Rule::Calls => edits([
            |m| calls(m).widths.count -= 1,
            |m| calls(m).args.count -= 1,
            |m| calls(m).args.first = u32::MAX,
            |m| calls(m).flags = 256,
            |m| calls(m).named = 4,
            |m| calls(m).ret_width = 16,
            |m| m.slot_lists.owned()[0] = 1 << 20,
        ]),
        Rule::Returns => edits([
            |m| inst(m, Op::Ret).b = 1,
            |m| inst(m, Op::Ret).width = 64,
            |m| {
                let list = inst(m, Op::Ret).a;
                m.slot_lists.owned()[list as usize] = m.functions[0].slots;
            },
        ]),
        Rule::Edges => edits([
            |m| m.edges.owned()[0].block = 5,
            |m| m.edges.owned()[0].copies.count = u32::MAX,
            |m| m.copies.owned()[0].dst = 0,
            |m| m.copies.owned()[0].src = m.functions[0].slots,
            |m| m.copies.owned()[1].dst = m.copies[0].dst,
        ]),
        Rule::Switches => edits([
            |m| m.switches.owned()[0].default = 6,
            |m| m.cases.owned()[1].edge = 6,
            |m| m.cases.owned()[1].value = 0,
            |m| m.cases.owned()[1].value = 1 << 32,
            |m| m.switches.owned()[0].cases.count = 3,
        ]),
    }
}

fn inst(m: &mut Module, op: Op) -> &mut crate::inst::Inst {
    let i = at(m, op);
    &mut m.insts.owned()[i]
}
fn calls(m: &mut Module) -> &mut Call {
    &mut m.calls.owned()[0]
}

#[test]
fn each_rule_objects() {
    for (i, &rule) in Rule::ALL.iter().enumerate() {
        assert_eq!(rule as usize, i + 1);
        for (n, edit) in breaking(rule).into_iter().enumerate() {
            assert_eq!(broken(edit), rule, "change {n} of rule {}", i + 1);
        }
    }
}

#[test]
fn the_message_says_where() {
    let mut m = samples::everything();
    inst(&mut m, Op::Add).b = NONE;
    let e = verify(&m).unwrap_err();
    let text = "insts[4] in function `f`: rule 16: an operand names what its kind says: slots of the function for its whole \
                width (all constants or none), a record that exists, or nothing";
    assert_eq!(e.to_string(), text);
}

/// Whatever the bytes: an error or a module that keeps the promise, which running over all it names checks.
#[test]
fn random_damage_never_panics() {
    let rng = &mut samples::Rng(5);
    let (mut refused, mut accepted) = (0, 0);
    for round in 0..20_000 {
        let module = if round % 2 == 0 { samples::everything() } else { samples::random(round % 64) };
        let mut m = file::read(&file::to_bytes(&module)).unwrap();
        for _ in 0..=rng.below(2) {
            damage(&mut m, rng);
        }
        match verify(&m) {
            Err(e) => {
                refused += 1;
                assert!(!e.to_string().is_empty());
            }
            Ok(()) => {
                accepted += 1;
                walk(&m);
            }
        }
    }
    assert!(refused > 4_000 && accepted > 1_000, "{refused} refused, {accepted} accepted");
}

/// Changes one byte of one table, or drops its last record.
fn damage(m: &mut Module, rng: &mut samples::Rng) {
    let victim = rng.below(21);
    let (byte, value) = (rng.next() as usize, rng.next());
    let mut n = 0;
    struct Copy<'a, F>(&'a Module, F);
    impl<F: FnMut(&mut Vec<u8>)> crate::module::TableSource for Copy<'_, F> {
        type Error = std::convert::Infallible;
        fn table<T: bytemuck::Pod>(&mut self, name: &'static str) -> Result<Table<T>, Self::Error> {
            let mut bytes = Vec::new();
            self.0.for_each_table(|n, _, b| {
                if n == name {
                    bytes = b.to_vec()
                }
            });
            (self.1)(&mut bytes);
            let mut records = vec![T::zeroed(); bytes.len() / size_of::<T>()];
            let whole = records.len() * size_of::<T>();
            bytemuck::cast_slice_mut(&mut records).copy_from_slice(&bytes[..whole]);
            Ok(Table::Owned(records))
        }
    }
    let change = |bytes: &mut Vec<u8>| {
        n += 1;
        if n - 1 == victim && !bytes.is_empty() {
            if value % 16 == 0 {
                bytes.pop();
            } else {
                let i = byte % bytes.len();
                bytes[i] = if value % 2 == 0 { (value >> 8) as u8 } else { bytes[i] ^ 1 << (value >> 8 & 7) };
            }
        }
    };
    let Ok(new) = Module::from_tables(Copy(m, change));
    *m = new;
}

/// Looks at everything an interpreter would index (a panic fails the test).
fn walk(m: &Module) {
    let text = crate::text::print(m);
    assert!(!text.is_empty());
    for f in m.functions.iter() {
        let frame = vec![0u64; f.slots as usize];
        for e in m.edges.range(f.edges) {
            let _ = &m.blocks.range(f.blocks)[e.block as usize];
            assert!(m.copies.range(e.copies).iter().all(|c| c.dst.max(c.src) < f.slots));
        }
        for b in m.blocks.range(f.blocks) {
            for inst in m.insts.range(b.insts) {
                let op = inst.operator().unwrap();
                let fields = [inst.dst, inst.a, inst.b, inst.c];
                for (kind, field) in op.operands().into_iter().zip(fields) {
                    if kind == crate::inst::Operand::Val && field != NONE {
                        let _ = &frame[field as usize..][..limbs(inst.width.into()) as usize];
                    }
                }
            }
        }
    }
}

#[test]
fn growth_is_checked_alone() {
    use crate::build::{FunctionBuilder, FunctionDef, ModuleBuilder};
    let mut b = ModuleBuilder::new();
    let s = b.symbol("machine");
    let mut f = b.function(s, linkage::STRONG, FunctionDef::default()).unwrap();
    let entry = f.block();
    f.start(entry);
    f.unreachable();
    f.finish().unwrap();
    let ModuleBuilder { mut module, mut names } = b;
    verify(&module).unwrap();
    for round in 0..3 {
        let before = module.functions[0];
        let mut f = FunctionBuilder::append(&mut module, &mut names, 0).unwrap();
        let (one, two) = (f.block(), f.block());
        f.start(one);
        let c = f.int(64, 1);
        f.jump_to(two);
        f.start(two);
        f.jump(c);
        f.finish().unwrap();
        verify_growth(&module, &before).unwrap();
        verify(&module).unwrap();
        if round == 2 {
            module.edges.owned()[2].block = 99;
            assert_eq!(verify_growth(&module, &before).unwrap_err().rule, Rule::Edges);
        }
    }
}
