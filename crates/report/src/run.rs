//! What a run has to tell, as plain data: how its paths ended, what it found, what it skipped, what it covered.

use serde::{Deserialize, Serialize};

use crate::rules::{RuleResult, Verdict};

/// One exploration, finished or stopped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// The command that was typed, word by word.
    pub command: Vec<String>,
    /// The folder with the results.
    pub folder: String,
    pub status: Status,
    /// Wall time in seconds, start-up included.
    pub seconds: f64,
    /// How paths ended: classes in their order, then by count.
    pub ends: Vec<EndCount>,
    /// One per place and kind, in the order they were found.
    pub findings: Vec<Finding>,
    /// What was skipped, bounded or given up.
    pub ledger: Vec<LedgerRow>,
    pub totals: Totals,
    /// Lines of the application's source.
    pub lines: Lines,
    /// What the rules say that were checked.
    pub rules: Vec<RuleResult>,
    /// What was left out because it cannot matter to them, if that was looked for.
    pub pruning: Option<Pruning>,
    /// What came of the search for a goal, if there was one.
    pub goal: Option<Goal>,
}

/// A search for goals, which ends at the first that is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    /// As they were asked for.
    pub wanted: Vec<String>,
    pub reached: Option<Reached>,
}

/// How a goal was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    pub goal: String,
    /// The test's file in the run folder.
    pub test: Option<String>,
    /// How its path ended, in words.
    pub end: String,
}

/// How far rules narrowed the exploration down (paper 1, section 8.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruning {
    /// Distinct sequences of events of paths that the program ended.
    pub sequences: u64,
    /// Relevant paths, and redundant ones that were explored; `None` if paths were not classified.
    pub relevant: Option<u64>,
    pub redundant: Option<u64>,
    /// Relevant flips.
    pub wanted: u64,
    /// Relevant flips that state subsumption pruned, or would have pruned.
    #[serde(default)]
    pub subsumed: u64,
    /// Flips that were pruned; `None` if nothing was pruned.
    pub never: Option<u64>,
    /// Pruned flips that the audit explored.
    pub audited: u64,
    /// Sequences that only audited flips showed: each is a defect of the tool.
    pub lost: Vec<String>,
}

impl Pruning {
    /// Relevant paths among all that were explored or left out (paper 1, section 8.1), from 0 to 1.
    pub fn efficiency(&self) -> Option<f64> {
        let (relevant, redundant) = (self.relevant?, self.redundant?);
        let all = relevant + redundant + self.never.unwrap_or(0);
        (all > 0).then(|| relevant as f64 / all as f64)
    }
}

/// Whether everything was explored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Status {
    /// Every feasible path was run to its end.
    Complete,
    /// A limit ended the run with work left; `flag` changes it (empty if none does).
    Stopped { limit: String, flag: String, pending: u64 },
    /// The run goes on, or it was killed: only a run folder that is read meanwhile says so.
    Unfinished,
}

/// The classes of path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The program ended itself.
    Exit,
    /// The program did something wrong.
    Fault,
    /// An assumption of the program does not hold on the path.
    Assumed,
    /// A gap of the tool.
    Unsupported,
    /// A bound was reached.
    Limit,
    /// A defect of the tool.
    Internal,
}

impl Class {
    pub const ALL: [Class; 6] = [Class::Exit, Class::Fault, Class::Assumed, Class::Unsupported, Class::Limit, Class::Internal];

    /// The name users see, in the database too.
    pub fn name(self) -> &'static str {
        match self {
            Class::Exit => "exit",
            Class::Fault => "fault",
            Class::Assumed => "assumed",
            Class::Unsupported => "unsupported",
            Class::Limit => "limit",
            Class::Internal => "internal",
        }
    }
}

/// So many paths ended like this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndCount {
    pub class: Class,
    /// Status, kind of fault, what is unsupported, which limit.
    pub what: String,
    pub count: u64,
}

