//! What a run folder says was explored, as far as a replay may believe it.
//!
//! | folder | flags | files inside the folder | files outside |
//! |---|---|---|---|
//! | sealed by this user's tool | as the user gave them | unchanged since the run | unchanged since the run |
//! | any other | those of a list (`flags.rs`) | yes: the program runs confined | only what the user names now (`--program`) |
//!
//! A C source outside of an unsealed folder is left out where the folder has its bitcode: replays then do without the source's sanitizers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cmd::run::KEPT;
use crate::folder::{self, Facts};
use crate::problem::problem;
use crate::{data, flags, objects, output, seal};

/// What a replay builds and runs.
pub struct Explored {
    pub facts: Facts,
    /// The target.
    pub program: PathBuf,
    /// Without bitcode, it was machine code that was explored.
    pub bitcode: Option<PathBuf>,
    /// What the target was linked of, if it was relocatable objects.
    pub objects: Vec<PathBuf>,
    pub cc_flags: Vec<String>,
    /// Host files that the run read below its working directory: path from there, content.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

const AGAIN: &str = "run the program again";

impl Explored {
    /// Of a folder, whose target the user perhaps `named`.
    pub fn of(folder: &Path, named: &[PathBuf]) -> Result<Explored> {
        let (facts, files) = folder::facts_and_files(folder)?;
        let trust = Trust::new(folder, &facts)?;
        let cc_flags = facts.words("cc_flags")?;
        if !trust.sealed {
            flags::check(&cc_flags)?;
        }
        let mut program = PathBuf::from(facts.need("program")?);
        let mut objects: Vec<PathBuf> =
            facts.get("objects").map_or(Ok(Vec::new()), |_| facts.words("objects"))?.into_iter().map(PathBuf::from).collect();
        // What clang made lies in the folder, wherever that was moved since.
        let kept = folder.join(KEPT);
        let is_kept = data::open_here(&kept).is_ok();
        let given = facts.get("bitcode").map(PathBuf::from);
        if program == Path::new(KEPT) {
            program.clone_from(&kept);
        }
        let mut bitcode = if is_kept { Some(kept) } else { given };
        match named {
            [] => {}
            [first, more @ ..] if objects.is_empty() && more.is_empty() => {
                trust.unchanged(first, &program)?;
                if bitcode.as_ref() == Some(&program) {
                    bitcode = Some(first.clone());
                }
                program.clone_from(first);
            }
            named if named.len() == objects.len() => {
                for (now, then) in named.iter().zip(&objects) {
                    trust.unchanged(now, then)?;
                }
                program.clone_from(&named[0]);
                objects = named.to_vec();
            }
            _ => {
                return Err(problem(
                    format!("the run had {} files, `--program` names {}", objects.len().max(1), named.len()),
                    "name each once, in their order",
                ));
            }
        }
        if named.is_empty() {
            let needed = if bitcode.is_some() {
                bitcode.as_slice()
            } else if objects.is_empty() {
                std::slice::from_ref(&program)
            } else {
                &objects
            };
            needed.iter().try_for_each(|file| trust.check(file))?;
            if bitcode.is_some() && bitcode.as_ref() != Some(&program) && (trust.sealed || program.exists()) {
                match trust.check(&program) {
                    Ok(()) => {}
                    // Its bitcode does without it.
                    Err(why) if !trust.sealed => {
                        output::note(format!("{why:#}: sanitizers watch its bitcode instead (`--program FILE` names the source)"));
                        program = PathBuf::from(program.file_stem().unwrap_or_default());
                    }
                    Err(why) => return Err(why),
                }
            }
        } else if let Some(bitcode) = bitcode.as_ref().filter(|bitcode| **bitcode != program) {
            trust.check(bitcode)?;
        }
        if let Some(file) = objects.iter().find(|file| !objects::is_object(file)) {
            return Err(problem(format!("`{}` is not a relocatable object", file.display()), AGAIN));
        }
        // A word of a command line that begins otherwise might be a flag.
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        Ok(Explored {
            facts,
            program: absolute(program),
            bitcode: bitcode.map(absolute),
            objects: objects.into_iter().map(absolute).collect(),
            cc_flags,
            files,
        })
    }
}

/// What of a folder is believed.
struct Trust {
    sealed: bool,
    /// The folder, without links.
    folder: PathBuf,
    /// What clang made, in the folder.
    kept: PathBuf,
    /// Hashes of files at the time of the run.
    content: BTreeMap<String, String>,
}

impl Trust {
    fn new(folder: &Path, facts: &Facts) -> Result<Trust> {
        let content = facts.get(seal::CONTENT).map_or(Ok(BTreeMap::new()), serde_json::from_str);
        let content = content.with_context(|| format!("the fact `{}` of `{}` is damaged", seal::CONTENT, folder.display()))?;
        let kept = folder.join(KEPT);
        let folder = folder.canonicalize().with_context(|| format!("cannot find `{}`", folder.display()))?;
        Ok(Trust { sealed: facts.are_sealed(), folder, kept, content })
    }

    /// Whether a file that the folder names may be used.
    fn check(&self, file: &Path) -> Result<()> {
        let shown = file.display();
        let place = file.canonicalize().ok();
        let Some(place) = place else {
            return Err(problem(format!("`{shown}`, which was explored, is gone"), format!("put it back, or {AGAIN}")));
        };
        if self.sealed {
            return self.unchanged(file, file);
        }
        match place.starts_with(&self.folder) {
            true => Ok(()),
            false => Err(problem(
                format!("`{shown}` lies outside of the run folder, which this user's wryneck did not make"),
                format!("if you trust it, name it: `wryneck replay --program {shown} …`; or {AGAIN}"),
            )),
        }
    }

    /// Whether a file is what `then` was at the time of the run; what the folder does not know of may be.
    fn unchanged(&self, now: &Path, then: &Path) -> Result<()> {
        let shown = now.display();
        let name = if self.kept == then { KEPT } else { &then.to_string_lossy() };
        let recorded = self.content.get(name);
        let hash = seal::content_of(now).with_context(|| format!("cannot read `{shown}`"))?;
        match recorded {
            Some(recorded) if *recorded != hash => {
                Err(problem(format!("`{shown}` has changed since it was explored"), format!("put back what it was, or {AGAIN}")))
            }
            None if self.sealed => Err(problem(format!("the run folder does not say what `{shown}` was when it was explored"), AGAIN)),
            Some(_) | None => Ok(()),
        }
    }
}
