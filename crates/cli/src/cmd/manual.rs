//! `wryneck completions` and `wryneck man`: what shells and `man` read, made from what `--help` says.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, Command, ValueHint};
use clap_complete::Shell;

use crate::problem::problem;
use crate::{output, typed};

pub fn help_completions() -> String {
    "usage: wryneck completions bash|elvish|fish|powershell|zsh\n\n\
     examples:\n\
     \x20 wryneck completions bash > ~/.local/share/bash-completion/completions/wryneck\n\
     \x20 wryneck completions zsh > ~/.zfunc/_wryneck          where `fpath` has ~/.zfunc\n\
     \x20 wryneck completions fish > ~/.config/fish/completions/wryneck.fish\n"
        .into()
}

pub fn help_man() -> String {
    "usage: wryneck man [DIR]\n\n\
     Writes a page for the tool and one for each command into DIR; without DIR that of the tool to standard output.\n\n\
     examples:\n\
     \x20 wryneck man | man -l -                       read it\n\
     \x20 wryneck man ~/.local/share/man/man1          then `man wryneck-run`\n"
        .into()
}

/// `wryneck completions SHELL`.
pub fn completions(words: Vec<String>) -> Result<u8> {
    let shell = match &words[..] {
        [shell] => shell.parse::<Shell>().ok(),
        _ => None,
    };
    let shell =
        shell.ok_or_else(|| problem("no shell is given", "write `wryneck completions bash`, `elvish`, `fish`, `powershell` or `zsh`"))?;
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut tool(), "wryneck", &mut text);
    output::write(|out| out.write_all(&text)).map(|()| 0)
}

/// `wryneck man [DIR]`.
pub fn man(words: Vec<String>) -> Result<u8> {
    let page = |command: &Command| -> Result<Vec<u8>> {
        let mut text = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut text).context("a page cannot be made")?;
        Ok(text)
    };
    let tool = tool();
    match &words[..] {
        [] => {
            let text = page(&tool)?;
            output::write(|out| out.write_all(&text))?;
        }
        [dir] => {
            let dir = PathBuf::from(dir);
            let place = |name: &str| dir.join(format!("{name}.1"));
            let write = |name: &str, text: Vec<u8>| {
                fs::write(place(name), text).with_context(|| format!("cannot write `{}`", place(name).display()))
            };
            fs::create_dir_all(&dir).with_context(|| format!("cannot make `{}`", dir.display()))?;
            write("wryneck", page(&tool)?)?;
            for command in tool.get_subcommands() {
                let name = format!("wryneck-{}", command.get_name());
                write(&name, page(&command.clone().name(name.clone()).display_name(name.clone()))?)?;
            }
        }
        _ => return Err(problem("there is one word too many", "write `wryneck man DIR`")),
    }
    Ok(0)
}

/// The tool and its commands, as the libraries that write pages and completions take them.
fn tool() -> Command {
    let about = "executes programs symbolically";
    let tool =
        Command::new("wryneck").version(env!("CARGO_PKG_VERSION")).about(about).disable_help_subcommand(true).after_long_help(EXIT_CODES);
    typed().fold(tool, |tool, row| {
        let help = row.help.map(|help| help()).unwrap_or_default();
        let mut command = Command::new(row.name).about(row.about).disable_version_flag(true);
        let (usage, rest) = help.split_once("\n\n").unwrap_or((&help, ""));
        if let Some(usage) = usage.strip_prefix("usage: ") {
            command = command.override_usage(usage.to_owned());
        }
        let is_option = |line: &&str| option(line).is_some();
        command = command.after_long_help(rest.lines().filter(|line| !is_option(line)).collect::<Vec<_>>().join("\n").trim().to_owned());
        command = command.args(help.lines().filter_map(option));
        if row.help.is_none() {
            command = command.after_long_help("It takes the words that clang and lld take.");
        }
        tool.subcommand(command.arg(Arg::new("word").value_hint(ValueHint::AnyPath).num_args(..).trailing_var_arg(true).hide(true)))
    })
}

const EXIT_CODES: &str = "Exit codes: 0 complete and clean, 1 findings, 2 wrong usage or our error, 3 clean but incomplete.";

/// The option that a line of a help text explains: `  --name VALUE  what it does`.
fn option(line: &str) -> Option<Arg> {
    let text = line.strip_prefix("  ")?;
    let (name, rest) = text.split_once(' ')?;
    let arg = Arg::new(name.to_owned());
    let arg = match (name.strip_prefix("--"), name.strip_prefix('-')?.as_bytes()) {
        // The word `--` itself.
        (Some(""), _) => return None,
        (Some(long), _) => arg.long(long.to_owned()),
        (None, [letter]) => arg.short(char::from(*letter)),
        (None, _) => return None,
    };
    // The table has the name and the value in a column of its own, or a space behind a long value.
    let (value, about) = if rest.starts_with(' ') { ("", rest) } else { rest.split_once(' ')? };
    let arg = arg.help(about.trim().to_owned());
    if value.is_empty() {
        return Some(arg.action(ArgAction::SetTrue));
    }
    let choices: Vec<_> = value.split('|').collect();
    let is_word = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let parser: ValueParser = match choices.len() > 1 && choices.iter().all(is_word) {
        true => PossibleValuesParser::new(choices.iter().map(|word| PossibleValue::new((*word).to_owned()))).into(),
        false => ValueParser::string(),
    };
    let hint = match value {
        _ if value.contains("FILE") => ValueHint::FilePath,
        _ if value.contains("DIR") || value == "RUN" => ValueHint::DirPath,
        _ => ValueHint::Other,
    };
    Some(arg.value_name(value.to_owned()).hide_possible_values(true).value_parser(parser).value_hint(hint).action(ArgAction::Append))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_options() {
        let tool = tool();
        tool.clone().debug_assert();
        let options = |name: &str| tool.find_subcommand(name).map_or(0, |command| command.get_opts().count());
        assert!(options("run") > 40 && options("run") == options("verify") && options("probe") > 15 && options("guard") > 10);
        let run = tool.find_subcommand("run").expect("it is a command");
        let emit = run.get_opts().find(|arg| arg.get_long() == Some("emit")).expect("it is an option");
        assert_eq!(emit.get_possible_values().iter().map(PossibleValue::get_name).collect::<Vec<_>>(), ["new", "all", "none"]);
        let find = run.get_opts().find(|arg| arg.get_long() == Some("find")).expect("it is an option");
        assert!(find.get_help().is_some_and(|help| help.to_string().starts_with("search for a FUNCTION")));
    }
}
