//! The Debian packages that `xtask corpus` builds, and how.

/// A Debian source package.
#[derive(Debug)]
pub struct Package {
    pub name: &'static str,
    pub recipe: Recipe,
    /// The programs that are kept; none is all.
    pub programs: &'static [&'static str],
    /// Libraries that `wryneck deps` builds.
    pub needs: &'static [&'static str],
    /// Files of the build that the programs read, kept beside them.
    pub keeps: &'static [&'static str],
}

#[derive(Debug)]
pub enum Recipe {
    /// A configure script that autoconf made (or one like it), then make.
    Autoconf(Autoconf),
    /// What a shell runs in the source's folder, with CFLAGS set, where Debian's own build needs tools that are not asked for here.
    Script(&'static str),
}

#[derive(Debug)]
pub struct Autoconf {
    /// What configure is told: nothing that a static single-threaded program cannot have, no libraries beside libc.
    pub configure: &'static [&'static str],
    /// Appended to the configured header.
    pub config: Option<(&'static str, &'static str)>,
    /// What is made, one make after the other; none is make's own default.
    pub targets: &'static [&'static str],
}

impl Autoconf {
    const fn new(configure: &'static [&'static str]) -> Autoconf {
        Autoconf { configure, config: None, targets: &[] }
    }
}

impl Package {
    const fn new(name: &'static str, recipe: Autoconf) -> Package {
        Package { name, recipe: Recipe::Autoconf(recipe), programs: &[], needs: &[], keeps: &[] }
    }

    const fn script(name: &'static str, script: &'static str, programs: &'static [&'static str]) -> Package {
        Package { name, recipe: Recipe::Script(script), programs, needs: &[], keeps: &[] }
    }
}

/// What configure scripts made by autoconf are told beside.
pub const AUTOCONF: &[&str] = &["--build=x86_64-pc-linux-musl", "--disable-dependency-tracking", "--disable-nls"];

// One more package: a row (sorted by name) and, in `bench/programs.rs`, what its programs are run on.
pub static PACKAGES: &[Package] = &[
    Package { programs: &["bc", "dc"], ..Package::new("bc", Autoconf::new(&[])) },
    Package::script("busybox", BUSYBOX, &["busybox_unstripped"]),
    Package::script("cjson", "cc $CFLAGS -o cjson-afl cJSON.c fuzzing/afl.c -lm", &["cjson-afl"]),
    Package::new(
        "coreutils",
        Autoconf {
            // Code that picks instructions by asking the CPU, in assembly; without it the portable code runs.
            config: Some(("lib/config.h", "\n#undef USE_AVX2_WC_LINECOUNT\n#undef USE_PCLMUL_CRC32\n")),
            targets: &["generated-headers", "PROGRAMS"],
            ..Autoconf::new(&[
                "--disable-acl",
                "--disable-libcap",
                "--disable-threads",
                "--disable-xattr",
                "--enable-no-install-program=stdbuf",
                "--without-libgmp",
                "--without-openssl",
                "--without-selinux",
            ])
        },
    ),
    Package::script("expat", EXPAT, &["xmlwf"]),
    Package {
        programs: &["file"],
        needs: &["zlib"],
        keeps: &["magic/magic.mgc"],
        ..Package::new("file", Autoconf::new(&["--disable-shared"]))
    },
    Package::new("grep", Autoconf::new(&["--disable-perl-regexp", "--disable-threads"])),
    Package::new("gzip", Autoconf::new(&["--disable-threads"])),
    Package::script("jq", JQ, &["jq"]),
    Package { needs: &["ncurses"], ..Package::new("less", Autoconf { targets: &["less"], ..Autoconf::new(&[]) }) },
    Package { needs: &["zlib"], keeps: &["pngtest.png"], ..Package::script("libpng1.6", LIBPNG, &["pngtest", "readpng"]) },
    Package::script("libyaml", LIBYAML, &["run-emitter", "run-loader", "run-parser"]),
    Package::script("lua5.4", LUA, &["lua", "luac"]),
    Package::new("mawk", Autoconf::new(&[])),
    Package { needs: &["pcre2", "zlib"], ..Package::script("nginx", "./configure\nmake -j2 -f objs/Makefile binary", &["nginx"]) },
    Package::script("redis", REDIS, &["redis-cli", "redis-server"]),
    Package::new("sed", Autoconf::new(&["--disable-acl", "--disable-threads", "--without-selinux"])),
    Package::new(
        "shadow",
        Autoconf::new(&[
            "--disable-shared", "--disable-man", "--without-acl", "--without-attr", "--without-audit", "--without-btrfs",
            "--without-libpam", "--without-nscd", "--without-selinux", "--without-sssd", "--without-tcb",
        ]),
    ),
    Package::script("sqlite3", SQLITE, &["sqlite3"]),
    Package::new(
        "tar",
        Autoconf::new(&["--disable-acl", "--disable-threads", "--without-posix-acls", "--without-selinux", "--without-xattrs"]),
    ),
    Package::script("tinyxml2", TINYXML2, &["tinyxml2-parse"]),
    Package::new("zlib", Autoconf { targets: &["example", "minigzip"], ..Autoconf::new(&["--static"]) }),
];

