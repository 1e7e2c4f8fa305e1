//! Lays a SLEIGH specification out as words (`src/sleigh/layout.rs`): what the decoder needs of it, without the indirections of its text
//! form.
//!
//! Records are interned from the leaves up, so equal records are stored once. Most templates of p-code consist of the same few varnodes.

use std::collections::BTreeMap;

use crate::layout::{self, NONE};
use crate::packed::Element;

/// Numbers of the elements and attributes that are read, as SLEIGH's compiler writes them.
mod element {
    pub const CONST_REAL: u32 = 1;
    pub const CONST_SPACEID: u32 = 3;
    pub const CONST_HANDLE: u32 = 4;
    pub const PRINT: u32 = 8;
    pub const PAIR: u32 = 9;
    pub const CONTEXT_PAT: u32 = 10;
    pub const NULL: u32 = 11;
    pub const OPERAND_EXP: u32 = 12;
    pub const OPERAND_SYM: u32 = 13;
    pub const OPER: u32 = 15;
    pub const DECISION: u32 = 16;
    pub const OPPRINT: u32 = 17;
    pub const INSTRUCT_PAT: u32 = 18;
    pub const COMBINE_PAT: u32 = 19;
    pub const CONSTRUCTOR: u32 = 20;
    pub const CONSTRUCT_TPL: u32 = 21;
    pub const VARNODE_SYM: u32 = 23;
    pub const TOKENFIELD: u32 = 27;
    pub const CONTEXTFIELD: u32 = 29;
    pub const CONST_RELATIVE: u32 = 31;
    pub const CONTEXT_OP: u32 = 32;
    pub const SPACES: u32 = 34;
    pub const SYMBOL_TABLE: u32 = 38;
    pub const VALUE_SYM: u32 = 39;
    pub const CONTEXT_SYM: u32 = 41;
    pub const END_SYM: u32 = 43;
    pub const SPACE_UNIQUE: u32 = 46;
    pub const AND_EXP: u32 = 47;
    pub const DIV_EXP: u32 = 48;
    pub const LSHIFT_EXP: u32 = 49;
    pub const MINUS_EXP: u32 = 50;
    pub const MULT_EXP: u32 = 51;
    pub const NOT_EXP: u32 = 52;
    pub const OR_EXP: u32 = 53;
    pub const PLUS_EXP: u32 = 54;
    pub const RSHIFT_EXP: u32 = 55;
    pub const SUB_EXP: u32 = 56;
    pub const XOR_EXP: u32 = 57;
    pub const INTB: u32 = 58;
    pub const END_EXP: u32 = 59;
    pub const NEXT2_EXP: u32 = 60;
    pub const START_EXP: u32 = 61;
    pub const EPSILON_SYM: u32 = 62;
    pub const NAME_SYM: u32 = 64;
    pub const NEXT2_SYM: u32 = 67;
    pub const START_SYM: u32 = 69;
    pub const SUBTABLE_SYM: u32 = 71;
    pub const VALUEMAP_SYM: u32 = 73;
    pub const VARLIST_SYM: u32 = 76;
    pub const CONST_START: u32 = 80;
    pub const CONST_NEXT: u32 = 81;
    pub const CONST_CURSPACE: u32 = 83;
    pub const CONST_CURSPACE_SIZE: u32 = 84;
}
mod attribute {
    pub const VAL: u32 = 2;
    pub const ID: u32 = 3;
    pub const SPACE: u32 = 4;
    pub const S: u32 = 5;
    pub const OFF: u32 = 6;
    pub const CODE: u32 = 7;
    pub const MASK: u32 = 8;
    pub const INDEX: u32 = 9;
    pub const NONZERO: u32 = 10;
    pub const PIECE: u32 = 11;
    pub const NAME: u32 = 12;
    pub const STARTBIT: u32 = 14;
    pub const SIZE: u32 = 15;
    pub const TABLE: u32 = 16;
    pub const CT: u32 = 17;
    pub const MINLEN: u32 = 18;
    pub const BASE: u32 = 19;
    pub const CONTEXT: u32 = 21;
    pub const SUBSYM: u32 = 23;
    pub const LENGTH: u32 = 26;
    pub const FIRST: u32 = 27;
    pub const PLUS: u32 = 28;
    pub const SHIFT: u32 = 29;
    pub const ENDBIT: u32 = 30;
    pub const SIGNBIT: u32 = 31;
    pub const ENDBYTE: u32 = 32;
    pub const STARTBYTE: u32 = 33;
    pub const VERSION: u32 = 34;
    pub const BIGENDIAN: u32 = 35;
    pub const UNIQBASE: u32 = 37;
    pub const UNIQMASK: u32 = 39;
    pub const DEFAULTSPACE: u32 = 41;
    pub const DELAY: u32 = 42;
    pub const LOW: u32 = 48;
    pub const HIGH: u32 = 49;
    pub const I: u32 = 52;
    pub const LABELS: u32 = 55;
}
use attribute as a;
use element as e;

