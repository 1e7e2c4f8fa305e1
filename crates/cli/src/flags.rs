//! Compiler flags out of a run folder that this user's tool did not make: only those of a list, which cannot have the compiler run code, write a
//! file, or read its arguments from one.
//!
//! `-I` and `-isystem` are on it: what is found there is text of the program, as `#include "/any/file"` in its source is without them; the program
//! runs confined, and its output is compared, not sent. `-W` with a comma (`-Wl,`, `-Wa,`, `-Wp,`) hands its rest to another tool, and is not.

use anyhow::Result;
use wryneck_session::overflow::{CONVERSIONS, SIGNED, UNSIGNED};

use crate::problem::problem;

/// How a flag on the list goes on.
#[derive(Clone, Copy)]
enum Rest {
    /// It does not.
    Nothing,
    /// With a value in the same word, or in the next one.
    Value,
    /// With lower-case letters, digits and `+-=_.` in the same word.
    Plain,
}

// Sorted. One more flag: a row. It must make clang write nothing, start nothing and load nothing.
static ALLOWED: &[(&str, Rest)] = &[
    ("-D", Rest::Value),
    ("-I", Rest::Value),
    ("-O", Rest::Plain),
    ("-U", Rest::Value),
    ("-W", Rest::Plain),
    ("-ansi", Rest::Nothing),
    ("-fbuiltin", Rest::Nothing),
    ("-fcommon", Rest::Nothing),
    ("-fdelete-null-pointer-checks", Rest::Nothing),
    ("-ffast-math", Rest::Nothing),
    ("-ffreestanding", Rest::Nothing),
    ("-ffunction-sections", Rest::Nothing),
    ("-fgnu89-inline", Rest::Nothing),
    ("-finline", Rest::Nothing),
    ("-fms-extensions", Rest::Nothing),
    ("-fno-builtin", Rest::Nothing),
    ("-fno-common", Rest::Nothing),
    ("-fno-delete-null-pointer-checks", Rest::Nothing),
    ("-fno-fast-math", Rest::Nothing),
    ("-fno-inline", Rest::Nothing),
    ("-fno-omit-frame-pointer", Rest::Nothing),
    ("-fno-pie", Rest::Nothing),
    ("-fno-signed-char", Rest::Nothing),
    ("-fno-stack-protector", Rest::Nothing),
    ("-fno-strict-aliasing", Rest::Nothing),
    ("-fno-strict-overflow", Rest::Nothing),
    ("-fno-unsigned-char", Rest::Nothing),
    ("-fno-vectorize", Rest::Nothing),
    ("-fno-wrapv", Rest::Nothing),
    ("-fomit-frame-pointer", Rest::Nothing),
    ("-fpack-struct", Rest::Plain),
    ("-fpie", Rest::Nothing),
    (CONVERSIONS, Rest::Nothing),
    (SIGNED, Rest::Nothing),
    (UNSIGNED, Rest::Nothing),
    ("-fshort-enums", Rest::Nothing),
    ("-fsigned-char", Rest::Nothing),
    ("-fstack-protector", Rest::Plain),
    ("-fstrict-aliasing", Rest::Nothing),
    ("-funsigned-char", Rest::Nothing),
    ("-fwrapv", Rest::Nothing),
    ("-g", Rest::Nothing),
    ("-g0", Rest::Nothing),
    ("-g1", Rest::Nothing),
    ("-g2", Rest::Nothing),
    ("-g3", Rest::Nothing),
    ("-gdwarf-4", Rest::Nothing),
    ("-gdwarf-5", Rest::Nothing),
    ("-ggdb", Rest::Nothing),
    ("-ggdb3", Rest::Nothing),
    ("-gline-tables-only", Rest::Nothing),
    ("-idirafter", Rest::Value),
    ("-iquote", Rest::Value),
    ("-isystem", Rest::Value),
    ("-march=", Rest::Plain),
    ("-mavx", Rest::Nothing),
    ("-mavx2", Rest::Nothing),
    ("-mfma", Rest::Nothing),
    ("-msse4.2", Rest::Nothing),
    ("-mtune=", Rest::Plain),
    ("-pedantic", Rest::Nothing),
    ("-pedantic-errors", Rest::Nothing),
    ("-pthread", Rest::Nothing),
    ("-std=", Rest::Plain),
    ("-w", Rest::Nothing),
];