/// The default configuration, linked statically. What its build itself runs is no program to explore.
const BUSYBOX: &str = r#"
make HOSTCC=/usr/bin/gcc defconfig
sed -i -e 's/^# CONFIG_STATIC is not set/CONFIG_STATIC=y/' -e "s|^CONFIG_EXTRA_CFLAGS=.*|CONFIG_EXTRA_CFLAGS=\"$CFLAGS\"|" .config
yes '' | make HOSTCC=/usr/bin/gcc oldconfig
make -j2 HOSTCC=/usr/bin/gcc CC=cc SKIP_STRIP=y busybox_unstripped
"#;

/// A macro that Debian's patches expect to have a value, which CMake gives none.
const EXPAT: &str = r#"
cd expat
sed -i 's/#cmakedefine XML_DTD/#cmakedefine XML_DTD 1/' expat_config.h.cmake
cmake -B out -DEXPAT_SHARED_LIBS=OFF -DEXPAT_BUILD_DOCS=OFF -DEXPAT_BUILD_TESTS=OFF -DEXPAT_BUILD_EXAMPLES=OFF
make -C out -j2
"#;

/// Its configure script would have to be made by autoconf first; these are the functions that it would find in musl.
const JQ: &str = r#"
cd src
sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/\\n"/' builtin.jq > builtin.inc
echo '#define JQ_VERSION "1.6"' > version.h
has=
for name in ACOS ACOSH ALLOCA ALLOCA_H ASIN ASINH ATAN ATAN2 ATANH CBRT CEIL COPYSIGN COS COSH DREM EXP EXP10 EXP2 EXPM1 FABS FDIM FLOOR FMA   FMAX FMIN FMOD FREXP GMTIME GMTIME_R HYPOT ISATTY J0 J1 LDEXP LGAMMA LGAMMA_R LOCALTIME_R LOG LOG10 LOG1P LOG2 LOGB MEMMEM MKSTEMP MKTIME MODF   NEARBYINT NEXTAFTER NEXTTOWARD POW PTHREAD_KEY_CREATE RINT ROUND SCALB SCALBLN SETLOCALE SIN SINH SQRT STRFTIME STRPTIME TAN TANH TGAMMA   TIMEGM TM_TM_GMT_OFF TRUNC Y0 Y1; do has="$has -DHAVE_$name"; done
cc $CFLAGS -D_GNU_SOURCE -DIEEE_8087 $has -I. -I.. -o jq $(ls *.c | grep -v inject_errors) -lm -lpthread
"#;

/// Beside libpng's own test, a small program of its contributors that reads an image from standard input.
const LIBPNG: &str = r#"
./configure --disable-shared --disable-dependency-tracking
make -j2 AUTOCONF=: AUTOMAKE=: ACLOCAL=: AUTOHEADER=: MAKEINFO=: libpng16.la pngtest
cc $CFLAGS -I. -o readpng contrib/libtests/readpng.c .libs/libpng16.a -lz -lm
"#;

const LIBYAML: &str = "cmake -B out -DBUILD_SHARED_LIBS=OFF\nmake -C out -j2";

/// Debian's makefile is for libtool, and its paths for a folder that its packaging makes.
const LUA: &str = r#"
patch -Rsp1 < debian/patches/0002-lua-modules-paths.patch
patch -Rsp1 < debian/patches/0001-build-system.patch
make -C src -j2 MYCFLAGS="$CFLAGS" posix
"#;

/// The C library's allocator: that of jemalloc hides where blocks end.
const REDIS: &str = "make -C src -j2 MALLOC=libc redis-server redis-cli";

/// The amalgamation and the shell, compiled at once: configure's own rules link a shared library first.
const SQLITE: &str = r#"
./configure --disable-load-extension --disable-readline --disable-shared --disable-tcl --disable-threadsafe
make sqlite3.c shell.c
cc $CFLAGS -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -o sqlite3 shell.c sqlite3.c
"#;

/// The library, and a program that parses its standard input.
const TINYXML2: &str = r#"
cat > tinyxml2-parse.cc <<'END'
#include "tinyxml2.h"
#include <cstdio>
int main() {
    char text[4096];
    tinyxml2::XMLDocument document;
    return document.Parse(text, fread(text, 1, sizeof text, stdin));
}
END
c++ $CFLAGS -I. -o tinyxml2-parse tinyxml2-parse.cc tinyxml2.cpp
"#;