/// The version of the format that is read.
pub const VERSION: i64 = 4;

/// Words, with what records are there already.
#[derive(Default)]
struct Words {
    words: Vec<u32>,
    known: BTreeMap<Vec<u32>, u32>,
}

impl Words {
    fn put(&mut self, record: Vec<u32>) -> u32 {
        if let Some(&at) = self.known.get(&record) {
            return at;
        }
        let at = self.words.len() as u32;
        self.words.extend(&record);
        self.known.insert(record, at);
        at
    }

    /// A text: its length, and its bytes.
    fn text(&mut self, text: &str) -> u32 {
        let bytes = text.as_bytes().chunks(4).map(|chunk| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            u32::from_ne_bytes(word)
        });
        self.put(std::iter::once(text.len() as u32).chain(bytes).collect())
    }
}

fn low_high(number: i64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

struct Flat<'a> {
    out: Words,
    /// The contents of symbols, and the name each has, by number.
    symbols: BTreeMap<i64, &'a Element>,
    names: BTreeMap<i64, &'a str>,
    /// Numbers of tables by symbol, and of the first constructor of each.
    tables: BTreeMap<i64, u32>,
    firsts: BTreeMap<i64, u32>,
}

/// The words of a specification; `context` are the names of context variables that instructions begin with, with their values.
pub fn flatten(root: &Element, context: &[(String, u32)]) -> Vec<u32> {
    assert_eq!(root.get(a::VERSION), VERSION, "the version of the specification");
    assert_eq!(root.number(a::UNIQMASK).unwrap_or(0), 0, "temporaries do not depend on addresses");
    let child = |kind| root.children.iter().find(|c| c.kind == kind).expect("specifications have it");
    let table = child(e::SYMBOL_TABLE);
    let named = |c: &&Element| c.text(a::NAME).is_some();
    let names = table.children.iter().filter(named).map(|c| (c.get(a::ID), c.text(a::NAME).unwrap_or_default()));
    let contents = table.children.iter().filter(|c| !named(c) && is_symbol(c.kind)).map(|c| (c.get(a::ID), c));
    let mut flat = Flat {
        out: Words { words: vec![0; layout::header::SIZE as usize], ..Words::default() },
        symbols: contents.collect(),
        names: names.collect(),
        tables: BTreeMap::new(),
        firsts: BTreeMap::new(),
    };
    let mut constructors = 0;
    for (&id, symbol) in flat.symbols.iter().filter(|(_, s)| s.kind == e::SUBTABLE_SYM) {
        flat.tables.insert(id, flat.tables.len() as u32);
        flat.firsts.insert(id, constructors);
        constructors += symbol.children.iter().filter(|c| c.kind == e::CONSTRUCTOR).count() as u32;
    }
    flat.all(root, child(e::SPACES), context)
}

