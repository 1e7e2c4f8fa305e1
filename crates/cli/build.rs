//! How the command is linked: at fixed addresses, to functions of shared libraries as they are first called, and with the library of C++ inside. A start
//! then has 11,000 places less to relocate and a library less to load, which took a small program's run a fifteenth of its time.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_ENV").as_deref() != Ok("gnu") {
        return;
    }
    for argument in ["-no-pie", "-Wl,-z,lazy"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
    if let Some(folder) = archive_of_cpp() {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
}

/// A folder where the linker finds the archive before it finds the shared library; `None`: the compiler has no archive.
fn archive_of_cpp() -> Option<PathBuf> {
    const ARCHIVE: &str = "libstdc++.a";
    let out = Command::new("g++").arg(format!("-print-file-name={ARCHIVE}")).output().ok()?;
    let archive = PathBuf::from(String::from_utf8(out.stdout).ok()?.trim());
    let folder = Path::new(&env::var_os("OUT_DIR")?).join("archives");
    fs::create_dir_all(&folder).ok()?;
    archive.is_absolute().then(|| fs::copy(archive, folder.join(ARCHIVE)))?.ok()?;
    Some(folder)
}
