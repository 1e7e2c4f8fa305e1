//! Mutants by seed: bytes of a file of a run folder, values of its database's rows, rule files and summaries, IR and what else lies in a cache.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::forged;
use super::world::World;
use crate::random::Random;

/// Tries one.
pub fn run(world: &World, seed: u64) -> Result<String> {
    let mut random = Random::new(seed);
    let case = world.at("case").join(seed.to_string());
    let folder = world.copy(random.below(3), &case)?;
    let shown = folder.display().to_string();
    let (cache, words) = match random.below(20) {
        0..=6 => {
            bytes_of_a_file(&folder, &mut random)?;
            (None, reading(&shown, &mut random))
        }
        7..=15 => {
            rows(world, &folder, &mut random)?;
            (None, reading(&shown, &mut random))
        }
        16 => (None, rules(&folder, &mut random)?),
        17 => (None, summaries(&folder, &mut random)?),
        _ => forged::cache(world, &case, &mut random)?,
    };
    let (answer, _) = world.run(cache.as_deref(), &words)?;
    fs::remove_dir_all(case)?;
    Ok(answer)
}

/// Mostly `show`, since a replay compiles.
fn reading(folder: &str, random: &mut Random) -> Vec<String> {
    let words: &[&str] = match random.below(20) {
        0..=12 => &["show"],
        13 => &["show", "--sarif", "-"],
        14 => &["show", "--lcov", "-", "--libc"],
        15 => &["show", "--jsonl", "-"],
        16 => &["show", "--json"],
        17 => &["show", "--coverage", "--source", "faulty.c"],
        _ => &["replay"],
    };
    words.iter().map(|w| (*w).to_owned()).chain([folder.to_owned()]).collect()
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|e| e.path()).filter(|p| p.is_file()).collect();
    files.sort();
    Ok(files)
}

fn bytes_of_a_file(folder: &Path, random: &mut Random) -> Result<()> {
    let files = files(folder)?;
    let db = folder.join("run.db");
    let file = if random.below(2) == 0 { &db } else { &files[random.below(files.len())] };
    let mut bytes = fs::read(file)?;
    alter(&mut bytes, random);
    Ok(fs::write(file, bytes)?)
}

/// Bytes changed, bits flipped, pieces cut out, repeated or copied elsewhere.
pub fn alter(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(6) {
        if bytes.is_empty() {
            return;
        }
        // Headers matter most.
        let len = if random.below(3) == 0 { bytes.len().min(200) } else { bytes.len() };
        let at = random.below(len);
        let end = (at + 1 + random.below(64)).min(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => bytes[at..end].fill(if random.below(2) == 0 { 0xff } else { 0 }),
            _ => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len() - piece.len() + 1);
                bytes[to..to + piece.len()].copy_from_slice(&piece);
            }
        }
    }
}

const TABLES: [&str; 7] = ["run", "path", "finding", "ledger", "coverage", "function", "host"];

/// Values of some rows become hostile ones.
fn rows(world: &World, folder: &Path, random: &mut Random) -> Result<()> {
    let db = Connection::open(folder.join("run.db"))?;
    db.execute_batch("PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON")?;
    for _ in 0..1 + random.below(4) {
        let table = TABLES[random.below(TABLES.len())];
        let mut columns = db.prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
        let names: Vec<String> = columns.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let name = &names[random.below(names.len())];
        let value = hostile(world, random);
        // Some values do not fit a table's keys: then nothing is changed.
        let place = if table == "run" { fact(random) } else { "1".to_owned() };
        let _ = db.execute(&format!("UPDATE OR REPLACE {table} SET {name} = ? WHERE {place}"), params_from_iter([value]));
    }
    Ok(())
}

/// One of the facts, by its name.
fn fact(random: &mut Random) -> String {
    const FACTS: [&str; 14] = [
        "bitcode", "cc_flags", "command", "content", "directory", "entry", "fail_calls", "libc", "objects", "program", "seal", "status",
        "summary", "words",
    ];
    format!("name = '{}'", FACTS[random.below(FACTS.len())])
}

fn hostile(world: &World, random: &mut Random) -> Value {
    let precious = world.precious.display().to_string();
    let plugin = format!("-fplugin={}", world.at("src/mark.so").display());
    let text = |s: &str| Value::Text(s.to_owned());
    match random.below(24) {
        0 => Value::Null,
        1 => Value::Integer(-1),
        2 => Value::Integer(i64::MIN),
        3 => Value::Integer(i64::MAX),
        4 => Value::Real(f64::NAN),
        5 => Value::Real(1e300),
        6 => Value::Blob(vec![0xff; 40]),
        7 => Value::Blob(format!("/../../../..{precious}/file").into_bytes()),
        8 => text("\u{1b}[2J\nno finding\u{202e}"),
        9 => text("/dev/zero"),
        10 => text("/"),
        11 => text(&format!("../../../../../..{precious}/file")),
        12 => text(&format!("{precious}/new")),
        13 => text("[]"),
        14 => text("{}"),
        15 => text("null"),
        16 => text(&"[".repeat(10_000)),
        17 => text(&format!("[\"{plugin}\"]")),
        18 => text(&format!("[\"-MD\", \"-MF\", \"{precious}/file\", \"-o\", \"{precious}/file\"]")),
        19 => text(&format!("[\"--sym-file\", \"{precious}/file:4\", \"--sym-arg\", \"65536\"]")),
        20 => text(&"x".repeat(100_000)),
        21 => text("[{\"function\":\"\\u0000\",\"file\":\"/proc/kmsg\",\"line\":4294967295,\"column\":4294967295}]"),
        22 => text(&plugin),
        _ => text(""),
    }
}

/// A built-in rule with damage.
fn rules(folder: &Path, random: &mut Random) -> Result<Vec<String>> {
    const RULES: [&str; 3] = [
        include_str!("../../../../../rules/open-close.toml"),
        include_str!("../../../../../rules/data-loss.toml"),
        include_str!("../../../../../rules/descriptors.toml"),
    ];
    toml(folder, RULES[random.below(RULES.len())], random, |file| vec!["--rule".into(), file])
}

/// Summaries with damage.
fn summaries(folder: &Path, random: &mut Random) -> Result<Vec<String>> {
    let good = include_str!("../../../../../rules/summaries/gnulib.toml");
    toml(folder, good, random, |file| vec!["--rule".into(), "open-close".into(), "--summaries".into(), file])
}

fn toml(folder: &Path, good: &str, random: &mut Random, options: fn(String) -> Vec<String>) -> Result<Vec<String>> {
    let file = folder.join("x.toml");
    let mut bytes = good.as_bytes().to_vec();
    match random.below(3) {
        // Lines of its own in another order or twice.
        0 => {
            let mut lines: Vec<&str> = good.lines().collect();
            let line = lines[random.below(lines.len())];
            let (from, to) = (random.below(lines.len()), random.below(lines.len()));
            lines[from] = lines[to];
            lines.insert(to, line);
            bytes = lines.join("\n").into_bytes();
        }
        _ => alter(&mut bytes, random),
    }
    fs::write(&file, bytes)?;
    let (out, file) = (folder.join("out").display().to_string(), file.display().to_string());
    let mut words = vec!["verify".to_owned(), "--no-replay".into(), "--max-time".into(), "2s".into(), "--output".into(), out];
    words.extend(options(file));
    words.extend(["files.c", "--sym-file", "in:2"].map(str::to_owned));
    Ok(words)
}
