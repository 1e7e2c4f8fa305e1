//! The libraries, and how their sources are compiled with a target, without their own builds.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub struct Library {
    pub name: &'static str,
    /// The Debian source package.
    pub package: &'static str,
    /// The target, in `benches/fuzz`; a line of it, `//@ seed: …` or `//@ seed-hex: …`, is the seed.
    pub target: &'static str,
    /// Sources below the package's folder.
    sources: &'static [&'static str],
    /// Flags of the preprocessor; `{}` is the package's folder.
    flags: &'static str,
    /// Files that the build of the package would write.
    writes: &'static [(&'static str, &'static str)],
}

// One more library: a row, sorted by name.
pub const LIBRARIES: &[Library] = &[
    Library { name: "cjson", package: "cjson", target: "cjson.c", sources: &["cJSON.c"], flags: "-I{}", writes: &[] },
    Library {
        name: "expat",
        package: "expat",
        target: "expat.c",
        sources: &["expat/lib/xmlparse.c", "expat/lib/xmlrole.c", "expat/lib/xmltok.c"],
        flags: "-I{}/expat/lib -DXML_DTD=1 -DXML_NS=1 -DXML_CONTEXT_BYTES=1024 -DBYTEORDER=1234 -DXML_DEV_URANDOM",
        writes: &[("expat_config.h", "")],
    },
    Library {
        name: "jq",
        package: "jq",
        target: "jq.c",
        sources: &["src/jv.c", "src/jv_alloc.c", "src/jv_aux.c", "src/jv_dtoa.c", "src/jv_parse.c", "src/jv_print.c", "src/jv_unicode.c"],
        flags: "-I{}/src -D_GNU_SOURCE -DIEEE_8087 -DHAVE_PTHREAD_KEY_CREATE",
        writes: &[],
    },
    Library {
        name: "libyaml",
        package: "libyaml",
        target: "libyaml.c",
        sources: &["src/api.c", "src/emitter.c", "src/parser.c", "src/reader.c", "src/scanner.c", "src/writer.c"],
        flags: "-I{}/include -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 -DYAML_VERSION_STRING=\"0.2.5\"",
        writes: &[],
    },
    Library { name: "tinyxml2", package: "tinyxml2", target: "xml.cc", sources: &["tinyxml2.cpp"], flags: "-I{}", writes: &[] },
    Library {
        name: "zlib",
        package: "zlib",
        target: "zlib.c",
        sources: &["adler32.c", "crc32.c", "inffast.c", "inflate.c", "inftrees.c", "zutil.c"],
        flags: "-I{} -DHAVE_UNISTD_H",
        writes: &[],
    },
];

impl Library {
    pub fn is_cxx(&self) -> bool {
        !self.target.ends_with(".c")
    }

    /// Its sources, and the flags that they need. What its build would write is written to `dir`.
    pub fn prepared(&self, tree: &Path, dir: &Path) -> Result<(Vec<PathBuf>, Vec<String>)> {
        for (name, text) in self.writes {
            fs::write(dir.join(name), text)?;
        }
        let mut flags: Vec<String> = self.flags.split(' ').map(|flag| flag.replace("{}", &tree.display().to_string())).collect();
        flags.push(format!("-I{}", dir.display()));
        Ok((self.sources.iter().map(|source| tree.join(source)).collect(), flags))
    }

    /// The seed that a target names.
    pub fn seed(&self, target: &str) -> Result<Vec<u8>> {
        let named = |key: &str| target.lines().find_map(|line| line.strip_prefix(key));
        if let Some(text) = named("//@ seed: ") {
            return Ok(text.as_bytes().to_vec());
        }
        let digits = named("//@ seed-hex: ").with_context(|| format!("`{}` has no seed", self.target))?;
        let pairs = digits.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair)?, 16).context("not hexadecimal"));
        pairs.collect()
    }
}
