//! Parsing function bodies. Names may be used before they are written, so a body is read into instructions over names first;
//! then names get slots and the builder gets the instructions.

use rustc_hash::FxHashMap;

use super::lex::Token;
use super::parse::{Head, Parser};
use super::words::{self, CALL_FLAGS};
use super::{ParseError, Why};
use crate::build::{AllocaId, BlockId, CallDef, Callee, EdgeId, Field, FunctionBuilder, FunctionDef, ParamDef, Slot};
use crate::inst::{NONE, Op, Operand, limbs};
use crate::module::{Const, LocId, StrId, SymbolId};

/// A value as written.
#[derive(Clone)]
enum Value {
    /// A slot by the number of its name, and where it stands.
    Slot(usize),
    Const(Vec<Const>),
    /// Limb by limb.
    Limbs(Vec<Value>),
}

struct EdgeText {
    label: String,
    line: u32,
    column: u32,
    copies: Vec<(usize, u16, Value)>,
}

/// One field of an instruction as written.
enum FieldText {
    Absent,
    Raw(u32),
    Value(Value),
    Symbol(SymbolId),
    Str(StrId),
    Alloca(u32),
    Edge(EdgeText),
}

/// What instructions have besides fields.
enum Extra {
    None,
    Call { args: Vec<(Value, u16)>, named: u32, flags: u32 },
    Switch { cases: Vec<(u64, EdgeText)>, default: EdgeText },
    Ret(Option<Value>),
}

struct InstText {
    op: Op,
    width: u16,
    dst: Option<usize>,
    fields: [FieldText; 3],
    extra: Extra,
    loc: LocId,
}

struct AllocaText {
    size: u64,
    align: u32,
    name: String,
    loc: LocId,
}

/// A slot's name: where it was first seen, and what is known of its place.
struct Name {
    text: String,
    line: u32,
    column: u32,
    /// Limbs, once it is written somewhere.
    limbs: u32,
    place: Option<u32>,
}

#[derive(Default)]
struct Body {
    names: Vec<Name>,
    by_text: FxHashMap<String, usize>,
    allocas: Vec<AllocaText>,
    alloca_names: FxHashMap<String, u32>,
    labels: FxHashMap<String, usize>,
    blocks: Vec<Vec<InstText>>,
}

