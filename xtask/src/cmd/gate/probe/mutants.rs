//! Mutants of real library functions (`tests/probe/mutants.txt`): a null check removed or inverted, a free doubled, a bound off by one.
//!
//! A mutant is found if the probe of its function reports something, must or may, that it does not report in the unchanged function.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::libraries::Library;
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// A folder with the unpacked sources of the libraries (default: Debian's, fetched by apt)
    #[arg(long)]
    sources: Option<PathBuf>,
    /// The list of mutants
    #[arg(long, default_value = "tests/probe/mutants.txt")]
    list: PathBuf,
    /// Only mutants of functions whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Time for one function
    #[arg(long, default_value = "20s")]
    max_time: String,
    /// Results, a JSON line for each mutant; those that are there are not tried again
    #[arg(long, default_value = "target/probe-mutants.jsonl")]
    results: PathBuf,
    /// How many in a hundred have to be found
    #[arg(long, default_value_t = 70)]
    least: usize,
}

/// A row of the list.
struct Mutant {
    library: &'static Library,
    file: String,
    /// The function that is changed.
    place: String,
    /// The function that is probed.
    function: String,
    what: String,
    old: String,
    new: String,
}

/// What a finding is known by: its kind, function, and the line of its place, in the innermost two functions.
type Known = (String, String, u64, u64);

fn parse(line: &str) -> Result<Mutant> {
    let parts: Vec<String> = line.split(" | ").map(|part| part.replace("\\n", "\n").replace("\\t", "\t")).collect();
    let [library, file, function, what, old, new] = parts.try_into().ok().with_context(|| format!("not six parts: {line}"))?;
    let (file, place) = file.split_once(':').map_or((file.clone(), function.clone()), |(file, place)| (file.to_owned(), place.to_owned()));
    Ok(Mutant { library: Library::named(&library)?, file, place, function, what, old, new })
}

impl Mutant {
    fn key(&self) -> String {
        format!("{}: {}: {} -> {}", self.function, self.what, self.old, self.new)
    }

    /// The changed text: the first occurrence of the old one in the function. The lines that follow keep their numbers.
    fn changed(&self, text: &str) -> Result<String> {
        let is_definition = |at: &usize| {
            let rest = &text[at + self.place.len()..];
            // Before C had prototypes, declarations of parameters came before the body.
            let first = rest.lines().next().unwrap_or_default();
            rest.trim_start().starts_with('(') && !first.ends_with(';') && rest.lines().take(24).any(|line| line.starts_with('{'))
        };
        let at = text.match_indices(&self.place).map(|(at, _)| at).find(is_definition);
        let at = at.with_context(|| format!("`{}` does not define `{}`", self.file, self.place))?;
        let found = text[at..].find(&self.old).with_context(|| format!("`{}` has no {:?}", self.place, self.old))? + at;
        let missing = self.old.matches('\n').count().saturating_sub(self.new.matches('\n').count());
        Ok(format!("{}{}{}{}", &text[..found], self.new, "\n".repeat(missing), &text[found + self.old.len()..]))
    }
}

pub fn run(args: &Args) -> Result<()> {
    let text = fs::read_to_string(&args.list).with_context(|| format!("cannot read `{}`", args.list.display()))?;
    let rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut mutants: Vec<Mutant> = rows.map(parse).collect::<Result<_>>()?;
    mutants.retain(|m| args.only.as_ref().is_none_or(|only| m.function.contains(only.as_str())));
    let folder = tempfile::tempdir()?;
    let zlib = Library::named("zlib")?.tree(args.sources.as_deref())?;
    let done = fs::read_to_string(&args.results).unwrap_or_default();
    let known: BTreeMap<String, Value> = done
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|value| (value["mutant"].as_str().unwrap_or_default().to_owned(), value))
        .collect();
    let bases: Mutex<BTreeMap<(String, String), BTreeSet<Known>>> = Mutex::default();
    let all: Mutex<Vec<Value>> = Mutex::default();
    let numbered: Vec<(usize, &Mutant)> = mutants.iter().enumerate().collect();
    process::parallel(&numbered, |(number, mutant)| {
        let value = match known.get(&mutant.key()) {
            Some(value) => value.clone(),
            None => {
                let value = try_one(mutant, *number, args, &zlib, folder.path(), &bases)?;
                use std::io::Write;
                let mut file = fs::OpenOptions::new().create(true).append(true).open(&args.results)?;
                writeln!(file, "{value}")?;
                value
            }
        };
        println!("{:7} {} ({})", value["result"].as_str().unwrap_or_default(), mutant.function, mutant.what);
        all.lock().expect("no holder panics").push(value);
        Ok(())
    })?;
    let all = all.into_inner().expect("no holder panics");
    let count = |result: &str| all.iter().filter(|value| value["result"] == result).count();
    let (must, may) = (count("must"), count("may"));
    println!("{} mutants: {must} must, {may} may, {} missed", all.len(), count("missed"));
    ensure!((must + may) * 100 >= all.len() * args.least, "less than {} % are found", args.least);
    Ok(())
}

