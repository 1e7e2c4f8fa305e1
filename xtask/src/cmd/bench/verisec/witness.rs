//! The cases called faulty that are not, shown to be so in two ways that know nothing of each other: explored to the end, paths ending at their
//! first fault, they have none at the marked line; and natively, on random inputs before pages that nobody may touch, none writes behind the
//! buffer that is said to overflow. A case like them that is faulty is put through the same, and must fail it.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{Args, BASE_SIZE, Build, Case, Frontend, text};
use crate::process;

const HARNESS: &str = include_str!("witness.c");
/// Where the cases are.
const FOLDER: &str = "OpenSER/CVE-2006-6876/fetchsms/";
const NOT_FAULTY: [&str; 4] = ["loops_bad", "istrstr_loops_bad", "istrstr2_loops_bad", "full_bad"];
const FAULTY: &str = "istrstr_bad";
/// Native runs of each.
const RUNS: u64 = 20_000_000;
/// Seconds that exploring one to the end may take.
const SECONDS: u32 = 1800;

/// How a case gets its input and its buffer from the harness: what its text has, and what it gets in its place.
const CHANGES: [(&str, &str); 3] = [
    ("char answer[ANSWERSIZE];", "char *witness_input(long), *answer = witness_input(ANSWERSIZE);"),
    ("char pdu [PDUSIZE];", "char *witness_buffer(long), *pdu = witness_buffer(PDUSIZE);"),
    ("int main ()", "int case_main ()"),
];

/// What native runs did.
struct Native {
    runs: u64,
    /// Runs that read on behind the input.
    read_on: u64,
    /// Runs that wrote behind the buffer.
    wrote_on: u64,
}

/// Checks each case and says what was seen; an error if one is not as said here.
pub fn run(build: &Build<'_>, cases: &[Case]) -> Result<()> {
    let args = Args {
        frontend: Frontend::Bitcode,
        level: "0".into(),
        no_debug: false,
        frames: false,
        keep_going: 0,
        seconds: SECONDS,
        ..build.args.clone()
    };
    let build = Build { args: &args, ..*build };
    for name in NOT_FAULTY.into_iter().chain([FAULTY]) {
        let find = || cases.iter().find(|case| case.name.strip_prefix(FOLDER) == Some(name));
        let case = find().with_context(|| format!("the suite has no case `{FOLDER}{name}`"))?;
        let row = build.measure(case)?;
        let Native { runs, read_on, wrote_on } = native(&build, case)?;
        let (verdict, status) = (text(&row["verdict"]), text(&row["status"]));
        println!(
            "{name}: {verdict}, explored: {status}, {} paths, {:.0} s; natively: of {runs} runs {wrote_on} wrote behind `pdu`, {read_on} read \
             behind `answer` before",
            row["paths"],
            row["took"].as_f64().unwrap_or(0.0)
        );
        let expected = if name == FAULTY { "detected" } else { "missed" };
        ensure!(verdict == expected && status == "complete" && (wrote_on > 0) == (name == FAULTY), "`{name}` is not as said: {row}");
    }
    Ok(())
}

/// Runs a case natively.
fn native(build: &Build<'_>, case: &Case) -> Result<Native> {
    let mut changed = fs::read_to_string(&case.source)?;
    for (here, instead) in CHANGES {
        ensure!(changed.contains(here), "`{}` has no `{here}`", case.name);
        changed = changed.replace(here, instead);
    }
    // Beside the case, whose headers are found from there.
    let (source, folder) = (case.source.with_extension("native.c"), tempfile::tempdir()?);
    fs::write(&source, changed)?;
    let (harness, program) = (folder.path().join("witness.c"), folder.path().join("program"));
    fs::write(&harness, HARNESS)?;
    let object = |name: &str| folder.path().join(name).with_extension("o");
    for (source, name) in [(&source, "case"), (&build.suite.join("lib/stubs.c"), "stubs")] {
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=gnu89", "-fno-builtin", "-w", "-O1", "-c"]).arg(format!("-DBASE_SZ={BASE_SIZE}"));
        process::output(gcc.arg(source).arg("-o").arg(object(name)))?;
    }
    process::output(Command::new("gcc").args(["-O1", "-w"]).arg(&harness).args([object("case"), object("stubs")]).arg("-o").arg(&program))?;
    let said = process::output(Command::new(&program).arg(RUNS.to_string()))?;
    let counts: Vec<u64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [runs, read_on, wrote_on] = counts[..] else { anyhow::bail!("the harness says `{said}`") };
    Ok(Native { runs, read_on, wrote_on })
}
