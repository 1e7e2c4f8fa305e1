//! Contracts: what a function requires of its callers, as conditions in C syntax over its parameters (`p != 0 && *(uint32_t *)(p + 8) < 4`).
//!
//! The conditions that [`crate::condition`] prints can be used as they are. A word that is loaded through a pointer is the input of that name,
//! so a contract says nothing of memory that an alias reaches under another name. Where types are known, fields have their names: `p->len < 4`.

use wryneck_expr::{ExprId, Pool};

use crate::MARK;
use crate::shape::Param;

/// A value in a contract.
#[derive(Clone)]
pub struct Value {
    /// 64 bits wide.
    pub expr: ExprId,
    signed: bool,
    /// The pointer that it is, by name, and an offset.
    pub place: Option<(String, i64)>,
    /// Its type, by its number, if that is known.
    kind: Option<usize>,
}

impl Value {
    /// A parameter of so many bits, by its value of 64.
    pub fn of_param(param: &Param, expr: ExprId) -> Value {
        Value { expr, signed: true, place: (param.width == 64).then(|| (param.name.clone(), 0)), kind: None }
    }
}

/// A type, as far as fields are found by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// To the type of this number, if that is known.
    Pointer(Option<usize>),
    Integer {
        bits: u32,
        signed: bool,
    },
    /// A structure or union.
    Record(Vec<Field>),
    Array {
        of: usize,
        /// Bytes of an element.
        size: u64,
    },
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Empty: its own fields are used as if they were the record's.
    pub name: String,
    pub offset: u64,
    pub kind: usize,
}

/// The types of a function's parameters.
#[derive(Clone, Debug, Default)]
pub struct Types {
    pub all: Vec<Type>,
    /// Each parameter's type, by its name.
    pub params: Vec<(String, usize)>,
}

/// Where the values come from that a contract is over.
pub trait Source {
    fn pool(&mut self) -> &mut Pool;
    fn param(&mut self, name: &str) -> Option<Value>;
    /// So many bits of memory at a pointer. The error says why that cannot be told.
    fn load(&mut self, from: &Value, bits: u32) -> Result<ExprId, String>;
}

/// The inputs of a function.
struct Inputs<'a> {
    params: &'a [Param],
    pool: &'a mut Pool,
}

impl Inputs<'_> {
    fn bytes(&mut self, name: &str, at: i64, count: u32) -> ExprId {
        let name = format!("{MARK}{name}");
        let mut byte = |i: u32| {
            let symbol = self.pool.symbol(&name, (at as u32).wrapping_add(i), 8);
            self.pool.sym(symbol)
        };
        let all: Vec<ExprId> = (0..count).map(&mut byte).collect();
        let mut whole = all[0];
        for byte in &all[1..] {
            whole = self.pool.concat(*byte, whole);
        }
        whole
    }
}

impl Source for Inputs<'_> {
    fn pool(&mut self) -> &mut Pool {
        self.pool
    }

    fn param(&mut self, name: &str) -> Option<Value> {
        let params = self.params;
        let param = params.iter().find(|param| param.name == name && param.by_value == 0)?;
        let whole = self.bytes(name, 0, param.width.div_ceil(8));
        let expr = widened(self.pool, whole, param.width.next_multiple_of(8), true);
        Some(Value::of_param(param, expr))
    }

    fn load(&mut self, from: &Value, bits: u32) -> Result<ExprId, String> {
        let (name, at) = from.place.as_ref().ok_or("a parameter plus a number, or a pointer loaded from one")?;
        Ok(self.bytes(&format!("*{name}"), *at, bits / 8))
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    source: &'a mut dyn Source,
    types: &'a Types,
    depth: u32,
}

/// Brackets and operators before an operand, one in another, at most.
const DEEPEST: u32 = 64;

/// Binary operators by how tightly they bind; those that begin alike: the longest first.
const BINARY: &[(&str, u32)] =
    &[("||", 1), ("&&", 2), ("==", 3), ("!=", 3), ("<=", 4), (">=", 4), ("<", 4), (">", 4), ("+", 5), ("-", 5), ("*", 6)];

/// The condition that a contract states, over the inputs of a function with these parameters. Asks no solver. The error says what is
/// wrong, and where.
pub fn parse(text: &str, params: &[Param], types: &Types, pool: &mut Pool) -> Result<ExprId, String> {
    condition(text, types, &mut Inputs { params, pool })
}

/// The condition that a contract states, over other values than a function's inputs.
pub fn condition(text: &str, types: &Types, source: &mut dyn Source) -> Result<ExprId, String> {
    let mut parser = Parser { text, rest: text, source, types, depth: 0 };
    let value = parser.binary(1)?;
    match parser.rest.trim().is_empty() {
        true => Ok(parser.truth(&value)),
        false => Err(parser.wrong("the end of the condition")),
    }
}

