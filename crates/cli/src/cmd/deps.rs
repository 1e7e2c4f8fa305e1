//! `wryneck deps`: libraries that programs need beside the C library, built from Debian's sources so that they carry their bitcode.
//!
//! `deps/NAME/` in the cache has a library's `include`, `lib` (with `pkgconfig`) and `src`, its source, which findings show. `wryneck cc` and
//! `wryneck build` look there ([`toolchain::libraries`]). A library is built in a scratch folder and then renamed, so it is there whole or not at all.
//! Its file `recipe` has a hash of what it was built of beside its source ([`key`]); with another hash it is stale, and built again.
//! Cost: an `apt-get update`, then that of the build: zlib 20 s, libc++ a minute and 165 MB to fetch, openssl a quarter of an hour on two cores.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, thread};

use anyhow::{Context, Result};
use wryneck_confine::{Confinement, Level};

use crate::debian::Sources;
use crate::options::{self, Opt, Words};
use crate::problem::problem;
use crate::{cache, output, toolchain};

/// A library and how it is built.
struct Recipe {
    name: &'static str,
    /// Debian's source package.
    package: &'static str,
    /// The folders of the source that are needed; none: all.
    parts: &'static [&'static str],
    about: &'static str,
    /// What a shell runs in the source's folder. Afterwards `$DESTDIR$PREFIX` has `include` and `lib`. `$OLD` is [`OLD`], `$RUNTIME` the folder of our
    /// part of the C++ library, `$JOBS` how many may run at once.
    script: &'static str,
}

