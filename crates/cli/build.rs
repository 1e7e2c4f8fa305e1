//! How the command is linked: at fixed addresses, with all libraries inside. A start of a dynamic one loads and relocates for a tenth of the time that a small
//! program's run takes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// All that is linked to, the C library of the machine among it.
const ARCHIVES: [&str; 3] = ["libc.a", "libm.a", "libstdc++.a"];
/// What unwinds, for those who ask for the shared library.
const UNWINDER: (&str, &str) = ("libgcc_s.a", "INPUT(-lgcc_eh -lgcc)\n");

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_ENV").as_deref() != Ok("gnu") {
        return;
    }
    if let Some(folder) = archives() {
        println!("cargo:rustc-link-arg-bins=-L{}", folder.display());
        println!("cargo:rustc-link-arg-bins=-static");
    }
    println!("cargo:rustc-link-arg-bins=-no-pie");
    // The profile `dist`: its own `strip` leaves names.
    if env::var("DEBUG").as_deref() == Ok("false") {
        println!("cargo:rustc-link-arg-bins=-Wl,--strip-all");
    }
}

/// A folder where the linker finds archives before it finds shared libraries; `None`: the compiler has not all of them.
fn archives() -> Option<PathBuf> {
    let folder = Path::new(&env::var_os("OUT_DIR")?).join("static");
    fs::create_dir_all(&folder).ok()?;
    for archive in ARCHIVES {
        let out = Command::new("g++").arg(format!("-print-file-name={archive}")).output().ok()?;
        let from = PathBuf::from(String::from_utf8(out.stdout).ok()?.trim());
        from.is_absolute().then(|| fs::copy(from, folder.join(archive)))?.ok()?;
    }
    fs::write(folder.join(UNWINDER.0), UNWINDER.1).ok()?;
    Some(folder)
}
