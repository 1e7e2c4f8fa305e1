//! `--resume RUN`: a run that goes on where another one was stopped, by a limit, by Ctrl-C or by a kill.
//!
//! The folder stores the request as it was typed, and it is believed only under this user's seal: a stranger's folder would name files to write, compiler flags
//! and unconfined replays. The target, what it was compiled to, the files that the request names, and the tool itself must be what they were. Then the new run
//! has the same paths, and what the earlier one left is explored in a folder of its own. The earlier folder stays as it is.
//!
//! Paths that ended are taken over as rows. Those that first showed a finding are run again, since a finding is more than its row.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wryneck_exec::prefix::{PrefixId, decode};
use wryneck_exec::{Job, Pruning, Rest, job::Known};
use wryneck_session::collector::{Again, Collector};
use wryneck_session::worker;

use crate::args::{self, OPTIONS, RunArgs};
use crate::cmd::run::KEPT;
use crate::explored::Explored;
use crate::folder::{self, Earlier};
use crate::host::Answers;
use crate::options::{self, Words};
use crate::problem::problem;
use crate::{build, cache, seal};

/// The options that may be given anew: they change no path.
const ANEW: [&str; 21] = [
    "--emit", "--export", "--json", "--jsonl", "--lcov", "--max-disk", "--max-instructions", "--max-memory", "--max-time", "--no-replay",
    "--output", "--quiet", "--resume", "--sarif", "--search", "--search-seed", "--sequences", "--solver", "--solver-timeout",
    "--unconfined", "-j",
];

const AGAIN: &str = "run the program again";
const BEGUN: &str = "the run was stopped before it had begun";
/// The fact with the folder of the run that a run goes on with.
pub const BEFORE: &str = "resumed";

/// The run to go on with.
pub struct Resume {
    folder: PathBuf,
    /// The words after the command, as they were typed.
    pub words: Vec<String>,
    earlier: Earlier,
    /// What clang made of the target then, as a hash, if it made something.
    bitcode: Option<String>,
}

/// The arguments that go on with an earlier run, if the words ask for that.
pub fn of(command: &str, words: &[String]) -> Result<Option<(Resume, RunArgs)>> {
    let mut given = RunArgs::default();
    let mut rest = Words::new(words.to_vec());
    let names: Vec<&str> = options::names(OPTIONS, words);
    if !names.contains(&"--resume") {
        return Ok(None);
    }
    options::parse(OPTIONS, &mut given, &mut rest)?;
    let Some(folder) = given.resume.take() else { return Ok(None) };
    if let Some(word) = rest.next() {
        return Err(problem(format!("`{word}`: a run that goes on has its target and its arguments"), "leave it out"));
    }
    if let Some(name) = names.iter().find(|name| !ANEW.contains(name)) {
        let help = format!("leave it out, or {AGAIN}; these may be given anew: {}", ANEW.join(" "));
        return Err(problem(format!("`{name}` would change the run that goes on"), help));
    }
    let folder = folder.canonicalize().with_context(|| format!("cannot find `{}`", folder.display()))?;
    let resume = Resume::read(command, &folder)?;
    let mut args = args::parse(command, resume.words.clone())?;
    (args.output, args.json, args.quiet) = (None, false, false);
    options::parse(OPTIONS, &mut args, &mut Words::new(words.to_vec()))?;
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or(path.clone());
    args.output = args.output.as_ref().map(absolute);
    Ok(Some((resume, args)))
}

impl Resume {
    fn read(command: &str, folder: &Path) -> Result<Resume> {
        let shown = folder.display();
        folder::check(folder)?;
        folder::refuse_live(folder)?;
        let (facts, _) = folder::facts_and_files(folder).context(BEGUN)?;
        if facts.get(seal::SEAL).is_none() && facts.get("status") == Some("running") {
            let help =
                facts.get(BEFORE).map_or(AGAIN.to_owned(), |before| format!("go on with the one before it again: `--resume {before}`"));
            return Err(problem(format!("`{shown}`: {BEGUN}"), help));
        }
        if !facts.are_sealed() {
            return Err(problem(
                format!("`{shown}` was not made by this user's wryneck, so its command is not run"),
                format!("read it by `wryneck show {shown}`, and {AGAIN} if you trust it"),
            ));
        }
        // It was killed before it had got any further than the one that it went on with.
        if let (None, Some(before)) = (facts.get("rest"), facts.get(BEFORE)) {
            return Resume::read(command, Path::new(before));
        }
        Explored::of(folder, &[])?;
        let summary: Option<serde_json::Value> = facts.get("summary").and_then(|summary| serde_json::from_str(summary).ok());
        if summary.as_ref().is_some_and(|summary| !summary["goal"]["reached"].is_null()) {
            return Err(problem(
                format!("the run in `{shown}` has reached its goal"),
                format!("`wryneck show {shown}` shows it; to find more, {AGAIN}"),
            ));
        }
        let lost = summary.as_ref().and_then(|summary| summary["losses"].as_array()).into_iter().flatten().filter_map(|loss| loss.as_str());
        let lost = lost.collect::<Vec<_>>().join(", ");
        if facts.get("status") == Some("complete") && !lost.is_empty() {
            return Err(problem(
                format!("the run in `{shown}` ended by itself, and what it left out cannot be gone on with: {lost}"),
                format!("`wryneck show {shown}` says which options change that; {AGAIN}"),
            ));
        }
        if facts.get("status") == Some("complete") {
            return Err(problem(format!("the run in `{shown}` is complete: nothing is left"), format!("`wryneck show {shown}` shows it")));
        }
        if facts.need("tool")? != tool() {
            return Err(problem(format!("`{shown}` was made by another build of wryneck, whose paths may be others"), AGAIN));
        }
        let mut words = facts.words("command")?.into_iter().skip(1);
        let made_by = words.next().unwrap_or_default();
        if made_by != command {
            return Err(problem(
                format!("`{shown}` is a run of `wryneck {made_by}`"),
                format!("write `wryneck {made_by} --resume {shown}`"),
            ));
        }
        let directory = facts.need("directory")?;
        env::set_current_dir(directory).with_context(|| format!("cannot go to `{directory}`, where the run was started"))?;
        let content: BTreeMap<String, String> = serde_json::from_str(facts.need(seal::CONTENT)?)
            .with_context(|| format!("the fact `{}` of `{shown}` is damaged", seal::CONTENT))?;
        for (file, hash) in content.iter().filter(|(file, _)| *file != KEPT) {
            if seal::content_of(Path::new(file)).ok().as_ref() != Some(hash) {
                return Err(problem(format!("`{file}` has changed since the run"), format!("put back what it was, or {AGAIN}")));
            }
        }
        let bitcode = facts.get("bitcode").map(|file| content.get(KEPT).or_else(|| content.get(file)).cloned().unwrap_or_default());
        let earlier = folder::earlier(folder, facts.get("rest"))?;
        Ok(Resume { folder: folder.to_owned(), words: words.collect(), earlier, bitcode })
    }

