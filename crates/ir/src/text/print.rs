//! Printing a verified module.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::words::{self, CALL_FLAGS, FUNCTION_FLAGS, Flags, GLOBAL_FLAGS, LINKAGES};
use crate::arith;
use crate::inst::{Inst, NONE, Op, Operand, limbs};
use crate::module::{Block, Function, LocId, Module, StrId, SymbolId, linkage, param_kind, symbol_kind};

/// The text of a verified module.
pub fn print(module: &Module) -> String {
    let mut seen = FxHashMap::default();
    let same = module.symbols.iter().map(|s| {
        let count = seen.entry(s.name).or_insert(0);
        *count += 1;
        *count - 1
    });
    let mut p = Printer { m: module, same: same.collect(), out: String::new() };
    p.positions();
    p.symbols();
    for g in module.globals.iter() {
        p.data(g.symbol);
    }
    p.aliases();
    for c in module.ctors.iter() {
        let word = if c.at_exit == 0 { "ctor" } else { "dtor" };
        p.put(&format!("{word} {} {}\n", p.symbol(c.symbol), c.priority));
    }
    for f in module.functions.iter() {
        p.function(f);
    }
    p.out
}

struct Printer<'m> {
    m: &'m Module,
    /// By symbol: how many before it have its name.
    same: Vec<u32>,
    out: String,
}