fn is_symbol(kind: u32) -> bool {
    matches!(
        kind,
        e::OPERAND_SYM
            | e::VARNODE_SYM
            | e::VALUE_SYM
            | e::CONTEXT_SYM
            | e::END_SYM
            | e::EPSILON_SYM
            | e::NAME_SYM
            | e::NEXT2_SYM
            | e::START_SYM
            | e::SUBTABLE_SYM
            | e::VALUEMAP_SYM
            | e::VARLIST_SYM
    )
}

impl<'a> Flat<'a> {
    fn all(mut self, root: &Element, spaces: &Element, context: &[(String, u32)]) -> Vec<u32> {
        let (mut tables, mut constructors) = (Vec::new(), Vec::new());
        for id in self.tables.keys().copied().collect::<Vec<_>>() {
            let symbol = self.symbols[&id];
            for constructor in symbol.children.iter().filter(|c| c.kind == e::CONSTRUCTOR) {
                let record = self.constructor(constructor);
                constructors.push(record);
            }
            let decision = symbol.children.iter().find(|c| c.kind == e::DECISION).expect("tables have a decision");
            tables.push(self.decision(decision, self.firsts[&id]));
        }
        let registers = self.registers();
        let count = registers.len() as u32 / layout::REGISTER_WORDS;
        let instruction = self.tables.iter().find(|(id, _)| self.names[id] == "instruction").expect("specifications have instructions");
        let instruction = *instruction.1;
        let context = self.context(context);
        let (spaces, code) = spaces_of(spaces);
        let out = &mut self.out;
        let temporaries = root.get(a::UNIQBASE) as u32;
        let header = [
            out.put(tables),
            out.put(constructors),
            out.put(registers),
            count,
            out.put(context),
            out.put(spaces),
            temporaries,
            code,
            instruction,
        ];
        out.words[..header.len()].copy_from_slice(&header);
        self.out.words
    }

    /// Rows of all varnodes with a name, by name.
    fn registers(&mut self) -> Vec<u32> {
        let mut rows: Vec<(&str, i64)> =
            self.symbols.iter().filter(|(_, s)| s.kind == e::VARNODE_SYM).map(|(id, _)| (self.names[id], *id)).collect();
        rows.sort();
        let mut words = Vec::new();
        for (name, id) in rows {
            let (symbol, name) = (self.symbols[&id], self.out.text(name));
            let [low, high] = low_high(symbol.get(a::OFF));
            words.extend([name, symbol.get(a::SPACE) as u32, low, high, symbol.get(a::SIZE) as u32]);
        }
        words
    }

    /// The context that instructions begin with: its length in words, and the words.
    fn context(&self, values: &[(String, u32)]) -> Vec<u32> {
        let variables: Vec<(&str, i64, i64)> = (self.symbols.iter().filter(|(_, s)| s.kind == e::CONTEXT_SYM))
            .map(|(id, s)| (self.names[id], s.get(a::LOW), s.get(a::HIGH)))
            .collect();
        let words = variables.iter().map(|(_, _, high)| *high as usize / 32 + 1).max().unwrap_or(0);
        let mut context = vec![0u32; words];
        for (name, value) in values {
            let (_, low, high) = variables.iter().find(|(n, _, _)| n == name).unwrap_or_else(|| panic!("no context `{name}`"));
            let (first, last) = (low % 32, high % 32);
            let (shift, mask) = (31 - last, u32::MAX >> (first + 31 - last));
            let word = &mut context[*low as usize / 32];
            *word = *word & !(mask << shift) | (value & mask) << shift;
        }
        std::iter::once(words as u32).chain(context).collect()
    }

    fn decision(&mut self, node: &Element, first: u32) -> u32 {
        let bits = node.get(a::SIZE) as u32;
        let mut words = vec![bits, node.get(a::CONTEXT) as u32, node.get(a::STARTBIT) as u32];
        if bits > 0 {
            let children = node.children.iter().filter(|c| c.kind == e::DECISION);
            let children: Vec<u32> = children.map(|c| self.decision(c, first)).collect();
            assert_eq!(children.len(), 1 << bits, "every value of the bits has a child");
            words.extend(children);
        } else {
            let pairs: Vec<&Element> = node.children.iter().filter(|c| c.kind == e::PAIR).collect();
            words.push(pairs.len() as u32);
            for pair in pairs {
                words.extend([self.pattern(&pair.children[0]), first + pair.get(a::ID) as u32]);
            }
        }
        self.out.put(words)
    }

