//! The corpus of machine code that nobody prepared: libraries of Debian, each with its own row in the results. No form may fail; what
//! is absent weighs under 1 % of a library, but for instructions with EVEX, which no program uses that asks our CPU first.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use wryneck_oracle::{Lifter, Native};

use super::{Args, Form, measured, sampled};
use crate::process;

/// The files of the corpus, below the folder of libraries.
const LIBRARIES: [&str; 15] = [
    "libcrypto.so.3", "libdav1d.so.6", "libfftw3.so.3", "libfftw3f.so.3", "libgmp.so.10", "libjpeg.so.62", "liblzma.so.5", "libm.so.6",
    "libpng16.so.16", "libsodium.so.23", "libsqlite3.so.0", "libstdc++.so.6", "libvpx.so.7", "libx264.so.164", "libzstd.so.1",
];
const FOLDER: &str = "/usr/lib/x86_64-linux-gnu";
const RESULTS: &str = "docs/results/lift-corpus.jsonl";
/// The first byte behind the prefixes of an instruction with EVEX.
const EVEX: u8 = 0x62;

/// What became of a library.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Library {
    library: String,
    /// Debian's package and its version.
    package: String,
    /// Hash of the file and of the table of confirmed forms.
    of: String,
    instructions: u64,
    /// Those with EVEX, which are not lifted.
    evex: u64,
    /// Those of forms that are not lifted, without EVEX.
    absent: u64,
    forms: u64,
    states: u64,
    agreed: u64,
    failed: u64,
    engine: u64,
    /// What is absent most, with its weight.
    most: Vec<(String, u64)>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let known: BTreeMap<String, Library> = fs::read_to_string(RESULTS)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .map(|row: Library| (row.library.clone(), row))
        .collect();
    let mut rows = known;
    let table = fs::read(&args.table).with_context(|| format!("cannot read `{}`", args.table.display()))?;
    let (lifter, native) = (Lifter::new()?, Native::new()?);
    let mut wrong = Vec::new();
    for library in LIBRARIES {
        let file = Path::new(FOLDER).join(library);
        let content = fs::read(&file).with_context(|| format!("`{}` is not there: install its package", file.display()))?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&content).update(&table);
        let of = hasher.finalize().to_hex()[..16].to_owned();
        let row = match rows.get(library).filter(|row| row.of == of) {
            Some(row) => row.clone(),
            None => {
                let row = measure(args, &lifter, &native, library, &file, of)?;
                rows.insert(library.to_owned(), row.clone());
                let lines: Vec<String> = rows.values().map(serde_json::to_string).collect::<Result<_, _>>()?;
                fs::write(RESULTS, lines.join("\n") + "\n").with_context(|| format!("cannot write `{RESULTS}`"))?;
                row
            }
        };
        let percent = |n: u64| 100.0 * n as f64 / row.instructions as f64;
        println!(
            "{library} ({}): {} instructions, {} forms, {} states: {} agreed, {} failed; absent {:.3} %, EVEX {:.3} %; most: {:?}",
            row.package,
            row.instructions,
            row.forms,
            row.states,
            row.agreed,
            row.failed,
            percent(row.absent),
            percent(row.evex),
            row.most.iter().take(6).collect::<Vec<_>>(),
        );
        if row.failed > 0 || row.absent * 100 >= row.instructions || row.agreed < 20 * row.forms {
            wrong.push(library);
        }
    }
    ensure!(wrong.is_empty(), "a form fails, 1 % is absent, or too little was compared: {}", wrong.join(", "));
    Ok(())
}

fn measure(args: &Args, lifter: &Lifter, native: &Native, library: &str, file: &Path, of: String) -> Result<Library> {
    let files: Vec<PathBuf> = vec![file.to_owned()];
    let mut corpus = sampled(args, &files)?;
    let mut evex = 0;
    for forms in corpus.values_mut() {
        forms.retain(|_, form: &mut Form| {
            let is = form.cases.iter().all(|case| case.original.first() == Some(&EVEX));
            evex += if is { form.weight } else { 0 };
            !is
        });
    }
    corpus.retain(|_, forms| !forms.is_empty());
    let rows = measured(args, lifter, native, &corpus)?;
    let sum = |f: &dyn Fn(&super::Row) -> u64| rows.iter().map(f).sum::<u64>();
    let mut most: Vec<(String, u64)> =
        rows.iter().filter(|r| r.unsupported_weight > 0).map(|r| (r.mnemonic.clone(), r.unsupported_weight)).collect();
    most.sort_by_key(|(name, weight)| (std::cmp::Reverse(*weight), name.clone()));
    most.truncate(12);
    let real = fs::canonicalize(file)?;
    // Packages from before Debian merged `/lib` into `/usr/lib` list the old name.
    let old = Path::new("/").join(real.strip_prefix("/usr")?);
    let owner = process::output(Command::new("dpkg").arg("-S").arg(&real))
        .or_else(|_| process::output(Command::new("dpkg").arg("-S").arg(&old)))?;
    let owner = owner.split(':').next().unwrap_or_default().to_owned();
    let version = process::output(Command::new("dpkg-query").args(["-W", "-f", "${Version}", &owner]))?;
    Ok(Library {
        library: library.to_owned(),
        package: format!("{owner} {version}"),
        of,
        instructions: sum(&|r| r.weight) + evex,
        evex,
        absent: sum(&|r| r.unsupported_weight),
        forms: sum(&|r| r.forms),
        states: sum(&|r| r.states),
        agreed: sum(&|r| r.agreed),
        failed: sum(&|r| r.failed),
        engine: sum(&|r| r.engine_agreed),
        most,
    })
}
