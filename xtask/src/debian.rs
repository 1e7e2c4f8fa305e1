//! Source packages through the machine's own apt: the configured Debian sources, read as `deb-src`, with lists and downloads
//! in the cache, so neither root nor a change of the system is needed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{collections::BTreeSet, fs};

use anyhow::{Context, Result, bail};

use crate::cache::Cache;
use crate::process;

/// The unpacked source tree of Debian package `package`, patches applied; fetched once, then taken from the cache.
pub fn source(cache: &Cache, package: &str) -> Result<PathBuf> {
    let tree = cache.path("source").join(package);
    if tree.is_dir() {
        return Ok(tree);
    }
    let scratch = cache.path("source").join(format!("{package}.part"));
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    fs::create_dir_all(&scratch)?;
    fetch(&scratch, package).with_context(|| {
        format!("cannot get the Debian source package `{package}` (no network, or not Debian?); a source tree can be given instead")
    })?;
    let description = fs::read_dir(&scratch)?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .find(|path| path.extension().is_some_and(|e| e == "dsc"))
        .context("apt-get fetched no `.dsc`")?;
    // apt has checked the files against the signed lists, so the uploader's own signature is not asked for again.
    process::output(Command::new("dpkg-source").args(["--no-check", "-x"]).arg(&description).arg("tree").current_dir(&scratch))?;
    fs::rename(scratch.join("tree"), &tree)?;
    fs::remove_dir_all(&scratch)?;
    Ok(tree)
}

fn fetch(scratch: &Path, package: &str) -> Result<()> {
    let parts = scratch.join("sources");
    fs::create_dir_all(&parts)?;
    for folder in ["lists/partial", "archives/partial"] {
        fs::create_dir_all(scratch.join(folder))?;
    }
    for (number, file) in configured_sources()?.iter().enumerate() {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        let kind = if file.extension().is_some_and(|e| e == "sources") { "sources" } else { "list" };
        fs::write(parts.join(format!("{number}.{kind}")), as_source_entries(&text))?;
    }
    // The machine's hooks after an update are for its own lists.
    let configuration = format!(
        "Dir::Etc::sourcelist \"/dev/null\"; Dir::Etc::sourceparts \"{at}/sources\"; Dir::State::lists \"{at}/lists\";\n\
         Dir::Cache \"{at}\"; APT::Sandbox::User \"\";\n#clear APT::Update;\n",
        at = scratch.display()
    );
    fs::write(scratch.join("apt.conf"), configuration)?;
    let apt = |words: &[&str]| process::output(Command::new("apt-get").current_dir(scratch).args(["-q", "-c", "apt.conf"]).args(words));
    apt(&["update"])?;
    let Err(newest) = apt(&["--download-only", "source", package]) else { return Ok(()) };
    // Mirrors may lack the newest security update while they have the version of the release.
    let described = process::output(Command::new("apt-cache").current_dir(scratch).args(["-c", "apt.conf", "showsrc", package]))?;
    let mut versions = described.lines().filter_map(|line| line.strip_prefix("Version: "));
    match versions.find_map(|version| apt(&["--download-only", "source", &format!("{package}={version}")]).ok()) {
        Some(_) => Ok(()),
        None => Err(newest),
    }
}

/// The files that configure this machine's Debian repositories.
fn configured_sources() -> Result<BTreeSet<PathBuf>> {
    let entries = process::output(
        Command::new("apt-get").args(["indextargets", "--format", "$(SOURCESENTRY)", "Created-By: Packages", "Origin: Debian"]),
    )?;
    let files: BTreeSet<_> = entries.lines().filter_map(|line| line.rsplit_once(':')).map(|(file, _)| PathBuf::from(file)).collect();
    if files.is_empty() {
        bail!("apt knows no Debian repository; run `apt-get update` once");
    }
    Ok(files)
}

/// The same entries, in either of apt's formats, naming source packages instead of binary ones.
fn as_source_entries(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("deb") {
        Some(rest) if rest.starts_with([' ', '\t']) => format!("deb-src{rest}\n"),
        _ if line.starts_with("Types:") => "Types: deb-src\n".to_owned(),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::as_source_entries;

    #[test]
    fn both_formats_turn_to_sources() {
        assert_eq!(as_source_entries("deb\thttp://x y z\n# deb no"), "deb-src\thttp://x y z\n# deb no\n");
        assert_eq!(as_source_entries("Types: deb deb-src\nURIs: u\n"), "Types: deb-src\nURIs: u\n");
    }
}