    fn pattern(&mut self, pattern: &Element) -> u32 {
        let blocks = match pattern.kind {
            e::INSTRUCT_PAT => (Some(&pattern.children[0]), None),
            e::CONTEXT_PAT => (None, Some(&pattern.children[0])),
            e::COMBINE_PAT => (Some(&pattern.children[1].children[0]), Some(&pattern.children[0].children[0])),
            other => panic!("no pattern is an element {other}"),
        };
        let block = |out: &mut Words, block: Option<&Element>| block.map_or(NONE, |b| out.put(block_words(b)));
        let (instruction, context) = (block(&mut self.out, blocks.0), block(&mut self.out, blocks.1));
        self.out.put(vec![instruction, context])
    }

    fn constructor(&mut self, c: &Element) -> u32 {
        let (mut operands, mut pieces, mut changes, mut template, mut through) = (Vec::new(), Vec::new(), Vec::new(), NONE, NONE);
        for child in &c.children {
            match child.kind {
                e::OPER => operands.push(self.operand(child.get(a::ID))),
                e::PRINT => pieces.push(2 * self.out.text(child.text(a::PIECE).unwrap_or_default())),
                e::OPPRINT => {
                    through = child.get(a::ID) as u32;
                    pieces.push(2 * through + 1);
                }
                e::CONTEXT_OP => {
                    let value = self.expression(&child.children[0]);
                    let change = vec![child.get(a::I) as u32, child.get(a::SHIFT) as u32, child.get(a::MASK) as u32, value];
                    changes.push(self.out.put(change));
                }
                e::CONSTRUCT_TPL => template = self.template(child),
                other => panic!("constructors with element {other} are not read"),
            }
        }
        if pieces.len() != 1 {
            through = NONE;
        }
        let head = [
            c.get(a::LENGTH) as u32,
            c.get(a::FIRST) as u32,
            through,
            template,
            operands.len() as u32,
            pieces.len() as u32,
            changes.len() as u32,
        ];
        self.out.put(head.into_iter().chain(operands).chain(pieces).chain(changes).collect())
    }

    fn operand(&mut self, id: i64) -> u32 {
        let o = self.symbols[&id];
        // First what it is in this place, then what it is defined as.
        let defined = o.children.get(1).map_or(NONE, |d| self.expression(d));
        let subject = o.number(a::SUBSYM);
        let symbol = subject.map_or(NONE, |s| self.symbol(s));
        let value = match subject {
            _ if defined != NONE => defined,
            Some(s) => self.value_of(s),
            None => NONE,
        };
        let words = vec![o.get(a::OFF) as u32, o.get(a::BASE) as u32, o.get(a::MINLEN) as u32, symbol, defined, value];
        self.out.put(words)
    }

    /// What a symbol is in an expression.
    fn value_of(&mut self, id: i64) -> u32 {
        let s = self.symbols[&id];
        match s.kind {
            e::VALUE_SYM | e::CONTEXT_SYM | e::VALUEMAP_SYM | e::NAME_SYM | e::VARLIST_SYM => self.expression(&s.children[0]),
            e::START_SYM => self.out.put(vec![layout::expression::START]),
            e::END_SYM => self.out.put(vec![layout::expression::NEXT]),
            _ => NONE,
        }
    }

