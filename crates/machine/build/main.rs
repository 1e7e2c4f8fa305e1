//! Lays out SLEIGH's specifications so that the decoder reads them in place. Inflating and reading them takes 60 ms, which no run should
//! pay.

#![expect(clippy::disallowed_methods, reason = "cargo tells a build by the environment")]

mod flat;
#[path = "../src/sleigh/layout.rs"]
#[allow(dead_code, reason = "the decoder's half")]
mod layout;
mod packed;

use std::path::Path;
use std::{env, fs};

use sleigh_config::processor_x86::{PSPEC_X86_64, SLA_X86_64};

/// What is before the deflated tree.
const HEADER: &[u8] = b"sla\x04";

fn main() {
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=src/sleigh/layout.rs");
    let out = env::var("OUT_DIR").expect("cargo says where");
    write(Path::new(&out), "x86-64", SLA_X86_64, PSPEC_X86_64);
    confirmed(Path::new(&out), "x86-64", "src/cpu/x86_64/confirmed.txt");
}

/// Writes `NAME.confirmed`: the keys that the lines of a table begin with, in order.
fn confirmed(folder: &Path, name: &str, table: &str) {
    println!("cargo:rerun-if-changed={table}");
    let text = fs::read_to_string(table).expect("the table of confirmed forms is there");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let key = |line: &str| u32::from_str_radix(line.split_whitespace().next().unwrap_or_default(), 16);
    let mut keys: Vec<u32> = lines.map(|line| key(line).expect("a line begins with the key of a form, in hexadecimal")).collect();
    keys.sort_unstable();
    keys.dedup();
    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_ne_bytes()).collect();
    fs::write(folder.join(format!("{name}.confirmed")), bytes).expect("the build's folder can be written");
}

/// Writes `NAME.words`, and the specification itself, which tests compare with.
fn write(folder: &Path, name: &str, specification: &[u8], processor: &str) {
    let deflated = specification.strip_prefix(HEADER).expect("the specification's version is read");
    let tree = miniz_oxide::inflate::decompress_to_vec_zlib(deflated).expect("the specification is whole");
    let words = flat::flatten(&packed::read(&tree), &context(processor));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let written = fs::write(folder.join(format!("{name}.words")), bytes)
        .and_then(|()| fs::write(folder.join(format!("{name}.sla")), specification))
        .and_then(|()| fs::write(folder.join(format!("{name}.pspec")), processor));
    written.expect("the build's folder can be written");
}

/// The variables of the context that the processor sets: `<set name="…" val="…"/>` in `<context_set>`.
fn context(processor: &str) -> Vec<(String, u32)> {
    let set = processor.split_once("<context_set").and_then(|(_, rest)| rest.split_once("</context_set>")).map_or("", |(set, _)| set);
    let quoted = |line: &str, name: &str| Some(line.split_once(&format!("{name}=\""))?.1.split_once('"')?.0.to_owned());
    let variable = |line: &str| Some((quoted(line, "name")?, quoted(line, "val")?.parse().ok()?));
    set.split("<set ").skip(1).filter_map(variable).collect()
}
