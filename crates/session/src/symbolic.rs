//! Symbolic input in KLEE's spelling and order, and the reverse: from a test's objects to a native program's input.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, PathBuf};

use anyhow::Result;
use wryneck_environ::{Arg, EnvValue, ProgramInput, Stdin, SymCall, SymFile, SymSocket};
use wryneck_report::{KTest, Object};

use crate::options::number;
use crate::problem::problem;
use crate::{sym_calls, sym_file};

/// Most bytes of one symbolic argument, and most arguments or files.
const MOST: u32 = 1 << 16;

/// What the words after the target say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub args: Vec<Arg>,
    /// The fewest and the most bytes.
    pub stdin: Option<(u64, u64)>,
    pub files: Vec<SymFile>,
    pub env: Vec<(Vec<u8>, EnvValue)>,
    pub calls: Vec<SymCall>,
    /// Clients, in the order in which they connect.
    pub sockets: Vec<SymSocket>,
}

/// The words that say what is symbolic, without their dashes, and how many words follow each.
const WORDS: &[(&str, usize)] = &[
    ("literal", 1),
    ("sym-arg", 1),
    ("sym-args", 3),
    ("sym-calls", 1),
    ("sym-env", 1),
    ("sym-file", 1),
    ("sym-files", 2),
    ("sym-socket", 1),
    ("sym-stdin", 1),
];

/// How many words belong to a word that says what is symbolic; `None` if it is no such word.
pub fn values(word: &str) -> Option<usize> {
    // KLEE takes one dash or two.
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-').filter(|name| *name != "literal"))?;
    WORDS.iter().find(|(known, _)| *known == name).map(|(_, count)| *count)
}

/// What is wrong with a word that looks like one of these and is none.
pub fn misspelt(word: &str) -> Option<anyhow::Error> {
    let name = word.trim_start_matches('-');
    if !word.starts_with('-') || !name.starts_with("sym-") || values(word).is_some() {
        return None;
    }
    let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
    let shared = |known: &str| known.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    let (nearest, _) = WORDS.iter().max_by_key(|(known, _)| (shared(known), usize::MAX - known.len()))?;
    let right = match value {
        Some(value) => format!("--{nearest} {}", value.replace(',', " ")),
        None => format!("--{nearest}"),
    };
    Some(problem(
        format!("`{word}` is no symbolic input"),
        format!("write `{right}`; if it is an argument of the program: `--literal {word}`, or all arguments after `--`"),
    ))
}

/// Reads the words after the target.
pub fn parse(words: &[String]) -> Result<Words> {
    let mut out = Words::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        // KLEE takes one dash or two.
        let Some(name) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
            out.args.push(Arg::Concrete(word.clone().into_bytes()));
            continue;
        };
        let mut numbers =
            |wanted: &[&str]| -> Result<Vec<u32>> { wanted.iter().map(|what| value(word, wanted, what, rest.next())).collect() };
        match name {
            "" if word == "--" => {
                out.args.extend(rest.by_ref().map(|w| Arg::Concrete(w.clone().into_bytes())));
            }
            "sym-arg" => out.args.push(Arg::Symbolic(numbers(&["N"])?[0])),
            "sym-args" => {
                let n = numbers(&["MIN", "MAX", "N"])?;
                if n[0] > n[1] {
                    let (min, max, len) = (n[0], n[1], n[2]);
                    return Err(problem(
                        format!("`--sym-args {min} {max} {len}` asks for at least {min} and at most {max} arguments"),
                        format!("the smaller number comes first: `--sym-args {max} {min} {len}`"),
                    ));
                }
                out.args.push(Arg::Several { min: n[0], max: n[1], len: n[2] });
            }
            "sym-stdin" => out.stdin = Some(stdin_size(rest.next())?),
            "sym-files" => {
                let n = numbers(&["N", "SIZE"])?;
                if n[0] > 26 {
                    return Err(problem(format!("`--sym-files {}`: at most 26 files, `A` to `Z`", n[0]), ""));
                }
                let size = (n[1].into(), n[1].into());
                let letter = |letter| SymFile { path: vec![letter], size, metadata: false };
                out.files.extend((b'A'..=b'Z').take(n[0] as usize).map(letter));
            }
            "literal" if word.starts_with("--") => {
                let given = rest.next().ok_or_else(|| problem("`--literal` lacks its argument", "write `--literal WORD`"))?;
                out.args.push(Arg::Concrete(given.clone().into_bytes()));
            }
            "sym-file" => out.files.push(sym_file::parse(rest.next())?),
            "sym-calls" => sym_calls::parse(rest.next())?.into_iter().for_each(|call| sym_calls::add(&mut out.calls, call)),
            "sym-socket" => out.sockets.push(socket(rest.next())?),
            "sym-env" => out.env.push(environment(rest.next())?),
            _ => out.args.push(Arg::Concrete(word.clone().into_bytes())),
        }
    }
    Ok(out)
}

