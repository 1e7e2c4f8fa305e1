//! The way to a finding: replays its path and describes each decision with its place in the application.
//!
//! A decision inside a library function is described as the application's call of it. Equal descriptions in a row are counted. Checks
//! that found nothing wrong are left out. Where the path ends at the finding, the variables there are shown too. Cost: one replay of the
//! path, no solver.

use wryneck_exec::prefix::Decision;
use wryneck_exec::{CodePos, Decided, Does, Explorer, Image, places};
use wryneck_report::{Finding, LedgerRow, Place, Step};

use crate::budget::{self, Cause};
use crate::results::{Seen, place};
use crate::{known, scope};

/// Paths of more instructions are not run again.
const MOST: u64 = 200_000_000;
/// The part of the time that is left which this may take; replays come after it.
const SHARE: f64 = 0.3;
/// Decisions kept of one way.
const KEPT: usize = 10_000;

/// Gives each of these findings, which `seen` has under these numbers, the decisions on its way.
///
/// Gives what was given up, since the run is over.
pub fn trace(explorer: &mut Explorer, seen: &Seen, findings: &mut [(u32, Finding)]) -> Option<LedgerRow> {
    let (stop, count) = (budget::share(SHARE), findings.len());
    for (done, (number, finding)) in findings.iter_mut().enumerate() {
        let Some(way) = seen.ways.get(*number as usize).filter(|way| way.instructions <= MOST) else { continue };
        if stop.asked() {
            let cause = budget::over().unwrap_or(Cause::Time);
            return Some(known::cut_off("looking at the ways to findings", (count - done) as u64, cause));
        }
        let mut steps: Vec<Step> = Vec::new();
        let (state, _) = explorer.retrace(&way.prefix.to_vec(), way.model.clone(), &stop, &mut |image, decided| {
            let Some(step) = step(image, decided).filter(|_| steps.len() < KEPT) else { return };
            match steps.last_mut() {
                Some(last) if (&last.place, &last.library, &last.decision) == (&step.place, &step.library, &step.decision) => {
                    last.count += 1
                }
                Some(_) | None => steps.push(step),
            }
        });
        finding.steps = steps;
        if explorer.core.call_stack(&state, usize::MAX) == way.at {
            let machine = seen.machine.as_ref().map(|machine| machine.borrow());
            finding.variables = scope::variables(&explorer.core, &state, machine.as_deref(), &way.at, finding.stack.len());
        }
    }
    None
}

/// A decision in words; `None` if it belongs to no function of the application, or tells nothing.
fn step(image: &Image, decided: &Decided<'_>) -> Option<Step> {
    let frame = decided.stack.iter().position(|pos| !places::in_library(image, *pos))?;
    let pos = decided.stack[frame];
    let here = places::source(image, pos).into_iter().next()?;
    let (library, decision) = match (frame.checked_sub(1), places::does(image, pos)) {
        (Some(callee), _) => (image.name(decided.stack[callee].func).to_owned(), LOOKS.to_owned()),
        (None, Does::Call(name)) if !matches!(decided.decision, Decision::Value(_)) => {
            (name.unwrap_or("a function").to_owned(), LOOKS.to_owned())
        }
        (None, does) => (String::new(), own(image, decided, does, pos)?),
    };
    let depth = u32::try_from(decided.stack.len()).unwrap_or(u32::MAX);
    Some(Step { place: place(here), library, decision, depth, count: 1 })
}

/// What library functions do.
const LOOKS: &str = "looks at the input";

/// A decision of the application's own code.
fn own(image: &Image, decided: &Decided<'_>, does: Does<'_>, pos: CodePos) -> Option<String> {
    match (decided.decision, does) {
        (Decision::Value(value), _) => Some(format!("a value is fixed to {value}")),
        (Decision::Branch(_) | Decision::Choice(_), Does::Branch) => {
            let (from, to): (Place, Place) = (first(image, pos)?, first(image, decided.next?)?);
            Some(match (from.function == to.function, from.line == to.line) {
                // Without debug information: a symbol, and the distance from it.
                _ if to.line == 0 => format!("goes to `{}`", to.function),
                (true, false) => format!("goes to line {}", to.line),
                (true, true) => format!("goes to column {} of the line", to.column),
                // Into or out of a call that was inlined.
                (false, _) => format!("goes to line {} in `{}`", to.line, to.function),
            })
        }
        // A check that held, or the fault itself.
        (Decision::Branch(_) | Decision::Choice(_) | Decision::Above(_) | Decision::Tried(_), _) => None,
    }
}

fn first(image: &Image, pos: CodePos) -> Option<Place> {
    places::source(image, pos).into_iter().next().map(place)
}
