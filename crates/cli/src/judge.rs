//! Whether a native run ended as its path did.

use std::os::unix::process::ExitStatusExt;

use wryneck_confine::Ended;
use wryneck_exec::ground::memory::FUNC_BASE;
use wryneck_report::units;

use crate::native::Sanitizer;

/// What a replay of one test showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Same,
    /// How it ended instead.
    Different(String),
    Cannot(String),
}

/// How a path ended, as its test says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The status, and what was written to standard output if that is known.
    Exit(i32, Option<Vec<u8>>),
    /// A kind of fault.
    Fault(String),
    /// So many bytes and objects that one call stack allocated are lost when the program exits, however it does.
    Leak { bytes: u64, objects: u64 },
    /// The path has no end of the program's own: a limit, a gap.
    Open(String),
}

/// How a kind of fault shows natively.
struct Sign {
    kind: &'static str,
    /// Words of which a sanitizer's report has one.
    sanitizer: &'static [&'static str],
    /// Signals that kill the program without a sanitizer; empty if it may well go on.
    signals: &'static [i32],
}

const SEGV: i32 = libc::SIGSEGV;
const MEMORY: &[i32] = &[SEGV, libc::SIGBUS, libc::SIGABRT];
/// What a program ends itself by, but for those that the processor raises.
const SENT: &[i32] = &[
    libc::SIGABRT,
    libc::SIGTERM,
    libc::SIGKILL,
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGALRM,
    libc::SIGPIPE,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

// One more kind: a row (sorted by kind) and a fixture in `tests/fail`.
static SIGNS: &[Sign] = &[
    Sign { kind: "abort", sanitizer: &[], signals: SENT },
    Sign { kind: "assertion-failed", sanitizer: &[], signals: &[libc::SIGABRT] },
    Sign { kind: "bad-call-target", sanitizer: &["SEGV", "incorrect function type", "ILL"], signals: &[SEGV, libc::SIGBUS, libc::SIGILL] },
    Sign { kind: DATA_RACE, sanitizer: &["data race"], signals: &[] },
    Sign { kind: DEADLOCK, sanitizer: &[], signals: ENDED_BY_SCHEDULER },
    Sign { kind: "division-by-zero", sanitizer: &["division by zero", "FPE"], signals: &[libc::SIGFPE] },
    Sign { kind: "division-overflow", sanitizer: &["cannot be represented", "FPE"], signals: &[libc::SIGFPE] },
    Sign { kind: "double-free", sanitizer: &["double-free"], signals: &[] },
    Sign { kind: "invalid-free", sanitizer: &["attempting free on address which was not malloc", "bad-free"], signals: &[] },
    Sign { kind: "lossy-conversion", sanitizer: &["implicit conversion", "is outside the range of representable values"], signals: &[] },
    Sign { kind: MEMORY_LEAK, sanitizer: &[], signals: &[] },
    Sign { kind: "null-dereference", sanitizer: &["SEGV", "null pointer", "null-pointer"], signals: &[SEGV] },
    Sign { kind: "out-of-bounds-read", sanitizer: &["overflow", "underflow", "out of bounds", "insufficient space", "SEGV"], signals: &[] },
    Sign {
        kind: "out-of-bounds-write",
        sanitizer: &["overflow", "underflow", "out of bounds", "insufficient space", "SEGV"],
        signals: &[],
    },
    Sign { kind: "overwritten-return-address", sanitizer: &[], signals: &[SEGV, libc::SIGBUS, libc::SIGILL, libc::SIGABRT] },
    Sign { kind: "panic", sanitizer: &[], signals: &[libc::SIGABRT] },
    Sign { kind: "read-only-write", sanitizer: &["SEGV"], signals: &[SEGV] },
    Sign { kind: "reported", sanitizer: &[], signals: &[libc::SIGABRT] },
    Sign { kind: "shift-too-far", sanitizer: &["shift exponent"], signals: &[] },
    Sign { kind: "signed-overflow", sanitizer: &["signed integer overflow", "left shift", "negation of"], signals: &[] },
    Sign { kind: "stack-overflow", sanitizer: &["stack-overflow"], signals: &[SEGV] },
    Sign { kind: "trap", sanitizer: &["unreachable", "ILL", "TRAP"], signals: &[libc::SIGILL, libc::SIGTRAP] },
    Sign { kind: "uncaught-exception", sanitizer: &[], signals: &[libc::SIGABRT] },
    Sign { kind: "unheld-lock", sanitizer: &[], signals: ENDED_BY_SCHEDULER },
    Sign { kind: UNINITIALISED, sanitizer: &["use-of-uninitialized-value"], signals: &[] },
    Sign { kind: "unsigned-overflow", sanitizer: &["unsigned integer overflow", "left shift", "negation of"], signals: &[] },
    // The host's C library is not watched inside: closing a stream twice shows there as the second `free`.
    Sign { kind: "use-after-free", sanitizer: &["heap-use-after-free", "double-free"], signals: &[] },
    Sign { kind: AFTER_RETURN, sanitizer: &["stack-use-after"], signals: &[] },
    Sign { kind: "wild-pointer", sanitizer: &["SEGV", "misaligned", "overflow"], signals: &[SEGV, libc::SIGBUS] },
];

/// Why a native run says nothing of a path with threads or processes that no schedule orders.
pub const OWN_ORDER: &str = "a native run has an order of its own in which threads and processes run";
/// Why a native run may run threads in another order than the path.
pub const SLICED: &str = "; on the path a thread gives way because it has run for long, which a native run does elsewhere";
/// Kinds of faults that show only where threads run natively in the order of the path.
const OF_ORDER: [&str; 3] = [DATA_RACE, DEADLOCK, "unheld-lock"];
/// The kind of fault that an ended thread's stack shows by no address, too.
const AFTER_RETURN: &str = "use-after-return";
/// The kind of fault that only the thread sanitizer sees.
pub const DATA_RACE: &str = "data-race";
/// The kind of fault whose program does not end.
const DEADLOCK: &str = "deadlock";
/// What the scheduler of the replay library ends a program by, and how its line in the report begins.
const ENDED_BY_SCHEDULER: &[i32] = &[libc::SIGABRT];
const SCHEDULER: &str = "scheduler: ";

/// The kind of fault that a program which ends well may have.
pub const MEMORY_LEAK: &str = "memory-leak";
/// The kind of fault that is not one of addresses.
const UNINITIALISED: &str = "uninitialised-read";

impl Expected {
    /// Whether a native run shows it only if threads run in the order of the path.
    pub fn is_of_order(&self) -> bool {
        matches!(self, Expected::Fault(kind) if OF_ORDER.contains(&kind.as_str()))
    }

    /// Whether the program does not end, because each of its threads waits for another one.
    pub fn may_be_stuck(&self) -> bool {
        matches!(self, Expected::Fault(kind) if kind == DEADLOCK)
    }

    /// The kind of fault, if it is one that may go by unseen without a sanitizer, and that sanitizer.
    pub fn needs_sanitizer(&self) -> Option<(&str, Sanitizer)> {
        match self {
            Expected::Fault(kind) if kind == UNINITIALISED => Some((kind, Sanitizer::Memory)),
            Expected::Fault(kind) if kind == DATA_RACE => Some((kind, Sanitizer::Thread)),
            Expected::Fault(kind) => SIGNS.iter().any(|s| s.kind == kind && s.signals.is_empty()).then_some((kind, Sanitizer::Address)),
            Expected::Leak { .. } => Some((MEMORY_LEAK, Sanitizer::Address)),
            Expected::Exit(..) | Expected::Open(_) => None,
        }
    }
}

/// Kinds of faults that the heap guard may see.
pub const IN_HEAP: &[&str] = &["double-free", "invalid-free", "out-of-bounds-read", "out-of-bounds-write", "use-after-free"];
/// Kinds of which some faults are seen only by the undefined-behaviour sanitizer.
const UNDEFINED: &[&str] = &["lossy-conversion", "shift-too-far", "signed-overflow", "trap", "unsigned-overflow"];

/// What a run under sanitizers has shown of a fault that may well not show without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched {
    /// No such run, and why.
    No(String),
    /// The sanitizers said nothing.
    Silent,
}