fn try_one(
    mutant: &Mutant,
    number: usize,
    args: &Args,
    zlib: &Path,
    folder: &Path,
    bases: &Mutex<BTreeMap<(String, String), BTreeSet<Known>>>,
) -> Result<Value> {
    let tree = mutant.library.tree(args.sources.as_deref())?;
    let files = mutant.library.files(&tree)?;
    let file = files.iter().find(|file| file.ends_with(&mutant.file)).with_context(|| format!("no file `{}`", mutant.file))?;
    let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
    let key = (mutant.file.clone(), mutant.function.clone());
    let place = folder.join(number.to_string());
    fs::create_dir_all(&place)?;
    let probe = |text: &str, name: &str| -> Result<(BTreeSet<Known>, BTreeMap<Known, String>)> {
        // Headers of its own folder are found by the path of the copy.
        let copy = file.with_file_name(format!("wryneck_{number}_{name}.c"));
        fs::write(&copy, text)?;
        let bitcode = place.join(name).with_extension("bc");
        let compiled = mutant.library.compile(&tree, zlib, &copy, "-O0", &bitcode);
        fs::remove_file(&copy)?;
        compiled.with_context(|| format!("mutant {number}, {}", mutant.function))?;
        findings(&bitcode, &mutant.function, &args.max_time)
    };
    let base = bases.lock().expect("no holder panics").get(&key).cloned();
    let base = match base {
        Some(base) => base,
        None => {
            let (base, _) = probe(&text, "base")?;
            bases.lock().expect("no holder panics").insert(key, base.clone());
            base
        }
    };
    let (found, grades) = probe(&mutant.changed(&text)?, "mutant")?;
    let fresh: Vec<&Known> = found.iter().filter(|known| !base.contains(known)).collect();
    let result = match fresh.iter().any(|known| grades[*known] == "must") {
        true => "must",
        false if fresh.is_empty() => "missed",
        false => "may",
    };
    Ok(serde_json::json!({ "mutant": mutant.key(), "function": mutant.function, "what": mutant.what, "result": result,
        "findings": fresh.iter().map(|(kind, function, line, _)| format!("{kind} at {function}:{line}")).collect::<BTreeSet<_>>() }))
}

/// What is found in one function, may errors too.
fn findings(bitcode: &Path, function: &str, time: &str) -> Result<(BTreeSet<Known>, BTreeMap<Known, String>)> {
    let mut tool = Command::new(super::super::wryneck());
    let options = ["probe", "--report", "may", "--json", "--quiet", "--no-replay", "--max-time", time, "--function", function];
    let ran = tool.args(options).arg(bitcode).output()?;
    let text = String::from_utf8_lossy(&ran.stdout);
    let line = text.lines().next().with_context(|| format!("no result for `{function}`: {}", String::from_utf8_lossy(&ran.stderr)))?;
    let result: Value = serde_json::from_str(line)?;
    let mut grades = BTreeMap::new();
    for finding in result["findings"].as_array().into_iter().flatten() {
        let frames = finding["stack"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let line = |at: usize| frames.get(at).map_or(0, |frame| frame["line"].as_u64().unwrap_or(0));
        let known = (text(&finding["kind"]), frames.first().map_or_else(String::new, |f| text(&f["function"])), line(0), line(1));
        let grade = text(&finding["grade"]);
        if grade == "must" {
            // The same finding with a higher grade is a new one; one with a lower grade is not.
            grades.insert((format!("must {}", known.0), known.1.clone(), known.2, known.3), grade.clone());
        }
        grades.entry(known).or_insert(grade);
    }
    Ok((grades.keys().cloned().collect(), grades))
}
