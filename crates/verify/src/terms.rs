//! The terms of a rule file: operands, names and conditions, each a string. An error says what was expected.

use crate::rule::{Condition, Operand, Relation};

/// `result`, `arg0`, `*arg0`, `arg0[1]`, `text arg0`, `path arg0`, `global stdout`.
pub fn operand(text: &str) -> Result<Operand, String> {
    let wrong = || {
        let forms = "`result`, `arg0`, `*arg0`, `arg0[1]`, `text arg0`, `path arg0`, `global stdout`";
        format!("`{text}` is no operand: expected one such as {forms}")
    };
    // An argument, and what is left.
    let arg = |text: &str| {
        let rest = text.strip_prefix("arg")?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        Some((rest[..digits].parse::<u32>().ok().filter(|i| *i < 32)?, rest[digits..].to_owned()))
    };
    let whole = |text: &str| arg(text).filter(|(_, rest)| rest.is_empty()).map(|(i, _)| i);
    let found = match text.split_once(' ') {
        Some(("text", at)) => whole(at).map(Operand::Text),
        Some(("path", at)) => whole(at).map(Operand::Path),
        Some(("global", name)) if !name.is_empty() && !name.contains(' ') => Some(Operand::Global(name.to_owned())),
        Some(_) => None,
        None if text == "result" => Some(Operand::Result),
        None => match text.strip_prefix('*') {
            Some(pointer) => whole(pointer).map(Operand::At),
            None => arg(text).and_then(|(i, rest)| match rest.strip_prefix('[').and_then(|r| r.strip_suffix(']')) {
                Some(index) => Some(Operand::Int(i, index.parse().ok()?)),
                None => rest.is_empty().then_some(Operand::Arg(i)),
            }),
        },
    };
    found.ok_or_else(wrong)
}

/// `OPERAND == 3`, `OPERAND & 0x3 != 0`, `text arg1 has w+`, `text arg1 lacks w+`.
pub fn condition(text: &str) -> Result<Condition, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let example = || format!("`{text}` is no condition: expected one such as `result != 0`, `arg1 & 0x3 != 0` or `text arg1 has w+`");
    if let Some(i) = words.iter().position(|w| matches!(*w, "has" | "lacks")) {
        let [of] = words[i + 1..] else { return Err(example()) };
        return match operand(&words[..i].join(" "))? {
            text @ (Operand::Text(_) | Operand::Path(_)) => Ok(Condition::Has { text, any: words[i] == "has", of: of.to_owned() }),
            other => Err(format!("`{other}` is no string: expected `text arg0` or `path arg0`")),
        };
    }
    let [ref before @ .., relation, value] = words[..] else { return Err(example()) };
    let Some((_, relation)) = Relation::ALL.into_iter().find(|(word, _)| *word == relation) else {
        let known: Vec<&str> = Relation::ALL.iter().map(|(word, _)| *word).collect();
        return Err(format!("`{relation}` is unknown: expected `{}`", known.join("`, `")));
    };
    let (of, mask) = match before {
        [of @ .., "&", mask] if !of.is_empty() => (of, Some(number(mask)? as u64)),
        [] => return Err(example()),
        of => (of, None),
    };
    let operand = operand(&of.join(" "))?;
    if matches!(operand, Operand::Text(_) | Operand::Path(_)) {
        return Err(format!("`{operand}` is a string: it can `has` or `lacks`"));
    }
    Ok(Condition::Compare { operand, mask, relation, value: number(value)? })
}

/// Decimal, with a sign, or hexadecimal.
fn number(text: &str) -> Result<i64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|bits| bits as i64),
        None => text.parse().ok(),
    };
    parsed.ok_or_else(|| format!("`{text}` is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_printed_as_they_are_written() {
        for text in ["result", "arg0", "*arg31", "arg0[1]", "text arg1", "path arg2", "global stdout"] {
            assert_eq!(operand(text).expect(text).to_string(), text);
        }
        for text in ["arg", "arg32", "arg0x", "*result", "text result", "arg0[]", "arg0[x]", "global", "", "Result", "arg0 "] {
            assert!(operand(text).is_err(), "{text}");
        }
        for text in ["result != 0", "*arg1 == 3", "arg1 < -1", "arg0[1] >= 2", "arg1 & 0x3 != 0x0", "text arg1 has w+", "path arg0 lacks /"]
        {
            assert_eq!(condition(text).expect(text).to_string(), text);
        }
        for text in ["result", "!= 0", "& 3 != 0", "result !== 0", "result != x", "arg1 has w", "text arg1 has", "text arg1 == 0", "has w"]
        {
            assert!(condition(text).is_err(), "{text}");
        }
    }
}
