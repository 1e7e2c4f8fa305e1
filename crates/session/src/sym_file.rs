//! `--sym-file PATH-OR-GLOB[:SIZE][:stat]`: its syntax, and its expansion before a run. The run folder stores words that name each file
//! with its size, so a replay reads no directory.
//!
//! In a glob `*` matches any text without a slash and `?` any one byte. A leading dot must be written out.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use anyhow::Result;
use wryneck_environ::SymFile;

use crate::options::number;
use crate::problem::problem;

/// Most bytes of a symbolic file.
const MOST: u64 = 1 << 20;
const STAT: &str = ":stat";
const HELP: &str = "write such as `--sym-file in.txt:8`, `--sym-file 'conf/*.ini'`, `--sym-file in.txt:0-8` or `--sym-file in.txt:8:stat`";

/// A word taken apart; without a size, the host's file has it.
struct Word<'a> {
    path: &'a str,
    size: Option<(u64, u64)>,
    metadata: bool,
}

fn word(text: &str) -> Result<Word<'_>> {
    let (rest, metadata) = text.strip_suffix(STAT).map_or((text, false), |rest| (rest, true));
    let sized = rest.rsplit_once(':').filter(|(_, size)| size.starts_with(|c: char| c.is_ascii_digit()));
    let (path, size) = match sized {
        Some((path, size)) => (path, Some(range(size).map_err(|why| problem(format!("`--sym-file {text}`: {why}"), HELP))?)),
        None => (rest, None),
    };
    if path.is_empty() {
        return Err(problem(format!("`--sym-file {text}` names no file"), HELP));
    }
    Ok(Word { path, size, metadata })
}

/// `N`, or `MIN-MAX`.
fn range(text: &str) -> Result<(u64, u64), String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let (least, most) = (number(least)?, number(most)?);
    match least <= most && most <= MOST {
        true => Ok((least, most)),
        false => Err(format!("sizes are from 0 to {MOST}, the smaller first")),
    }
}

/// What an expanded word says.
pub fn parse(text: Option<&String>) -> Result<SymFile> {
    let text = text.ok_or_else(|| problem("`--sym-file` lacks its PATH", HELP))?;
    let Word { path, size, metadata } = word(text)?;
    let size = size.ok_or_else(|| problem(format!("`--sym-file {text}`: there is no such file that could give its size"), HELP))?;
    Ok(SymFile { path: path.into(), size, metadata })
}

/// Expands globs and sizes among the words after the target.
pub fn expand(words: Vec<String>) -> Result<Vec<String>> {
    let (mut out, mut rest) = (Vec::new(), words.into_iter());
    while let Some(option) = rest.next() {
        let ends = option == "--";
        let text = if matches!(option.as_str(), "--sym-file" | "-sym-file") { rest.next() } else { None };
        match text {
            Some(text) => expanded(&text)?.into_iter().for_each(|text| out.extend([option.clone(), text])),
            None => out.push(option),
        }
        if ends {
            out.extend(rest.by_ref());
        }
    }
    Ok(out)
}

fn expanded(text: &str) -> Result<Vec<String>> {
    let Word { path, size, metadata } = word(text)?;
    let paths = if path.contains(['*', '?']) { matches(path) } else { vec![path.to_owned()] };
    if paths.is_empty() {
        return Err(problem(
            format!("`--sym-file {text}`: no file has a name like that"),
            "a file that is not there yet is named in full, with its size",
        ));
    }
    paths.iter().map(|path| full(path, size, metadata)).collect()
}

/// One file's word, with its size.
fn full(path: &str, size: Option<(u64, u64)>, metadata: bool) -> Result<String> {
    let directory = Path::new(path).parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !directory.is_dir() {
        return Err(problem(
            format!("`--sym-file {path}`: there is no directory `{}`", directory.display()),
            "make it; its files need not be there",
        ));
    }
    let there = fs::metadata(path).ok();
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        return Err(problem(format!("`--sym-file {path}` is no regular file"), HELP));
    }
    let size = size.or(there.map(|there| (there.len(), there.len())));
    let stat = if metadata { STAT } else { "" };
    match size {
        Some((_, most)) if most > MOST => Err(problem(format!("`{path}` has {most} bytes, at most {MOST} can be symbolic"), HELP)),
        Some((least, most)) if least == most => Ok(format!("{path}:{most}{stat}")),
        Some((least, most)) => Ok(format!("{path}:{least}-{most}{stat}")),
        None => Err(problem(format!("`--sym-file {path}`: there is no such file, so its size must be given"), HELP)),
    }
}

