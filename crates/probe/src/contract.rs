//! Contracts: what a function requires of its callers, as conditions in C syntax over its parameters (`p != 0 && *(uint32_t *)(p + 8) < 4`).
//!
//! The conditions that [`crate::condition`] prints can be used as they are. A word that is loaded through a pointer is the input of that name,
//! so a contract says nothing of memory that an alias reaches under another name.

use wryneck_expr::{ExprId, Pool};

use crate::MARK;
use crate::shape::Param;

/// A value in a contract.
#[derive(Clone)]
struct Value {
    /// 64 bits wide.
    expr: ExprId,
    signed: bool,
    /// The pointer that it is, by name, and an offset.
    place: Option<(String, i64)>,
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    params: &'a [Param],
    pool: &'a mut Pool,
    depth: u32,
}

/// Brackets and operators before an operand, one in another, at most.
const DEEPEST: u32 = 64;

/// Binary operators by how tightly they bind; those that begin alike: the longest first.
const BINARY: &[(&str, u32)] =
    &[("||", 1), ("&&", 2), ("==", 3), ("!=", 3), ("<=", 4), (">=", 4), ("<", 4), (">", 4), ("+", 5), ("-", 5), ("*", 6)];

/// The condition that a contract states, over the inputs of a function with these parameters. Asks no solver. The error says what is
/// wrong, and where.
pub fn parse(text: &str, params: &[Param], pool: &mut Pool) -> Result<ExprId, String> {
    let mut parser = Parser { text, rest: text, params, pool, depth: 0 };
    let value = parser.binary(1)?;
    match parser.rest.trim().is_empty() {
        true => Ok(parser.truth(&value)),
        false => Err(parser.wrong("the end of the condition")),
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
        let offset = |this: &Parser<'_>, value: &Value| this.pool.as_u64(value.expr).map(|n| n as i64);
        let place = match (sign, &left.place, offset(self, right)) {
            ("+", Some((name, at)), Some(by)) => at.checked_add(by).map(|at| (name.clone(), at)),
            ("-", Some((name, at)), Some(by)) => at.checked_sub(by).map(|at| (name.clone(), at)),
            _ => None,
        };
        let (a, b) = (left.expr, right.expr);
        let (truth_a, truth_b) = (self.truth(left), self.truth(right));
        let pool = &mut *self.pool;
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
        Value { expr, signed: signed || !matches!(sign, "+" | "-" | "*"), place }
    }

    fn truth(&mut self, value: &Value) -> ExprId {
        let zero = self.pool.zero(64);
        self.pool.ne(value.expr, zero)
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
            let (zero, expr) = (self.pool.zero(64), value.expr);
            let not = self.pool.eq(expr, zero);
            return Ok(Value { expr: self.pool.zext(not, 64), signed: true, place: None });
        }
        if self.take("-") {
            let value = self.unary()?;
            return Ok(Value { expr: self.pool.neg(value.expr), place: None, ..value });
        }
        if self.take("*") {
            let (bits, signed) = self.cast(true)?.ok_or_else(|| self.wrong("a type such as `(uint32_t *)` after `*`"))?;
            let from = self.unary()?;
            return self.load(&from, bits, signed);
        }
        if let Some((bits, signed)) = self.cast(false)? {
            let value = self.unary()?;
            let low = self.pool.extract(value.expr, 0, bits);
            let place = value.place.filter(|_| bits == 64);
            return Ok(Value { expr: self.widened(low, bits, signed), signed, place });
        }
        if self.take("(") {
            let value = self.binary(1)?;
            self.expect(")")?;
            return Ok(value);
        }
        let before = self.rest;
        let word = self.word().ok_or_else(|| self.wrong("a parameter, a number or `(`"))?;
        let number = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let number = number.strip_prefix("0x").map_or_else(|| number.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok());
        if let Some(number) = number {
            return Ok(Value { expr: self.pool.bits(64, number), signed: true, place: None });
        }
        if word == "NULL" {
            return Ok(Value { expr: self.pool.zero(64), signed: true, place: None });
        }
        let Some(param) = self.params.iter().find(|param| param.name == word && param.by_value == 0) else {
            self.rest = before;
            return Err(self.wrong("a parameter of the function"));
        };
        let whole = self.bytes(&word, 0, param.width.div_ceil(8));
        let expr = self.widened(whole, param.width.next_multiple_of(8), true);
        Ok(Value { expr, signed: true, place: (param.width == 64).then_some((word, 0)) })
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

    fn widened(&mut self, e: ExprId, bits: u32, signed: bool) -> ExprId {
        match (bits, signed) {
            (64, _) => e,
            (_, true) => self.pool.sext(e, 64),
            (_, false) => self.pool.zext(e, 64),
        }
    }

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

    fn load(&mut self, from: &Value, bits: u32, signed: bool) -> Result<Value, String> {
        let Some((name, at)) = &from.place else {
            return Err(self.wrong("a parameter plus a number, or a pointer loaded from one, before this"));
        };
        let loaded = self.bytes(&format!("*{name}"), *at, bits / 8);
        let expr = self.widened(loaded, bits, signed);
        Ok(Value { expr, signed, place: (bits == 64).then(|| (format!("*{name}[{at}]"), 0)) })
    }
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
        assert_eq!(parse("*(uint32_t *)(lst + 8) < 4", &params(), &mut pool), Ok(below));
        let next = own(&mut pool, "uc:**lst[16]", 0, 8);
        let zero = pool.zero(64);
        let some = pool.ne(next, zero);
        assert_eq!(parse("*(void **)*(char **)(lst + 16) != NULL", &params(), &mut pool), Ok(some));
    }

    #[test]
    fn operators_bind_as_in_c() {
        let mut pool = Pool::new();
        let grouped = parse("(lst != 0 && n > 3) || n == 1 + 2 * 3", &params(), &mut pool);
        assert_eq!(parse("lst != 0 && n > 3 || n == 7", &params(), &mut pool), grouped);
        assert_eq!(parse("2 + 3 * 4 == 14", &params(), &mut pool), Ok(ExprId::TRUE));
        assert_eq!(parse("-1 < 0", &params(), &mut pool), Ok(ExprId::TRUE));
        assert_eq!(parse("(uint8_t)-1 < 0", &params(), &mut pool), Ok(ExprId::FALSE));
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
            let error = parse(text, &params(), &mut pool).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(parse(&"(".repeat(100_000), &params(), &mut pool).is_err());
        assert!(parse(&"!".repeat(100_000), &params(), &mut pool).is_err());
    }
}