fn value(word: &str, wanted: &[&str], what: &str, given: Option<&String>) -> Result<u32> {
    let help = format!("write `{word} {}`", wanted.join(" "));
    let given = given.ok_or_else(|| problem(format!("`{word}` lacks its {what}"), &help))?;
    match number::<u32>(given) {
        Ok(n) if n <= MOST => Ok(n),
        Ok(n) => Err(problem(format!("`{word}`: {what} is {n}, at most {MOST} is possible"), "")),
        Err(_) => Err(problem(format!("`{word}`: {what} is `{given}`, not a number from 0 to {MOST}"), help)),
    }
}

/// `N`, or `MIN-MAX`.
fn stdin_size(given: Option<&String>) -> Result<(u64, u64)> {
    match given.and_then(|text| text.split_once('-')).filter(|(least, _)| !least.is_empty()) {
        Some((least, most)) => {
            let size = |text: &str| value("--sym-stdin", &["MIN-MAX"], "size", Some(&text.to_owned()));
            let (least, most) = (size(least)?, size(most)?);
            if least > most {
                return Err(problem(
                    format!("`--sym-stdin {least}-{most}`: the smaller number comes first"),
                    format!("write `--sym-stdin {most}-{least}`"),
                ));
            }
            Ok((least.into(), most.into()))
        }
        None => value("--sym-stdin", &["N"], "N", given).map(|n| (n.into(), n.into())),
    }
}

/// `PORT:SIZE`, or `udp:PORT:SIZE`.
fn socket(given: Option<&String>) -> Result<SymSocket> {
    let datagram = given.is_some_and(|given| given.starts_with("udp:"));
    let parts = given.and_then(|given| given.strip_prefix("udp:").unwrap_or(given).split_once(':'));
    match parts.map(|(port, size)| (number::<u16>(port), number::<u32>(size))) {
        Some((Ok(port), Ok(size))) if port > 0 && size <= MOST => Ok(SymSocket { port, size, datagram }),
        _ => Err(problem(
            format!("`--sym-socket {}` is not PORT:SIZE", given.map_or("", String::as_str)),
            format!("write such as `--sym-socket 8080:24`: a port from 1 to 65535, and at most {MOST} bytes"),
        )),
    }
}

fn environment(given: Option<&String>) -> Result<(Vec<u8>, EnvValue)> {
    let split = given.and_then(|g| g.split_once(':'));
    match split.map(|(name, len)| (name, number::<u32>(len))) {
        Some((name, Ok(len))) if !name.is_empty() && !name.contains('=') && len <= MOST => Ok((name.into(), EnvValue::Symbolic(len))),
        _ => Err(problem(format!("`--sym-env {}` is not NAME:LEN", given.map_or("", String::as_str)), "write such as `--sym-env HOME:4`")),
    }
}

