//! Names that are strings. A symbolic name stays symbolic: it is compared with the names that the rule already knows. The path splits only
//! where two names may be equal. Paper 1, section 6, fixes such names to one value instead, which leaves paths unexplored.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;

use wryneck_exec::{Cx, Stop, Value, heap_calls};
use wryneck_expr::ExprId;

use crate::checker::{Key, Name, Word};

/// The form in which strings are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Byte by byte.
    Plain,
    /// As file names: without `./` and repeated slashes. Symbolic links and `..` stay.
    Path,
}

/// A symbolic string: its bytes, up to where a constant zero stands.
pub type Text = Rc<[ExprId]>;

/// The names of a call, resolved one after the other.
pub struct Naming<'a> {
    /// The names of the instances so far, and their symbolic strings by the number in the key.
    pub known: &'a BTreeMap<Name, u32>,
    pub texts: &'a BTreeMap<u32, Text>,
    /// The names of this call, and its new symbolic strings.
    pub named: Vec<Name>,
    /// Set in keys that are addresses, above their bits: the thread, in rules whose instances are a thread's.
    pub thread: u64,
    pub new: Vec<(u32, Text)>,
}

impl Naming<'_> {
    /// The key of the string at a pointer in a name space. `None` if the pointer cannot be followed: this is a fault of the program, which runs into it
    /// itself. Where the string may equal a known name, the path splits.
    pub fn key(&mut self, space: u8, form: Form, pointer: Word, cx: &mut Cx<'_>) -> Result<Option<Key>, Stop> {
        let Some(bytes) = string(pointer, cx)? else { return Ok(None) };
        let text = constants(&bytes, cx).map(|text| form.of_constant(&text));
        let others: Vec<Key> =
            self.known.keys().chain(&self.named).filter(|name| name.space == space).map(|name| name.key.clone()).collect();
        let same = |key: &Key| match (key, &text) {
            (Key::Text(other), Some(text)) => other == text,
            (Key::Symbolic(number), None) => self.string(*number).is_some_and(|other| **other == bytes[..]),
            _ => false,
        };
        let mut key = others.iter().find(|key| same(key)).cloned();
        for other in &others {
            let may_be = !matches!((other, &text), (Key::Number(_), _) | (Key::Text(_), Some(_)));
            if key.is_none() && may_be && self.is(form, &bytes, other, cx)? {
                key = Some(other.clone());
            }
        }
        let key = match (key, text) {
            (Some(key), _) => key,
            (None, Some(text)) => Key::Text(text),
            (None, None) => {
                let number = self.texts.keys().chain(self.new.iter().map(|(number, _)| number)).max().map_or(0, |last| last + 1);
                self.new.push((number, bytes.into()));
                Key::Symbolic(number)
            }
        };
        self.named.push(Name { space, key: key.clone() });
        Ok(Some(key))
    }

    fn string(&self, number: u32) -> Option<&Text> {
        self.texts.get(&number).or_else(|| self.new.iter().find(|(n, _)| *n == number).map(|(_, text)| text))
    }

    /// Decides whether two strings are equal.
    fn is(&self, form: Form, bytes: &[ExprId], other: &Key, cx: &mut Cx<'_>) -> Result<bool, Stop> {
        let other: Text = match other {
            Key::Text(text) => text.iter().map(|byte| cx.core.pool.bits(8, (*byte).into())).collect(),
            Key::Symbolic(number) => self.string(*number).cloned().unwrap_or_default(),
            Key::Number(_) => return Ok(false),
        };
        let (a, b) = (spelled(form, bytes, cx)?, spelled(form, &other, cx)?);
        if a.len() != b.len() {
            return Ok(false);
        }
        let mut equal = ExprId::TRUE;
        for (a, b) in a.into_iter().zip(b) {
            let byte = cx.core.pool.eq(a, b);
            equal = cx.core.pool.and(equal, byte);
        }
        cx.decide(equal)
    }
}

/// Decides whether one of these bytes is in the string at a pointer; `None` as in [`Naming::key`].
pub fn has(pointer: Word, any_of: &[u8], cx: &mut Cx<'_>) -> Result<Option<bool>, Stop> {
    let Some(bytes) = string(pointer, cx)? else { return Ok(None) };
    let (mut has, mut goes_on) = (ExprId::FALSE, ExprId::TRUE);
    for byte in bytes {
        let pool = &mut cx.core.pool;
        for wanted in any_of {
            let wanted = pool.bits(8, (*wanted).into());
            let is = pool.eq(byte, wanted);
            let here = pool.and(goes_on, is);
            has = pool.or(has, here);
        }
        let zero = pool.bits(8, 0);
        let more = pool.ne(byte, zero);
        goes_on = pool.and(goes_on, more);
    }
    cx.decide(has).map(Some)
}

fn string(pointer: Word, cx: &mut Cx<'_>) -> Result<Option<Vec<ExprId>>, Stop> {
    let addr = cx.concretise(pointer.value, "a pointer that a rule follows")?;
    Ok(heap_calls::c_string(cx, Value::Bits(addr)).ok())
}

fn constants(bytes: &[ExprId], cx: &Cx<'_>) -> Option<Vec<u8>> {
    bytes.iter().map(|byte| cx.core.pool.as_u64(*byte).map(|byte| byte as u8)).collect()
}

/// The bytes of a string in its form; decides where it ends and, of a file name, where its parts do.
fn spelled(form: Form, bytes: &[ExprId], cx: &mut Cx<'_>) -> Result<Vec<ExprId>, Stop> {
    let [slash, dot] = [b'/', b'.'].map(|byte| cx.core.pool.bits(8, byte.into()));
    form.of(bytes, [slash, dot], &mut |byte, constant| {
        let constant = cx.core.pool.bits(8, constant.into());
        let is = cx.core.pool.eq(*byte, constant);
        cx.decide(is)
    })
}

impl Form {
    /// A string in this form, up to where it ends. `is` says whether a byte is a constant.
    fn of<T: Clone, E>(self, text: &[T], [slash, dot]: [T; 2], is: &mut dyn FnMut(&T, u8) -> Result<bool, E>) -> Result<Vec<T>, E> {
        let mut parts: Vec<Vec<T>> = vec![Vec::new()];
        for byte in text {
            if is(byte, 0)? {
                break;
            }
            if self == Form::Path && is(byte, b'/')? {
                parts.push(Vec::new());
            } else if let Some(part) = parts.last_mut() {
                part.push(byte.clone());
            }
        }
        if self == Form::Plain {
            return Ok(parts.concat());
        }
        let (empty, absolute) = (parts.len() == 1 && parts[0].is_empty(), parts.len() > 1 && parts[0].is_empty());
        let mut kept: Vec<Vec<T>> = Vec::new();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            if part.len() > 1 || !is(&part[0], b'.')? {
                kept.push(part);
            }
        }
        let name = kept.join(&slash);
        Ok(match (absolute, name.is_empty()) {
            (true, _) => [vec![slash], name].concat(),
            (false, true) if !empty => vec![dot],
            (false, _) => name,
        })
    }

    fn of_constant(self, text: &[u8]) -> Rc<[u8]> {
        let Ok(text) = self.of::<u8, Infallible>(text, [b'/', b'.'], &mut |byte, constant| Ok(*byte == constant));
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_have_one_form() {
        for (path, form) in
            [("a", "a"), ("./a", "a"), ("a//b/./c/", "a/b/c"), ("//a", "/a"), ("/", "/"), ("./", "."), ("../a", "../a"), ("", "")]
        {
            assert_eq!(&*Form::Path.of_constant(path.as_bytes()), form.as_bytes(), "{path}");
        }
    }
}
