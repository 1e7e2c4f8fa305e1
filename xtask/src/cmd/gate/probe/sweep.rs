//! All functions of real libraries, as bitcode and as machine code: how many finish, how fast, and what must go wrong in them.
//!
//! Must reports are printed to be read one by one; `docs/results/probe.md` has what the reading said.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::libraries::{LIBRARIES, Library};
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// A folder with the unpacked sources of the libraries (default: Debian's, fetched by apt)
    #[arg(long)]
    sources: Option<PathBuf>,
    /// Only this library
    #[arg(long)]
    only: Option<String>,
    /// Only this front end: bitcode, object or shared
    #[arg(long)]
    frontend: Option<String>,
    /// Time for one function
    #[arg(long, default_value = "120s")]
    max_time: String,
    /// Leave a function after so many paths without new code
    #[arg(long, default_value_t = 300)]
    stale: u64,
    /// Leave a function after so much processor time without new code
    #[arg(long, default_value = "1s")]
    stale_time: String,
    /// Where bitcode, objects and results are kept; a sweep that is started again goes on where it was
    #[arg(long, default_value = "target/probe-sweep")]
    folder: PathBuf,
    /// Add what each sweep came to to this file, a JSON object a line
    #[arg(long)]
    summary: Option<PathBuf>,
    /// How many in a hundred functions have to finish within the time and memory
    #[arg(long, default_value_t = 95)]
    least: usize,
}

pub fn run(args: &Args) -> Result<()> {
    fs::create_dir_all(&args.folder)?;
    let mut short = Vec::new();
    println!("library    front end  functions  finished  exhausted  mean s  median s  most s  mean CPU s  must  reproduced");
    for library in LIBRARIES.iter().filter(|l| args.only.as_deref().is_none_or(|only| only == l.name)) {
        for frontend in ["bitcode", "object", "shared"].into_iter().filter(|f| args.frontend.as_deref().is_none_or(|only| only == *f)) {
            let results = sweep(library, frontend, args).with_context(|| format!("{} as {frontend}", library.name))?;
            let row = row(library.name, frontend, &results);
            if row["finished"].as_u64().unwrap_or(0) * 100 < (results.len() * args.least) as u64 {
                short.push(format!("{} as {frontend}", library.name));
            }
            if let Some(file) = &args.summary {
                writeln!(fs::OpenOptions::new().create(true).append(true).open(file)?, "{row}")?;
            }
        }
    }
    ensure!(short.is_empty(), "less than {} % of the functions finish: {}", args.least, short.join(", "));
    Ok(())
}

/// The result of every function.
fn sweep(library: &Library, frontend: &str, args: &Args) -> Result<Vec<Value>> {
    let bitcode = args.folder.join(format!("{}.bc", library.name));
    if !bitcode.exists() {
        library.bitcode(args.sources.as_deref(), &args.folder)?;
    }
    let target = match frontend {
        "object" => object(&bitcode)?,
        "shared" => debian(library)?,
        _ => bitcode,
    };
    let results = args.folder.join(format!("{}-{frontend}.jsonl", library.name));
    let mut tool = Command::new(super::super::wryneck());
    tool.args(["probe", "--all", "--json", "--quiet", "-j", "2", "--max-time", &args.max_time, "--stale", &args.stale.to_string()]);
    let ran = tool.args(["--stale-time", &args.stale_time]).arg("--results").arg(&results).arg(&target).output()?;
    ensure!(ran.status.code() != Some(2), "{}", String::from_utf8_lossy(&ran.stderr));
    let text = fs::read_to_string(&results)?;
    text.lines().map(|line| serde_json::from_str(line).context("a result is no JSON")).collect()
}

/// The library as Debian ships it.
fn debian(library: &Library) -> Result<PathBuf> {
    let path = Path::new("/usr/lib/x86_64-linux-gnu").join(library.shared);
    ensure!(path.exists(), "`{}` is missing: install Debian's package of {}", path.display(), library.name);
    Ok(path)
}

/// The library as one relocatable object.
fn object(bitcode: &Path) -> Result<PathBuf> {
    let object = bitcode.with_extension("o");
    if !object.exists() {
        let flags = ["--target=x86_64-linux-gnu", "-O1", "-g", "-w", "-Wno-override-module", "-fno-stack-protector", "-c", "-o"];
        process::output(Command::new(crate::bitcode::CLANG).args(flags).arg(&object).arg(bitcode))?;
    }
    Ok(object)
}

/// Prints what a sweep came to, and gives it. A function is finished that neither time, memory nor a breakdown ended.
fn row(name: &str, frontend: &str, results: &[Value]) -> Value {
    let all = |field: &str| results.iter().map(|r| r[field].as_f64().unwrap_or(0.0) / 1000.0).collect::<Vec<f64>>();
    let (mut seconds, processor) = (all("milliseconds"), all("processor_milliseconds"));
    seconds.sort_by(f64::total_cmp);
    let cut = |r: &&Value| {
        r["status"] == "unsupported" || ["time", "memory", "memory-of-one-path"].iter().any(|limit| r["bounded"].get(*limit).is_some())
    };
    let unfinished: Vec<&Value> = results.iter().filter(cut).map(|r| &r["function"]).collect();
    let finished = results.len() - unfinished.len();
    let exhausted = results.iter().filter(|r| r["status"] == "exhausted").count();
    let mut musts: BTreeMap<(String, String, u64), (&Value, usize)> = BTreeMap::new();
    for finding in results.iter().flat_map(|r| r["findings"].as_array().into_iter().flatten()).filter(|f| f["grade"] == "must") {
        let place = &finding["stack"][0];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let line = place["line"].as_u64().unwrap_or(0);
        // Machine code without debug information has places in functions alone.
        let key = (text(&finding["kind"]), text(&place[if line == 0 { "function" } else { "file" }]), line);
        musts.entry(key).or_insert((finding, 0)).1 += 1;
    }
    let reproduced = musts.values().filter(|(finding, _)| finding["native"]["result"] == "reproduced").count();
    let mean = |times: &[f64]| times.iter().sum::<f64>() / results.len().max(1) as f64;
    let median = seconds.get(seconds.len() / 2).copied().unwrap_or(0.0);
    let most = seconds.last().copied().unwrap_or(0.0);
    println!(
        "{name:10} {frontend:9}  {:9}  {finished:8}  {exhausted:9}  {:6.2}  {median:8.2}  {most:6.1}  {:10.2}  {:4}  {reproduced:10}",
        results.len(),
        mean(&seconds),
        mean(&processor),
        musts.len(),
    );
    let mut said = Vec::new();
    for ((kind, at, line), (finding, from)) in &musts {
        let native = finding["native"]["result"].as_str().unwrap_or("-");
        let at = at.rsplit('/').next().unwrap_or_default();
        let function = finding["stack"][0]["function"].as_str().unwrap_or_default();
        let message = finding["message"].as_str().unwrap_or_default();
        said.push(format!("{kind} {at}:{line} in {function}: {message} ({native}; from {from})"));
        println!("  must {}", said[said.len() - 1]);
    }
    json!({ "library": name, "frontend": frontend, "functions": results.len(), "finished": finished, "exhausted": exhausted,
        "seconds": mean(&seconds), "processor_seconds": mean(&processor), "most_seconds": most, "reproduced": reproduced,
        "unfinished": unfinished, "must": said })
}
