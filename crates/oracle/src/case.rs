//! A case: one instruction of a program as objdump shows it, and the states that suit it.
//!
//! Memory operands are steered into the window of the scratch page by choosing base registers; those relative to the
//! instruction pointer and the targets of direct branches are written anew into the encoding.

use crate::random::Random;
use crate::state::{CODE, RAX, RBP, RBX, RCX, RDI, RDX, RSP, State, WINDOW, WINDOW_WORDS, flag};

/// A register operand, or part of a memory operand: its number in the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    None,
    Register(usize),
    InstructionPointer,
}

/// A memory operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// `f` or `g`, if an own base is added.
    pub segment: Option<char>,
    pub displacement: i64,
    pub base: Base,
    pub index: Option<usize>,
    /// The index is a vector register, each of whose lanes is one.
    pub gathers: bool,
    pub scale: u64,
}

/// An operand as far as the oracle looks at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Class and number.
    Register(&'static str, usize),
    Immediate(i64),
    Memory(Memory),
    /// A fixed address in the code.
    Target,
    /// What nobody looks at more closely.
    Other,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Case {
    /// What runs.
    pub code: Vec<u8>,
    /// What it was made from.
    pub original: Vec<u8>,
    /// As objdump writes it.
    pub text: String,
    /// With the prefixes that change what it does.
    pub mnemonic: String,
    /// Source first.
    pub operands: Vec<Operand>,
}

const PREFIXES: &[&str] = &["rep", "repz", "repnz", "lock"];
const IGNORED: &[&str] = &["bnd", "notrack", "data16", "cs", "ds", "es", "ss", "fs", "gs", "addr32"];
const NAMES: [&str; 8] = ["ax", "cx", "dx", "bx", "sp", "bp", "si", "di"];

/// Class and number of a register.
fn register(name: &str) -> Option<(&'static str, usize)> {
    let word = |n: &str| NAMES.iter().position(|x| *x == n);
    let numbered = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.parse::<usize>().ok());
    for (prefix, class) in [("xmm", "xmm"), ("ymm", "ymm"), ("zmm", "zmm"), ("k", "k"), ("mm", "mm"), ("cr", "cr"), ("bnd", "bnd")] {
        if let Some(n) = numbered(prefix) {
            return Some((class, n));
        }
    }
    if name == "st" {
        return Some(("st", 0));
    }
    if let Some(n) = name.strip_prefix("st(").and_then(|n| n.strip_suffix(')')) {
        return Some(("st", n.parse().ok()?));
    }
    if let Some(rest) = name.strip_prefix('r') {
        if let Some(n) = word(rest) {
            return Some(("r64", n));
        }
        let digits = rest.trim_end_matches(['d', 'w', 'b', 'l']);
        let class = match &rest[digits.len()..] {
            "d" => "r32",
            "w" => "r16",
            "b" | "l" => "r8",
            _ => "r64",
        };
        return Some((class, digits.parse().ok().filter(|n| (8..16).contains(n))?));
    }
    if let Some(n) = name.strip_prefix('e').and_then(word) {
        return Some(("r32", n));
    }
    if let Some(n) = word(name) {
        return Some(("r16", n));
    }
    if let Some(n) = ["al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"].iter().position(|x| *x == name) {
        return Some(("r8", n));
    }
    ["ah", "ch", "dh", "bh"].iter().position(|x| *x == name).map(|n| ("r8h", n))
}

/// A number as objdump writes it.
fn number(text: &str) -> Option<i64> {
    let (minus, digits) = text.strip_prefix('-').map_or((false, text), |t| (true, t));
    let value = u64::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok()?;
    Some(if minus { (value as i64).wrapping_neg() } else { value as i64 })
}

fn memory(text: &str) -> Option<Memory> {
    let mut m = Memory { segment: None, displacement: 0, base: Base::None, index: None, gathers: false, scale: 1 };
    let mut rest = text;
    if let Some(behind) = text.strip_prefix('%') {
        let (segment, behind) = behind.split_once(':')?;
        m.segment = segment.chars().next().filter(|c| matches!(c, 'f' | 'g'));
        rest = behind;
    }
    let (displacement, inside) = rest.split_once('(').unwrap_or((rest, ""));
    if !displacement.is_empty() {
        m.displacement = number(displacement)?;
    }
    let mut parts = inside.trim_end_matches(')').split(',').map(|part| part.trim_start_matches('%'));
    match parts.next().unwrap_or("") {
        "" => {}
        "rip" | "eip" => m.base = Base::InstructionPointer,
        name => m.base = Base::Register(register(name)?.1),
    }
    if let Some(index) = parts.next().filter(|p| !matches!(*p, "riz" | "eiz" | "")) {
        let (class, n) = register(index)?;
        (m.index, m.gathers) = (Some(n), matches!(class, "xmm" | "ymm"));
        m.scale = parts.next().and_then(|s| s.parse().ok()).unwrap_or(1);
    }
    Some(m)
}

