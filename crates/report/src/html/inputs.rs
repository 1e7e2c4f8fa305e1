//! Values of inputs in the page: what each input is, its bytes as a string of C, and as a number where it has a number's size.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::report::Test;
use crate::run::InputValue;
use crate::{terminal, units};

/// Bytes that are shown of a value of a finding, and of a test.
const MOST_OF_FINDING: usize = 1024;
const MOST_OF_TEST: usize = 128;
/// Inputs that are shown of a finding or test.
const MOST_INPUTS: usize = 100;
/// Bytes of the values of all tests in the page.
const MOST_OF_TESTS: usize = 1 << 20;

// What inputs are whose names begin or end so.
const PREFIXES: [(&str, &str); 5] = [
    ("env_", "environment variable"),
    ("getenv_", "is 1 if this variable is set:"),
    ("fail_", "how this call fails, 0 if it does not:"),
    ("socket_", "what a client sends to port"),
    ("datagram_", "what a client sends to UDP port"),
];
const SUFFIXES: [(&str, &str); 3] =
    [("_data", "content of the file"), ("_data_size", "size of the file"), ("_data_stat", "permissions and times of the file")];

/// What the input is, as far as its name tells: the rest are variables of the program, files, and the like.
fn what(name: &str) -> String {
    let number = |prefix: &str| name.strip_prefix(prefix)?.parse::<u32>().ok();
    match name {
        "stdin" => "standard input".into(),
        "stdin_size" => "size of standard input".into(),
        "n_args" => "number of arguments".into(),
        _ if number("arg").is_some() => format!("symbolic argument {}", u64::from(number("arg").unwrap_or(0)) + 1),
        _ => {
            let prefixed = PREFIXES.iter().find_map(|(prefix, what)| name.strip_prefix(prefix).map(|of| (what, of)));
            // Variables of the program may end so, too.
            let is_file = |of: &str| of.len() == 1 && of.bytes().all(|b| b.is_ascii_uppercase()) || of.contains(['/', '.']);
            let of_file = || SUFFIXES.iter().find_map(|(suffix, what)| Some((what, name.strip_suffix(suffix).filter(|of| is_file(of))?)));
            let named = prefixed.or_else(of_file);
            named.filter(|(_, of)| !of.is_empty()).map(|(what, of)| format!("{what} {of}")).unwrap_or_default()
        }
    }
}

/// A value: the string, then what is to be known of it beside.
fn value(bytes: &[u8], most: usize) -> (String, String) {
    let cut = &bytes[..bytes.len().min(most)];
    let beside = match terminal::as_number(bytes) {
        _ if cut.len() < bytes.len() => format!("… {} in all", terminal::plural(bytes.len() as u64, "byte")),
        Some(number) => number.to_string(),
        None => String::new(),
    };
    (units::c_string(cut), beside)
}

/// The inputs of a finding.
pub fn table(inputs: &[InputValue]) -> Markup {
    let row = |input: &InputValue| {
        let (text, beside) = value(&input.bytes, MOST_OF_FINDING);
        html! { tr {
            th scope="row" { code { (input.name) } @if !what(&input.name).is_empty() { " " span.soft { (what(&input.name)) } } }
            td { code { (text) } @if !beside.is_empty() { " " span.soft { (beside) } } }
        } }
    };
    html! {
        table.inputs { tbody { @for input in inputs.iter().take(MOST_INPUTS) { (row(input)) } } }
        @if inputs.len() > MOST_INPUTS { p.soft { "and " (inputs.len() - MOST_INPUTS) " more" } }
    }
}

/// The inputs of tests as data: names with what they are, and for each test, its values by the number of their name.
#[derive(Default)]
pub struct Inputs {
    pub names: Vec<Value>,
    known: BTreeMap<String, usize>,
    bytes: usize,
}

impl Inputs {
    /// The values of a test; null if its file could not be read, or those of earlier tests fill the page.
    pub fn of(&mut self, test: &Test) -> Value {
        let Some(inputs) = test.inputs.as_ref().filter(|_| self.bytes < MOST_OF_TESTS) else { return Value::Null };
        let mut values = Vec::new();
        for input in inputs.iter().take(MOST_INPUTS) {
            let next = self.names.len();
            let number = *self.known.entry(input.name.clone()).or_insert(next);
            if number == next {
                self.names.push(json!([input.name, what(&input.name)]));
                self.bytes += input.name.len();
            }
            let (text, beside) = value(&input.bytes, MOST_OF_TEST);
            values.push(if beside.is_empty() { json!([number, text]) } else { json!([number, text, beside]) });
        }
        let values = Value::from(values);
        self.bytes += values.to_string().len();
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_named_and_long_values_are_cut() {
        assert_eq!(what("arg01"), "symbolic argument 2");
        assert_eq!(what("env_HOME"), "environment variable HOME");
        assert_eq!((what("user_data"), what("x.conf_data")), (String::new(), "content of the file x.conf".into()));
        assert_eq!(what("A_data"), "content of the file A");
        assert_eq!(what("/etc/passwd_data_stat"), "permissions and times of the file /etc/passwd");
        assert_eq!((what("argument"), what("x")), (String::new(), String::new()));
        assert_eq!(value(b"ab\0\0", 9), (r#""ab\x00\x00""#.into(), String::new()));
        assert_eq!(value(&[0xff, 0xff], 9), (r#""\xff\xff""#.into(), "-1".into()));
        assert_eq!(value(b"abcd", 2), (r#""ab""#.into(), "… 4 bytes in all".into()));
    }

    #[test]
    fn values_that_fill_the_page_are_left_out() {
        let input = |n: u32| InputValue { name: format!("x{}", n % 3), bytes: vec![0xff; 4 * MOST_OF_TEST] };
        let test = Test {
            file: "t".into(),
            class: "exit".into(),
            what: "0".into(),
            instructions: 0,
            depth: 0,
            inputs: Some((0..2 * MOST_INPUTS as u32).map(input).collect()),
        };
        let mut inputs = Inputs::default();
        let all: Vec<Value> = (0..100).map(|_| inputs.of(&test)).collect();
        assert_eq!((all[0].as_array().map(Vec::len), inputs.names.len()), (Some(MOST_INPUTS), 3));
        assert_eq!(all[99], Value::Null);
        assert!(serde_json::to_string(&all).expect("it has a form").len() < 2 * MOST_OF_TESTS);
    }
}
