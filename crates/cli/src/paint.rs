//! Colours, where standard output or error is a terminal that wants them (`NO_COLOR` and `CLICOLOR` are obeyed). They say nothing that the words do not say.
//!
//! A finished line is painted by how it begins. Text from programs is escaped before, so no colour comes from them.

use std::io::{self, Write};

use console::Style;

/// How a line is painted.
#[derive(Clone, Copy)]
enum Paint {
    /// Up to the end of what it begins with.
    Head(Colour),
    /// Up to its first colon.
    Title(Colour),
    Whole(Colour),
}

#[derive(Clone, Copy)]
enum Colour {
    Bad,
    Unsure,
    Good,
    Place,
    Bold,
}

impl Colour {
    fn style(self) -> Style {
        match self {
            Colour::Bad => Style::new().red().bold(),
            Colour::Unsure => Style::new().yellow().bold(),
            Colour::Good => Style::new().green().bold(),
            Colour::Place => Style::new().cyan(),
            Colour::Bold => Style::new().bold(),
        }
    }
}

// The first row that fits counts. Spaces before a line do not.
static LINES: &[(&str, Paint)] = &[
    ("fault[", Paint::Title(Colour::Bad)),
    ("violation[", Paint::Title(Colour::Bad)),
    ("not reproduced: ", Paint::Title(Colour::Unsure)),
    ("error: ", Paint::Title(Colour::Bad)),
    ("found: ", Paint::Title(Colour::Bad)),
    ("warning: ", Paint::Title(Colour::Unsure)),
    ("note: ", Paint::Title(Colour::Place)),
    ("progress: ", Paint::Title(Colour::Place)),
    ("VERIFIED", Paint::Head(Colour::Good)),
    ("VIOLATED", Paint::Head(Colour::Bad)),
    ("INCOMPLETE", Paint::Head(Colour::Unsure)),
    ("no finding; every path was explored", Paint::Whole(Colour::Good)),
    ("no finding; ", Paint::Whole(Colour::Unsure)),
    ("-->", Paint::Head(Colour::Place)),
    ("= ", Paint::Title(Colour::Place)),
    ("paths:", Paint::Title(Colour::Bold)),
    ("work:", Paint::Title(Colour::Bold)),
    ("lines:", Paint::Title(Colour::Bold)),
    ("tests:", Paint::Title(Colour::Bold)),
    ("ledger,", Paint::Title(Colour::Bold)),
];

/// The line with its colours, forced: the caller knows that they are wanted.
fn painted(line: &str) -> String {
    let text = line.trim_start();
    let Some((begin, paint)) = LINES.iter().find(|(begin, _)| text.starts_with(begin)) else { return line.to_owned() };
    let (colour, len) = match paint {
        Paint::Head(colour) => (colour, begin.len()),
        Paint::Title(colour) => (colour, text.find(':').map_or(begin.trim_end().len(), |at| at + 1)),
        Paint::Whole(colour) => (colour, text.len()),
    };
    let (space, (head, rest)) = (&line[..line.len() - text.len()], text.split_at(len));
    format!("{space}{}{rest}", colour.style().force_styling(true).apply_to(head))
}

/// A line for standard error.
pub fn for_stderr(line: &str) -> String {
    if console::colors_enabled_stderr() { painted(line) } else { line.to_owned() }
}

/// Paints what is written, line by line, if standard output wants it.
pub struct Painted<W> {
    inner: W,
    line: Vec<u8>,
    wanted: bool,
}

impl<W: Write> Painted<W> {
    pub fn new(inner: W) -> Painted<W> {
        Painted { inner, line: Vec::new(), wanted: console::colors_enabled() }
    }

    fn put(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        match std::str::from_utf8(&line) {
            Ok(text) => self.inner.write_all(painted(text).as_bytes()),
            Err(_) => self.inner.write_all(&line),
        }
    }
}

impl<W: Write> Write for Painted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.wanted {
            return self.inner.write(bytes);
        }
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.put()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.put()?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_words() {
        let lines = [
            "fault[abort]: the program aborts\n",
            "  --> a.c:3 in `f`\n",
            "  = when x = \"a:b\"\n",
            "          2  exit 0\n",
            "\n",
            "VERIFIED open-close\n",
        ];
        let mut out = Painted { inner: Vec::new(), line: Vec::new(), wanted: true };
        for line in lines {
            // In pieces.
            let (a, b) = line.split_at(line.len() / 2);
            out.write_all(a.as_bytes()).and_then(|()| out.write_all(b.as_bytes())).expect("a vector takes all");
        }
        out.flush().expect("a vector takes all");
        let text = String::from_utf8(out.inner).expect("it was text");
        assert_eq!(console::strip_ansi_codes(&text), lines.concat());
        let painted: Vec<bool> = text.lines().map(|line| line.contains('\x1b')).collect();
        assert_eq!(painted, [true, true, true, false, false, true]);
    }
}