/// The operands, apart.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    if start < text.len() {
        parts.push(&text[start..]);
    }
    parts
}

impl Case {
    /// From the bytes and the text of objdump (AT&T). `None`: no instruction that can be told apart.
    pub fn new(code: &[u8], text: &str) -> Option<Case> {
        let plain = text.split(['#', '<']).next().unwrap_or("").trim();
        let mut words = plain.split_whitespace().peekable();
        let mut mnemonic = String::new();
        while let Some(word) = words.peek() {
            let bare = word.split(',').next().unwrap_or(word);
            if PREFIXES.contains(&bare) {
                mnemonic += bare;
                mnemonic.push(' ');
            } else if !IGNORED.contains(&bare) && !bare.starts_with("rex") && !bare.starts_with('{') {
                break;
            }
            words.next();
        }
        let name = words.next()?;
        // `fstenv` is what objdump makes of two instructions: `fwait`, and `fnstenv`.
        let two = code.first() == Some(&0x9b) && code.len() > 1;
        if name.starts_with('(') || name.starts_with('.') || two {
            return None;
        }
        mnemonic += name.split(',').next().unwrap_or(name);
        let branches = name.starts_with('j') || name.starts_with("call") || name.starts_with("loop") || name == "xbegin";
        let operands = split(words.next().unwrap_or(""))
            .into_iter()
            .map(|operand| {
                let inner = operand.trim_start_matches('*');
                if let Some(value) = inner.strip_prefix('$') {
                    return number(value).map_or(Operand::Other, Operand::Immediate);
                }
                if let Some((class, n)) = inner.strip_prefix('%').filter(|_| !inner.contains(':')).and_then(register) {
                    return Operand::Register(class, n);
                }
                if branches && !operand.starts_with('*') && number(inner).is_some() {
                    return Operand::Target;
                }
                memory(inner).map_or(Operand::Other, Operand::Memory)
            })
            .collect();
        let mut case = Case { code: code.to_vec(), original: code.to_vec(), text: plain.to_owned(), mnemonic, operands };
        case.retarget()?;
        Some(case)
    }

    /// What it has in common with others: mnemonic and kinds of operands.
    pub fn form(&self) -> String {
        let kinds: Vec<&str> = self
            .operands
            .iter()
            .map(|o| match o {
                Operand::Register(class, _) => class,
                Operand::Immediate(_) => "imm",
                Operand::Memory(m) if m.segment.is_some() => "seg:mem",
                Operand::Memory(_) => "mem",
                Operand::Target => "target",
                Operand::Other => "other",
            })
            .collect();
        // EVEX has the same mnemonics for what it does with masks and more registers.
        let evex = if self.original.first() == Some(&0x62) { "{evex} " } else { "" };
        format!("{evex}{} {}", self.mnemonic, kinds.join(",")).trim_end().to_owned()
    }

    /// Brings operands relative to the instruction pointer to where the oracle's memory is.
    fn retarget(&mut self) -> Option<()> {
        let relative = self.operands.iter().find_map(|o| match o {
            Operand::Memory(m) if m.base == Base::InstructionPointer => Some(m.displacement),
            _ => None,
        });
        if let Some(displacement) = relative {
            let old = (displacement as i32).to_le_bytes();
            // Behind the opcode; a one in the immediate would be a copy of it.
            let at = (1..self.code.len().checked_sub(3)?).find(|&i| self.code[i..i + 4] == old)?;
            let new = WINDOW + 128 - (CODE + self.code.len() as u64);
            self.code[at..at + 4].copy_from_slice(&(new as u32).to_le_bytes());
            for operand in &mut self.operands {
                if let Operand::Memory(m) = operand
                    && m.base == Base::InstructionPointer
                {
                    m.displacement = new as i64;
                }
            }
        }
        if self.operands.contains(&Operand::Target) {
            let last = self.code.len() - 1;
            let near = self.code.len() >= 5;
            match near {
                true => self.code[last - 3..].copy_from_slice(&0x321i32.to_le_bytes()),
                false => self.code[last] = 0x21,
            }
        }
        Some(())
    }

    fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.operands.iter().filter_map(|o| match o {
            Operand::Memory(m) => Some(m),
            _ => None,
        })
    }

    /// Does it use MMX registers, which are the x87's?
    pub fn is_mmx(&self) -> bool {
        self.operands.iter().any(|o| matches!(o, Operand::Register("mm", _)))
    }

    /// Width of the floats that a vector instruction computes with, by the end of its name: without them little would happen.
    fn floats(&self) -> Option<u32> {
        let name = self.mnemonic.trim_end_matches(['l', 'q', 'x', 'y']);
        let from = if name.contains("cvt") { name.split_once('2').map_or(name, |(from, _)| from) } else { name };
        let vector = self.operands.iter().any(|o| matches!(o, Operand::Register("xmm" | "ymm", _)));
        match from.get(from.len().saturating_sub(2)..).filter(|_| vector) {
            Some("ps" | "ss") => Some(32),
            Some("pd" | "sd") => Some(64),
            Some("ph") => Some(16),
            _ => None,
        }
    }

    /// Does it belong to the x87?
    pub fn is_x87(&self) -> bool {
        let name = self.bare();
        self.is_mmx() || name.starts_with('f') && !["fxsave", "fxrstor"].iter().any(|other| name.starts_with(other))
    }

    /// The mnemonic without prefixes.
    pub fn bare(&self) -> &str {
        self.mnemonic.rsplit(' ').next().unwrap_or_default()
    }

    /// A state that suits the instruction.
    pub fn state(&self, random: &mut Random) -> State {
        let mut s = State::zero();
        let mut pool = [0; 4];
        pool.iter_mut().for_each(|word| *word = random.value());
        let pick = |random: &mut Random| match random.below(2) {
            0 => pool[random.below(4) as usize],
            _ => random.value(),
        };
        s.gpr.iter_mut().for_each(|word| *word = pick(random));
        let floats = self.floats();
        let lanes = |random: &mut Random| match floats {
            Some(width) if random.below(8) > 0 => random.floats(width),
            _ => pick(random),
        };
        s.vec.iter_mut().flatten().for_each(|word| *word = lanes(random));
        s.window.iter_mut().for_each(|word| *word = lanes(random));
        s.rip = CODE;
        s.rflags = 0x202 | random.word() & flag::STATUS;
        s.fcw = 0x37f | if random.below(4) == 0 { (random.below(4) as u16) << 10 } else { 0 };
        s.mxcsr = 0x1f80;
        s.gpr[RSP] = WINDOW + 8 * (16 + random.below(32));
        if random.below(16) == 0 {
            s.gpr[RSP] += random.below(8);
        }
        // MMX registers are only lifted where the stack's top is register 0.
        let top = if self.is_mmx() && random.below(16) > 0 { 0 } else { random.below(8) };
        s.fsw = (top as u16) << 11 | (random.word() as u16 & 0x4700);
        // Half of the stack is in use, or all of it where the instruction names what lies deep.
        let deep = self.operands.iter().any(|o| matches!(o, Operand::Register("st", n) if *n >= 4));
        // What is pushed needs a register that is empty.
        let last = if self.bare().starts_with("fld") { 1 << ((top + 7) % 8) } else { 0 };
        s.ftw = if deep { 0xff & !last } else { (0..4).map(|i| 1 << ((top + i) % 8)).sum() };
        s.st.iter_mut().for_each(|st| *st = random.extended());
        self.implicit(&mut s, random);
        for m in self.memories() {
            let address = place(m, &mut s, random);
            self.contents(address, &mut s, random);
        }
        s
    }

    /// Registers that the instruction uses without naming them, and values without which little would happen.
    fn implicit(&self, s: &mut State, random: &mut Random) {
        let name = self.mnemonic.as_str();
        if name.contains("rep") || name.starts_with("loop") || name.contains("cxz") {
            s.gpr[RCX] = random.below(20);
        }
        let string = ["movs", "stos", "cmps", "scas", "lods"].iter().any(|stem| name.contains(stem));
        if string && random.below(8) == 0 {
            s.rflags |= flag::DF;
        }
        if self.operands.contains(&Operand::Register("r8", RCX)) && random.below(4) > 0 {
            s.gpr[RCX] = s.gpr[RCX] & !0xff | random.below(80);
        }
        if name == "leave" || name == "leaveq" {
            s.gpr[RBP] = WINDOW + 8 * (16 + random.below(32));
        }
        if name.starts_with("div") && random.below(4) > 0 {
            s.gpr[RDX] = random.below(3);
        }
        if name.starts_with("idiv") && random.below(4) > 0 {
            let wide = random.below(2) == 0;
            let high = if wide { s.gpr[RAX] as i64 >> 63 } else { i64::from(s.gpr[RAX] as i32 >> 31) };
            s.gpr[RDX] = high as u64;
        }
        let bits = name.starts_with("bt") && self.memories().next().is_some();
        if let (true, Some(Operand::Register(_, n))) = (bits, self.operands.first()) {
            s.gpr[*n] = random.below(1024).wrapping_sub(512);
        }
        if name.contains("maskmov") {
            s.gpr[RDI] = WINDOW + 96 + random.below(256);
        }
        if name.contains("xlat") {
            (s.gpr[RBX], s.gpr[RAX]) = (WINDOW + 96, s.gpr[RAX] & !0xff | random.below(128));
        }
        if name.contains("ret") {
            s.poke(s.gpr[RSP], &(CODE + 0x100).to_le_bytes());
        }
        let to_register = self.text.contains("*%");
        if let (true, Some(Operand::Register(_, n))) = (to_register, self.operands.first()) {
            s.gpr[*n] = CODE + 64 + random.below(256);
        }
        if let [Operand::Register(_, _), Operand::Register(_, n)] = self.operands[..]
            && name.contains("cmpxchg")
            && random.below(2) == 0
        {
            s.gpr[RAX] = s.gpr[n];
        }
    }

    /// What a memory operand should hold.
    fn contents(&self, address: u64, s: &mut State, random: &mut Random) {
        if self.text.contains('*') {
            s.poke(address, &(CODE + 64 + random.below(256)).to_le_bytes());
        }
        if self.mnemonic.contains("cmpxchg") && random.below(2) == 0 {
            s.poke(address, &s.gpr[RAX].to_le_bytes());
        }
        if !self.is_x87() {
            return;
        }
        match self.bare() {
            "fldcw" => s.poke(address, &(0x37f | (random.below(4) as u16) << 10).to_le_bytes()),
            name if name.starts_with("fi") => {}
            name if name.ends_with('t') => s.poke(address, &random.extended().map(u64::to_le_bytes).concat()[..10]),
            name if name.ends_with('l') => s.poke(address, &random.double().to_le_bytes()),
            name if name.ends_with('s') => s.poke(address, &random.single().to_le_bytes()),
            _ => {}
        }
    }
}

