//! What is explored by the builds of two commits.

use super::super::{speed, twenty};
use crate::cmd::bench::explore;

/// Which explorations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Set {
    /// Small explorations of all kinds: those of `--before`.
    Rows,
    /// The programs of `gate twenty`, each on its words.
    Twenty,
    /// The pairs of a program and a rule of `bench verify --sample 40`. They need `cargo xtask corpus coreutils --all`.
    Pairs,
    /// The programs of `gate twenty` as machine code, under the rule `open-close`.
    Machine,
    /// The rows of `gate speed` on bitcode and C, to their end: how many instructions of the host the tool executes. They need valgrind.
    Speed,
}

/// One exploration of a set.
pub struct Row {
    /// `run`, `verify`, or `all` for `verify` of all paths.
    pub command: &'static str,
    /// As it is named in the folder of programs.
    pub program: String,
    pub words: &'static [&'static str],
    pub rule: Option<&'static str>,
    pub is_machine_code: bool,
    /// With what is known of gnulib's functions.
    pub has_summaries: bool,
    /// More options of the tool, of the set `speed` alone.
    pub options: &'static [&'static str],
}

/// The sample of `bench verify --sample 40`, as in docs/results/verify.jsonl. A list, since a screening that takes other programs draws others.
const PAIRS: [(&str, &str); 40] = [
    ("[", "memory-leak"),
    ("base64", "data-loss"),
    ("chgrp", "open-close"),
    ("chown", "memory-leak"),
    ("cksum", "file-access"),
    ("csplit", "assertion"),
    ("date", "memory-leak"),
    ("date", "open-close"),
    ("df", "assertion"),
    ("df", "file-access"),
    ("dir", "assertion"),
    ("dircolors", "assertion"),
    ("dircolors", "memory-leak"),
    ("dirname", "file-access"),
    ("echo", "file-access"),
    ("expand", "data-loss"),
    ("expr", "open-close"),
    ("factor", "open-close"),
    ("fold", "file-access"),
    ("fold", "open-close"),
    ("link", "data-loss"),
    ("mkdir", "data-loss"),
    ("od", "data-loss"),
    ("paste", "open-close"),
    ("pathchk", "file-access"),
    ("printenv", "file-access"),
    ("pwd", "memory-leak"),
    ("pwd", "open-close"),
    ("readlink", "open-close"),
    ("realpath", "memory-leak"),
    ("realpath", "open-close"),
    ("rmdir", "open-close"),
    ("sha384sum", "file-access"),
    ("sha512sum", "open-close"),
    ("shred", "data-loss"),
    ("stat", "assertion"),
    ("stty", "data-loss"),
    ("tee", "data-loss"),
    ("test", "open-close"),
    ("unexpand", "data-loss"),
];

/// Of executables, whose paths cost more.
const SMALL: &[&str] = &["--sym-arg", "1", "--sym-stdin", "1"];
/// The rule of `verify` where a set names none.
const RULE: &str = "open-close";

impl Set {
    /// As in the results.
    pub fn word(self) -> &'static str {
        match self {
            Set::Rows => "rows",
            Set::Twenty => "twenty",
            Set::Pairs => "pairs",
            Set::Machine => "machine",
            Set::Speed => "speed",
        }
    }

    /// Instructions of all paths after which a row ends, where it has not before: those of some seconds. The small ones come to their end.
    pub fn bound(self) -> Option<u64> {
        match self {
            Set::Rows | Set::Speed => None,
            Set::Twenty | Set::Pairs | Set::Machine => Some(2_000_000),
        }
    }

    pub fn rows(self) -> Vec<Row> {
        let row = |command, program: String, words, rule| Row {
            command,
            program,
            words,
            rule,
            is_machine_code: false,
            has_summaries: false,
            options: &[],
        };
        match self {
            Set::Rows => {
                let of = |command: &str| (command != "run").then_some(RULE);
                super::ROWS.iter().map(|(command, program, words)| row(command, (*program).to_owned(), words, of(command))).collect()
            }
            Set::Twenty => twenty::chosen(&[]).map(|name| row("run", format!("{name}.bc"), &twenty::INPUT, None)).collect(),
            Set::Pairs => {
                let of = |(name, rule): (&str, &'static str)| Row {
                    has_summaries: true,
                    ..row("verify", format!("{name}.bc"), &explore::INPUT, Some(rule))
                };
                PAIRS.into_iter().map(of).collect()
            }
            Set::Machine => {
                let of = |name: &str| Row { is_machine_code: true, ..row("verify", name.to_owned(), SMALL, Some(RULE)) };
                twenty::chosen(&[]).map(of).collect()
            }
            Set::Speed => {
                let of = |(program, options, words): speed::Row<'_>| Row { options, ..row("run", program.to_owned(), words, None) };
                let symbolic = speed::SYMBOLIC.into_iter().map(|(row, _)| row);
                [speed::EMPTY].into_iter().chain(speed::CONCRETE).chain(symbolic).chain([speed::MATCHER]).map(of).collect()
            }
        }
    }
}
