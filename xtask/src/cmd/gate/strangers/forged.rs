//! Forged caches: IR whose records were changed and whose hash fits again, and damage to any of the cache's files. The tool verifies what it did not
//! write, so a forged file is refused and made again, or it is well formed and runs without a crash.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wryneck_ir::file;

use super::mutated::alter;
use super::world::World;
use crate::random::Random;

const HEADER: usize = 32;
const ENTRY: usize = 40;
const TABLES: usize = 21;
/// Mutants of which the first well-formed one is taken.
const TRIES: usize = 40;

/// A cache of its own with one damaged file, and the words of a run that uses it.
pub fn cache(world: &World, case: &Path, random: &mut Random) -> Result<(Option<PathBuf>, Vec<String>)> {
    let cache = case.join("cache");
    fs::create_dir_all(&cache)?;
    symlink(world.at("cache/libc.bc").canonicalize()?, cache.join("libc.bc"))?;
    fs::copy(world.at("cache/key"), cache.join("key"))?;
    let run = |name: &str| -> Vec<String> {
        let out = case.join(name).display().to_string();
        let words =
            ["run", "--no-replay", "--no-libc", "--max-time", "2s", "--max-memory", "1G", "--output", &out, "wide.c", "--sym-arg", "2"];
        words.map(str::to_owned).to_vec()
    };
    world.run(Some(&cache), &run("first"))?;
    let mut files = Vec::new();
    for folder in ["c", "ir"] {
        files.extend(fs::read_dir(cache.join(folder))?.flatten().map(|e| e.path()));
    }
    files.sort();
    let ir = files.iter().find(|f| f.extension().is_some_and(|e| e == "wir")).context("nothing was lowered")?.clone();
    match random.below(8) {
        0 | 1 => {
            let file = &files[random.below(files.len())];
            let mut bytes = fs::read(file)?;
            alter(&mut bytes, random);
            fs::write(file, bytes)?;
        }
        _ => {
            let good = fs::read(&ir)?;
            let mut forged = good.clone();
            for _ in 0..TRIES {
                forged.clone_from(&good);
                forge(&mut forged, random);
                if file::read(&forged).is_ok_and(|module| wryneck_ir::verify::verify(&module).is_ok()) {
                    break;
                }
            }
            fs::write(&ir, forged)?;
        }
    }
    Ok((Some(cache), run("second")))
}

/// Changes words of records.
fn forge(bytes: &mut [u8], random: &mut Random) {
    let number = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize;
    for _ in 0..1 + random.below(3) {
        let entry = HEADER + random.below(TABLES) * ENTRY;
        let (size, count, start) = (number(bytes, entry + 16), number(bytes, entry + 24), number(bytes, entry + 32));
        if count == 0 {
            continue;
        }
        let unit = if size >= 4 { 4 } else { 1 };
        let field = random.below(size / unit) * unit;
        let at = start + random.below(count) * size + field;
        let other = start + random.below(count) * size + field;
        if unit == 1 {
            bytes[at] = random.below(256) as u8;
            continue;
        }
        let word = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let new = match random.below(8) {
            0 => 0,
            1 => word.wrapping_add(1),
            2 => word.wrapping_sub(1),
            3 => u32::MAX,
            4 => 1 << random.below(32),
            5 => random.below(64) as u32,
            6 => word ^ 1 << random.below(32),
            _ => u32::from_le_bytes(bytes[other..other + 4].try_into().expect("four bytes")),
        };
        bytes[at..at + 4].copy_from_slice(&new.to_le_bytes());
    }
    file::rehash(bytes);
}