/// A defect of the analysed program: one place, one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: Kind,
    /// What happened on the first path that showed it, without the place.
    pub message: String,
    /// Innermost first; never empty. The first is where it happened.
    pub stack: Vec<Place>,
    /// The first input that leads there.
    pub inputs: Vec<InputValue>,
    /// Paths that ended so.
    pub count: u64,
    /// The test that shows it, if one was written.
    pub test: Option<String>,
    /// The source line's text, if the source is there.
    pub source_line: Option<String>,
    /// Where there is no source: the instructions around the fault, in their order.
    pub code: Vec<CodeLine>,
    /// For each place of the stack the variables in scope, with their values on that input, as far as they are known; may be shorter.
    pub variables: Vec<Vec<Variable>>,
    /// What running the program natively on that input showed; `None` if that was not asked for.
    pub native: Option<Native>,
    /// How the first path that showed it came there: its decisions in their order, repetitions counted. Empty if not recorded.
    pub steps: Vec<Step>,
}

/// A variable and its value in words; `optimised-out` if the compiler kept it nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    pub name: String,
    pub value: String,
}

/// An instruction of machine code in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeLine {
    pub address: u64,
    /// The function by its symbol, and the distance from its beginning.
    pub place: String,
    /// Mnemonic and operands.
    pub text: String,
    /// Here it happened.
    pub here: bool,
}

/// A decision on the way to a finding: a branch, a choice or a value that depends on the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Where it was decided; in the application, if a function of it was running.
    pub place: Place,
    /// The library function called there that decided; empty if the place itself did.
    pub library: String,
    /// How it was decided.
    pub decision: String,
    /// Calls that were open, from 1.
    pub depth: u32,
    /// Times in a row.
    pub count: u32,
}

/// Whether a finding shows natively.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "why")]
pub enum Native {
    Reproduced,
    /// How it ended instead.
    NotReproduced(String),
    /// Why it cannot be run, or cannot show.
    NotReplayable(String),
    /// Why no native run can tell, and what a run on its input in the engine showed.
    Inconclusive(String),
    /// Why it was not run, though it might have shown.
    NotReplayed(String),
}

impl Native {
    /// The verdict that these words say, if they say one.
    pub fn from_words(verdict: &str, why: &str) -> Option<Native> {
        match verdict {
            "reproduced" => Some(Native::Reproduced),
            "not reproduced" => Some(Native::NotReproduced(why.to_owned())),
            "not replayable" => Some(Native::NotReplayable(why.to_owned())),
            "inconclusive" => Some(Native::Inconclusive(why.to_owned())),
            "not replayed" => Some(Native::NotReplayed(why.to_owned())),
            _ => None,
        }
    }

    /// The verdict in words, and what explains it (empty if nothing needs to).
    pub fn words(&self) -> (&'static str, &str) {
        match self {
            Native::Reproduced => ("reproduced", ""),
            Native::NotReproduced(how) => ("not reproduced", how),
            Native::NotReplayable(why) => ("not replayable", why),
            Native::Inconclusive(why) => ("inconclusive", why),
            Native::NotReplayed(why) => ("not replayed", why),
        }
    }
}

/// A kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Kind {
    pub id: String,
    /// Common Weakness Enumeration number.
    pub cwe: u16,
}

/// A source position; `line` 0 and an empty `file` where there is no debug information.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub function: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// A symbolic input and its value on a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputValue {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// An entry of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    pub kind: String,
    pub what: String,
    pub count: u64,
    /// The flag that changes it; empty if none does.
    pub flag: String,
}

/// Counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    pub paths: u64,
    pub instructions: u64,
    pub decisions: u64,
    pub tests: u64,
    /// Queries to the solver, and those that reached the solver underneath.
    pub queries: u64,
    pub solver_calls: u64,
    /// Wall time in the solver underneath, in seconds, and in the small one that decides conditions about hashes, whose calls do not count above.
    pub solver_seconds: f64,
    /// Most memory the process had, in bytes.
    pub memory: u64,
    /// Symbolic inputs of the path that had most; `None` if that was not recorded.
    #[serde(default)]
    pub inputs: Option<u64>,
}

impl Finding {
    /// Whether its native replay ended otherwise: the program, or the engine's model of it, differs from what the path showed.
    pub fn is_denied(&self) -> bool {
        matches!(self.native, Some(Native::NotReproduced(_)))
    }
}

/// Lines with code, and those that some path ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lines {
    pub covered: u64,
    pub all: u64,
}