// One more library: a row, sorted by name. The library is static, and without assembly, which carries no bitcode.
static RECIPES: &[Recipe] = &[
    Recipe {
        name: toolchain::WHOLE_CXX,
        // The newest whose source Debian's servers still have.
        package: "llvm-toolchain-19",
        parts: &["libcxx/include", "libcxx/src", "libcxx/vendor", "libcxxabi/include"],
        about: "all of the C++ library: streams, locales, threads, files, regular expressions",
        // Exceptions and types are ours (`$RUNTIME`).
        script: r#"
v1="$DESTDIR$PREFIX/include/c++/v1"
mkdir -p "$v1" "$DESTDIR$PREFIX/lib" objects
cp -r libcxx/include/. libcxxabi/include/*.h "$RUNTIME/whole/__config_site" "$v1"
cp libcxx/vendor/llvm/default_assertion_handler.in "$v1/__assertion_handler"
ls libcxx/src/*.cpp libcxx/src/filesystem/*.cpp libcxx/src/ryu/*.cpp "$RUNTIME"/*.cc | grep -v -e /library.cc -e /new.cpp |
    V1="$v1" xargs -P "$JOBS" -n 1 sh -ec 'c++ $CFLAGS -O1 -std=c++23 -nostdinc++ -isystem "$V1" -I libcxx/src -include "$RUNTIME/whole/library.h" \
        -D_LIBCPP_BUILDING_LIBRARY -DLIBCXX_BUILDING_LIBCXXABI -c "$0" -o "objects/$(basename "$0").o"'
cc $CFLAGS -O1 -c "$RUNTIME/find_object.c" -o objects/find_object.o
ar rcs "$DESTDIR$PREFIX/lib/libc++.a" objects/*.o
"#,
    },
    Recipe {
        name: "ncurses",
        package: "ncurses",
        parts: &[],
        about: "terminals: libncursesw (as libncurses, libcurses, libtinfo and libtermcap, too), panels, menus, forms",
        // One library: a static one does not bring along those that it needs.
        script: r#"
./configure --prefix="$PREFIX" --enable-widec --without-shared --without-debug --without-ada --without-cxx-binding \
    --without-progs --without-tests --without-manpages --disable-db-install --enable-pc-files --with-pkg-config-libdir="$PREFIX/lib/pkgconfig" \
    --with-terminfo-dirs=/etc/terminfo:/lib/terminfo:/usr/share/terminfo --with-default-terminfo-dir=/usr/share/terminfo --enable-overwrite
make
make install.libs install.includes
for name in ncurses curses tinfo termcap; do ln -sf libncursesw.a "$DESTDIR$PREFIX/lib/lib$name.a"; done
for name in ncurses tinfo; do ln -sf ncursesw.pc "$DESTDIR$PREFIX/lib/pkgconfig/$name.pc"; done
"#,
    },
    Recipe {
        name: "openssl",
        package: "openssl",
        parts: &[],
        about: "libcrypto and libssl",
        script: r#"
perl ./Configure linux-x86_64 no-asm no-engine no-module no-shared no-tests --prefix="$PREFIX" --libdir=lib --openssldir=/etc/ssl
make build_libs
make install_dev DESTDIR="$DESTDIR"
"#,
    },
    Recipe {
        name: "pcre2",
        package: "pcre2",
        parts: &[],
        about: "regular expressions: libpcre2-8, libpcre2-posix",
        script: r#"
./configure --prefix="$PREFIX" --disable-shared --disable-dependency-tracking
make $OLD libpcre2-8.la libpcre2-posix.la
make $OLD install-libLTLIBRARIES install-includeHEADERS install-nodist_includeHEADERS install-pkgconfigDATA install-binSCRIPTS
"#,
    },
    Recipe {
        name: "zlib",
        package: "zlib",
        parts: &[],
        about: "compression: libz",
        script: r#"
./configure --prefix="$PREFIX" --static
make libz.a
make install
"#,
    },
];

/// Debian's patches touch no input of the autotools, whatever the time stamps say.
const OLD: &str = "AUTOCONF=: AUTOMAKE=: ACLOCAL=: AUTOHEADER=: MAKEINFO=:";

#[derive(Default)]
struct Args {
    source: Option<PathBuf>,
    again: bool,
}

static OPTIONS: &[Opt<Args>] = &[
    Opt {
        name: "--source",
        value: "DIR",
        help: "an unpacked source tree instead of Debian's package, for one LIBRARY",
        set: |a, v| {
            a.source = Some(v.into());
            Ok(())
        },
    },
    Opt {
        name: "--again",
        value: "",
        help: "build what is there already",
        set: |a, _| {
            a.again = true;
            Ok(())
        },
    },
];

const SYNOPSIS: &str = "usage: wryneck deps [OPTION]… [LIBRARY]…\n\n\
    Fetches the Debian sources of libraries with apt, builds them statically with `wryneck build`, and keeps them in the cache. There\n\
    `wryneck cc` and `wryneck build` find them without a flag. Without LIBRARY it lists those that it can build. A library's build has no\n\
    network, and writes to its own folder only, where the machine can confine it. Options:\n\n";

const EXAMPLES: &str = "\nExamples:\n\
    \x20 wryneck deps ncurses && wryneck build -- ./configure && wryneck build -- make\n\
    \x20 wryneck deps pcre2 zlib\n\
    \x20 wryneck deps --source ~/src/zlib-1.3 zlib      without a network\n";

pub fn help() -> String {
    format!("{SYNOPSIS}{}{EXAMPLES}", options::help(OPTIONS))
}

pub fn run(words: Vec<String>) -> Result<u8> {
    let (mut args, mut words) = (Args::default(), Words::new(words));
    options::parse(OPTIONS, &mut args, &mut words)?;
    let names = words.rest();
    let known = || RECIPES.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    let recipe = |name: &String| {
        RECIPES.iter().find(|row| row.name == name).ok_or_else(|| {
            problem(
                format!("`{name}` is not one of the libraries that wryneck can build: {}", known()),
                "build it with `wryneck build`, and name its folders to the compiler with `-I` and `-L`",
            )
        })
    };
    let recipes = names.iter().map(recipe).collect::<Result<Vec<_>>>()?;
    if args.source.is_some() && recipes.len() != 1 {
        return Err(problem("`--source` is for one library", "write `wryneck deps --source DIR zlib`"));
    }
    let folder = cache::folder(toolchain::LIBRARIES)?.canonicalize()?;
    if recipes.is_empty() {
        list(&folder)?;
        return Ok(0);
    }
    let scratch = cache::scratch()?;
    let mut sources = None;
    for recipe in recipes {
        let place = folder.join(recipe.name);
        let key = key(recipe)?;
        match state(&place, &key) {
            State::Built if !args.again => {
                output::note(format!("`{}` is there already: `{}`", recipe.name, place.display()));
                continue;
            }
            State::Stale => output::note(format!("`{}` is there, of another recipe; it is built again", recipe.name)),
            State::Built | State::Missing => {}
        }
        let work = scratch.path().join(recipe.name);
        let (tree, build) = (work.join("src"), work.join("build"));
        fs::create_dir(&work)?;
        match &args.source {
            Some(given) if recipe.parts.is_empty() => copied(given, &tree)?,
            Some(given) => recipe.parts.iter().try_for_each(|part| {
                fs::create_dir_all(tree.join(part).parent().unwrap_or(&tree))?;
                copied(&given.join(part), &tree.join(part))
            })?,
            None => {
                output::note(format!("fetching the Debian source of `{}`", recipe.name));
                fetch(&mut sources, scratch.path(), recipe, &tree)?;
            }
        }
        copied(&tree, &build)?;
        let made = make(recipe, &folder, &work)?;
        fs::write(made.join(KEY), key)?;
        install(&made, &tree, &place, &work)?;
        output::note(format!("`{}` is in `{}`", recipe.name, place.display()));
    }
    Ok(0)
}

fn list(folder: &Path) -> Result<()> {
    output::write(|out| {
        RECIPES.iter().try_for_each(|row| {
            let state = match state(&folder.join(row.name), &key(row).map_err(std::io::Error::other)?) {
                State::Built => "built",
                State::Stale => "stale",
                State::Missing => "",
            };
            writeln!(out, "{:<10} {state:<6} {}", row.name, row.about)
        })
    })
}

/// A file in the folder of a library: its [`key`] when it was built.
const KEY: &str = "recipe";

enum State {
    Missing,
    Built,
    /// Of another recipe, or of other files of ours.
    Stale,
}

fn state(place: &Path, key: &str) -> State {
    match fs::read_to_string(place.join(KEY)) {
        _ if !place.join("lib").is_dir() => State::Missing,
        Ok(known) if known == key => State::Built,
        Ok(_) | Err(_) => State::Stale,
    }
}

/// A hash of a recipe, and of our part of the C++ library if that is built with it.
fn key(recipe: &Recipe) -> Result<String> {
    let mut parts: Vec<Vec<u8>> = [recipe.package, recipe.script, OLD].map(|text| text.into()).into();
    parts.extend(recipe.parts.iter().map(|part| part.as_bytes().to_vec()));
    if recipe.name == toolchain::WHOLE_CXX {
        read_below(&toolchain::cxx()?, &mut parts)?;
    }
    Ok(cache::digest(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

/// Names and contents of all files in a folder, in order.
fn read_below(folder: &Path, parts: &mut Vec<Vec<u8>>) -> Result<()> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let mut paths = list().with_context(|| format!("cannot list `{}`", folder.display()))?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read_below(&path, parts)?;
        } else {
            parts.push(path.file_name().unwrap_or_default().as_encoded_bytes().to_vec());
            parts.push(fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?);
        }
    }
    Ok(())
}

/// Warns that programs get a C++ library which is not the one that would be built now.
pub fn warn_of_stale_cxx() -> Result<()> {
    let Some(recipe) = RECIPES.iter().find(|row| row.name == toolchain::WHOLE_CXX) else { return Ok(()) };
    let place = cache::folder(toolchain::LIBRARIES)?.join(recipe.name);
    if place.join("lib").is_dir() && matches!(state(&place, &key(recipe)?), State::Stale) {
        let what = "was built by another recipe, or with other sources of wryneck's";
        output::say("warning", format!("the C++ library of `wryneck deps {0}` {what}; `wryneck deps {0}` builds it again", recipe.name));
    }
    Ok(())
}

/// Fetches a source; the lists of packages only once.
fn fetch(sources: &mut Option<Sources>, scratch: &Path, recipe: &Recipe, tree: &Path) -> Result<()> {
    let (name, package) = (recipe.name, recipe.package);
    let unpack = |sources: &Sources| match recipe.parts {
        [] => sources.unpack(package, tree),
        parts => sources.unpack_parts(package, parts, tree),
    };
    let fetched = match sources {
        Some(sources) => unpack(sources),
        None => Sources::new(scratch.join("apt")).and_then(|new| unpack(sources.insert(new))),
    };
    fetched.map_err(|why| {
        problem(
            format!("the source of `{name}` cannot be had: {why:#}"),
            format!("unpack a release of it, and write `wryneck deps --source DIR {name}`"),
        )
    })
}

/// Copies a folder with its times and links.
fn copied(from: &Path, to: &Path) -> Result<()> {
    let cannot = || format!("cannot copy `{}`", from.display());
    if !from.is_dir() {
        return Err(problem(format!("`{}` is not a folder", from.display()), "`--source` takes an unpacked source tree"));
    }
    let done = Command::new("cp").arg("-a").arg("--").arg(from).arg(to).stdin(Stdio::null()).status().with_context(cannot)?;
    done.success().then_some(()).with_context(cannot)
}

/// Builds a library in the folder `work`; the folder that has it then.
fn make(recipe: &Recipe, folder: &Path, work: &Path) -> Result<PathBuf> {
    let (build, place) = (work.join("build"), folder.join(recipe.name));
    // In the build's folder: a confined build writes nowhere else.
    let installed = build.join("wryneck-installed");
    let log = folder.join(format!("{}.log", recipe.name));
    let file = fs::File::create(&log).with_context(|| format!("cannot write `{}`", log.display()))?;
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let source = place.join("src");
    let mut command = Command::new(env::current_exe().context("cannot find this executable")?);
    command.arg("build");
    let confinable = match folder.starts_with("/tmp") {
        true => Err("the cache is in `/tmp`, of which a confined build has one of its own".to_owned()),
        false => Confinement::probe_level_in(Level::Full, work).map_err(|why| why.to_string()),
    };
    match confinable {
        Ok(_) => {
            output::note(format!("building `{}`", recipe.name));
            command.arg("--confined");
        }
        Err(why) => output::note(format!("building `{}`, which can do what you can, because it cannot be confined: {why}", recipe.name)),
    }
    command.args(["--", "sh", "-e", "-c", &recipe.script.replace("$OLD", OLD)]).current_dir(&build);
    command.env("PREFIX", &place).env("DESTDIR", &installed).env("RUNTIME", toolchain::cxx()?).env("JOBS", jobs.to_string());
    command.env("CFLAGS", format!("-O2 -w -ffile-prefix-map={}={}", build.display(), source.display()));
    if env::var_os("MAKEFLAGS").is_none() {
        command.env("MAKEFLAGS", format!("-j{jobs}"));
    }
    // A build may fail for what this machine's other compilers were told.
    for name in ["CPPFLAGS", "CXXFLAGS", "LDFLAGS", "LIBS"] {
        command.env_remove(name);
    }
    let status = command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).status().context("cannot start the build")?;
    let made = installed.join(place.strip_prefix("/").context("the cache is no absolute path")?);
    if !status.success() || !made.join("lib").is_dir() {
        return Err(problem(
            format!("`{}` does not build; its log ends so:\n{}", recipe.name, end(&log)),
            format!("the whole log is `{}`", log.display()),
        ));
    }
    Ok(made)
}

/// The last lines of a log.
fn end(log: &Path) -> String {
    const SHOWN: usize = 15;
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}

/// Puts a library into its place, with its source, and what was there away.
fn install(made: &Path, source: &Path, place: &Path, work: &Path) -> Result<()> {
    let put = || -> std::io::Result<()> {
        fs::rename(source, made.join("src"))?;
        if place.exists() {
            fs::rename(place, work.join("old"))?;
        }
        fs::rename(made, place)
    };
    put().with_context(|| format!("cannot write `{}`", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_folder_counts() {
        let dir = tempfile::tempdir().expect("there is room");
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("there is room");
        let read = || {
            let mut parts = Vec::new();
            read_below(dir.path(), &mut parts).expect("it is there");
            parts
        };
        fs::create_dir(dir.path().join("whole")).expect("there is room");
        let mut seen = Vec::new();
        for (name, text) in [("a.cc", "1"), ("whole/b.h", "1"), ("whole/b.h", "2"), ("whole/a.cc", "2"), ("c", "")] {
            write(name, text);
            assert!(!seen.contains(&read()), "{name} {text}");
            seen.push(read());
        }
        let keys: std::collections::BTreeSet<_> = RECIPES.iter().map(|row| key(row).expect("the repository is there")).collect();
        assert_eq!(keys.len(), RECIPES.len());
    }
}