impl Parser<'_> {
    /// A function from its `{` on.
    pub(super) fn function(&mut self, head: Head) -> Result<(), ParseError> {
        let mut body = Body::default();
        for p in &head.params {
            let n = self.name(&mut body, p.slot.clone());
            body.names[n].limbs = limbs(p.width.into());
        }
        self.expect('{', "`{`")?;
        self.allocas(&mut body)?;
        let mut loc = 0;
        while !self.eat('}')? {
            let place = self.error(Why::OpenString);
            let word = self.word("a label, an instruction or `}`")?;
            if body.labels.insert(word.clone(), body.blocks.len()).is_some() {
                return Err(ParseError { why: Why::Twice(word), ..place });
            }
            self.expect(':', "`:` after a label")?;
            let mut insts = Vec::new();
            loop {
                if let Some(at) = self.at()? {
                    loc = at;
                }
                let inst = self.inst(&mut body, loc)?;
                let ends = inst.op.flow() == crate::inst::Flow::Ends;
                insts.push(inst);
                if ends {
                    break;
                }
            }
            body.blocks.push(insts);
        }
        self.emit(head, body)
    }

    fn allocas(&mut self, body: &mut Body) -> Result<(), ParseError> {
        while let Token::Alloca(text) = self.token.clone() {
            if body.alloca_names.insert(text.clone(), body.allocas.len() as u32).is_some() {
                return Err(self.error(Why::Twice(format!("${text}"))));
            }
            self.advance()?;
            self.expect(':', "`:`")?;
            let (size, align) = (self.number(64)?, self.align()?);
            let default = if text.bytes().all(|b| b.is_ascii_digit()) { String::new() } else { text };
            let name = self.text()?.map_or(default, |t| String::from_utf8_lossy(&t).into_owned());
            let loc = self.at()?.unwrap_or(0);
            body.allocas.push(AllocaText { size, align, name, loc });
        }
        Ok(())
    }

    fn name(&mut self, body: &mut Body, text: String) -> usize {
        let (line, column) = (self.line, self.column);
        *body.by_text.entry(text.clone()).or_insert_with(|| {
            body.names.push(Name { text, line, column, limbs: 0, place: None });
            body.names.len() - 1
        })
    }
    fn slot(&mut self, body: &mut Body) -> Result<usize, ParseError> {
        let Token::Slot(text) = self.token.clone() else { return Err(self.unexpected("a slot")) };
        let name = self.name(body, text);
        self.advance()?;
        Ok(name)
    }
    fn value(&mut self, body: &mut Body, width: u16) -> Result<Value, ParseError> {
        match &self.token {
            Token::Slot(_) => Ok(Value::Slot(self.slot(body)?)),
            Token::Symbol(_) => {
                let symbol = self.symbol()?;
                let value = self.offset()? as u64;
                Ok(Value::Const(vec![Const { value, symbol, _pad: 0 }]))
            }
            Token::Punct('{') => {
                self.advance()?;
                let mut limbs = Vec::new();
                while self.token != Token::Punct('}') {
                    if self.token == Token::Punct('{') {
                        return Err(self.unexpected("a limb"));
                    }
                    limbs.push(self.value(body, 64)?);
                    self.eat(',')?;
                }
                if limbs.is_empty() || width != ANY && limbs.len() != usize::from(width.div_ceil(64)) {
                    return Err(self.unexpected("as many limbs as the width has"));
                }
                self.advance()?;
                let constants = limbs.iter().map(|v| if let Value::Const(c) = v { Some(c[0]) } else { None });
                Ok(constants.collect::<Option<Vec<Const>>>().map_or(Value::Limbs(limbs), Value::Const))
            }
            _ => Ok(Value::Const(self.literal(width)?)),
        }
    }
    fn edge(&mut self, body: &mut Body) -> Result<EdgeText, ParseError> {
        let (line, column) = (self.line, self.column);
        let label = self.word("a label")?;
        let mut copies = Vec::new();
        if self.eat('(')? {
            while !self.eat(')')? {
                let dst = self.slot(body)?;
                let width = if self.eat(':')? { self.u16()? } else { 64 };
                body.names[dst].limbs = body.names[dst].limbs.max(limbs(width.into()));
                self.expect('=', "`=`")?;
                copies.push((dst, width, self.value(body, width)?));
                self.eat(',')?;
            }
        }
        Ok(EdgeText { label, line, column, copies })
    }

    fn inst(&mut self, body: &mut Body, loc: LocId) -> Result<InstText, ParseError> {
        let mut dst = None;
        if let Token::Slot(_) = self.token {
            dst = Some(self.slot(body)?);
            self.expect('=', "`=`")?;
        }
        let place = self.error(Why::OpenString);
        let word = self.word("an operator")?;
        let Some((op, width)) = operator(&word) else {
            return Err(ParseError { why: Why::Operator(word), ..place });
        };
        if let Some(dst) = dst {
            let width = match op.operands()[0] {
                Operand::Bit => 1,
                Operand::Word => 64,
                _ => width,
            };
            body.names[dst].limbs = body.names[dst].limbs.max(limbs(width.into()));
        }
        let absent = || [FieldText::Absent, FieldText::Absent, FieldText::Absent];
        let mut inst = InstText { op, width, dst, fields: absent(), extra: Extra::None, loc };
        match op {
            Op::Imm => {
                let value = self.number(64)?;
                inst.fields[0] = FieldText::Raw(value as u32);
                inst.fields[1] = FieldText::Raw((value >> 32) as u32);
            }
            Op::Ret => inst.extra = Extra::Ret(if width > 0 { Some(self.value(body, width)?) } else { None }),
            Op::Call | Op::CallIndirect => {
                inst.fields[0] = match op {
                    Op::Call => FieldText::Symbol(self.symbol()?),
                    _ => FieldText::Value(self.value(body, 64)?),
                };
                inst.extra = self.call(body)?;
            }
            Op::Switch => {
                inst.fields[0] = FieldText::Value(self.value(body, width)?);
                inst.extra = self.switch(body, width)?;
            }
            _ => self.fields(body, &mut inst)?,
        }
        Ok(inst)
    }
    /// The fields of the table's operators: slots and indices first, then raw numbers.
    fn fields(&mut self, body: &mut Body, inst: &mut InstText) -> Result<(), ParseError> {
        let kinds = inst.op.operands();
        let mut first = true;
        for (n, kind) in kinds.into_iter().enumerate().skip(1) {
            if matches!(kind, Operand::No | Operand::Imm) {
                continue;
            }
            if !std::mem::take(&mut first) {
                self.expect(',', "`,`")?;
            }
            inst.fields[n - 1] = match kind {
                Operand::Word => FieldText::Value(self.value(body, 64)?),
                Operand::Bit => FieldText::Value(self.value(body, 1)?),
                Operand::SrcVal => FieldText::Value(self.value(body, ANY)?),
                Operand::Edge => FieldText::Edge(self.edge(body)?),
                Operand::Symbol => FieldText::Symbol(self.symbol()?),
                Operand::Str => {
                    let text = self.text()?.ok_or_else(|| self.unexpected("a string"))?;
                    FieldText::Str(self.m.str(text))
                }
                Operand::Alloca => {
                    let Token::Alloca(text) = self.token.clone() else { return Err(self.unexpected("an alloca")) };
                    let known = body.alloca_names.get(&text).copied();
                    let known = known.ok_or_else(|| self.error(Why::NoAlloca(text)))?;
                    self.advance()?;
                    FieldText::Alloca(known)
                }
                _ => FieldText::Value(self.value(body, inst.width)?),
            };
        }
        for n in (1..4).filter(|&n| kinds[n] == Operand::Imm) {
            inst.fields[n - 1] = FieldText::Raw(self.raw(words::raw(inst.op, n))?);
        }
        Self::cut_sources(inst);
        Ok(())
    }
    /// Cuts literals whose width is a source width to it.
    fn cut_sources(inst: &mut InstText) {
        let FieldText::Raw(from) = inst.fields[2] else { return };
        let kinds = inst.op.operands();
        for (n, kind) in kinds.into_iter().enumerate().skip(1) {
            let width = if inst.op == Op::Concat && n == 1 { u32::from(inst.width).saturating_sub(from) } else { from };
            if let (Operand::SrcVal, FieldText::Value(Value::Const(run))) = (kind, &mut inst.fields[n - 1]) {
                cut(run, width.min(ANY.into()));
            }
        }
    }
    fn raw(&mut self, raw: words::Raw) -> Result<u32, ParseError> {
        if !self.eat_word(raw.word)? {
            return raw.default.ok_or_else(|| self.error(Why::Field { word: raw.word, found: self.token.describe() }));
        }
        if let Token::Word(word) = &self.token {
            let value = raw.names.iter().position(|name| name == word);
            let value = value.ok_or_else(|| self.unexpected("a number or a name of this field"))?;
            self.advance()?;
            return Ok(value as u32);
        }
        self.u32()
    }
    fn call(&mut self, body: &mut Body) -> Result<Extra, ParseError> {
        self.expect('(', "`(`")?;
        let mut args = Vec::new();
        while !self.eat(')')? {
            let mut value = self.value(body, ANY)?;
            self.expect(':', "`:` and the argument's width")?;
            let width = self.u16()?;
            if let Value::Const(run) = &mut value {
                cut(run, width.into());
            }
            args.push((value, width));
            self.eat(',')?;
        }
        let named = if self.eat_word("named")? { self.u32()? } else { 0 };
        Ok(Extra::Call { args, named, flags: self.flags(CALL_FLAGS)? })
    }
    fn switch(&mut self, body: &mut Body, width: u16) -> Result<Extra, ParseError> {
        self.expect('[', "`[`")?;
        let mut cases = Vec::new();
        while !self.eat(']')? {
            let value = self.literal(width)?;
            self.expect(':', "`:`")?;
            cases.push((value.first().map_or(0, |c| c.value), self.edge(body)?));
            self.eat(',')?;
        }
        if !self.eat_word("else")? {
            return Err(self.unexpected("`else`"));
        }
        Ok(Extra::Switch { cases, default: self.edge(body)? })
    }

    fn emit(&mut self, head: Head, mut body: Body) -> Result<(), ParseError> {
        let locals = self.place_names(&head, &mut body)?;
        let place = self.error(Why::OpenString);
        let at = |why| ParseError { why, ..place.clone() };
        let params: Vec<ParamDef> =
            head.params.iter().map(|p| ParamDef { width: p.width, kind: p.kind, size: p.size, name: &p.name }).collect();
        let Head { ret_width, flags, loc, .. } = head;
        let def = FunctionDef { name: &head.name, params: &params, ret_width, flags, loc };
        let mut b = self.m.function(head.symbol, head.linkage, def).map_err(|e| at(e.into()))?;
        b.reserve(locals.max(head.slots));
        let mut allocas = Vec::new();
        for a in &body.allocas {
            b.loc = a.loc;
            allocas.push(b.alloca_exact(a.size, a.align, &a.name));
        }
        let blocks: Vec<BlockId> = body.blocks.iter().map(|_| b.block()).collect();
        let Body { names, labels, .. } = &body;
        let mut out = Emitter { b, names, labels, blocks: &blocks, allocas: &allocas };
        for (i, insts) in body.blocks.iter().enumerate() {
            out.b.start(blocks[i]);
            for inst in insts {
                out.inst(inst)?;
            }
        }
        out.b.finish().map_err(|e| at(e.into()))?;
        Ok(())
    }

    /// Gives each name its place after the constants; returns how many places there are.
    fn place_names(&self, head: &Head, body: &mut Body) -> Result<u32, ParseError> {
        let mut end = 0;
        for p in &head.params {
            let name = &mut body.names[body.by_text[&p.slot]];
            if name.place.replace(end).is_some() {
                return Err(self.error(Why::Twice(format!("%{}", p.slot))));
            }
            end += limbs(p.width.into());
        }
        for name in &mut body.names {
            let numeric = name.text.bytes().all(|b| b.is_ascii_digit());
            if name.place.is_none() && numeric {
                let place = name.text.parse().ok().filter(|&n: &u32| n < 1 << 24);
                let (line, column) = (name.line, name.column);
                let place = place.ok_or(ParseError { line, column, why: Why::TooLarge { width: 24 } })?;
                name.place = Some(place);
                end = end.max(place + name.limbs.max(1));
            }
        }
        for name in &mut body.names {
            if name.place.is_none() {
                if name.limbs == 0 {
                    let (line, column) = (name.line, name.column);
                    return Err(ParseError { line, column, why: Why::NeverWritten(name.text.clone()) });
                }
                name.place = Some(end);
                end += name.limbs;
            }
        }
        Ok(end)
    }
}