/// An integer of so many bits as one of 64.
fn widened(pool: &mut Pool, e: ExprId, bits: u32, signed: bool) -> ExprId {
    match (bits, signed) {
        (64, _) => e,
        (_, true) => pool.sext(e, 64),
        (_, false) => pool.zext(e, 64),
    }
}

impl Parser<'_> {
    fn wrong(&self, expected: &str) -> String {
        let at = self.text.len() - self.rest.trim_start().len();
        format!("expected {expected} at `{}` (column {})", self.rest.trim_start(), at + 1)
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(self.wrong(&format!("`{token}`"))) }
    }

    fn word(&mut self) -> Option<String> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.rest = &rest[end..];
        (end > 0).then(|| rest[..end].to_owned())
    }

    fn binary(&mut self, least: u32) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("the condition is too deep".into());
        }
        let mut left = self.unary()?;
        while let Some((sign, binds)) = BINARY.iter().copied().find(|(sign, _)| self.rest.trim_start().starts_with(sign)) {
            if binds < least {
                break;
            }
            self.expect(sign)?;
            let right = self.binary(binds + 1)?;
            left = self.apply(sign, &left, &right);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn apply(&mut self, sign: &str, left: &Value, right: &Value) -> Value {
        let signed = left.signed && right.signed;
        let by = self.source.pool().as_u64(right.expr).map(|n| n as i64);
        let place = match (sign, &left.place, by) {
            ("+", Some((name, at)), Some(by)) => at.checked_add(by).map(|at| (name.clone(), at)),
            ("-", Some((name, at)), Some(by)) => at.checked_sub(by).map(|at| (name.clone(), at)),
            _ => None,
        };
        let (a, b) = (left.expr, right.expr);
        let (truth_a, truth_b) = (self.truth(left), self.truth(right));
        let pool = self.source.pool();
        let expr = match (sign, signed) {
            ("+", _) => pool.add(a, b),
            ("-", _) => pool.sub(a, b),
            ("*", _) => pool.mul(a, b),
            _ => {
                let holds = match (sign, signed) {
                    ("||", _) => pool.or(truth_a, truth_b),
                    ("&&", _) => pool.and(truth_a, truth_b),
                    ("==", _) => pool.eq(a, b),
                    ("!=", _) => pool.ne(a, b),
                    ("<", true) => pool.slt(a, b),
                    (">", true) => pool.slt(b, a),
                    ("<=", true) => pool.sle(a, b),
                    (">=", true) => pool.sle(b, a),
                    ("<", false) => pool.ult(a, b),
                    (">", false) => pool.ult(b, a),
                    ("<=", false) => pool.ule(a, b),
                    _ => pool.ule(b, a),
                };
                pool.zext(holds, 64)
            }
        };
        Value { expr, signed: signed || !matches!(sign, "+" | "-" | "*"), place, kind: None }
    }

    fn truth(&mut self, value: &Value) -> ExprId {
        let pool = self.source.pool();
        let zero = pool.zero(64);
        pool.ne(value.expr, zero)
    }

    fn unary(&mut self) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("the condition is too deep".into());
        }
        let value = self.operand();
        self.depth -= 1;
        value
    }

    fn operand(&mut self) -> Result<Value, String> {
        if self.take("!") {
            let value = self.unary()?;
            let pool = self.source.pool();
            let (zero, expr) = (pool.zero(64), value.expr);
            let not = pool.eq(expr, zero);
            return Ok(Value { expr: pool.zext(not, 64), signed: true, place: None, kind: None });
        }
        if self.take("-") {
            let value = self.unary()?;
            return Ok(Value { expr: self.source.pool().neg(value.expr), place: None, kind: None, ..value });
        }
        if self.take("*") {
            let (bits, signed) = self.cast(true)?.ok_or_else(|| self.wrong("a type such as `(uint32_t *)` after `*`"))?;
            let from = self.unary()?;
            return self.load(&from, bits, signed);
        }
        if let Some((bits, signed)) = self.cast(false)? {
            let value = self.unary()?;
            let pool = self.source.pool();
            let low = pool.extract(value.expr, 0, bits);
            let place = value.place.filter(|_| bits == 64);
            return Ok(Value { expr: widened(pool, low, bits, signed), signed, place, kind: None });
        }
        if self.take("(") {
            let value = self.binary(1)?;
            self.expect(")")?;
            return self.postfix(value);
        }
        let before = self.rest;
        let word = self.word().ok_or_else(|| self.wrong("a parameter, a number or `(`"))?;
        let number = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let number = number.strip_prefix("0x").map_or_else(|| number.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok());
        if let Some(number) = number {
            return Ok(Value { expr: self.source.pool().bits(64, number), signed: true, place: None, kind: None });
        }
        if word == "NULL" {
            return Ok(Value { expr: self.source.pool().zero(64), signed: true, place: None, kind: None });
        }
        let Some(value) = self.source.param(&word) else {
            self.rest = before;
            return Err(self.wrong("a parameter of the function"));
        };
        let kind = self.types.params.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
        self.postfix(Value { kind, ..value })
    }

    /// The fields that follow a pointer: `p->next->len`, `p->pair.first`, `p->items[2]`.
    fn postfix(&mut self, mut value: Value) -> Result<Value, String> {
        while self.take("->") {
            let types = self.types;
            let Some(&Type::Pointer(Some(mut kind))) = value.kind.and_then(|kind| types.all.get(kind)) else {
                return Err(self.wrong("a pointer to a structure whose fields are known (debug information) before this"));
            };
            let mut offset = self.field(kind)?;
            loop {
                kind = offset.1;
                let more = match types.all.get(kind) {
                    Some(Type::Record(_)) if self.take(".") => self.field(kind)?,
                    Some(Type::Array { of, size }) if self.take("[") => {
                        let index = self.word().and_then(|word| word.parse::<u32>().ok()).ok_or_else(|| self.wrong("a number"))?;
                        self.expect("]")?;
                        (u64::from(index).saturating_mul(*size), *of)
                    }
                    _ => break,
                };
                offset = (offset.0.saturating_add(more.0), more.1);
            }
            let pool = self.source.pool();
            let by = pool.bits(64, offset.0);
            let at = Value {
                expr: pool.add(value.expr, by),
                place: value.place.map(|(name, at)| (name, at.wrapping_add_unsigned(offset.0))),
                ..value
            };
            value = match types.all.get(kind) {
                Some(Type::Integer { bits, signed }) => self.load(&at, *bits, *signed)?,
                Some(Type::Pointer(_)) => Value { kind: Some(kind), ..self.load(&at, 64, true)? },
                _ => return Err(self.wrong("a field that is an integer or a pointer before this")),
            };
        }
        Ok(value)
    }

    /// The field of a record whose name is next: its offset and type.
    fn field(&mut self, record: usize) -> Result<(u64, usize), String> {
        let before = self.rest;
        let name = self.word().ok_or_else(|| self.wrong("the name of a field"))?;
        find_field(self.types, record, &name, 0).ok_or_else(|| {
            self.rest = before;
            self.wrong("a field of the structure")
        })
    }

    /// A type in brackets: its bits and whether it is signed. `pointer`: one to that type.
    fn cast(&mut self, pointer: bool) -> Result<Option<(u32, bool)>, String> {
        const TYPES: &[(&str, u32, bool)] = &[
            ("uint8_t", 8, false),
            ("uint16_t", 16, false),
            ("uint32_t", 32, false),
            ("uint64_t", 64, false),
            ("int8_t", 8, true),
            ("int16_t", 16, true),
            ("int32_t", 32, true),
            ("int64_t", 64, true),
            ("size_t", 64, false),
            ("char", 8, true),
            ("short", 16, true),
            ("int", 32, true),
            ("long", 64, true),
            ("void", 64, true),
        ];
        let before = self.rest;
        if !self.take("(") {
            return Ok(None);
        }
        let word = self.word().unwrap_or_default();
        let Some((_, bits, signed)) = TYPES.iter().find(|(name, ..)| *name == word) else {
            self.rest = before;
            return Ok(None);
        };
        let stars = std::iter::from_fn(|| self.take("*").then_some(())).count();
        self.expect(")")?;
        match (pointer, stars) {
            (true, 0) => Err(self.wrong("a pointer type before this")),
            (true, 1) | (false, 0) => Ok(Some((*bits, *signed))),
            _ => Ok(Some((64, true))),
        }
    }

    fn load(&mut self, from: &Value, bits: u32, signed: bool) -> Result<Value, String> {
        let loaded = self.source.load(from, bits).map_err(|why| self.wrong(&format!("{why} before this")))?;
        let place = from.place.as_ref().filter(|_| bits == 64).map(|(name, at)| (format!("*{name}[{at}]"), 0));
        Ok(Value { expr: widened(self.source.pool(), loaded, bits, signed), signed, place, kind: None })
    }
}