impl Words {
    /// Puts the words into what a program is given.
    pub fn fill(self, input: &mut ProgramInput) {
        input.args = self.args;
        input.env = self.env;
        input.sym_files = self.files;
        input.sym_calls = self.calls;
        input.sym_sockets = self.sockets;
        if let Some((least, most)) = self.stdin {
            input.stdin = Stdin::Symbolic(least, most);
        }
    }
}

/// What a native program is given to do what a test says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Concrete {
    /// Without the program's name.
    pub args: Vec<Vec<u8>>,
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// `None`: nothing symbolic there.
    pub stdin: Option<Vec<u8>>,
    pub files: Vec<ConcreteFile>,
    /// Inputs `fail_NAME` of calls that fail.
    pub fails: Vec<String>,
    /// The results of calls are input.
    pub calls: bool,
}

/// Whether an input says that a call works, as nearly all calls do.
pub fn is_of_working_call(name: &[u8], bytes: &[u8]) -> bool {
    name.starts_with(b"fail_") && bytes == [0]
}

/// A file that a native program finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConcreteFile {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    /// Permissions, times of access and change in seconds, if they were symbolic.
    pub stat: Option<[u32; 3]>,
}

impl ConcreteFile {
    fn of(file: &SymFile, test: &KTest) -> ConcreteFile {
        let path = String::from_utf8_lossy(&file.path);
        let stat = test.object(&format!("{path}_data_stat")).filter(|_| file.metadata);
        let half = |bytes: &[u8], i: usize| bytes.get(4 * i..).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b));
        ConcreteFile {
            path: OsStr::from_bytes(&file.path).into(),
            bytes: test.object(&format!("{path}_data")).unwrap_or_default().to_vec(),
            stat: stat.map(|bytes| [0, 1, 2].map(|i| half(bytes, i))),
        }
    }

    /// Whether it lies below the working directory, so that a scratch folder can stand for it.
    pub fn is_below(&self) -> bool {
        self.path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    }
}

