//! Data among code: objdump takes every byte of a section with code for an instruction. What lies between functions with unwind
//! information, and has an instruction there that no process may run, is a table.

use std::ops::Range;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::process;

/// Instructions that no process may run, or none does: I/O, far returns, and what objdump cannot read.
const NEVER_CODE: &[&str] =
    &["(bad)", "cli", "hlt", "in", "insb", "insl", "iret", "lcall", "ljmp", "lret", "out", "outsb", "outsl", "sti", "sysret", "wbinvd"];

/// The address ranges of a file's sections with code that are data, in order. `listing`: what objdump says of the file.
pub(super) fn ranges(file: &Path, listing: &str) -> Result<Vec<Range<u64>>> {
    let frames = process::output(Command::new("objdump").arg("--dwarf=frames").arg(file))?;
    let mut functions: Vec<Range<u64>> = frames
        .lines()
        .filter(|line| line.contains(" FDE "))
        .filter_map(|line| line.split_once("pc=")?.1.split_once(".."))
        .filter_map(|(start, end)| Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end.trim(), 16).ok()?))
        .collect();
    functions.sort_by_key(|range| range.start);
    let mut data: Vec<Range<u64>> = Vec::new();
    for line in listing.lines() {
        let Some((address, text)) = instruction(line) else { continue };
        let name = text.split_whitespace().find(|word| !word.starts_with("rex") && !word.starts_with("rep") && *word != "data16");
        if !name.is_some_and(|name| NEVER_CODE.contains(&name)) || data.last().is_some_and(|range| range.contains(&address)) {
            continue;
        }
        let after = functions.partition_point(|range| range.start <= address);
        let start = after.checked_sub(1).map_or(0, |before| functions[before].end);
        if start <= address {
            data.push(start..functions.get(after).map_or(u64::MAX, |range| range.start));
        }
    }
    Ok(data)
}

/// The address and the text of a line of objdump's listing.
pub(super) fn instruction(line: &str) -> Option<(u64, &str)> {
    let mut columns = line.splitn(3, '\t');
    let address = u64::from_str_radix(columns.next()?.trim().strip_suffix(':')?, 16).ok()?;
    Some((address, columns.nth(1)?))
}
