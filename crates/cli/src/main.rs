//! The wryneck command: one file per subcommand under `cmd/`.
//!
//! Reading order: [`args`] (what is typed) and [`symbolic`] (symbolic input), [`cmd`] (what is done), [`build`] (source to IR file),
//! [`program`] (IR files to a program), [`coverage`], [`folder`] (the run folder, written and read).
//! The only crate that prints, reads clocks and environment variables.
//!
//! One more subcommand: a file in `cmd/` with its `run`, and a row of [`COMMANDS`].

mod about;
mod args;
mod cmd;
mod crypt;
mod debian;
mod early;
mod explored;
mod flags;
mod formats;
mod gcov;
mod guard;
mod judge;
mod native;
mod output;
mod paint;
mod preload;
mod probe;
mod problem;
mod progress;
mod replay;
mod resume;
mod scheduled;
mod shell;
mod stubs;
mod symbols;
mod toolchain;
mod watchdog;

use std::ffi::OsString;

use anyhow::Result;

use wryneck_session::{
    allocator, beneath, budget, build, cache, carried, child, compile, data, disk, export, folder, host, kept, known, machine, names,
    objects, options, program, results, rules, rust, scratch, seal, several, signal, source, sym_file, symbolic, target, usage,
};

use crate::problem::problem;

/// A row of [`COMMANDS`].
struct Command {
    name: &'static str,
    /// What it does, in a line.
    about: &'static str,
    /// What `--help` says; `None`: that of another program, or nothing.
    help: Option<fn() -> String>,
    /// Gives the exit code.
    run: fn(Vec<String>) -> Result<u8>,
}

static COMMANDS: &[Command] = &[
    Command {
        name: "build",
        about: "run a build with compilers whose programs can be explored",
        help: Some(cmd::build::help),
        run: cmd::build::run,
    },
    Command { name: "c++", about: "clang++, whose objects and programs carry their bitcode", help: None, run: cmd::cc::cxx },
    Command { name: "cc", about: "clang, whose objects and programs carry their bitcode", help: None, run: cmd::cc::c },
    Command {
        name: "completions",
        about: "write completions of commands and options for a shell",
        help: Some(cmd::manual::help_completions),
        run: cmd::manual::completions,
    },
    Command {
        name: "deps",
        about: "build libraries from Debian's sources, for the programs that need them",
        help: Some(cmd::deps::help),
        run: cmd::deps::run,
    },
    Command {
        name: "extract",
        about: "write the bitcode that a program, object or static library carries",
        help: Some(cmd::extract::help),
        run: cmd::extract::run,
    },
    Command {
        name: "guard",
        about: "run a program natively once the path of its input is verified",
        help: Some(cmd::guard::help),
        run: cmd::guard::run,
    },
    Command { name: "guard-shim", about: "what a shim of `guard install` runs", help: None, run: cmd::guard::shim },
    Command { name: "ld", about: "lld, whose programs carry their bitcode", help: None, run: cmd::ld::run },
    Command { name: "man", about: "write manual pages", help: Some(cmd::manual::help_man), run: cmd::manual::man },
    Command {
        name: "probe",
        about: "run any function without its callers, and report what must go wrong",
        help: Some(probe::args::help),
        run: cmd::probe::run,
    },
    Command {
        name: "replay",
        about: "run the tests of a run natively and compare how they end",
        help: Some(cmd::replay::help),
        run: cmd::replay::run,
    },
    Command { name: "report", about: "write what a run found as one HTML page", help: Some(cmd::report::help), run: cmd::report::run },
    Command { name: "rules", about: "list and explain the rules that `verify` checks", help: Some(cmd::rules::help), run: cmd::rules::run },
    Command { name: "run", about: "explore a whole program on symbolic input", help: Some(cmd::run::help), run: cmd::run::run },
    Command { name: "rustc", about: "rustc, whose programs carry their bitcode", help: None, run: cmd::rustc::run },
    Command {
        name: "setup",
        about: "put what wryneck needs beside itself into its cache",
        help: Some(cmd::setup::help),
        run: cmd::setup::run,
    },
    Command {
        name: "show",
        about: "show what a run found, with source and coverage; as SARIF, lcov, JSON lines",
        help: Some(cmd::show::help),
        run: cmd::show::run,
    },
    Command {
        name: "verify",
        about: "explore a program and give a verdict on systems rules",
        help: Some(cmd::verify::help),
        run: cmd::verify::run,
    },
];

/// What is said where a panic ended the work.
const DEFECT: &str = "this is a defect of wryneck, please report it with the lines above; what was found until then is in the run folder";

#[global_allocator]
static ALLOCATOR: allocator::Gated = allocator::Gated;

fn main() {
    signal::files_may_be_too_large();
    wryneck_session::notice::give_to(|text| output::note(text));
    let mut words = std::env::args_os();
    // Under the name of a compiler this is one.
    let tool = words.next().and_then(|name| toolchain::command_of(&name)).map(|command| Ok(command.to_owned()));
    let mut words = tool.into_iter().chain(words.map(OsString::into_string)).peekable();
    // What guard gives its program it reads itself, byte by byte.
    let takes_bytes = words.peek().is_some_and(|word| word.as_ref().is_ok_and(|word| word == "guard" || word == "guard-shim"));
    let text = |word: Result<String, OsString>| match word {
        Err(word) if takes_bytes => Ok(word.to_string_lossy().into_owned()),
        word => word,
    };
    let words = words.map(text).collect::<Result<Vec<_>, _>>();
    let outcome = match words {
        Ok(words) => std::panic::catch_unwind(|| dispatch(words)).unwrap_or_else(|_| Err(problem("wryneck broke down", DEFECT))),
        Err(word) => Err(problem(format!("the argument `{}` is not UTF-8", word.display()), "")),
    };
    let code = outcome.unwrap_or_else(|error| {
        problem::print(&error);
        2
    });
    // Not returned through `main`: what is left of an exploration need not be taken apart.
    std::process::exit(code.into());
}

fn dispatch(mut words: Vec<String>) -> Result<u8> {
    match words.first().map(String::as_str) {
        None | Some("--help" | "-h" | "help") => {
            output::write(|out| out.write_all(usage().as_bytes()))?;
            Ok(0)
        }
        Some("--version" | "-V") => {
            output::write(|out| writeln!(out, "wryneck {}", env!("CARGO_PKG_VERSION")))?;
            Ok(0)
        }
        Some(name) => match COMMANDS.iter().find(|c| c.name == name) {
            Some(command) => {
                words.remove(0);
                match command.help.filter(|_| words.first().is_some_and(|word| word == "--help" || word == "-h")) {
                    Some(help) => output::write(|out| out.write_all(help().as_bytes())).map(|()| 0),
                    None => (command.run)(words),
                }
            }
            None => Err(problem(format!("`{name}` is not a command"), "see `wryneck --help`")),
        },
    }
}

/// The commands that people type: not what shims run.
fn typed() -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter().filter(|row| row.name != guard::manage::SHIM)
}

fn usage() -> String {
    let mut text = "wryneck executes programs symbolically\n\nusage: wryneck COMMAND …\n\n".to_owned();
    for command in typed() {
        text += &format!("  {:<11} {}\n", command.name, command.about);
    }
    text + "\n`wryneck COMMAND --help` lists options; exit codes: 0 complete and clean, 1 findings, 2 usage or our error, 3 clean but incomplete\n"
}
