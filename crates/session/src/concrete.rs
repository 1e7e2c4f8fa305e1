//! Findings that no native run can judge: their input is run again in the engine, where nothing is symbolic then, and the ends are compared.
//!
//! Bounds are the engine's own there, as in the exploration; what is checked is that the path is that of its input, and no artefact of what was
//! symbolic. Cost: one run of the path, no solver.

use wryneck_exec::{Explorer, PathEnd};
use wryneck_report::{Finding, Native};

use crate::budget;
use crate::results::Seen;

/// Paths of more instructions are not run again.
const MOST: u64 = 200_000_000;
/// The part of the time that is left which this may take.
const SHARE: f64 = 0.5;
/// Bytes that the address sanitizer watches before and after each object, at least.
const WATCHED: u64 = 16;

/// Judges those of these findings, which `seen` has under these numbers, that their replay did not.
pub fn judge(explorer: &mut Explorer, seen: &Seen, findings: &mut [(u32, Finding)]) {
    let stop = budget::share(SHARE);
    for (number, finding) in findings {
        let Some(way) = seen.ways.get(*number as usize) else { continue };
        // An access that far from its object may hit another, natively and in the engine alike: neither run denies it.
        let (why, far) = match &finding.native {
            Some(Native::NotReplayable(why)) => (why.clone(), false),
            Some(Native::NotReproduced(how)) if leaves_what_is_watched(finding) => {
                (format!("{how}; the access is beyond what they watch around its object"), true)
            }
            _ => continue,
        };
        if way.instructions > MOST || stop.asked() {
            continue;
        }
        let (state, end) = explorer.concretely(way.model.clone(), &stop);
        let fault = if let PathEnd::Fault(fault) = &end { fault.kind.id() } else { "" };
        let same = fault == finding.kind.id && explorer.core.call_stack(&state, usize::MAX) == way.at;
        if same || far {
            let showed = if same { "its input ends in the same fault" } else { "it hits another object" };
            finding.native = Some(Native::Inconclusive(format!("{why}; run concretely in the engine, {showed}")));
        }
    }
}

/// Whether a sanitizer may see nothing of an access, since it lies so far from its object that it may hit another one.
fn leaves_what_is_watched(finding: &Finding) -> bool {
    if !finding.kind.id.starts_with("out-of-bounds") {
        return false;
    }
    let number = |text: &str| text.split(|c: char| c != '-' && !c.is_ascii_digit()).find_map(|word| word.parse::<i64>().ok());
    let offset = finding.message.split_once("at offset ").and_then(|(_, rest)| number(rest));
    let size = finding.message.rsplit_once('(').and_then(|(_, rest)| number(rest));
    match (offset, size) {
        (Some(offset), _) if offset < 0 => offset.unsigned_abs() > WATCHED,
        (Some(offset), Some(size)) => offset >= size + WATCHED as i64,
        (_, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_far_from_their_object_are_not_seen_by_sanitizers() {
        let finding = |message: &str| Finding {
            kind: wryneck_report::Kind { id: "out-of-bounds-write".into(), cwe: 787 },
            message: message.into(),
            stack: Vec::new(),
            inputs: Vec::new(),
            count: 1,
            test: None,
            source_line: None,
            code: Vec::new(),
            variables: Vec::new(),
            native: None,
            steps: Vec::new(),
        };
        let leaves = |message| leaves_what_is_watched(&finding(message));
        assert!(leaves("write of 4 bytes at offset 400 of `a` (16 bytes)") && leaves("write of 4 bytes at offset -400 of `a` (16 bytes)"));
        assert!(!leaves("write of 4 bytes at offset 16 of `a` (16 bytes)") && !leaves("write of 4 bytes at offset -4 of `a` (16 bytes)"));
    }
}