impl Concrete {
    /// From the words after the target and a test's objects. What a path did not get to is left out, or empty.
    pub fn of(words: &Words, test: &KTest) -> Concrete {
        let object = |name: &str| test.object(name).unwrap_or_default();
        let c_string = |bytes: &[u8]| bytes.split(|&b| b == 0).next().unwrap_or_default().to_vec();
        let mut out = Concrete::default();
        let (mut number, mut group) = (0, 0);
        let mut symbolic = |len: u32| {
            let bytes = object(&format!("arg{number:02}"));
            number += 1;
            c_string(&bytes[..bytes.len().min(len as usize)])
        };
        for arg in &words.args {
            match arg {
                Arg::Concrete(bytes) => out.args.push(bytes.clone()),
                Arg::Symbolic(len) | Arg::Exact(len) => out.args.push(symbolic(*len)),
                Arg::Several { min, max, len } => {
                    let name = if group == 0 { "n_args".to_owned() } else { format!("n_args_{group}") };
                    group += 1;
                    let count = object(&name).first_chunk::<4>().map_or(*min, |b| u32::from_le_bytes(*b));
                    out.args.extend((0..count.clamp(*min, *max)).map(|_| symbolic(*len)));
                }
            }
        }
        for (name, value) in &words.env {
            let bytes = match value {
                EnvValue::Concrete(bytes) => bytes.clone(),
                EnvValue::Symbolic(_) | EnvValue::Exact(_) => c_string(object(&format!("env_{}", String::from_utf8_lossy(name)))),
            };
            out.env.push((name.clone(), bytes));
        }
        if words.calls.iter().any(|call| call.name == "getenv") {
            let set =
                test.objects.iter().filter(|o| o.bytes == [1]).filter_map(|o| std::str::from_utf8(&o.name).ok()?.strip_prefix("getenv_"));
            let variables = set.map(|name| (name.as_bytes().to_vec(), c_string(object(&format!("env_{name}")))));
            out.env.extend(variables.filter(|(name, _)| !name.is_empty() && !name.contains(&b'=') && !name.contains(&0)));
        }
        out.stdin = words.stdin.map(|_| object("stdin").to_vec());
        let failing = |o: &&Object| o.name.starts_with(b"fail_") && o.bytes.iter().any(|b| *b != 0);
        out.fails = test.objects.iter().filter(failing).map(|o| String::from_utf8_lossy(&o.name).into_owned()).collect();
        let of_call = |o: &Object, name: &str| {
            let number = o.name.strip_prefix(name.as_bytes());
            number.is_some_and(|rest| rest.is_empty() || rest[0] == b'_' && rest[1..].iter().all(u8::is_ascii_digit))
        };
        out.calls = test.objects.iter().any(|o| words.calls.iter().any(|call| of_call(o, &call.name)));
        out.files = words.files.iter().map(|file| ConcreteFile::of(file, test)).collect();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Words, String> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).map_err(|e| e.to_string())
    }

    #[test]
    fn the_words_are_klee_s() {
        let words =
            read("-n --sym-args 0 2 3 --sym-files 1 8 -sym-stdin 4 x --sym-arg 5 --sym-env HOME:2 -- --sym-arg").expect("it is fine");
        let concrete = |s: &str| Arg::Concrete(s.into());
        assert_eq!(
            words.args,
            [concrete("-n"), Arg::Several { min: 0, max: 2, len: 3 }, concrete("x"), Arg::Symbolic(5), concrete("--sym-arg")]
        );
        let file = SymFile { path: b"A".to_vec(), size: (8, 8), metadata: false };
        assert_eq!((words.stdin, words.files), (Some((4, 4)), vec![file]));
        let clients = read("--sym-socket 80:4 --sym-socket udp:53:0").expect("it is fine").sockets;
        assert_eq!(clients, [SymSocket { port: 80, size: 4, datagram: false }, SymSocket { port: 53, size: 0, datagram: true }]);
        assert_eq!(words.env, [(b"HOME".to_vec(), EnvValue::Symbolic(2))]);
    }

    #[test]
    fn impossible_input_is_refused() {
        let error = |line| read(line).expect_err("it is an error");
        assert_eq!(error("--sym-args 2 1 3"), "`--sym-args 2 1 3` asks for at least 2 and at most 1 arguments");
        assert_eq!(error("--sym-args 2 3"), "`--sym-args` lacks its N");
        assert_eq!(error("--sym-arg -1"), "`--sym-arg`: N is `-1`, not a number from 0 to 65536");
        assert_eq!(error("--sym-arg 70000"), "`--sym-arg`: N is 70000, at most 65536 is possible");
        assert_eq!(error("--sym-files 27 1"), "`--sym-files 27`: at most 26 files, `A` to `Z`");
        assert_eq!(error("--sym-socket 80"), "`--sym-socket 80` is not PORT:SIZE");
        assert_eq!(error("--sym-socket 0:4"), "`--sym-socket 0:4` is not PORT:SIZE");
        assert_eq!(error("--sym-env HOME"), "`--sym-env HOME` is not NAME:LEN");
    }

    #[test]
    fn a_test_s_objects_become_a_command_line() {
        let words = read("-n --sym-args 0 3 2 --sym-arg 2 --sym-stdin 3 --sym-files 1 2").expect("it is fine");
        let object = |name: &str, bytes: &[u8]| Object { name: name.into(), bytes: bytes.into() };
        let objects = vec![
            object("n_args", &[2, 0, 0, 0]),
            object("arg00", b"a\0\0"),
            object("arg01", b"bcd"),
            object("arg02", b"\0z\0"),
            object("A_data", b"pq"),
            object("stdin", b"xyz"),
        ];
        let concrete = Concrete::of(&words, &KTest { args: vec![], objects });
        assert_eq!(concrete.args, [&b"-n"[..], b"a", b"bc", b""]);
        assert_eq!(concrete.stdin.as_deref(), Some(&b"xyz"[..]));
        assert_eq!(concrete.files, [ConcreteFile { path: "A".into(), bytes: b"pq".to_vec(), stat: None }]);
    }
}