impl Printer<'_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }
    fn quoted(&self, bytes: &[u8]) -> String {
        let mut out = String::from("\"");
        for &b in bytes {
            match b {
                b' '..=b'~' if b != b'"' && b != b'\\' => out.push(b as char),
                _ => _ = write!(out, "\\{b:02x}"),
            }
        }
        out + "\""
    }
    fn string(&self, id: StrId) -> String {
        self.quoted(self.m.raw_str(id))
    }
    fn symbol(&self, id: SymbolId) -> String {
        let name = self.m.symbols[id as usize].name;
        let bytes = self.m.raw_str(name);
        let plain = !bytes.is_empty() && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
        let text = if plain { self.m.str(name).to_owned() } else { self.quoted(bytes) };
        // Of symbols with the same bytes, all but the first get a number.
        let same = self.same[id as usize];
        if same == 0 { format!("@{text}") } else { format!("@{text}#{same}") }
    }
    fn offset(&mut self, offset: i64) {
        match offset {
            0 => {}
            1.. => self.put(&format!("+{offset}")),
            _ => self.put(&format!("-{}", offset.unsigned_abs())),
        }
    }
    fn at(&mut self, loc: LocId) {
        if loc != 0 {
            self.put(&format!(" !{loc}"));
        }
    }
    fn flags(&mut self, flags: u32, names: Flags) {
        let set: Vec<&str> = names.iter().filter(|&&(bit, _)| flags & bit != 0).map(|&(_, name)| name).collect();
        if !set.is_empty() {
            self.put(&format!(" [{}]", set.join(", ")));
        }
    }

    fn positions(&mut self) {
        for (i, l) in self.m.locations.iter().enumerate().skip(1) {
            let (file, function) = (self.string(l.file), self.string(l.function));
            self.put(&format!("loc {i} = {file} {}:{} in {function}", l.line, l.column));
            if l.inlined_at != 0 {
                self.put(&format!(" inlined {}", l.inlined_at));
            }
            if l.library != 0 {
                self.put(" library");
            }
            self.put("\n");
        }
    }
    fn symbols(&mut self) {
        for (id, s) in self.m.symbols.iter().enumerate() {
            let function = match s.kind {
                symbol_kind::UNDEFINED => "",
                symbol_kind::UNDEFINED_FUNCTION => " func",
                _ => continue,
            };
            let weak = if s.linkage == linkage::EXTERN_WEAK { " extern_weak" } else { "" };
            self.put(&format!("declare{function}{weak} {}\n", self.symbol(id as u32)));
        }
    }
    /// By name: the order of symbols is not kept by the text.
    fn aliases(&mut self) {
        let all = self.m.symbols.iter().enumerate().filter(|(_, s)| s.kind == symbol_kind::ALIAS);
        let mut all: Vec<_> = all.map(|(id, s)| (self.symbol(id as u32), s)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, s) in all {
            self.put(&format!("alias {} {name} = {}", LINKAGES[s.linkage as usize], self.symbol(s.index)));
            self.offset(s.offset as i64);
            self.put("\n");
        }
    }
    fn data(&mut self, symbol: SymbolId) {
        let s = &self.m.symbols[symbol as usize];
        let g = &self.m.globals[s.index as usize];
        self.put(&format!("data {} {} size {}", LINKAGES[s.linkage as usize], self.symbol(symbol), g.size));
        if g.align != 1 {
            self.put(&format!(" align {}", g.align));
        }
        self.flags(g.flags, GLOBAL_FLAGS);
        self.at(g.loc);
        if g.init.count > 0 {
            self.put(&format!(" = {}", self.quoted(self.m.bytes.range(g.init))));
        }
        if g.relocs.count > 0 {
            self.put(" {");
            for (i, r) in self.m.relocs.range(g.relocs).iter().enumerate() {
                self.put(&format!("{}{}: {}", if i == 0 { " " } else { ", " }, r.offset, self.symbol(r.symbol)));
                self.offset(r.addend);
            }
            self.put(" }");
        }
        self.put("\n");
    }

    fn function(&mut self, f: &Function) {
        let s = &self.m.symbols[f.symbol as usize];
        self.put(&format!("\nfunc {} {}", LINKAGES[s.linkage as usize], self.symbol(f.symbol)));
        if f.name != s.name {
            self.put(&format!(" {}", self.string(f.name)));
        }
        self.put("(");
        let mut slot = 0;
        for (i, p) in self.m.params.range(f.params).iter().enumerate() {
            let what = match p.kind {
                param_kind::POINTER => "ptr".to_owned(),
                param_kind::FLOAT => format!("f{}", p.width),
                param_kind::BY_VALUE => format!("byval {}", p.size),
                param_kind::VARIADIC => "va".to_owned(),
                _ => p.width.to_string(),
            };
            self.put(&format!("{}%{slot}: {what}", if i == 0 { "" } else { ", " }));
            if self.m.strings[p.name as usize].len > 0 {
                self.put(&format!(" {}", self.string(p.name)));
            }
            slot += limbs(p.width);
        }
        self.put(")");
        if f.ret_width > 0 {
            self.put(&format!(" -> {}", f.ret_width));
        }
        self.flags(f.flags, FUNCTION_FLAGS);
        self.put(&format!(" slots {}", f.slots - f.consts.count));
        self.at(f.loc);
        self.put(" {\n");
        for (i, a) in self.m.allocas.range(f.allocas).iter().enumerate() {
            self.put(&format!("  ${i}: {}", a.size));
            if a.align != 1 {
                self.put(&format!(" align {}", a.align));
            }
            if self.m.strings[a.name as usize].len > 0 {
                self.put(&format!(" {}", self.string(a.name)));
            }
            self.at(a.loc);
            self.put("\n");
        }
        let mut loc = 0;
        for (i, b) in self.m.blocks.range(f.blocks).iter().enumerate() {
            self.put(&format!("b{i}:\n"));
            self.block(f, b, &mut loc);
        }
        self.put("}\n");
    }
    fn block(&mut self, f: &Function, b: &Block, loc: &mut LocId) {
        let insts = self.m.insts.range(b.insts);
        for (inst, &at) in insts.iter().zip(self.m.inst_locs.range(b.insts)) {
            if at != *loc {
                self.put(&format!("  !{at}\n"));
                *loc = at;
            }
            if let Some(op) = inst.operator() {
                self.put("  ");
                self.inst(f, op, inst);
                self.put("\n");
            }
        }
    }

    fn inst(&mut self, f: &Function, op: Op, inst: &Inst) {
        if inst.dst != NONE {
            self.put(&format!("%{} = ", inst.dst - f.consts.count));
        }
        self.put(op.name());
        if words::has_width(op) && inst.width > 0 {
            self.put(&format!(".{}", inst.width));
        }
        match op {
            Op::Imm => return self.put(&format!(" {}", number(64, &[u64::from(inst.a) | u64::from(inst.b) << 32]))),
            Op::Ret if inst.width == 0 => return,
            Op::Ret => {
                self.put(" ");
                let list: Vec<u32> = self.m.slot_lists[inst.a as usize..][..inst.b as usize].to_vec();
                return self.value(f, inst.width.into(), &list);
            }
            Op::Call | Op::CallIndirect => return self.call(f, op, inst),
            Op::Switch => return self.switch(f, inst),
            _ => {}
        }
        let fields = [inst.a, inst.b, inst.c];
        let mut separator = " ";
        for (n, (field, kind)) in fields.into_iter().zip(&op.operands()[1..]).enumerate() {
            let width = match kind {
                Operand::No => continue,
                Operand::Imm => {
                    self.raw(words::raw(op, n + 1), field);
                    continue;
                }
                Operand::Word => 64,
                Operand::Bit => 1,
                Operand::SrcVal if op == Op::Concat && n == 0 => u32::from(inst.width) - inst.c,
                Operand::SrcVal => inst.c,
                _ => inst.width.into(),
            };
            self.put(separator);
            separator = ", ";
            match kind {
                Operand::Edge => self.edge(f, field),
                Operand::Symbol => self.put(&self.symbol(field)),
                Operand::Str => self.put(&self.string(field)),
                Operand::Alloca => self.put(&format!("${field}")),
                _ => self.value(f, width, &(field..field + limbs(width)).collect::<Vec<_>>()),
            }
        }
    }
    fn raw(&mut self, raw: words::Raw, value: u32) {
        if raw.default == Some(value) {
            return;
        }
        match raw.names.get(value as usize) {
            Some(name) => self.put(&format!(" {} {name}", raw.word)),
            None => self.put(&format!(" {} {value}", raw.word)),
        }
    }
    /// A value of `width` bits by its limbs' slots.
    fn value(&mut self, f: &Function, width: u32, slots: &[u32]) {
        let constant = |s: u32| self.m.consts[(f.consts.first + s) as usize];
        let all_constants = slots.iter().all(|&s| s < f.consts.count);
        if all_constants && slots.iter().all(|&s| constant(s).symbol == NONE) {
            let value: Vec<u64> = slots.iter().map(|&s| constant(s).value).collect();
            return self.put(&number(width, &value));
        }
        let run = slots.windows(2).all(|w| w[0] + 1 == w[1]);
        if slots[0] >= f.consts.count && run {
            return self.put(&format!("%{}", slots[0] - f.consts.count));
        }
        if let &[s] = slots {
            self.put(&self.symbol(constant(s).symbol));
            return self.offset(constant(s).value as i64);
        }
        for (i, &s) in slots.iter().enumerate() {
            self.put(if i == 0 { "{" } else { ", " });
            self.value(f, 64, &[s]);
        }
        self.put("}");
    }
    fn edge(&mut self, f: &Function, edge: u32) {
        let edge = self.m.edges[(f.edges.first + edge) as usize];
        self.put(&format!("b{}", edge.block));
        for (i, c) in self.m.copies.range(edge.copies).iter().enumerate() {
            self.put(&format!("{}%{} = ", if i == 0 { "(" } else { ", " }, c.dst - f.consts.count));
            self.value(f, 64, &[c.src]);
        }
        if edge.copies.count > 0 {
            self.put(")");
        }
    }
    fn call(&mut self, f: &Function, op: Op, inst: &Inst) {
        self.put(" ");
        match op {
            Op::Call => self.put(&self.symbol(inst.a)),
            _ => self.value(f, 64, &[inst.a]),
        }
        let call = self.m.calls[inst.b as usize];
        let mut slots = self.m.slot_lists.range(call.args);
        self.put("(");
        for (i, &width) in self.m.slot_lists.range(call.widths).iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            let (these, rest) = slots.split_at(limbs(width) as usize);
            self.value(f, width, these);
            self.put(&format!(":{width}"));
            slots = rest;
        }
        self.put(")");
        if call.named > 0 {
            self.put(&format!(" named {}", call.named));
        }
        self.flags(call.flags, CALL_FLAGS);
    }
    fn switch(&mut self, f: &Function, inst: &Inst) {
        self.put(" ");
        self.value(f, inst.width.into(), &[inst.a]);
        let switch = self.m.switches[(f.switches.first + inst.b) as usize];
        self.put(" [");
        for (i, case) in self.m.cases.range(switch.cases).iter().enumerate() {
            self.put(&format!("{}{}: ", if i == 0 { "" } else { ", " }, number(inst.width.into(), &[case.value])));
            self.edge(f, case.edge);
        }
        self.put("] else ");
        self.edge(f, switch.default);
    }
}

/// Small numbers in decimal, small negative ones with a sign, others in hexadecimal.
fn number(width: u32, limbs: &[u64]) -> String {
    if let &[v] = limbs {
        let s = arith::signed(width, v);
        if (8..=64).contains(&width) && (-4096..0).contains(&s) {
            return s.to_string();
        }
        if v < 10_000 {
            return v.to_string();
        }
    }
    let mut digits: String = limbs.iter().rev().map(|l| format!("{l:016x}")).collect();
    let zeros = digits.bytes().take_while(|&b| b == b'0').count().min(digits.len() - 1);
    digits.drain(..zeros);
    format!("0x{digits}")
}