    fn symbol(&mut self, id: i64) -> u32 {
        use layout::symbol as to;
        let s = self.symbols[&id];
        let words = match s.kind {
            e::SUBTABLE_SYM => vec![to::TABLE, self.tables[&id]],
            e::EPSILON_SYM => vec![to::EPSILON],
            e::VALUE_SYM | e::CONTEXT_SYM => vec![to::VALUE, self.expression(&s.children[0])],
            e::VALUEMAP_SYM => {
                let values: Vec<u32> = s.children[1..].iter().flat_map(|v| low_high(v.get(a::VAL))).collect();
                [to::VALUES, self.expression(&s.children[0]), s.children.len() as u32 - 1].into_iter().chain(values).collect()
            }
            e::NAME_SYM => {
                let names: Vec<u32> =
                    s.children[1..].iter().map(|n| n.text(a::NAME).filter(|n| *n != "_").map_or(NONE, |n| self.out.text(n))).collect();
                [to::NAMES, self.expression(&s.children[0]), names.len() as u32].into_iter().chain(names).collect()
            }
            e::VARNODE_SYM => {
                let [low, high] = low_high(s.get(a::OFF));
                vec![to::VARNODE, s.get(a::SPACE) as u32, low, high, s.get(a::SIZE) as u32, self.out.text(self.names[&id])]
            }
            e::VARLIST_SYM => {
                let rows: Vec<u32> = s.children[1..].iter().map(|v| v.number(a::ID).map_or(NONE, |id| self.symbol(id))).collect();
                [to::VARNODES, self.expression(&s.children[0]), rows.len() as u32].into_iter().chain(rows).collect()
            }
            e::START_SYM => vec![to::START],
            e::END_SYM => vec![to::NEXT],
            e::NEXT2_SYM => vec![to::AFTER_NEXT],
            other => panic!("no operand is an element {other}"),
        };
        self.out.put(words)
    }

    fn expression(&mut self, x: &Element) -> u32 {
        use layout::expression as to;
        let words = match x.kind {
            e::TOKENFIELD => {
                let [big, signed, first, last, shift] =
                    [a::BIGENDIAN, a::SIGNBIT, a::STARTBYTE, a::ENDBYTE, a::SHIFT].map(|n| x.get(n) as u32);
                vec![to::TOKEN, big, signed, first, last, shift, (x.get(a::ENDBIT) - x.get(a::STARTBIT)) as u32]
            }
            e::CONTEXTFIELD => {
                let [signed, first, last, shift] = [a::SIGNBIT, a::STARTBYTE, a::ENDBYTE, a::SHIFT].map(|n| x.get(n) as u32);
                vec![to::CONTEXT, signed, first, last, shift, (x.get(a::ENDBIT) - x.get(a::STARTBIT)) as u32]
            }
            e::INTB => {
                let [low, high] = low_high(x.get(a::VAL));
                vec![to::CONSTANT, low, high]
            }
            e::OPERAND_EXP => vec![to::OPERAND, self.firsts[&x.get(a::TABLE)] + x.get(a::CT) as u32, x.get(a::INDEX) as u32],
            e::START_EXP => vec![to::START],
            e::END_EXP => vec![to::NEXT],
            e::NEXT2_EXP => vec![to::AFTER_NEXT],
            e::MINUS_EXP | e::NOT_EXP => {
                let kind = if x.kind == e::MINUS_EXP { to::MINUS } else { to::NOT };
                vec![kind, self.expression(&x.children[0])]
            }
            binary => {
                let kind = match binary {
                    e::PLUS_EXP => to::ADD,
                    e::SUB_EXP => to::SUB,
                    e::MULT_EXP => to::MUL,
                    e::LSHIFT_EXP => to::SHIFT_LEFT,
                    e::RSHIFT_EXP => to::SHIFT_RIGHT,
                    e::AND_EXP => to::AND,
                    e::OR_EXP => to::OR,
                    e::XOR_EXP => to::XOR,
                    e::DIV_EXP => to::DIV,
                    other => panic!("no expression is an element {other}"),
                };
                vec![kind, self.expression(&x.children[0]), self.expression(&x.children[1])]
            }
        };
        self.out.put(words)
    }

