//! The inputs of a run that a plain file can fill, or be made of.

use anyhow::Result;
use wryneck_environ::{Arg, Entry, EnvValue, ProgramInput, Stdin};

use crate::problem::problem;

/// What a plain file can fill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// As the user names it: `stdin`, a file's path, `arg00`, `env_NAME`, `data`.
    pub name: String,
    /// The input with the bytes, and the one with their number, if that is a decision, and its width in bytes.
    pub bytes: String,
    size: Option<(String, usize)>,
    least: u64,
    most: u64,
    /// A string: it ends at the first zero.
    pub text: bool,
    /// Inputs with it that make room for it.
    with: Vec<(String, Vec<u8>)>,
}

/// The inputs that a plain file can fill.
pub fn slots(input: &ProgramInput) -> Vec<Slot> {
    let slot = |name: &str, bytes: String, (least, most): (u64, u64)| Slot {
        size: None,
        name: name.into(),
        bytes,
        least,
        most,
        text: false,
        with: Vec::new(),
    };
    let text = |name: String, len: u32, least: u32| Slot { text: true, ..slot(&name, name.clone(), (least.into(), len.into())) };
    let sized = |mut slot: Slot, name: String| {
        slot.size = (slot.least != slot.most).then_some((name, 8));
        slot
    };
    let mut all = Vec::new();
    if let Stdin::Symbolic(least, most) = input.stdin {
        all.push(sized(slot("stdin", "stdin".into(), (least, most)), "stdin_size".into()));
    }
    for file in &input.sym_files {
        let path = String::from_utf8_lossy(&file.path).into_owned();
        all.push(sized(slot(&path, format!("{path}_data"), file.size), format!("{path}_data_size")));
    }
    for (number, socket) in input.sym_sockets.iter().enumerate() {
        let (before, size) =
            (input.sym_sockets[..number].iter().filter(|other| other.input() == socket.input()).count(), socket.size.into());
        let name = if before == 0 { socket.input() } else { format!("{}_{before}", socket.input()) };
        all.push(slot(&name, name.clone(), (size, size)));
    }
    if let Entry::Fuzzer { max_len } = input.entry {
        all.push(Slot { size: Some(("size".into(), 8)), ..slot("data", "data".into(), (0, max_len.into())) });
    }
    let (mut number, mut group) = (0, 0);
    for arg in &input.args {
        let mut next = |len, least| {
            number += 1;
            text(format!("arg{:02}", number - 1), len, least)
        };
        match arg {
            Arg::Concrete(_) => {}
            Arg::Symbolic(len) => all.push(next(*len, 0)),
            Arg::Exact(len) => all.push(next(*len, *len)),
            Arg::Several { min, max, len } => {
                let counted = if group == 0 { "n_args".to_owned() } else { format!("n_args_{group}") };
                group += 1;
                for n in 0..*max {
                    let count = (n + 1).max(*min).to_le_bytes().to_vec();
                    all.push(Slot { with: vec![(counted.clone(), count)], ..next(*len, 0) });
                }
            }
        }
    }
    for (name, value) in &input.env {
        if let EnvValue::Symbolic(len) = value {
            all.push(text(format!("env_{}", String::from_utf8_lossy(name)), *len, 0));
        }
    }
    all
}

/// Bytes by the names of inputs, and what was changed to make them fit.
pub type Filled = (Vec<(String, Vec<u8>)>, Option<String>);

impl Slot {
    /// What a plain file would have of its input's bytes.
    pub fn content<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let end = if self.text { bytes.iter().position(|byte| *byte == 0) } else { None };
        &bytes[..end.unwrap_or(bytes.len())]
    }

    /// Whether it is of this input: its bytes, their number, or what makes room for it.
    pub fn is_of(&self, input: &str) -> bool {
        let more = self.size.iter().map(|(name, _)| name).chain(self.with.iter().map(|(name, _)| name));
        more.chain([&self.bytes]).any(|name| name == input)
    }

    /// Whether it is what a file named by the user holds (`--sym-file`).
    pub fn is_file(&self) -> bool {
        self.bytes == format!("{}_data", self.name)
    }

    /// Most bytes that it takes.
    pub fn most(&self) -> usize {
        usize::try_from(self.most).unwrap_or(usize::MAX)
    }

    /// The inputs that a file of these bytes fills, and what was changed; or why it does not fit.
    pub fn fill(&self, bytes: Vec<u8>) -> Result<Filled, String> {
        let (len, Slot { name, least, most, .. }) = (bytes.len() as u64, self);
        if len > *most {
            return Err(format!("longer than the {most} bytes that `{name}` takes at most"));
        }
        if self.text && bytes.contains(&0) {
            return Err(format!("not a string for `{name}`: it has a zero byte"));
        }
        let fixed = self.size.is_none() && !self.text;
        if len == 0 && fixed && *least > 0 {
            return Err(format!("empty, and `{name}` has {least} bytes"));
        }
        let short = len < *least;
        if short && (self.text || !fixed) {
            return Err(format!("shorter than the {least} bytes that `{name}` has at least"));
        }
        let mut inputs = self.with.clone();
        if let Some((size, width)) = &self.size {
            inputs.push((size.clone(), len.to_le_bytes()[..*width].to_vec()));
        }
        inputs.push((self.bytes.clone(), bytes));
        Ok((inputs, short.then(|| format!("shorter than `{name}` of {least} bytes, filled up with zeros"))))
    }
}

