//! The bounds of a gate: what falls short is named, and the gate fails at its end, when all was measured.

use std::fs;
use std::io::Read;

use anyhow::{Context, Result, bail};

/// What fell short so far.
#[derive(Default)]
pub struct Bounds(Vec<String>);

impl Bounds {
    /// A value that may be at most so large.
    pub fn at_most(&mut self, what: &str, value: f64, most: f64) {
        // Not a number is no value within bounds.
        if !matches!(value.partial_cmp(&most), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)) {
            self.0.push(format!("{what}: {value:.4}, at most {most}"));
        }
    }

    /// A value that has to be at least so large.
    pub fn at_least(&mut self, what: &str, value: f64, least: f64) {
        if !matches!(value.partial_cmp(&least), Some(std::cmp::Ordering::Greater | std::cmp::Ordering::Equal)) {
            self.0.push(format!("{what}: {value:.4}, at least {least}"));
        }
    }

    /// The error that names all that fell short, if anything did.
    pub fn hold(self) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        for miss in &self.0 {
            println!("falls short: {miss}");
        }
        bail!("{} bounds are missed", self.0.len())
    }
}

/// Names the tool under test by its contents, with the program that lowers bitcode beside it: stored rows count for it alone.
pub fn version() -> Result<String> {
    let tool = crate::cmd::wryneck()?;
    let mut hash = blake3::Hasher::new();
    for file in [tool.clone(), tool.with_file_name("wryneck-lower")] {
        let Ok(mut opened) = fs::File::open(&file) else { continue };
        let mut buffer = vec![0; 1 << 20];
        loop {
            match opened.read(&mut buffer).with_context(|| format!("cannot read `{}`", file.display()))? {
                0 => break,
                count => hash.update(&buffer[..count]),
            };
        }
    }
    Ok(hash.finalize().to_hex()[..16].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_falls_short_fails() {
        let mut bounds = Bounds::default();
        bounds.at_most("a", 1.0, 1.0);
        bounds.at_least("b", 2.0, 1.5);
        assert!(bounds.hold().is_ok());
        for (value, most) in [(1.1, 1.0), (f64::NAN, 1.0)] {
            let mut bounds = Bounds::default();
            bounds.at_most("a", value, most);
            assert!(bounds.hold().is_err());
        }
        let mut bounds = Bounds::default();
        bounds.at_least("a", f64::NAN, 1.0);
        assert!(bounds.hold().is_err());
    }
}
