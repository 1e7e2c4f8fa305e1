//! Documents: every relative link leads to a file and, after a `#`, to a heading; every citation `docs/design/NNN` names a decision.
//!
//! Links in code blocks are text. Headings get the names that GitHub gives them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// What is wrong in the documents of the workspace at `root`, as `path:line: link: text`.
pub fn complaints(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/design"] {
        for file in documents(&root.join(folder))? {
            let path = file.strip_prefix(root).expect("listed below it").to_string_lossy().into_owned();
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{path}`"))?;
            found.extend(
                links(&text)
                    .into_iter()
                    .filter(|(_, link)| !leads(&file, &text, link))
                    .map(|(line, link)| format!("{path}:{line}: link: `{link}` leads nowhere")),
            );
            found.extend(citations(root, &path, &text));
        }
    }
    Ok(found)
}

/// Citations of design decisions that are not there.
pub fn citations(root: &Path, path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        for rest in words.split("docs/design/").skip(1) {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if !number.is_empty() && !is_decision(root, &number) {
                found.push(format!("{path}:{line}: citation: there is no decision `{number}`"));
            }
        }
    }
    found
}

fn is_decision(root: &Path, number: &str) -> bool {
    let prefix = format!("{number}-");
    documents(&root.join("docs/design"))
        .is_ok_and(|files| files.iter().any(|f| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&prefix))))
}

fn documents(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    files.retain(|file| file.extension().is_some_and(|e| e == "md"));
    files.sort();
    Ok(files)
}

/// The relative links of a document, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, words) in outside_of_code(text) {
        for rest in words.split("](").skip(1) {
            let link = rest.split(')').next().unwrap_or_default();
            if !link.contains("://") {
                found.push((line, link.to_owned()));
            }
        }
    }
    found
}

/// Numbered lines that are not in a code block.
fn outside_of_code(text: &str) -> Vec<(usize, &str)> {
    let mut inside = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("```") {
            inside = !inside;
        } else if !inside {
            found.push((number, line));
        }
    }
    found
}

fn leads(from: &Path, own: &str, link: &str) -> bool {
    let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
    let target = from.parent().expect("a file is in a folder").join(file);
    let Some(heading) = heading else { return target.exists() };
    if file.is_empty() {
        return has_heading(own, heading);
    }
    fs::read_to_string(target).is_ok_and(|text| has_heading(&text, heading))
}

fn has_heading(text: &str, name: &str) -> bool {
    outside_of_code(text)
        .iter()
        .filter(|(_, line)| line.starts_with('#'))
        .any(|(_, line)| heading_name(line.trim_start_matches('#').trim()) == name)
}

/// A heading as GitHub names it in links: lower case, punctuation dropped, spaces as hyphens.
fn heading_name(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_citations_can_be_broken() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let root = folder.path();
        fs::create_dir_all(root.join("docs/design")).expect("made");
        fs::write(root.join("docs/design/001-first.md"), "# First: `gate a --b`\n").expect("written");
        let good = "[a](docs/design/001-first.md#first-gate-a---b) docs/design/001\n```\n[b](none)\n```\n[own](#here)\n# Here\n[web](https://example.org/x)\n";
        fs::write(root.join("README.md"), good).expect("written");
        assert_eq!(complaints(root).expect("readable"), [""; 0]);
        fs::write(root.join("README.md"), "x\n[a](none.md) [b](#none) docs/design/002\n").expect("written");
        let found = complaints(root).expect("readable");
        let whole = [
            "README.md:2: link: `none.md` leads nowhere",
            "README.md:2: link: `#none` leads nowhere",
            "README.md:2: citation: there is no decision `002`",
        ];
        assert_eq!(found, whole);
    }
}
