//! Standard output. A reader that goes away (`| head`) is no error; anything else is.

use std::io::{self, Write};

use anyhow::{Context, Result};

/// Writes to standard output.
pub fn write(text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match text(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e).context("cannot write to standard output"),
        Ok(()) | Err(_) => Ok(()),
    }
}