/// The width of a literal whose width is written after it: the widest there is, so that a negative number has its sign in
/// all limbs until it is [`cut`].
const ANY: u16 = u16::MAX;

fn cut(run: &mut Vec<Const>, width: u32) {
    run.resize(limbs(width) as usize, Const { value: 0, symbol: NONE, _pad: 0 });
    if let (Some(top), 1..) = (run.last_mut(), width % 64) {
        top.value &= crate::arith::mask(width % 64);
    }
}

/// `add.32`: the operator and its width.
fn operator(word: &str) -> Option<(Op, u16)> {
    let named = |name: &str| Op::ALL.iter().copied().find(|op| op.name() == name);
    if let Some((name, width)) = word.rsplit_once('.')
        && let (Some(op), Ok(width)) = (named(name), width.parse())
    {
        return words::has_width(op).then_some((op, width));
    }
    let op = named(word)?;
    let word_result = op.operands()[0] == Operand::Word;
    let optional = matches!(op, Op::Call | Op::CallIndirect | Op::Ret);
    (optional || !words::has_width(op)).then_some((op, if word_result { 64 } else { 0 }))
}

/// Hands instructions with known names to the builder.
struct Emitter<'a, 'm> {
    b: FunctionBuilder<'m>,
    names: &'a [Name],
    labels: &'a FxHashMap<String, usize>,
    blocks: &'a [BlockId],
    allocas: &'a [AllocaId],
}