impl Watched {
    /// A run under sanitizers, of bitcode or of C source, that said nothing of a fault of this kind.
    pub fn silent(kind: &str, is_c: bool) -> Watched {
        match is_c || !UNDEFINED.contains(&kind) {
            true => Watched::Silent,
            false => Watched::No("which needs the program's C source".into()),
        }
    }
}

/// Judges the run of a program without sanitizers. `report` is what the replay library said.
pub fn plain(expected: &Expected, ended: &Ended, report: &str, watched: &Watched) -> Verdict {
    if let Some(why) = report.lines().find_map(|l| l.strip_prefix("cannot replay: ")) {
        return Verdict::Cannot(why.to_owned());
    }
    // A fault of the order of threads, as `KIND: WORDS`: it shows by nothing else.
    let of_order = report.lines().find_map(|line| line.strip_prefix(SCHEDULER));
    let is_of_order = |kind: &str| of_order.is_some_and(|said| said.split(':').next() == Some(kind));
    match (of_order, expected) {
        (Some(_), Expected::Fault(kind)) if is_of_order(kind) => return Verdict::Same,
        (Some(said), _) => return Verdict::Different(said.to_owned()),
        (None, Expected::Fault(_)) if expected.is_of_order() => return Verdict::Different(how(ended)),
        (None, _) => {}
    }
    match expected {
        Expected::Open(what) => Verdict::Cannot(format!("the path has no end of its own: {what}")),
        Expected::Exit(status, _) if ended.status.code() != Some(*status) => Verdict::Different(how(ended)),
        Expected::Exit(_, Some(output)) if ended.stdout != *output && differ_by_addresses(output, &ended.stdout) => {
            Verdict::Cannot("it prints addresses, which are others natively".into())
        }
        Expected::Exit(_, Some(output)) if ended.stdout != *output => {
            let (was, is) = (units::c_string(shown(output)), units::c_string(shown(&ended.stdout)));
            Verdict::Different(format!("the standard output is {is} instead of {was}"))
        }
        Expected::Exit(..) => Verdict::Same,
        Expected::Fault(kind) => {
            let Some(sign) = SIGNS.iter().find(|s| s.kind == kind) else {
                return Verdict::Cannot(format!("nothing is known of faults of kind `{kind}`"));
            };
            let signals = if sign.signals.is_empty() { MEMORY } else { sign.signals };
            match ended.status.signal() {
                Some(signal) if signals.contains(&signal) => Verdict::Same,
                Some(_) => Verdict::Different(how(ended)),
                None if sign.signals.is_empty() => unseen(kind, ended, watched),
                None => Verdict::Different(how(ended)),
            }
        }
        Expected::Leak { .. } => unseen(MEMORY_LEAK, ended, watched),
    }
}

