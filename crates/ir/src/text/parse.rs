//! Parsing: modules, tokens to records. Function bodies are in [`super::body`].

use rustc_hash::FxHashMap;

use super::lex::{Lexer, Token};
use super::words::{FUNCTION_FLAGS, Flags, GLOBAL_FLAGS, LINKAGES};
use super::{ParseError, Why};
use crate::build::{DataDef, ModuleBuilder};
use crate::inst::NONE;
use crate::module::{Const, Loc, LocId, Module, Reloc, SymbolId, linkage, param_kind};

/// The module a text describes. It still has to be verified.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let mut p =
        Parser { lex: Lexer::new(text), token: Token::End, line: 1, column: 1, m: ModuleBuilder::new(), locals: FxHashMap::default() };
    p.advance()?;
    while p.token != Token::End {
        p.item()?;
    }
    Ok(p.m.finish())
}

pub(super) struct Parser<'t> {
    lex: Lexer<'t>,
    /// The token to look at, and where it starts.
    pub(super) token: Token,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) m: ModuleBuilder,
    /// Symbols with a number after their name.
    locals: FxHashMap<(Vec<u8>, u32), SymbolId>,
}

/// A parameter as written: its slot's name and its record's fields.
pub(super) struct ParamText {
    pub(super) slot: String,
    pub(super) width: u16,
    pub(super) kind: u32,
    pub(super) size: u32,
    pub(super) name: String,
}

/// A function's head as written.
pub(super) struct Head {
    pub(super) symbol: SymbolId,
    pub(super) linkage: u32,
    pub(super) name: String,
    pub(super) params: Vec<ParamText>,
    pub(super) ret_width: u16,
    pub(super) flags: u32,
    pub(super) slots: u32,
    pub(super) loc: LocId,
}

