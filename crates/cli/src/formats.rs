//! Reports for other tools, by option: `--sarif FILE` and the like, for a run that ends and for one that is shown.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wryneck_report::{Format, Report, format};

use crate::folder::{self, Code};
use crate::output;

/// The word that means standard output where a file is asked for.
const STDOUT: &str = "-";

/// The files asked for.
#[derive(Default)]
pub struct Wanted(Vec<(&'static Format, PathBuf)>);

impl Wanted {
    /// Asks for a format, by its name in [`wryneck_report::FORMATS`].
    pub fn add(&mut self, name: &str, file: &str) -> Result<(), String> {
        if file.is_empty() {
            return Err("no file is named".into());
        }
        self.0.push((format(name).expect("options name formats that there are"), file.into()));
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes them of a report.
    pub fn write(&self, report: &Report) -> Result<()> {
        for (format, file) in &self.0 {
            match file.as_os_str() == STDOUT {
                true => output::write(|out| (format.write)(out, report))?,
                false => write_file(format, file, report).with_context(|| format!("cannot write `{}`", file.display()))?,
            }
        }
        Ok(())
    }

    /// Writes them of a run folder; of it nothing is read if none is asked for.
    pub fn write_of(&self, folder: &Path) -> Result<()> {
        if self.is_empty() { Ok(()) } else { self.write(&folder::report(folder, Code::Application)?) }
    }
}

fn write_file(format: &Format, file: &Path, report: &Report) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    (format.write)(&mut out, report)?;
    out.flush()
}