/// A field of a record, or of the records in it that have no name.
fn find_field(types: &Types, record: usize, name: &str, depth: u32) -> Option<(u64, usize)> {
    let Some(Type::Record(fields)) = types.all.get(record).filter(|_| depth < DEEPEST) else { return None };
    let own = fields.iter().find(|field| field.name == name).map(|field| (field.offset, field.kind));
    let inner = |field: &Field| find_field(types, field.kind, name, depth + 1).map(|(at, kind)| (field.offset + at, kind));
    own.or_else(|| fields.iter().filter(|field| field.name.is_empty()).find_map(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> Vec<Param> {
        [("lst", 64), ("n", 32)].map(|(name, width)| Param { name: name.into(), width, by_value: 0 }).into()
    }

    #[test]
    fn conditions_are_over_the_inputs() {
        let mut pool = Pool::new();
        let own = |pool: &mut Pool, name: &str, from: u32, count: u32| {
            let mut bytes = (from..from + count).map(|i| {
                let symbol = pool.symbol(name, i, 8);
                pool.sym(symbol)
            });
            let all: Vec<ExprId> = bytes.by_ref().collect();
            all[1..].iter().fold(all[0], |low, high| pool.concat(*high, low))
        };
        let field = own(&mut pool, "uc:*lst", 8, 4);
        let wide = pool.zext(field, 64);
        let four = pool.bits(64, 4);
        let below = pool.ult(wide, four);
        assert_eq!(parse("*(uint32_t *)(lst + 8) < 4", &params(), &Types::default(), &mut pool), Ok(below));
        let next = own(&mut pool, "uc:**lst[16]", 0, 8);
        let zero = pool.zero(64);
        let some = pool.ne(next, zero);
        assert_eq!(parse("*(void **)*(char **)(lst + 16) != NULL", &params(), &Types::default(), &mut pool), Ok(some));
    }

    #[test]
    fn operators_bind_as_in_c() {
        let mut pool = Pool::new();
        let grouped = parse("(lst != 0 && n > 3) || n == 1 + 2 * 3", &params(), &Types::default(), &mut pool);
        assert_eq!(parse("lst != 0 && n > 3 || n == 7", &params(), &Types::default(), &mut pool), grouped);
        assert_eq!(parse("2 + 3 * 4 == 14", &params(), &Types::default(), &mut pool), Ok(ExprId::TRUE));
        assert_eq!(parse("-1 < 0", &params(), &Types::default(), &mut pool), Ok(ExprId::TRUE));
        assert_eq!(parse("(uint8_t)-1 < 0", &params(), &Types::default(), &mut pool), Ok(ExprId::FALSE));
    }

    #[test]
    fn fields_are_found_by_their_names() {
        // struct item { struct item *next; union { int n; char c; }; struct { short a[4]; } in; } *lst;
        let field = |name: &str, offset, kind| Field { name: name.into(), offset, kind };
        let all = vec![
            Type::Pointer(Some(1)),
            Type::Record(vec![field("next", 0, 0), field("", 8, 3), field("in", 12, 4)]),
            Type::Integer { bits: 32, signed: true },
            Type::Record(vec![field("n", 0, 2), field("c", 0, 7)]),
            Type::Record(vec![field("a", 0, 5)]),
            Type::Array { of: 6, size: 2 },
            Type::Integer { bits: 16, signed: true },
            Type::Integer { bits: 8, signed: false },
        ];
        let types = Types { all, params: vec![("lst".into(), 0)] };
        let mut pool = Pool::new();
        for (named, plain) in [
            ("lst->next != 0", "*(int64_t *)lst != 0"),
            ("lst->n < 3", "*(int32_t *)(lst + 8) < 3"),
            ("lst->next->next->c == 7", "*(uint8_t *)(*(char **)*(char **)lst + 8) == 7"),
            ("lst->in.a[3] > -1", "*(int16_t *)(lst + 18) > -1"),
        ] {
            let [named, plain] = [named, plain].map(|text| parse(text, &params(), &types, &mut pool));
            assert!(named.is_ok());
            assert_eq!(named, plain);
        }
        for (text, part) in
            [("lst->m", "a field of the structure"), ("n->m", "debug information"), ("lst->in > 0", "an integer or a pointer")]
        {
            let error = parse(text, &params(), &types, &mut pool).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let mut pool = Pool::new();
        for (text, part) in [
            ("lst != ", "a parameter, a number"),
            ("q == 0", "a parameter of the function"),
            ("*lst == 0", "a type"),
            ("n == 1)", "the end"),
        ] {
            let error = parse(text, &params(), &Types::default(), &mut pool).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(parse(&"(".repeat(100_000), &params(), &Types::default(), &mut pool).is_err());
        assert!(parse(&"!".repeat(100_000), &params(), &Types::default(), &mut pool).is_err());
    }
}