    /// Whether a run with such arguments can be continued; takes out what has been done.
    pub fn check(&self, args: &mut RunArgs, notes: &mut Vec<String>) -> Result<()> {
        let refused = |option: &str| Err(problem(format!("a run with `{option}` cannot be continued"), AGAIN));
        match args.plan.prune {
            _ if args.tree.is_some() => return refused("--tree"),
            _ if args.plan.explain.is_some() => return refused("--explain"),
            Some(Pruning::Classified | Pruning::Measured | Pruning::AsPrinted) if !args.plan.rules.is_empty() => {
                return refused("--no-prune");
            }
            Some(_) | None => {}
        }
        if !args.plan.seeds.is_empty() && self.earlier.so_far.is_some() {
            args.plan.seeds.clear();
            args.plan.had_seeds = true;
            (args.plan.follow, args.plan.give_way) = (false, false);
            notes.push("inputs given by `--seed` whose paths had not ended when the run was stopped come in no special order".into());
        }
        notes.push(format!("this run goes on where the one in `{}` was stopped", self.folder.display()));
        Ok(())
    }

    /// The folder of the earlier run.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the earlier run was told by the host.
    pub fn host(&mut self) -> Answers {
        std::mem::take(&mut self.earlier.host)
    }

    /// Whether the target was compiled to what it is compiled to now.
    pub fn check_bitcode(&self, bitcode: Option<&Path>) -> Result<()> {
        let now = bitcode.map(seal::content_of).transpose().context("cannot read the target's bitcode")?;
        match now == self.bitcode {
            true => Ok(()),
            false => Err(problem("the target is compiled to other bitcode now: a header or the compiler has changed", AGAIN)),
        }
    }

    /// Hands over what is known, and gives what is left.
    pub fn begin(self, collector: &mut Collector) -> Option<worker::Earlier> {
        let Earlier { so_far, paths, jobs, deferred, inputs, covered, .. } = self.earlier;
        let so_far = so_far?;
        let (mut again, mut ended, mut taken, mut number) = (BTreeMap::new(), Vec::new(), Vec::new(), 0);
        for path in paths {
            let shown = number..number + path.finds as usize;
            number = shown.end;
            let decisions = path.decisions.as_ref().and_then(|made| decode(&made.prefix)).filter(|_| path.finds > 0);
            let Some(prefix) = decisions else {
                taken.push(path);
                continue;
            };
            // What several findings of one path say of its input is the same.
            let input = inputs.get(shown.start).into_iter().flatten().flat_map(|input| {
                let byte = |(index, byte): (u32, &u8)| Known { name: input.name.as_str().into(), index, width: 8, value: (*byte).into() };
                (0..).zip(&input.bytes).map(byte).filter(|known| known.value != 0)
            });
            let job = Job { prefix, input: input.collect(), tried: 0 };
            let counts = shown.map(|finding| so_far.counts.get(finding).copied().unwrap_or(1)).collect();
            again.insert(PrefixId::of(&job.prefix), Again { counts, test: path.test });
            ended.push(job);
        }
        collector.go_on(so_far.clone(), again, &taken);
        collector.folder.earlier(taken, self.folder);
        Some(worker::Earlier { rest: Rest { ended, jobs, deferred: deferred.into_iter().collect() }, so_far, covered })
    }
}

/// What says whether two runs had the same tool, and the same C library for it to link.
pub fn tool() -> String {
    let names: Vec<String> = build::tools().iter().map(|file| cache::identity(file).unwrap_or_default()).collect();
    cache::digest(&names.iter().map(String::as_bytes).collect::<Vec<_>>())
}