/// The verdict on a fault that shows only under a sanitizer, and did not show.
fn unseen(kind: &str, ended: &Ended, watched: &Watched) -> Verdict {
    match watched {
        Watched::Silent => Verdict::Different(format!("{}, and the sanitizers saw nothing", how(ended))),
        Watched::No(why) => Verdict::Cannot(format!("`{kind}` shows only under a sanitizer, {why}")),
    }
}

/// Judges a fault that was looked for under sanitizers after the run without had ended otherwise.
pub fn second(kind: &str, otherwise: String, seen: std::result::Result<Verdict, Watched>) -> Verdict {
    match seen {
        Ok(Verdict::Same) => Verdict::Same,
        Err(Watched::No(why)) if UNDEFINED.contains(&kind) => Verdict::Cannot(format!("`{kind}` shows only under a sanitizer, {why}")),
        Ok(Verdict::Different(_) | Verdict::Cannot(_)) | Err(Watched::No(_) | Watched::Silent) => Verdict::Different(otherwise),
    }
}

/// Judges the run of a test under sanitizers by what they said; `None` if nothing. `threads`: the program has some.
pub fn sanitized(expected: &Expected, said: &str, threads: bool) -> Option<Verdict> {
    if said.contains("LeakSanitizer has encountered a fatal error") {
        return Some(Verdict::Cannot("the leak checker may not watch processes here".into()));
    }
    const REPORTS: [&str; 5] =
        ["ERROR: AddressSanitizer", "ERROR: heap guard", "WARNING: MemorySanitizer", "WARNING: ThreadSanitizer", "runtime error:"];
    let report = said.lines().find(|l| REPORTS.iter().any(|r| l.contains(r)));
    let leaked = |amount: &str| said.lines().any(|l| l.contains(amount));
    let (same, report) = match expected {
        Expected::Leak { bytes, objects } => {
            let lost = said.lines().find(|l| l.contains("SUMMARY: AddressSanitizer"));
            (leaked(&format!("leak of {bytes} byte(s) in {objects} object(s)")), report.or(lost)?)
        }
        Expected::Fault(kind) => {
            let report = report?;
            // The stack of a thread that has ended is no memory any more.
            let gone = threads && kind == AFTER_RETURN && report.contains("SEGV");
            (gone || SIGNS.iter().find(|s| s.kind == kind)?.sanitizer.iter().any(|w| report.contains(w)), report)
        }
        Expected::Exit(..) | Expected::Open(_) => return None,
    };
    Some(if same { Verdict::Same } else { Verdict::Different(report.trim().to_owned()) })
}