impl Emitter<'_, '_> {
    fn slot(&self, name: usize) -> Slot {
        Slot::local(self.names[name].place.unwrap_or(0))
    }
    fn value(&mut self, value: &Value) -> Slot {
        match value {
            Value::Slot(name) => self.slot(*name),
            Value::Const(run) => self.b.constant(run),
            // Only arguments and results may be scattered; elsewhere the verifier refuses what this gives.
            Value::Limbs(limbs) => limbs.first().map_or(Slot::local(0), |v| self.value(v)),
        }
    }
    /// The value's limbs, each a slot.
    fn limbs(&mut self, value: &Value, width: u16) -> Vec<Slot> {
        if let Value::Limbs(limbs) = value {
            return limbs.iter().map(|v| self.value(v)).collect();
        }
        let first = self.value(value);
        (0..limbs(width.into())).map(|i| first.limb(i)).collect()
    }
    fn edge(&mut self, edge: &EdgeText) -> Result<EdgeId, ParseError> {
        let Some(&block) = self.labels.get(&edge.label) else {
            let EdgeText { line, column, ref label, .. } = *edge;
            return Err(ParseError { line, column, why: Why::NoBlock(label.clone()) });
        };
        let id = self.b.edge(self.blocks[block]);
        for (dst, width, src) in &edge.copies {
            let (dst, src) = (self.slot(*dst), self.limbs(src, *width));
            for (i, src) in src.into_iter().enumerate() {
                self.b.copy_on(id, 1, dst.limb(i as u32), src);
            }
        }
        Ok(id)
    }
    fn inst(&mut self, inst: &InstText) -> Result<(), ParseError> {
        self.b.loc = inst.loc;
        let (op, width) = (inst.op, inst.width);
        let dst = inst.dst.map(|name| self.slot(name));
        match &inst.extra {
            Extra::None => {
                let mut fields = [NONE; 3];
                for (field, text) in fields.iter_mut().zip(&inst.fields) {
                    *field = match text {
                        FieldText::Absent => NONE,
                        FieldText::Raw(n) | FieldText::Symbol(n) | FieldText::Str(n) => *n,
                        FieldText::Value(v) => self.value(v).raw(),
                        FieldText::Alloca(n) => self.allocas[*n as usize].field(),
                        FieldText::Edge(e) => self.edge(e)?.field(),
                    };
                }
                self.b.emit(op, width, dst, fields[0], fields[1], fields[2]);
            }
            Extra::Call { args, named, flags } => {
                let callee = match &inst.fields[0] {
                    FieldText::Value(v) => Callee::Address(self.value(v)),
                    FieldText::Symbol(s) => Callee::Symbol(*s),
                    _ => Callee::Symbol(NONE),
                };
                let slots: Vec<Slot> = args.iter().flat_map(|(v, width)| self.limbs(v, *width)).collect();
                let widths: Vec<u32> = args.iter().map(|&(_, width)| width.into()).collect();
                let def = CallDef { args: &[], ret_width: width, flags: *flags, named: *named };
                self.b.call_limbs(dst, callee, &slots, &widths, def);
            }
            Extra::Switch { cases, default } => {
                let FieldText::Value(value) = &inst.fields[0] else { return Ok(()) };
                let value = self.value(value);
                let cases = cases.iter().map(|(v, e)| Ok((*v, self.edge(e)?))).collect::<Result<Vec<_>, ParseError>>()?;
                let default = self.edge(default)?;
                self.b.switch(width, value, default, &cases);
            }
            Extra::Ret(value) => {
                let slots = value.as_ref().map_or(Vec::new(), |v| self.limbs(v, width));
                self.b.ret_limbs(width, &slots);
            }
        }
        Ok(())
    }
}
