//! The text form's tokens, each with its place.

use super::Why;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A keyword, operator, label or number of decimal digits used as a name.
    Word(String),
    Number {
        negative: bool,
        limbs: Vec<u64>,
    },
    Text(Vec<u8>),
    /// `%name`, `$name`, `@name` (`@"name"`).
    Slot(String),
    Alloca(String),
    Symbol(Vec<u8>),
    Punct(char),
    Arrow,
    End,
}

impl Token {
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Word(w) => format!("`{w}`"),
            Token::Number { .. } => "a number".to_owned(),
            Token::Text(_) => "a string".to_owned(),
            Token::Slot(s) => format!("`%{s}`"),
            Token::Alloca(s) => format!("`${s}`"),
            Token::Symbol(s) => format!("`@{}`", String::from_utf8_lossy(s)),
            Token::Punct(c) => format!("`{c}`"),
            Token::Arrow => "`->`".to_owned(),
            Token::End => "the end".to_owned(),
        }
    }
}

pub(super) struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'.'
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text: text.as_bytes(), at: 0, line: 1, line_start: 0 }
    }
    /// Line and column of the next byte.
    pub(super) fn place(&self) -> (u32, u32) {
        (self.line, (self.at - self.line_start) as u32 + 1)
    }
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
    /// Goes to the next token's first byte.
    pub(super) fn skip_blank(&mut self) {
        while let Some(b) = self.peek() {
            match b {
                b'\n' => {
                    self.line += 1;
                    self.line_start = self.at + 1;
                }
                b';' => {
                    while self.peek().is_some_and(|b| b != b'\n') {
                        self.at += 1;
                    }
                    continue;
                }
                b if b.is_ascii_whitespace() => {}
                _ => return,
            }
            self.at += 1;
        }
    }
    /// The token here, and goes after it. Errors are placed at its first byte.
    pub(super) fn token(&mut self) -> Result<Token, Why> {
        let Some(b) = self.peek() else { return Ok(Token::End) };
        match b {
            b'%' => self.sigil().map(Token::Slot),
            b'$' => self.sigil().map(Token::Alloca),
            b'@' if self.text.get(self.at + 1) == Some(&b'"') => {
                self.at += 1;
                self.string().map(Token::Symbol)
            }
            b'@' => self.sigil().map(|name| Token::Symbol(name.into_bytes())),
            b'"' => self.string().map(Token::Text),
            b'-' if self.text.get(self.at + 1) == Some(&b'>') => {
                self.at += 2;
                Ok(Token::Arrow)
            }
            b'0'..=b'9' => self.number(false),
            b'-' => {
                self.at += 1;
                self.number(true)
            }
            b if is_name(b) => Ok(Token::Word(self.name())),
            b'(' | b')' | b'{' | b'}' | b'[' | b']' | b':' | b',' | b'=' | b'+' | b'#' | b'!' => {
                self.at += 1;
                Ok(Token::Punct(b as char))
            }
            _ => {
                let rest = String::from_utf8_lossy(&self.text[self.at..self.text.len().min(self.at + 4)]);
                Err(Why::Character(rest.chars().next().unwrap_or('?')))
            }
        }
    }
    fn name(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(is_name) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[start..self.at]).into_owned()
    }
    fn sigil(&mut self) -> Result<String, Why> {
        self.at += 1;
        let name = self.name();
        if name.is_empty() { Err(Why::Unexpected { expected: "a name", found: "nothing".to_owned() }) } else { Ok(name) }
    }
    fn string(&mut self) -> Result<Vec<u8>, Why> {
        let mut out = Vec::new();
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    let digits = self.text.get(self.at + 1..self.at + 3).and_then(|d| std::str::from_utf8(d).ok());
                    let byte = digits.and_then(|d| u8::from_str_radix(d, 16).ok()).ok_or(Why::Character('\\'))?;
                    out.push(byte);
                    self.at += 3;
                }
                Some(b'\n') | None => return Err(Why::OpenString),
                Some(b) => {
                    out.push(b);
                    self.at += 1;
                }
            }
        }
    }
    fn number(&mut self, negative: bool) -> Result<Token, Why> {
        let word = self.name();
        let limbs = match word.strip_prefix("0x") {
            Some(hex) => hex_limbs(hex),
            None => word.parse().ok().map(|v: u64| vec![v]),
        };
        match limbs {
            Some(limbs) => Ok(Token::Number { negative, limbs }),
            None => Err(Why::Unexpected { expected: "a number", found: format!("`{word}`") }),
        }
    }
}

/// Lowest limb first.
fn hex_limbs(hex: &str) -> Option<Vec<u64>> {
    if hex.is_empty() || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let chunks = hex.as_bytes().rchunks(16);
    chunks.map(|c| std::str::from_utf8(c).ok().and_then(|c| u64::from_str_radix(c, 16).ok())).collect()
}