/// The regular files whose path a glob fits, sorted.
fn matches(glob: &str) -> Vec<String> {
    let mut found = vec![if glob.starts_with('/') { "/".to_owned() } else { String::new() }];
    for part in glob.split('/').filter(|part| !part.is_empty()) {
        found = found.iter().flat_map(|base| below(base, part)).collect();
    }
    found.retain(|path| Path::new(path).is_file());
    found.sort();
    found
}

/// The paths of what lies in a directory under a name like `part`.
fn below(base: &str, part: &str) -> Vec<String> {
    let joined = |name: &str| if base.is_empty() || base.ends_with('/') { format!("{base}{name}") } else { format!("{base}/{name}") };
    if !part.contains(['*', '?']) {
        return vec![joined(part)];
    }
    let directory = if base.is_empty() { OsStr::from_bytes(b".") } else { OsStr::new(base) };
    let names = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name().into_vec());
    let names = names.filter_map(|name| String::from_utf8(name).ok());
    names
        .filter(|name| part.starts_with('.') == name.starts_with('.') && fits(part.as_bytes(), name.as_bytes()))
        .map(|n| joined(&n))
        .collect()
}

/// Whether a name fits a part of a glob.
fn fits(part: &[u8], name: &[u8]) -> bool {
    match (part, name) {
        ([b'*', more @ ..], _) => (0..=name.len()).any(|i| fits(more, &name[i..])),
        ([b'?', more @ ..], [_, rest @ ..]) => fits(more, rest),
        ([a, more @ ..], [b, rest @ ..]) => a == b && fits(more, rest),
        ([], []) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_path_size_and_metadata() {
        let parsed = |text: &str| parse(Some(&text.to_owned())).map_err(|e| e.to_string());
        let file = |path: &str, size, metadata| Ok(SymFile { path: path.into(), size, metadata });
        assert_eq!(parsed("a:8"), file("a", (8, 8), false));
        assert_eq!(parsed("/x/a:b:0-16:stat"), file("/x/a:b", (0, 16), true));
        assert!(parsed("a").is_err() && parsed(":8").is_err() && parsed("a:8-1").is_err() && parsed("a:99999999").is_err());
    }

    #[test]
    fn globs_and_sizes_are_expanded() {
        let scratch = tempfile::tempdir().expect("there is room");
        let dir = scratch.path().display();
        for (name, len) in [("a.ini", 3), ("b.ini", 0), (".c.ini", 1), ("d.txt", 1)] {
            fs::write(scratch.path().join(name), vec![0; len]).expect("there is room");
        }
        let run =
            |line: String| expand(line.split(' ').map(str::to_owned).collect()).map(|words| words.join(" ")).map_err(|e| e.to_string());
        assert_eq!(run(format!("x --sym-file {dir}/?.ini --")), Ok(format!("x --sym-file {dir}/a.ini:3 --sym-file {dir}/b.ini:0 --")));
        assert_eq!(run(format!("--sym-file {dir}/new:0-2:stat")), Ok(format!("--sym-file {dir}/new:0-2:stat")));
        assert_eq!(run("-- --sym-file a*b".into()), Ok("-- --sym-file a*b".into()));
        assert!(run(format!("--sym-file {dir}/new")).is_err_and(|e| e.contains("its size must be given")));
        assert!(run(format!("--sym-file {dir}/*.no:3")).is_err_and(|e| e.contains("no file has a name like that")));
        assert!(run(format!("--sym-file {dir}:3")).is_err_and(|e| e.contains("is no regular file")));
    }

    #[test]
    fn names_fit_globs() {
        for (part, name, wanted) in [("*", "a", true), ("a*c", "abbc", true), ("a*c", "abbd", false), ("?", "", false), ("a?", "ab", true)]
        {
            assert_eq!(fits(part.as_bytes(), name.as_bytes()), wanted, "{part} {name}");
        }
    }
}