impl Run {
    /// The exit code of `wryneck run`: 0 complete and clean, 1 findings, 2 our defect, 3 clean but incomplete. With rules, 0 is that all are
    /// verified, under the assumptions that the verdict names. A finding that its native
    /// replay denies is none, but a run with one is not clean either. In a search for a goal: 0 it is reached, 1 it cannot be, 3 it is not yet.
    pub fn exit_code(&self) -> u8 {
        if let Some(goal) = &self.goal {
            return match () {
                () if goal.reached.is_some() => 0,
                () if self.has(Class::Internal) => 2,
                () if self.is_complete_as_assumed() => 1,
                () => 3,
            };
        }
        match () {
            () if self.standing().next().is_some() => 1,
            () if self.has(Class::Internal) => 2,
            () if self.rules.iter().any(|rule| rule.verdict == Verdict::Incomplete) => 3,
            () if !self.rules.is_empty() && self.is_complete_as_assumed() && self.findings.is_empty() => 0,
            () if self.is_complete() && self.findings.is_empty() => 0,
            () => 3,
        }
    }

    /// The findings that no native replay denies.
    pub fn standing(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| !f.is_denied())
    }

    /// How many findings their native replay denies.
    pub fn denied(&self) -> u64 {
        self.findings.iter().filter(|f| f.is_denied()).count() as u64
    }

    /// Whether every feasible path was followed to an end of the program's own, and none went on with a guess or under an assumption.
    pub fn is_complete(&self) -> bool {
        self.is_complete_as_assumed() && !self.ledger.iter().any(|row| row.kind == ASSUMPTION)
    }

    /// The same, but for the assumptions in the ledger.
    pub fn is_complete_as_assumed(&self) -> bool {
        self.status == Status::Complete
            && ![Class::Unsupported, Class::Limit, Class::Internal].into_iter().any(|class| self.has(class))
            && !self.ledger.iter().any(|row| row.loses() && row.kind != ASSUMPTION)
    }

    /// What keeps a run that has ended from being complete, by name, the most frequent ends first.
    pub fn losses(&self) -> Vec<String> {
        let ends = self.ends.iter().filter(|e| matches!(e.class, Class::Unsupported | Class::Limit | Class::Internal));
        let ends = ends.map(|e| if e.what.is_empty() { e.class.name().to_owned() } else { format!("{} {}", e.class.name(), e.what) });
        let mut all: Vec<String> = ends.collect();
        for row in self.ledger.iter().filter(|row| row.loses()) {
            let name = row.kind.replace('-', " ");
            let is_named = row.kind.starts_with("unsupported-") && all.iter().any(|e| e.starts_with("unsupported "));
            if !is_named && !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }

    fn has(&self, class: Class) -> bool {
        self.ends.iter().any(|e| e.class == class)
    }
}

/// Kinds of ledger entries that mean behaviour was left out or guessed, sorted. Entries of other kinds lose nothing.
pub const LOSSES: &[&str] = &[
    ASSUMPTION,
    "contradicted-fact",
    "dropped-flip",
    "failed-model",
    "limit",
    "solver-timeout",
    "thread-order",
    "undefined-function",
    "unknown-system-call",
    "unsupported-instruction",
    "unsupported-operation",
];
/// Something about the world that paths rest on.
const ASSUMPTION: &str = "assumption";

impl LedgerRow {
    /// Whether behaviour was left out or guessed.
    pub fn loses(&self) -> bool {
        LOSSES.contains(&self.kind.as_str())
    }
}

