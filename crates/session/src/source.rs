//! Files beside the tool: the folder `runtime/`, and the lines of a program's source for messages.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::data;
use crate::problem::problem;

/// The folder `runtime/` of the repository: `$WRYNECK_RUNTIME`, or above the executable, or where the tool was built.
pub fn runtime() -> Result<PathBuf> {
    let given = env::var_os("WRYNECK_RUNTIME").map(PathBuf::from);
    let executable = env::current_exe().unwrap_or_default();
    let above = executable.ancestors().skip(1).take(4).map(|dir| dir.join("runtime"));
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime");
    given
        .into_iter()
        .chain(above)
        .chain([built])
        .find(|dir| dir.join("include").is_dir())
        .ok_or_else(|| problem("the folder `runtime` is missing", "set `WRYNECK_RUNTIME` to the folder `runtime` of the repository"))
}

/// A line of a source file, if the file is there; the first is 1.
pub fn line(file: &str, line: u32) -> Option<String> {
    let number = (line as usize).checked_sub(1)?;
    let text = data::read(Path::new(file), data::SOURCE).ok()?;
    let line = text.split(|&b| b == b'\n').nth(number)?;
    Some(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
}
