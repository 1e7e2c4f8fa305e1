//! Compiled SLEIGH specifications as a tree: decodes the packed encoding of elements and attributes, after inflating it.
//!
//! The upper two bits of a byte say what begins: 01 an element, 10 its end, 11 an attribute. The rest is its number, with seven more bits
//! in the next byte if bit 5 is set. An attribute's value is a byte of type and length, then that many bytes of seven bits, highest
//! first. Strings follow their length.

/// What an attribute says.
#[derive(Debug)]
pub enum Value {
    /// Truth values, numbers of either sign and numbers of spaces.
    Number(i64),
    Text(String),
}

/// An element: its number in the format's table, its attributes by number, what is in it.
#[derive(Debug)]
pub struct Element {
    pub kind: u32,
    attributes: Vec<(u32, Value)>,
    pub children: Vec<Element>,
}

impl Element {
    fn attribute(&self, number: u32) -> Option<&Value> {
        self.attributes.iter().find(|(n, _)| *n == number).map(|(_, value)| value)
    }

    /// The number that the attribute says, if it is there.
    pub fn number(&self, attribute: u32) -> Option<i64> {
        match self.attribute(attribute)? {
            Value::Number(n) => Some(*n),
            Value::Text(_) => None,
        }
    }

    /// The number that the attribute says; specifications without it are damaged.
    pub fn get(&self, attribute: u32) -> i64 {
        self.number(attribute).unwrap_or_else(|| panic!("element {} has no attribute {attribute}", self.kind))
    }

    pub fn text(&self, attribute: u32) -> Option<&str> {
        match self.attribute(attribute)? {
            Value::Text(text) => Some(text),
            Value::Number(_) => None,
        }
    }
}

/// Bytes being read.
struct Packed<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Packed<'_> {
    fn next(&mut self) -> u8 {
        self.at += 1;
        self.bytes[self.at - 1]
    }

    fn number(&mut self, header: u8) -> u32 {
        let low = u32::from(header & 0x1f);
        if header & 0x20 == 0 { low } else { low << 7 | u32::from(self.next() & 0x7f) }
    }

    fn integer(&mut self, bytes: u8) -> i64 {
        (0..bytes).fold(0, |sum, _| sum << 7 | i64::from(self.next() & 0x7f))
    }

    fn value(&mut self) -> Value {
        let kind = self.next();
        let length = kind & 0xf;
        match kind >> 4 {
            1 => Value::Number(i64::from(length != 0)),
            2 | 4 | 5 => Value::Number(self.integer(length)),
            3 => Value::Number(self.integer(length).wrapping_neg()),
            7 => {
                let size = self.integer(length) as usize;
                self.at += size;
                Value::Text(String::from_utf8_lossy(&self.bytes[self.at - size..self.at]).into_owned())
            }
            other => panic!("attributes of type {other} are not read"),
        }
    }

    fn element(&mut self) -> Element {
        let header = self.next();
        assert_eq!(header & 0xc0, 0x40, "an element begins");
        let mut element = Element { kind: self.number(header), attributes: Vec::new(), children: Vec::new() };
        loop {
            match self.bytes[self.at] & 0xc0 {
                0x40 => element.children.push(self.element()),
                0x80 => {
                    let header = self.next();
                    assert_eq!(self.number(header), element.kind, "elements end as they begin");
                    return element;
                }
                0xc0 => {
                    let header = self.next();
                    let number = self.number(header);
                    element.attributes.push((number, self.value()));
                }
                _ => panic!("the specification is damaged at byte {}", self.at),
            }
        }
    }
}

/// The tree of an inflated specification.
pub fn read(bytes: &[u8]) -> Element {
    Packed { bytes, at: 0 }.element()
}