impl Place {
    /// `file:line:column`, or the function where no source is known.
    pub fn text(&self) -> String {
        match (self.file.is_empty(), self.column) {
            (true, _) => format!("in `{}`", self.function),
            (false, 0) => format!("{}:{}", self.file, self.line),
            (false, column) => format!("{}:{}:{column}", self.file, self.line),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The one run every format shows in its tests.
    pub(crate) fn golden() -> Run {
        let place = |function: &str, line, column| Place { function: function.into(), file: "t.c".into(), line, column };
        Run {
            command: ["wryneck", "run", "t.c", "--sym-arg", "2"].map(String::from).into(),
            folder: "wryneck-out-3".into(),
            status: Status::Stopped { limit: "time".into(), flag: "--max-time".into(), pending: 7 },
            seconds: 1.5,
            ends: vec![
                EndCount { class: Class::Exit, what: "0".into(), count: 12 },
                EndCount { class: Class::Fault, what: "out-of-bounds-write".into(), count: 2 },
                EndCount { class: Class::Unsupported, what: "inline assembly".into(), count: 1 },
            ],
            findings: vec![Finding {
                kind: Kind { id: "out-of-bounds-write".into(), cwe: 787 },
                message: "write of 1 byte at offset 4 of `a` (4 bytes)".into(),
                stack: vec![place("fill", 7, 10), place("main", 12, 3)],
                inputs: vec![InputValue { name: "arg00".into(), bytes: b"x\x01\0".to_vec() }],
                count: 2,
                test: Some("test000002.ktest".into()),
                source_line: Some("    a[i] = 1;".into()),
                code: vec![],
                variables: vec![vec![
                    Variable { name: "i".into(), value: "4".into() },
                    Variable { name: "a".into(), value: "optimised-out".into() },
                ]],
                native: Some(Native::Reproduced),
                steps: vec![
                    Step {
                        place: place("main", 11, 7),
                        library: "strchr".into(),
                        decision: "looks at the input".into(),
                        depth: 2,
                        count: 3,
                    },
                    Step { place: place("fill", 6, 9), library: String::new(), decision: "goes to line 7".into(), depth: 2, count: 1 },
                ],
            }],
            ledger: vec![LedgerRow { kind: "undefined-function".into(), what: "gadget".into(), count: 3, flag: "--undefined".into() }],
            totals: Totals {
                paths: 15,
                instructions: 12_345_678,
                decisions: 90,
                tests: 3,
                queries: 40,
                solver_calls: 9,
                solver_seconds: 0.3,
                memory: 50 << 20,
                inputs: Some(1),
            },
            lines: Lines { covered: 9, all: 12 },
            rules: vec![],
            pruning: None,
            goal: None,
        }
    }

    #[test]
    fn native_verdicts_are_read_from_their_words() {
        let why = || "no source".to_owned();
        let judged = [Native::NotReproduced(why()), Native::NotReplayable(why()), Native::Inconclusive(why()), Native::NotReplayed(why())];
        for native in [Native::Reproduced].into_iter().chain(judged) {
            let (verdict, why) = native.words();
            assert_eq!(Native::from_words(verdict, why), Some(native.clone()));
        }
        assert_eq!(Native::from_words("maybe", ""), None);
    }

    #[test]
    fn exit_codes_tell_findings_defects_and_gaps_apart() {
        let found = golden();
        assert_eq!(found.exit_code(), 1);
        let mut denied = found.clone();
        denied.findings[0].native = Some(Native::NotReproduced("exit 0".into()));
        assert_eq!((denied.exit_code(), denied.denied()), (3, 1));
        let stopped = Run { findings: vec![], ..found };
        assert_eq!(stopped.exit_code(), 3);
        let unsupported = Run { status: Status::Complete, ..stopped };
        assert_eq!(unsupported.exit_code(), 3);
        let guessed = Run { ends: vec![EndCount { class: Class::Exit, what: "1".into(), count: 1 }], ..unsupported };
        assert_eq!((guessed.exit_code(), guessed.losses()), (3, vec!["undefined function".to_owned()]));
        let row = |kind: &str| LedgerRow { kind: kind.into(), what: "x".into(), count: 1, flag: String::new() };
        let complete = Run { ledger: vec![row("concretisation"), row("warning")], ..guessed };
        assert_eq!(complete.exit_code(), 0);
        for kind in LOSSES {
            assert_eq!(Run { ledger: vec![row(kind)], ..complete.clone() }.exit_code(), 3, "{kind}");
        }
        let judged = |verdict| {
            let rule = RuleResult { id: "r".into(), summary: "s".into(), verdict, relevant: 1, why: String::new(), assumptions: vec![] };
            Run { rules: vec![rule], ledger: vec![row(ASSUMPTION)], ..complete.clone() }.exit_code()
        };
        assert_eq!((judged(Verdict::Verified), judged(Verdict::Incomplete)), (0, 3));
        assert_eq!(Run { findings: denied.findings, ..complete.clone() }.exit_code(), 3);
        let internal = EndCount { class: Class::Internal, what: "?".into(), count: 1 };
        assert_eq!(Run { ends: vec![internal], ..complete }.exit_code(), 2);
    }
}
