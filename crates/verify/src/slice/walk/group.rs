//! The recorded steps of one operation that the inner loop leaves ([`Step::Slow`]).

use wryneck_exec::Step;

use crate::slice::live::{Live, Placed};

/// The steps of a slow operation, in order.
pub struct Group<'a> {
    pub steps: &'a [Step],
    /// The stack below this address belongs to calls inside the operation; 0 if there are none.
    pub stack_below: u64,
}

/// No stack is larger, in bytes.
const STACK: u64 = 1 << 32;

impl Group<'_> {
    pub fn decisions(&self) -> impl Iterator<Item = u32> + '_ {
        self.steps.iter().filter_map(|step| match step {
            Step::Decision { index } => Some(*index),
            _ => None,
        })
    }
    /// Without the stack memory of calls inside: addresses and lengths.
    pub fn reads(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let outside = |address: u64| !(self.stack_below.saturating_sub(STACK)..self.stack_below).contains(&address);
        let reads = self.steps.iter().filter_map(|step| match *step {
            Step::Read { len, address } => Some((address, u64::from(len))),
            Step::Load { bytes, address, .. } => Some((address, u64::from(bytes))),
            _ => None,
        });
        reads.filter(move |(address, _)| outside(*address))
    }
    /// The bytes that were read before they were written, if they were.
    pub fn exposed(&self) -> Live {
        let mut read = Live::default();
        for step in self.steps.iter().rev() {
            match *step {
                Step::Read { len, address } => read.add(Placed::default(), address, len.into()),
                Step::Load { bytes, address, .. } => read.add(Placed::default(), address, bytes.into()),
                Step::Write { len, address } | Step::Allocate { len, address } => drop(read.kill(Placed::default, address, len.into())),
                Step::Store { bytes, address, .. } => drop(read.kill(Placed::default, address, bytes.into())),
                _ => {}
            }
        }
        read
    }
    /// As [`Group::writes`], without the stack memory of calls inside.
    pub fn writes_outside(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let inside = self.stack_below.saturating_sub(STACK)..self.stack_below;
        self.writes().filter(move |(address, _)| !inside.contains(address))
    }
    pub fn writes(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.steps.iter().filter_map(|step| match *step {
            Step::Write { len, address } => Some((address, u64::from(len))),
            Step::Store { bytes, address, .. } => Some((address, u64::from(bytes))),
            _ => None,
        })
    }
    /// Whether an event happened. Otherwise the current call is only a may-event for other operands.
    pub fn happens(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Happens))
    }
    pub fn result_matters(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::ResultMatters))
    }
    pub fn enters(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Enter { .. })).count()
    }
    pub fn edge(&self) -> Option<(u32, u32)> {
        self.steps.iter().find_map(|step| match step {
            Step::Edge { op, edge } => Some((*op, *edge)),
            _ => None,
        })
    }
}