/// The longest row that a flag begins with is the one it is judged by; whether that row's value is the next word.
fn allowed(flag: &str) -> Option<bool> {
    let rows = ALLOWED.iter().filter_map(|(name, rest)| Some((name.len(), rest, flag.strip_prefix(name)?)));
    let (_, rest, value) = rows.max_by_key(|(len, ..)| *len)?;
    let plain = |value: &str| value.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+-=_.".contains(&b));
    match rest {
        Rest::Nothing => value.is_empty().then_some(false),
        // A macro or a folder.
        Rest::Value => Some(value.is_empty()),
        Rest::Plain => plain(value).then_some(false),
    }
}

/// Whether all flags are on the list; the error names the first that is not.
pub fn check(flags: &[String]) -> Result<()> {
    let mut words = flags.iter();
    while let Some(flag) = words.next() {
        let refused = |what: String| {
            problem(
                format!("the run folder hands the compiler {what}, which is not on the list of harmless flags"),
                "this user's wryneck did not make the folder; run the program again, with `--cc-flag` if you trust the flag",
            )
        };
        match allowed(flag) {
            None => return Err(refused(format!("`{flag}`"))),
            Some(false) => {}
            Some(true) => match words.next() {
                // A word that begins so would be a flag, or a file of flags, if clang read the one before otherwise.
                Some(value) if !value.starts_with(['-', '@']) => {}
                value => return Err(refused(format!("`{flag} {}`", value.map_or("", String::as_str)))),
            },
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> Option<String> {
        check(&line.split(' ').map(str::to_owned).collect::<Vec<_>>()).err().map(|e| e.to_string())
    }

    #[test]
    fn harmless_flags_pass() {
        assert!(ALLOWED.windows(2).all(|w| w[0].0 < w[1].0));
        for line in [
            "-DNAME=1 -D NAME -UX -Iinclude -I include -isystem /usr/include -std=gnu11 -O2 -Os -g -g3 -gdwarf-4 -Wall -Wno-unused",
            "-fno-builtin -fwrapv -fno-strict-aliasing -march=x86-64-v3 -w -pthread -Werror=format",
        ] {
            assert_eq!(refused(line), None, "{line}");
        }
    }

    #[test]
    fn what_runs_writes_or_loads_is_refused_by_name() {
        for flag in [
            "-fplugin=/tmp/x.so",
            "-fpass-plugin=/tmp/x.so",
            "-fplugin-arg-x-y",
            "-Xclang",
            "-load",
            "-mllvm",
            "-Wl,--plugin=x.so",
            "-Wa,-o,x",
            "-Wp,-MD,x",
            "-MD",
            "-MF",
            "-MMD",
            "-MJ",
            "-o",
            "-ox",
            "-B/tmp",
            "-specs=x",
            "--specs=x",
            "--config=x",
            "--config",
            "@file",
            "-fuse-ld=/tmp/x",
            "-wrapper",
            "-save-temps",
            "--save-temps",
            "-fprofile-generate=/tmp",
            "-fprofile-instr-generate=/tmp/x",
            "-ftest-coverage",
            "-fcoverage-mapping",
            "-ftime-trace=/tmp/x",
            "-ftime-trace",
            "-gsplit-dwarf",
            "-gsplit-dwarf=single",
            "-fcrash-diagnostics-dir=/tmp",
            "-fmodules-cache-path=/tmp",
            "-fmodules",
            "-fopt-record-file=/tmp/x",
            "-fsave-optimization-record",
            "-fsanitize-blacklist=x",
            "-fdiagnostics-log-file=x",
            "-dumpdir",
            "-include",
            "-imacros",
            "-x",
            "-L/tmp",
            "-l:x.so",
            "-shared",
            "-T",
            "-resource-dir=/tmp",
            "-ccc-install-dir",
            "-iplugindir=/tmp",
            "-fembed-bitcode",
            "-stdlib++-isystem/tmp",
            "--sysroot=/tmp",
            "-isysroot",
            "x.o",
            "/tmp/x.so",
            "-E",
            "-P",
            "--analyze",
            "-###",
            "-gline-tables-only,x",
            "-Werror=x,-Wl",
            "-std=/x",
            "-serialize-diagnostics",
            "--serialize-diagnostics",
            "-D -fplugin=x",
            "-I @x",
            "-D",
            "",
        ] {
            let error = refused(flag).unwrap_or_else(|| panic!("`{flag}` passes"));
            assert!(error.contains(&format!("`{flag}")), "{error}");
        }
    }
}
