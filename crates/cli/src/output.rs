//! Standard output and error: only this file writes to either. Everything is escaped ([`wryneck_report::shown`]), so no name or message from a
//! program, a file or a database drives the terminal.
//!
//! A reader of standard output that goes away (`| head`) is no error; anything else is.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::{Context, Result};
use wryneck_report::shown::{self, Escaped};

use crate::paint::{self, Painted};

/// Writes to standard output.
pub fn write(text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = Escaped::new(Painted::new(io::BufWriter::new(io::stdout().lock())));
    match text(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e).context("cannot write to standard output"),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes a message to standard error, after a word that says what it is. Its further lines are indented, so none of them begins as a message.
pub fn say(kind: &str, text: impl Display) {
    let text = text.to_string();
    let lines: Vec<_> = text.lines().map(shown::line).collect();
    // Nobody is left to tell where it cannot be written.
    let _ = writeln!(io::stderr(), "{}", paint::for_stderr(&format!("{kind}: {}", lines.join("\n  "))));
}

/// Writes a note to standard error.
pub fn note(text: impl Display) {
    say("note", text);
}