/// The input that a plain file fills where none is named.
pub fn only<'s>(option: &str, slots: &'s [Slot]) -> Result<&'s Slot> {
    // An argument is rarely what a file holds.
    let files: Vec<&Slot> = slots.iter().filter(|slot| !slot.text).collect();
    let all: Vec<&Slot> = if files.is_empty() { slots.iter().collect() } else { files };
    match all[..] {
        [one] => Ok(one),
        [] => Err(problem(
            format!("`{option}`: nothing is symbolic that a plain file could fill"),
            "add symbolic input such as `--sym-stdin 0-64` or `--sym-file PATH:0-64`, name an input that the program makes (`--seed NAME=FILE`), or give a `.ktest` file",
        )),
        _ => {
            let names: Vec<String> = all.iter().map(|slot| format!("`{}`", slot.name)).collect();
            let first = &all[0].name;
            Err(problem(
                format!("`{option}`: a plain file stands for one input, and there are {}: {}", names.len(), names.join(", ")),
                format!("name it, such as `{option} {first}=…`; a `.ktest` file has several"),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wryneck_environ::SymFile;

    fn input() -> ProgramInput {
        ProgramInput {
            args: vec![Arg::Concrete(b"-x".to_vec()), Arg::Symbolic(3), Arg::Several { min: 1, max: 2, len: 4 }],
            stdin: Stdin::Symbolic(4, 4),
            ..ProgramInput::default()
        }
    }

    #[test]
    fn a_file_fills_its_input_or_says_why_not() {
        let slots = slots(&input());
        let names: Vec<&str> = slots.iter().map(|slot| slot.name.as_str()).collect();
        assert_eq!(names, ["stdin", "arg00", "arg01", "arg02"]);
        let stdin = only("--seed", &slots).expect("files come before arguments");
        assert_eq!(stdin.fill(b"abcd".to_vec()), Ok((vec![("stdin".into(), b"abcd".to_vec())], None)));
        assert!(stdin.fill(b"ab".to_vec()).is_ok_and(|(_, changed)| changed.is_some_and(|what| what.contains("filled up"))));
        assert_eq!(stdin.fill(b"abcde".to_vec()), Err("longer than the 4 bytes that `stdin` takes at most".into()));
        assert_eq!(stdin.fill(Vec::new()), Err("empty, and `stdin` has 4 bytes".into()));
        assert_eq!(slots[1].fill(b"a\0".to_vec()), Err("not a string for `arg00`: it has a zero byte".into()));
        let last = slots[3].fill(b"a".to_vec()).expect("it fits").0;
        assert_eq!(last, [("n_args".into(), vec![2, 0, 0, 0]), ("arg02".to_owned(), b"a".to_vec())]);
    }

    #[test]
    fn sizes_are_inputs_and_several_files_are_ambiguous() {
        let file = |path: &str, size| SymFile { path: path.into(), size, metadata: false };
        let two = ProgramInput { sym_files: vec![file("a", (0, 9)), file("b", (2, 2))], ..ProgramInput::default() };
        let two = slots(&two);
        assert!(only("--seed", &two).is_err_and(|e| e.to_string().contains("`a`, `b`")));
        let filled = two[0].fill(b"xyz".to_vec()).expect("it fits").0;
        assert_eq!(filled, [("a_data_size".to_owned(), vec![3, 0, 0, 0, 0, 0, 0, 0]), ("a_data".into(), b"xyz".to_vec())]);
        assert!(two[0].fill(Vec::new()).is_ok(), "it may be empty");
        assert!(only("--seed", &[]).is_err_and(|e| e.to_string().contains("nothing is symbolic")));
    }
}
