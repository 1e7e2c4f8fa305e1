//! Tables of options: finding an option, parsing its value, explaining it. Command lines are parsed by hand, because words after the
//! target mean something else than words before it.

use anyhow::Result;

use crate::problem::problem;

/// An option of a command that fills a `T`.
pub struct Opt<T> {
    /// With its dashes.
    pub name: &'static str,
    /// The name of its value in the help; empty for a switch.
    pub value: &'static str,
    pub help: &'static str,
    pub set: fn(&mut T, &str) -> Result<(), String>,
}

/// Reads options off the front of `words` until a word is none; `--name=value` is one word. The rest stays.
pub fn parse<T>(table: &[Opt<T>], into: &mut T, words: &mut Words) -> Result<()> {
    parse_until(table, into, words, &|_| false)
}

/// Reads the words of a command about one run: its folder, with options before and behind it.
pub fn parse_run<T>(command: &str, table: &[Opt<T>], into: &mut T, words: Vec<String>) -> Result<String> {
    let mut words = Words::new(words);
    parse(table, into, &mut words)?;
    let folder = words.next().ok_or_else(|| problem("no run is given", format!("write `wryneck {command} wryneck-last`")))?;
    parse(table, into, &mut words)?;
    match words.next() {
        Some(word) => Err(problem(format!("`{word}` is one word too many"), format!("`wryneck {command}` is about one run"))),
        None => Ok(folder),
    }
}

/// The same, until a word that is none or that `ends` the options.
pub fn parse_until<T>(table: &[Opt<T>], into: &mut T, words: &mut Words, ends: &dyn Fn(&str) -> bool) -> Result<()> {
    while let Some(word) = words.peek() {
        if !word.starts_with('-') || word == "-" || word == "--" || ends(word) {
            return Ok(());
        }
        let word = words.next().expect("it was seen");
        let (name, joined) = match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (word, None),
        };
        let Some(opt) = table.iter().find(|o| o.name == name) else {
            return Err(problem(format!("the option `{name}` is unknown"), nearest(table, &name)));
        };
        let value = match (opt.value.is_empty(), joined) {
            (true, None) => String::new(),
            (true, Some(_)) => return Err(problem(format!("the option `{name}` takes no value"), "")),
            (false, Some(value)) => value,
            (false, None) => words
                .next()
                .ok_or_else(|| problem(format!("the option `{name}` needs a value"), format!("write `{name} {}`", opt.value)))?,
        };
        (opt.set)(into, &value).map_err(|why| problem(format!("`{name} {value}`: {why}"), opt.help))?;
    }
    Ok(())
}

/// The names of the options that these words begin with.
pub fn names<'a, T>(table: &[Opt<T>], words: &'a [String]) -> Vec<&'a str> {
    let (mut names, mut words) = (Vec::new(), words.iter());
    while let Some(word) = words.next() {
        let (name, joined) = word.split_once('=').map_or((word.as_str(), false), |(name, _)| (name, true));
        let Some(opt) = table.iter().find(|o| o.name == name) else { break };
        names.push(name);
        if !joined && !opt.value.is_empty() {
            words.next();
        }
    }
    names
}

fn nearest<T>(table: &[Opt<T>], name: &str) -> String {
    let shared = |o: &Opt<T>| o.name.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    match table.iter().max_by_key(|o| shared(o)) {
        Some(o) if shared(o) > 4 => format!("did you mean `{}`?", o.name),
        _ => "options of the tool come before the target; `--help` lists them".into(),
    }
}

/// The table as help text.
pub fn help<T>(table: &[Opt<T>]) -> String {
    let line = |o: &Opt<T>| format!("  {:<28} {}\n", format!("{} {}", o.name, o.value), o.help);
    table.iter().map(line).collect()
}

/// The words of a command line, from the left.
pub struct Words(std::iter::Peekable<std::vec::IntoIter<String>>);

impl Iterator for Words {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.0.next()
    }
}

impl Words {
    pub fn new(words: Vec<String>) -> Words {
        Words(words.into_iter().peekable())
    }

    pub fn peek(&mut self) -> Option<&str> {
        self.0.peek().map(String::as_str)
    }

    pub fn rest(self) -> Vec<String> {
        self.0.collect()
    }
}

/// A whole number, `_` allowed between digits.
pub fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.replace('_', "").parse().map_err(|_| "not a whole number in range".to_owned())
}

/// Seconds: `30`, `30s`, `5min`, `2h`, `500ms`.
pub fn seconds(text: &str) -> Result<f64, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("not a time such as `30s`, `5min` or `2h`".into()),
    };
    match number.parse::<f64>() {
        Ok(n) if n.is_finite() && n >= 0.0 && n * factor < 1e9 => Ok(n * factor),
        _ => Err("not a time such as `30s`, `5min` or `2h`".into()),
    }
}

/// Bytes: `1000`, `64k`, `512M`, `2G` (powers of 1024).
pub fn bytes(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let shift = match unit.trim_end_matches("iB").trim_end_matches('B') {
        "" => 0,
        "k" | "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err("not a size such as `512M` or `2G`".into()),
    };
    match number.parse::<f64>() {
        Ok(n) if n.is_finite() && n >= 0.0 && n * (1_u64 << shift) as f64 <= 1e18 => Ok((n * (1_u64 << shift) as f64) as u64),
        _ => Err("not a size such as `512M` or `2G`".into()),
    }
}

/// One of a few words.
pub fn one_of<V: Copy>(text: &str, choices: &[(&str, V)]) -> Result<V, String> {
    choices.iter().find(|(name, _)| *name == text).map(|(_, v)| *v).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
        format!("not one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(seconds("30s"), Ok(30.0));
        assert_eq!(seconds("2min"), Ok(120.0));
        assert_eq!(seconds("0.5h"), Ok(1800.0));
        assert_eq!(seconds("500ms"), Ok(0.5));
        assert!(seconds("soon").is_err() && seconds("-1").is_err() && seconds("").is_err());
        assert_eq!(bytes("2G"), Ok(2 << 30));
        assert_eq!(bytes("64kB"), Ok(64 << 10));
        assert_eq!(bytes("1.5MiB"), Ok(3 << 19));
        assert!(bytes("lots").is_err() && bytes("9999999T").is_err());
    }

    #[test]
    fn options_end_at_the_first_other_word() {
        let table: &[Opt<Vec<String>>] = &[
            Opt {
                name: "--a",
                value: "N",
                help: "",
                set: |all, v| {
                    all.push(format!("a{v}"));
                    Ok(())
                },
            },
            Opt {
                name: "--b",
                value: "",
                help: "",
                set: |all, _| {
                    all.push("b".into());
                    Ok(())
                },
            },
        ];
        let run = |line: &str| {
            let (mut words, mut all) = (Words::new(line.split_whitespace().map(str::to_owned).collect()), Vec::new());
            parse(table, &mut all, &mut words).map(|()| (all, words.rest())).map_err(|e| e.to_string())
        };
        assert_eq!(
            run("--a 1 --b --a=2 t.c --b").map(|(all, rest)| (all.join(" "), rest.join(" "))),
            Ok(("a1 b a2".into(), "t.c --b".into()))
        );
        assert_eq!(run("--a"), Err("the option `--a` needs a value".into()));
        assert_eq!(run("--b=1"), Err("the option `--b` takes no value".into()));
        assert_eq!(run("--c"), Err("the option `--c` is unknown".into()));
    }
}