/// Whether an output differs from another one by addresses alone, as `%p` prints them: hexadecimal numbers behind `0x`.
fn differ_by_addresses(was: &[u8], is: &[u8]) -> bool {
    let (Ok(was), Ok(is)) = (str::from_utf8(was), str::from_utf8(is)) else { return false };
    let is_address = |digits: &str, least: u64| u64::from_str_radix(digits, 16).is_ok_and(|value| (least..1 << 47).contains(&value));
    let mut parts = was.split("0x").zip(is.split("0x"));
    was.matches("0x").count() == is.matches("0x").count()
        && parts.next().is_some_and(|(was, is)| was == is)
        && parts.all(|(was, is)| {
            let ((was, text), (is, same)) = (number(was), number(is));
            text == same && (was == is || is_address(was, FUNC_BASE) && is_address(is, 1 << 16))
        })
}

/// The hexadecimal digits that a text begins with, and the rest.
fn number(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len()))
}

/// The beginning of an output.
fn shown(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(80)]
}

fn how(ended: &Ended) -> String {
    match (ended.status.code(), ended.status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown end".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::ExitStatus;

    fn ended(raw: i32) -> Ended {
        Ended { status: ExitStatus::from_raw(raw), limit: None, stdout: vec![], stderr: vec![], collected: vec![] }
    }

    #[test]
    fn every_kind_of_fault_has_a_sign() {
        for kind in wryneck_exec::FaultKind::ALL {
            assert!(SIGNS.iter().any(|s| s.kind == kind.id()), "`{kind}` has none");
        }
        assert!(SIGNS.windows(2).all(|w| w[0].kind < w[1].kind));
    }

    #[test]
    fn ends_are_compared() {
        let fault = |kind: &str| Expected::Fault(kind.into());
        let exit = |status| Expected::Exit(status, None);
        assert_eq!(plain(&exit(3), &ended(3 << 8), "", &Watched::Silent), Verdict::Same);
        assert_eq!(plain(&exit(3), &ended(0), "", &Watched::Silent), Verdict::Different("exit 0".into()));
        let output = Expected::Exit(0, Some(b"a".to_vec()));
        assert_eq!(
            plain(&output, &ended(0), "", &Watched::Silent),
            Verdict::Different(r#"the standard output is "" instead of "a""#.into())
        );
        assert_eq!(plain(&fault("abort"), &ended(libc::SIGABRT), "", &Watched::Silent), Verdict::Same);
        assert_eq!(plain(&fault("abort"), &ended(libc::SIGTERM), "", &Watched::Silent), Verdict::Same);
        assert_eq!(plain(&fault("abort"), &ended(libc::SIGSEGV), "", &Watched::Silent), Verdict::Different("signal 11".into()));
        assert_eq!(plain(&fault("division-by-zero"), &ended(0), "", &Watched::Silent), Verdict::Different("exit 0".into()));
        assert!(matches!(plain(&fault("use-after-free"), &ended(0), "", &Watched::Silent), Verdict::Different(_)));
        assert_eq!(Watched::silent("use-after-free", false), Watched::Silent);
        let unseen = Watched::silent("shift-too-far", false);
        assert!(matches!(plain(&fault("shift-too-far"), &ended(0), "", &unseen), Verdict::Cannot(_)));
        assert_eq!(
            plain(&exit(0), &ended(70 << 8), "cannot replay: truncated test `t`\n", &Watched::Silent),
            Verdict::Cannot("truncated test `t`".into())
        );
    }

    #[test]
    fn printed_addresses_are_no_difference() {
        let prints = |was: &str, is: &str| {
            let ended = Ended { stdout: is.into(), ..ended(0) };
            plain(&Expected::Exit(0, Some(was.into())), &ended, "", &Watched::Silent)
        };
        assert!(matches!(prints("f 0x40046d48 0x1\n", "f 0x223a48 0x1\n"), Verdict::Cannot(_)));
        assert!(matches!(prints("0x7effffffe010, 0x10000000040", "0x7ffd10, 0x20010"), Verdict::Cannot(_)));
        assert!(matches!(prints("id dead1092", "id dead2fe"), Verdict::Different(_)));
        assert!(matches!(prints("0x40046d48 1092", "0x40046d48 1093"), Verdict::Different(_)));
        assert!(matches!(prints("f 0x40046d48 0x1\n", "f 0x223a48 0x2\n"), Verdict::Different(_)));
        assert!(matches!(prints("f 0x1234\n", "f 0x1235\n"), Verdict::Different(_)));
        assert!(matches!(prints("f 0x40046d48\n", "f 0x40046d48"), Verdict::Different(_)));
        assert_eq!(prints("0x40046d48", "0x40046d48"), Verdict::Same);
    }

    #[test]
    fn what_does_not_kill_may_show_under_sanitizers() {
        let no = || Err(Watched::No("which needs the program's C source".into()));
        assert_eq!(second("trap", "exit 1".into(), Ok(Verdict::Same)), Verdict::Same);
        assert_eq!(second("trap", "exit 1".into(), Err(Watched::Silent)), Verdict::Different("exit 1".into()));
        assert!(matches!(second("trap", "exit 1".into(), no()), Verdict::Cannot(_)));
        assert_eq!(second("division-by-zero", "exit 1".into(), no()), Verdict::Different("exit 1".into()));
    }

    #[test]
    fn sanitizers_are_believed_only_on_the_same_kind() {
        let report = "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1";
        let fault = |kind: &str| Expected::Fault(kind.into());
        assert_eq!(sanitized(&fault("use-after-free"), report, false), Some(Verdict::Same));
        assert!(matches!(sanitized(&fault("double-free"), report, false), Some(Verdict::Different(_))));
        assert_eq!(sanitized(&fault("double-free"), "", false), None);
        let gone = "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x7f00";
        assert_eq!(sanitized(&fault(AFTER_RETURN), gone, true), Some(Verdict::Same));
        assert!(matches!(sanitized(&fault(AFTER_RETURN), gone, false), Some(Verdict::Different(_))));
        let report =
            "Direct leak of 8 byte(s) in 1 object(s) allocated from:\nSUMMARY: AddressSanitizer: 8 byte(s) leaked in 1 allocation(s).";
        assert_eq!(sanitized(&Expected::Leak { bytes: 8, objects: 1 }, report, false), Some(Verdict::Same));
        assert!(matches!(sanitized(&Expected::Leak { bytes: 9, objects: 1 }, report, false), Some(Verdict::Different(_))));
    }
}
