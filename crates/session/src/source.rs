//! Files beside the tool: the folder `runtime/`, and the lines of a program's source for messages.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::problem::problem;
use crate::{cache, data};

/// The folder below the cache that `wryneck setup` fills.
pub const SETUP: &str = "setup";
/// Headers, the replay library, sources of the C++ library.
pub const RUNTIME: &str = "runtime";

/// The folder `runtime/` of the repository: `$WRYNECK_RUNTIME`, or above the executable, or set up, or where the tool was built.
pub fn runtime() -> Result<PathBuf> {
    let given = env::var_os("WRYNECK_RUNTIME").map(PathBuf::from);
    let executable = env::current_exe().unwrap_or_default();
    let above = executable.ancestors().skip(1).take(4).map(|dir| dir.join(RUNTIME));
    let set_up = cache::root().ok().map(|root| root.join(SETUP).join(RUNTIME));
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime");
    given.into_iter().chain(above).chain(set_up).chain([built]).find(|dir| dir.join("include").is_dir()).ok_or_else(|| {
        problem(
            "the folder `runtime` is missing",
            "run `wryneck setup`, or set `WRYNECK_RUNTIME` to the folder `runtime` of the repository",
        )
    })
}

/// A line of a source file, if the file is there; the first is 1.
pub fn line(file: &str, line: u32) -> Option<String> {
    let number = (line as usize).checked_sub(1)?;
    let text = data::read(Path::new(file), data::SOURCE).ok()?;
    let line = text.split(|&b| b == b'\n').nth(number)?;
    Some(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
}