    fn template(&mut self, t: &Element) -> u32 {
        let export = match t.children[0].kind {
            e::NULL => NONE,
            _ => self.constants(&t.children[0]),
        };
        let ops: Vec<u32> = t.children[1..].iter().map(|op| self.operation(op)).collect();
        let head = [t.number(a::LABELS).unwrap_or(0) as u32, t.number(a::DELAY).unwrap_or(0) as u32, export, ops.len() as u32];
        self.out.put(head.into_iter().chain(ops).collect())
    }

    fn operation(&mut self, op: &Element) -> u32 {
        let output = match op.children[0].kind {
            e::NULL => NONE,
            _ => self.constants(&op.children[0]),
        };
        let inputs: Vec<u32> = op.children[1..].iter().map(|v| self.constants(v)).collect();
        self.out.put([op.get(a::CODE) as u32, output, inputs.len() as u32].into_iter().chain(inputs).collect())
    }

    /// A varnode, or what is exported: a record of constants.
    fn constants(&mut self, of: &Element) -> u32 {
        let constants: Vec<u32> = of.children.iter().map(|c| self.constant(c)).collect();
        self.out.put(constants)
    }

    fn constant(&mut self, c: &Element) -> u32 {
        use layout::constant as to;
        let [low, high] = low_high(c.number(a::VAL).unwrap_or(0));
        let words = match c.kind {
            e::CONST_REAL => vec![to::REAL, low, high],
            e::CONST_HANDLE => {
                let [plus, high] = low_high(c.number(a::PLUS).unwrap_or(0));
                vec![to::HANDLE, low, c.get(a::S) as u32, plus, high]
            }
            e::CONST_START => vec![to::START],
            e::CONST_NEXT => vec![to::NEXT],
            e::CONST_CURSPACE => vec![to::CODE_SPACE],
            e::CONST_CURSPACE_SIZE => vec![to::CODE_SPACE_SIZE],
            e::CONST_SPACEID => vec![to::SPACE, c.get(a::SPACE) as u32],
            e::CONST_RELATIVE => vec![to::LABEL, low, high],
            _ => vec![to::OTHER],
        };
        self.out.put(words)
    }
}

/// A block of a pattern: bytes from an offset on that a mask lets through are those of a value. Words begin with the first byte that counts.
fn block_words(block: &Element) -> Vec<u32> {
    let nonzero = block.get(a::NONZERO);
    let mut words = vec![u32::from(nonzero >= 0), block.get(a::OFF) as u32, 0];
    if nonzero > 0 {
        words[2] = block.children.len() as u32;
        words.extend(block.children.iter().flat_map(|w| [w.get(a::MASK) as u32, w.get(a::VAL) as u32]));
    }
    words
}

/// The number of spaces, kind and highest offset of each, that of constants first; and which one code is in.
fn spaces_of(spaces: &Element) -> (Vec<u32>, u32) {
    use layout::space as to;
    let mut rows: BTreeMap<i64, (u32, u64)> = BTreeMap::from([(0, (to::CONST, u64::MAX))]);
    for space in &spaces.children {
        let kind = match (space.kind, space.text(a::NAME)) {
            (e::SPACE_UNIQUE, _) => to::UNIQUE,
            (_, Some("register")) => to::REGISTER,
            _ => to::MEMORY,
        };
        // Temporaries are numbers of 32 bits.
        let bytes = if kind == to::UNIQUE { 4 } else { space.number(a::SIZE).unwrap_or(8) };
        rows.insert(space.get(a::INDEX), (kind, if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }));
    }
    let code = spaces.text(a::DEFAULTSPACE).expect("there is a space of code");
    let code = spaces.children.iter().find(|s| s.text(a::NAME) == Some(code)).expect("it is one of the spaces").get(a::INDEX);
    let last = *rows.keys().next_back().expect("that of constants is there");
    let row = |n: i64| rows.get(&n).copied().unwrap_or((to::MEMORY, u64::MAX));
    let rows = (0..=last).flat_map(|n| {
        let (kind, highest) = row(n);
        [kind, highest as u32, (highest >> 32) as u32]
    });
    (std::iter::once(last as u32 + 1).chain(rows).collect(), code as u32)
}