/// Chooses registers so that the operand lies in the window; where it does then.
fn place(m: &Memory, s: &mut State, random: &mut Random) -> u64 {
    let align = [1, 1, 8, 16, 32][random.below(5) as usize];
    let room = 8 * WINDOW_WORDS as u64 - 192;
    let mut target = (WINDOW + 96 + random.below(room)) & !(align - 1);
    let displacement = m.displacement as u64;
    if let Some(segment) = m.segment {
        let mut offset = displacement;
        for (register, by) in [(m.base, 1), (m.index.map_or(Base::None, Base::Register), m.scale)] {
            if let Base::Register(n) = register {
                s.gpr[n] = random.below(64);
                offset = offset.wrapping_add(s.gpr[n].wrapping_mul(by));
            }
        }
        let base = target.wrapping_sub(offset);
        // Bases are canonical addresses.
        if base as i64 >> 47 == 0 {
            *(if segment == 'f' { &mut s.fs } else { &mut s.gs }) = base;
        }
        return target;
    }
    let mut index = m.index;
    if let Some(n) = m.index.filter(|_| m.gathers) {
        s.vec[n].iter_mut().for_each(|word| *word = random.below(40));
        index = None;
    }
    match (m.base, index) {
        (Base::InstructionPointer, _) => return WINDOW + 128,
        (Base::Register(base), Some(index)) if base == index => {
            let factor = 1 + m.scale;
            s.gpr[base] = target.wrapping_sub(displacement) / factor;
            target = s.gpr[base].wrapping_mul(factor).wrapping_add(displacement);
        }
        (Base::Register(base), Some(index)) => {
            s.gpr[index] = random.below(32).wrapping_sub(16);
            if random.below(4) > 0 {
                s.gpr[index] = random.below(64);
            }
            s.gpr[base] = target.wrapping_sub(displacement).wrapping_sub(s.gpr[index].wrapping_mul(m.scale));
        }
        (Base::Register(base), None) => s.gpr[base] = target.wrapping_sub(displacement),
        (Base::None, Some(index)) => {
            let offset = target.wrapping_sub(displacement) as i64;
            s.gpr[index] = (offset >> m.scale.trailing_zeros()) as u64;
            target = s.gpr[index].wrapping_mul(m.scale).wrapping_add(displacement);
        }
        (Base::None, None) => return displacement,
    }
    target
}
