//! Reports for other tools, by option: `--sarif FILE` and the like, for a run that ends and for one that is shown.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result};
use wryneck_report::{Format, Report, format};

use crate::folder::{self, Code};
use crate::{output, watchdog};

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

    /// One of them shows the tree of paths and the inputs of tests.
    pub fn details(&self) -> bool {
        self.0.iter().any(|(format, _)| format.details)
    }

    /// Writes them of a report.
    pub fn write(&self, report: &Report) -> Result<()> {
        self.0.iter().try_for_each(|(format, file)| write_one(format, file, report))
    }

    /// The files asked for, without standard output.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.0.iter().map(|(_, file)| file.clone()).filter(|file| file.as_os_str() != STDOUT)
    }

    /// Writes them of a run folder, of which nothing is read if none is asked for; what could not be written.
    pub fn write_of(&self, folder: &Path) -> Vec<Error> {
        if self.is_empty() {
            return Vec::new();
        }
        watchdog::works_on("reading the run folder for the reports");
        match folder::report(folder, Code::Application, self.details()) {
            Ok(report) => self.0.iter().filter_map(|(format, file)| write_one(format, file, &report).err()).collect(),
            Err(error) => vec![error.context("the reports cannot be written")],
        }
    }
}

fn write_one(format: &Format, file: &Path, report: &Report) -> Result<()> {
    watchdog::works_on(format!("writing `{}`", file.display()));
    match file.as_os_str() == STDOUT {
        true => output::write(|out| (format.write)(out, report)),
        false => write_file(format, file, report).with_context(|| format!("cannot write `{}`", file.display())),
    }
}

fn write_file(format: &Format, file: &Path, report: &Report) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    (format.write)(&mut out, report)?;
    out.flush()
}
