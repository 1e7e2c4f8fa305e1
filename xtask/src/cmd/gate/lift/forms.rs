//! Which forms the CPU confirms: encodings of all there may be, natively and lifted, from random states. The table it writes is
//! what the lifter trusts; every other form is unsupported.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use wryneck_machine::cpu::x86_64::form::Form;
use wryneck_oracle::{Case, Lifter, Native, Random, encodings};

use super::{Args, NOT_COMPARED, Row, compare};
use crate::process;

/// A form is confirmed if the instruction ran to its end from so many states, and none failed.
const LEAST: u64 = 24;
/// Instructions that never run to their end.
const ALWAYS_FAULT: &[&str] = &["hlt", "int3", "ud0", "ud1", "ud2"];
/// Encodings that the tests of `crates/oracle` run, and of how many forms one is there.
const LIST: &str = "crates/oracle/tests/forms.txt";
const LISTED: usize = 12;
/// Where the forms that are not confirmed are listed, with the reason.
const UNCONFIRMED: &str = "docs/results/unconfirmed-forms.txt";

pub(super) fn run(args: &Args) -> Result<()> {
    let (lifter, native) = (Lifter::of_all_forms()?, Native::new()?);
    let mut random = Random::new(args.seed);
    let length = |bytes: &[u8]| lifter.length(bytes);
    // A few encodings say whether a form is an instruction at all: some exist only with an index, or without an extra register.
    let first = encodings::all(8, &|_| true, &length, &mut random);
    let instructions: BTreeSet<Form> = named(&first)?.into_keys().collect();
    let sample = encodings::all(args.encodings, &|form| instructions.contains(&form), &length, &mut random);
    let cases = named(&sample)?;
    let (mut confirmed, mut unconfirmed, mut states) = (BTreeMap::new(), String::new(), 0);
    let wanted = |cases: &[Case]| args.only.as_ref().is_none_or(|only| cases[0].mnemonic.starts_with(only.as_str()));
    let mut asked = BTreeSet::new();
    for (form, cases) in cases.iter().filter(|(_, cases)| wanted(cases)) {
        asked.insert(*form);
        let name = cases[0].form();
        let mut row = Row { mnemonic: cases[0].mnemonic.clone(), ..Row::default() };
        if let Some((_, why)) = NOT_COMPARED.iter().find(|(m, _)| row.mnemonic.split(' ').next_back() == Some(*m)) {
            match lifter.unsupported(&lifter.lift(&cases[0].code)?) {
                Some(what) => writeln!(unconfirmed, "{:07x} {name}: {what}", form.0)?,
                None => drop(confirmed.insert(*form, format!("{name} # not compared: {why}"))),
            }
            continue;
        }
        let sample = super::Form { weight: 1, cases: cases.clone() };
        let ran = compare(args, &lifter, &native, (&name, &sample), &mut row);
        states += row.completed;
        let faults = ALWAYS_FAULT.contains(&row.mnemonic.as_str());
        let why = match ran {
            Err(e) => format!("{e:#}"),
            Ok(()) if row.failed > 0 => format!("{} of {} states fail", row.failed, row.states),
            Ok(()) if row.completed < LEAST && !faults => format!("{} of {} states complete; {}", row.completed, row.states, row.note),
            Ok(()) => {
                confirmed.insert(*form, name);
                continue;
            }
        };
        writeln!(unconfirmed, "{:07x} {name}: {why}", form.0)?;
    }
    let mut table = if args.only.is_some() { read(args)? } else { BTreeMap::new() };
    table.retain(|form, _| !asked.contains(form));
    table.extend(confirmed);
    println!("{} forms asked, {} in the table, {states} states completed alike", asked.len(), table.len());
    let mut text = String::from(
        "# Forms of instructions that the CPU has confirmed: key (form.rs) and name. Made by `cargo xtask gate lift --forms`.\n",
    );
    table.iter().try_for_each(|(form, name)| writeln!(text, "{:07x} {name}", form.0))?;
    fs::write(&args.table, text).with_context(|| format!("cannot write `{}`", args.table.display()))?;
    if args.only.is_none() {
        let mut list = String::from("# Made by `cargo xtask gate lift --forms`: bytes and text of one encoding of some confirmed forms.\n");
        let compared = table.iter().filter(|(_, name)| !name.contains('#')).map(|(form, _)| form);
        for case in compared.step_by(LISTED).filter_map(|form| cases.get(form)).filter_map(|cases| cases.first()) {
            let bytes: String = case.original.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(list, "{bytes} {}", case.text)?;
        }
        fs::write(LIST, list).with_context(|| format!("cannot write `{LIST}`"))?;
        fs::write(UNCONFIRMED, unconfirmed).with_context(|| format!("cannot write `{UNCONFIRMED}`"))?;
    } else {
        print!("{unconfirmed}");
    }
    Ok(())
}

/// The table as it is.
fn read(args: &Args) -> Result<BTreeMap<Form, String>> {
    let text = fs::read_to_string(&args.table).with_context(|| format!("cannot read `{}`", args.table.display()))?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (key, name) = line.split_once(' ').context("a line without a name")?;
            Ok((Form(u32::from_str_radix(key, 16).with_context(|| format!("`{key}` is no key"))?), name.to_owned()))
        })
        .collect()
}

/// The encodings that objdump takes for one instruction each, as cases.
fn named(forms: &BTreeMap<Form, Vec<Vec<u8>>>) -> Result<BTreeMap<Form, Vec<Case>>> {
    const SLOT: usize = 16;
    let all: Vec<(Form, &Vec<u8>)> = forms.iter().flat_map(|(form, codes)| codes.iter().map(|code| (*form, code))).collect();
    let mut blob = vec![0x90; SLOT * all.len()];
    for (slot, (_, code)) in blob.chunks_mut(SLOT).zip(&all) {
        slot[..code.len()].copy_from_slice(code);
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("encodings");
    fs::write(&file, blob)?;
    let listing = process::output(Command::new("objdump").args(["-D", "-w", "-b", "binary", "-m", "i386:x86-64"]).arg(&file))?;
    let mut cases: BTreeMap<Form, Vec<Case>> = BTreeMap::new();
    for line in listing.lines() {
        let mut columns = line.splitn(3, '\t');
        let (Some(address), Some(bytes), Some(text)) = (columns.next(), columns.next(), columns.next()) else { continue };
        let Ok(address) = usize::from_str_radix(address.trim().trim_end_matches(':'), 16) else { continue };
        let (Some((form, code)), true) = (all.get(address / SLOT), address % SLOT == 0) else { continue };
        let whole = bytes.split_whitespace().count() == code.len() && !text.contains("(bad)");
        if let Some(case) = Case::new(code, text).filter(|_| whole) {
            cases.entry(*form).or_default().push(case);
        }
    }
    ensure!(!cases.is_empty(), "objdump knows none of {} encodings", all.len());
    Ok(cases)
}
