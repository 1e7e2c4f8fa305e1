//! Source packages through the machine's own apt: the configured Debian sources, read as `deb-src`, with lists and downloads in a folder
//! of ours, so neither root nor a change of the system is needed.
//!
//! `xtask` includes this file, too: it needs nothing else of this crate. Cost: one `apt-get update`, some ten seconds.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The lists of source packages.
pub struct Sources {
    folder: PathBuf,
}

impl Sources {
    /// Fetches the lists into `folder`, which is made.
    pub fn new(folder: PathBuf) -> Result<Sources> {
        let parts = folder.join("sources");
        for name in ["sources", "lists/partial", "archives/partial"] {
            fs::create_dir_all(folder.join(name)).with_context(|| format!("cannot write to `{}`", folder.display()))?;
        }
        for (number, file) in configured_sources()?.iter().enumerate() {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
            let kind = if file.extension().is_some_and(|e| e == "sources") { "sources" } else { "list" };
            fs::write(parts.join(format!("{number}.{kind}")), as_source_entries(&text))?;
        }
        // The machine's hooks after an update are for its own lists.
        let configuration = format!(
            "Dir::Etc::sourcelist \"/dev/null\"; Dir::Etc::sourceparts \"{at}/sources\"; Dir::State::lists \"{at}/lists\";\n\
             Dir::Cache \"{at}\"; APT::Sandbox::User \"\"; APT::Update::Error-Mode \"any\";\n#clear APT::Update::Post-Invoke;\n\
             #clear APT::Update::Post-Invoke-Success;\n#clear APT::Update::Pre-Invoke;\n",
            at = folder.display()
        );
        fs::write(folder.join("apt.conf"), configuration)?;
        let sources = Sources { folder };
        sources.apt(&["update"]).context("apt cannot fetch the lists of source packages (no network?)")?;
        Ok(sources)
    }

    /// Unpacks the source of `package`, patches applied, as the folder `tree`, which is not there yet.
    pub fn unpack(&self, package: &str, tree: &Path) -> Result<()> {
        let description = self.fetched(package, |name| name.ends_with(".dsc"))?;
        // apt has checked the files against the signed lists, so the uploader's own signature is not asked for again.
        output(Command::new("dpkg-source").args(["--no-check", "-x"]).arg(&description).arg(tree).current_dir(&self.folder))?;
        Ok(())
    }

    /// Unpacks these folders of the source of `package` alone, as the folder `tree`, without Debian's patches.
    #[allow(dead_code, reason = "not in `xtask`")]
    pub fn unpack_parts(&self, package: &str, parts: &[&str], tree: &Path) -> Result<()> {
        let archive = self.fetched(package, |name| name.contains(".orig.tar."))?;
        fs::create_dir_all(tree)?;
        let mut tar = Command::new("tar");
        tar.args(["--strip-components=1", "--wildcards", "-xf"]).arg(archive).arg("-C").arg(tree);
        output(tar.args(parts.iter().map(|part| format!("*/{part}"))))?;
        Ok(())
    }

    /// Downloads the source of `package`; the file of it whose name is wanted.
    fn fetched(&self, package: &str, is_wanted: impl Fn(&str) -> bool) -> Result<PathBuf> {
        self.download(package).with_context(|| format!("apt cannot fetch the Debian source package `{package}`"))?;
        let of_the_package = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.strip_prefix(package).is_some_and(|rest| rest.starts_with('_')) && is_wanted(name)
        };
        let found = fs::read_dir(&self.folder)?.filter_map(|entry| entry.ok().map(|e| e.path())).find(of_the_package);
        found.with_context(|| format!("apt-get fetched only a part of `{package}`"))
    }

    fn download(&self, package: &str) -> Result<()> {
        let Err(newest) = self.apt(&["--download-only", "source", package]) else { return Ok(()) };
        // Mirrors may lack the newest security update while they have the version of the release.
        let mut described = Command::new("apt-cache");
        let described = output(described.current_dir(&self.folder).args(["-c", "apt.conf", "showsrc", package])).unwrap_or_default();
        let mut versions = described.lines().filter_map(|line| line.strip_prefix("Version: "));
        match versions.find_map(|version| self.apt(&["--download-only", "source", &format!("{package}={version}")]).ok()) {
            Some(_) => Ok(()),
            None => Err(newest),
        }
    }

    fn apt(&self, words: &[&str]) -> Result<String> {
        output(Command::new("apt-get").current_dir(&self.folder).args(["-q", "-c", "apt.conf"]).args(words))
    }
}

/// The files that configure this machine's Debian repositories.
fn configured_sources() -> Result<BTreeSet<PathBuf>> {
    let entries =
        output(Command::new("apt-get").args(["indextargets", "--format", "$(SOURCESENTRY)", "Created-By: Packages", "Origin: Debian"]))?;
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

/// Runs a tool to its end; what it printed.
fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let out = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{name}` (is this Debian, with `dpkg-dev`?)"))?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr);
        let lines: Vec<&str> = said.lines().collect();
        bail!("`{name}` failed ({}):\n{}", out.status, lines[lines.len().saturating_sub(8)..].join("\n"));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
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