impl Parser<'_> {
    pub(super) fn error(&self, why: Why) -> ParseError {
        ParseError { line: self.line, column: self.column, why }
    }
    pub(super) fn unexpected(&self, expected: &'static str) -> ParseError {
        self.error(Why::Unexpected { expected, found: self.token.describe() })
    }
    /// Goes to the next token and returns the one left.
    pub(super) fn advance(&mut self) -> Result<Token, ParseError> {
        self.lex.skip_blank();
        (self.line, self.column) = self.lex.place();
        let next = self.lex.token().map_err(|why| self.error(why))?;
        Ok(std::mem::replace(&mut self.token, next))
    }
    /// Skips this punctuation if it is here.
    pub(super) fn eat(&mut self, c: char) -> Result<bool, ParseError> {
        let here = self.token == Token::Punct(c);
        if here {
            self.advance()?;
        }
        Ok(here)
    }
    pub(super) fn expect(&mut self, c: char, expected: &'static str) -> Result<(), ParseError> {
        if self.eat(c)? { Ok(()) } else { Err(self.unexpected(expected)) }
    }
    /// Skips this word if it is here.
    pub(super) fn eat_word(&mut self, word: &str) -> Result<bool, ParseError> {
        let here = matches!(&self.token, Token::Word(w) if w == word);
        if here {
            self.advance()?;
        }
        Ok(here)
    }
    pub(super) fn word(&mut self, expected: &'static str) -> Result<String, ParseError> {
        if !matches!(self.token, Token::Word(_)) {
            return Err(self.unexpected(expected));
        }
        match self.advance()? {
            Token::Word(w) => Ok(w),
            _ => Err(self.unexpected(expected)),
        }
    }
    /// A number that is not negative and has at most `width` bits.
    pub(super) fn number(&mut self, width: u32) -> Result<u64, ParseError> {
        let value = match &self.token {
            Token::Number { negative: false, limbs } => limbs.iter().skip(1).all(|&l| l == 0).then_some(limbs[0]),
            _ => return Err(self.unexpected("a number")),
        };
        let value = value.filter(|v| width == 64 || v >> width == 0).ok_or_else(|| self.error(Why::TooLarge { width }))?;
        self.advance()?;
        Ok(value)
    }
    pub(super) fn u32(&mut self) -> Result<u32, ParseError> {
        Ok(self.number(32)? as u32)
    }
    pub(super) fn u16(&mut self) -> Result<u16, ParseError> {
        Ok(self.number(16)? as u16)
    }
    pub(super) fn text(&mut self) -> Result<Option<Vec<u8>>, ParseError> {
        if !matches!(self.token, Token::Text(_)) {
            return Ok(None);
        }
        match self.advance()? {
            Token::Text(t) => Ok(Some(t)),
            _ => Ok(None),
        }
    }
    /// `!N`, if it is here.
    pub(super) fn at(&mut self) -> Result<Option<LocId>, ParseError> {
        if !self.eat('!')? {
            return Ok(None);
        }
        let (line, column) = (self.line, self.column);
        let loc = self.u32()?;
        let exists = (loc as usize) < self.m.module.locations.len();
        if exists { Ok(Some(loc)) } else { Err(ParseError { line, column, why: Why::NoPosition(loc) }) }
    }
    pub(super) fn align(&mut self) -> Result<u32, ParseError> {
        if self.eat_word("align")? { self.u32() } else { Ok(1) }
    }
    /// `[ word, … ]`, if it is here.
    pub(super) fn flags(&mut self, names: Flags) -> Result<u32, ParseError> {
        let mut flags = 0;
        if self.eat('[')? {
            while !self.eat(']')? {
                let word = match &self.token {
                    Token::Word(w) => names.iter().find(|(_, name)| name == w),
                    _ => None,
                };
                flags |= word.ok_or_else(|| self.unexpected("a flag"))?.0;
                self.advance()?;
                self.eat(',')?;
            }
        }
        Ok(flags)
    }
    pub(super) fn symbol(&mut self) -> Result<SymbolId, ParseError> {
        if !matches!(self.token, Token::Symbol(_)) {
            return Err(self.unexpected("a symbol"));
        }
        let Token::Symbol(name) = self.advance()? else { return Err(self.unexpected("a symbol")) };
        if !self.eat('#')? {
            return Ok(self.m.symbol(name));
        }
        let number = self.u32()?;
        if let Some(&id) = self.locals.get(&(name.clone(), number)) {
            return Ok(id);
        }
        let id = self.m.local_symbol(&name);
        self.locals.insert((name, number), id);
        Ok(id)
    }
    /// `+N` or `-N`, if it is here.
    pub(super) fn offset(&mut self) -> Result<i64, ParseError> {
        if self.eat('+')? {
            return Ok(self.number(64)? as i64);
        }
        match &self.token {
            Token::Number { negative: true, limbs } if limbs.len() == 1 => {
                let offset = (limbs[0] as i64).wrapping_neg();
                self.advance()?;
                Ok(offset)
            }
            _ => Ok(0),
        }
    }
    fn linkage(&mut self) -> Result<u32, ParseError> {
        let found = match &self.token {
            Token::Word(w) => LINKAGES.iter().position(|l| l == w),
            _ => None,
        };
        let linkage = found.ok_or_else(|| self.unexpected("a linkage"))?;
        self.advance()?;
        Ok(linkage as u32)
    }
    pub(super) fn build<T>(&self, result: Result<T, crate::build::BuildError>) -> Result<T, ParseError> {
        result.map_err(|e| self.error(Why::Build(e)))
    }

    fn item(&mut self) -> Result<(), ParseError> {
        let Token::Word(word) = &self.token else { return Err(self.unexpected("an item")) };
        let item: fn(&mut Self) -> Result<(), ParseError> = match word.as_str() {
            "loc" => Self::loc,
            "declare" => Self::declare,
            "data" => Self::data,
            "alias" => Self::alias,
            "ctor" => |p| p.ctor(0),
            "dtor" => |p| p.ctor(1),
            "func" => Self::func,
            _ => return Err(self.unexpected("`loc`, `declare`, `data`, `alias`, `ctor`, `dtor` or `func`")),
        };
        self.advance()?;
        item(self)
    }
    fn loc(&mut self) -> Result<(), ParseError> {
        let next = self.m.module.locations.len() as u32;
        if !matches!(&self.token, Token::Number { negative: false, limbs } if limbs[..] == [u64::from(next)]) {
            return Err(self.error(Why::Position { next }));
        }
        self.advance()?;
        self.expect('=', "`=`")?;
        let file = self.text()?.ok_or_else(|| self.unexpected("a file name"))?;
        let line = self.u32()?;
        self.expect(':', "`:`")?;
        let column = self.u32()?;
        if !self.eat_word("in")? {
            return Err(self.unexpected("`in`"));
        }
        let function = self.text()?.ok_or_else(|| self.unexpected("a function name"))?;
        let inlined_at = if self.eat_word("inlined")? {
            let (line, column) = (self.line, self.column);
            match self.u32()? {
                n if n < next => n,
                n => return Err(ParseError { line, column, why: Why::NoPosition(n) }),
            }
        } else {
            0
        };
        let library = u32::from(self.eat_word("library")?);
        let (file, function) = (self.m.str(file), self.m.str(function));
        self.m.module.locations.push(Loc { file, line, column, function, inlined_at, library });
        Ok(())
    }
    fn declare(&mut self) -> Result<(), ParseError> {
        let function = self.eat_word("func")?;
        let weak = self.eat_word(LINKAGES[linkage::EXTERN_WEAK as usize])?;
        let symbol = self.symbol()?;
        if function {
            self.m.declare_function(symbol);
        }
        if weak {
            self.m.extern_weak(symbol);
        }
        Ok(())
    }
    fn data(&mut self) -> Result<(), ParseError> {
        let (linkage, symbol) = (self.linkage()?, self.symbol()?);
        if !self.eat_word("size")? {
            return Err(self.unexpected("`size`"));
        }
        let (size, align, flags) = (self.number(64)?, self.align()?, self.flags(GLOBAL_FLAGS)?);
        let loc = self.at()?.unwrap_or(0);
        let init = if self.eat('=')? { self.text()?.ok_or_else(|| self.unexpected("a string"))? } else { Vec::new() };
        let mut relocs = Vec::new();
        if self.eat('{')? {
            while !self.eat('}')? {
                let offset = self.number(64)?;
                self.expect(':', "`:`")?;
                let symbol = self.symbol()?;
                relocs.push(Reloc { offset, addend: self.offset()?, symbol, _pad: 0 });
                self.eat(',')?;
            }
        }
        let def = DataDef { size, align, init: &init, relocs: &relocs, flags, loc };
        let defined = self.m.data(symbol, linkage, def);
        self.build(defined).map(|_| ())
    }
    fn alias(&mut self) -> Result<(), ParseError> {
        let (linkage, symbol) = (self.linkage()?, self.symbol()?);
        self.expect('=', "`=`")?;
        let target = self.symbol()?;
        let offset = self.offset()? as u64;
        let defined = self.m.alias(symbol, linkage, target, offset);
        self.build(defined)
    }
    fn ctor(&mut self, at_exit: u32) -> Result<(), ParseError> {
        let (symbol, priority) = (self.symbol()?, self.u32()?);
        self.m.ctor(symbol, priority, at_exit);
        Ok(())
    }
    fn func(&mut self) -> Result<(), ParseError> {
        let (linkage, symbol) = (self.linkage()?, self.symbol()?);
        let linker_name = self.m.module.symbols[symbol as usize].name;
        let linker_name = self.m.module.str(linker_name).to_owned();
        let name = self.text()?.map_or(linker_name, |t| String::from_utf8_lossy(&t).into_owned());
        self.expect('(', "`(`")?;
        let mut params = Vec::new();
        while !self.eat(')')? {
            params.push(self.param()?);
            self.eat(',')?;
        }
        let mut ret_width = 0;
        if self.token == Token::Arrow {
            self.advance()?;
            ret_width = self.u16()?;
        }
        let flags = self.flags(FUNCTION_FLAGS)?;
        // No more than the verifier allows: a slot is looked at when it is named.
        let slots = if self.eat_word("slots")? { self.number(24)? as u32 } else { 0 };
        let loc = self.at()?.unwrap_or(0);
        self.function(Head { symbol, linkage, name, params, ret_width, flags, slots, loc })
    }
    fn param(&mut self) -> Result<ParamText, ParseError> {
        let Token::Slot(slot) = self.token.clone() else { return Err(self.unexpected("a slot")) };
        self.advance()?;
        self.expect(':', "`:`")?;
        let (mut width, mut size) = (64, 0);
        let kind = if let Token::Number { .. } = self.token {
            width = self.u16()?;
            param_kind::INTEGER
        } else {
            match self.word("a width, `ptr`, `byval`, `va` or `f` and a width")?.as_str() {
                "ptr" => param_kind::POINTER,
                "byval" => {
                    size = self.u32()?;
                    param_kind::BY_VALUE
                }
                "va" => param_kind::VARIADIC,
                float => {
                    let bits = float.strip_prefix('f').and_then(|w| w.parse().ok());
                    width = bits.ok_or_else(|| self.error(Why::Unexpected { expected: "a kind", found: format!("`{float}`") }))?;
                    param_kind::FLOAT
                }
            }
        };
        let default = if slot.bytes().all(|b| b.is_ascii_digit()) { String::new() } else { slot.clone() };
        let name = self.text()?.map_or(default, |t| String::from_utf8_lossy(&t).into_owned());
        Ok(ParamText { slot, width, kind, size, name })
    }

    /// A number of `width` bits as constant limbs; the number is the token here.
    pub(super) fn literal(&mut self, width: u16) -> Result<Vec<Const>, ParseError> {
        let width = u32::from(width);
        let Token::Number { negative, limbs } = &self.token else { return Err(self.unexpected("a value")) };
        let n = width.div_ceil(64) as usize;
        let mut value = limbs.clone();
        value.resize(n.max(limbs.len()), 0);
        let beyond = |v: &[u64], width: u32| (width..v.len() as u32 * 64).any(|i| crate::arith::bit(v, i));
        let fits = if *negative {
            // -2^(width - 1) is the least.
            let mut less_one = value.clone();
            let borrow = less_one.iter_mut().try_for_each(|l| {
                let (v, borrow) = l.overflowing_sub(1);
                *l = v;
                if borrow { Ok(()) } else { Err(()) }
            });
            borrow.is_ok() || (width > 0 && !beyond(&less_one, width - 1))
        } else {
            !beyond(&value, width)
        };
        if !fits {
            return Err(self.error(Why::TooLarge { width }));
        }
        value.truncate(n);
        if *negative {
            let mut carry = true;
            for l in &mut value {
                (*l, carry) = (!*l).overflowing_add(u64::from(carry));
            }
            crate::arith::trim(width, &mut value);
        }
        self.advance()?;
        Ok(value.into_iter().map(|value| Const { value, symbol: NONE, _pad: 0 }).collect())
    }
}
