//! What must be equal behind an instruction. What the manual leaves undefined, and what we leave out, is masked here, with
//! its reason, and nowhere else.

use crate::case::{Case, Operand};
use crate::lifted::{Answer, SIGBUS, SIGSEGV, SIGTRAP};
use crate::state::{CODE, RCX, State, flag};

/// Flags that are not compared behind an instruction.
struct Undefined {
    /// Beginnings of mnemonics.
    mnemonics: &'static [&'static str],
    flags: u64,
    /// The reason.
    #[allow(dead_code, reason = "the table says why, for whoever reads it")]
    why: &'static str,
}

/// Intel SDM 2, "Flags Affected" of each instruction.
const UNDEFINED: &[Undefined] = &[
    Undefined { mnemonics: &["mul", "imul"], flags: flag::SF | flag::ZF | flag::PF, why: "only CF and OF say something of a product" },
    Undefined { mnemonics: &["div", "idiv"], flags: flag::STATUS, why: "undefined behind a division" },
    Undefined {
        mnemonics: &["bt", "lock bt"],
        flags: flag::OF | flag::SF | flag::PF,
        why: "only CF is set, ZF unaffected, the rest undefined",
    },
    Undefined { mnemonics: &["bsf", "bsr"], flags: flag::CF | flag::OF | flag::SF | flag::PF, why: "only ZF is defined" },
    Undefined { mnemonics: &["tzcnt", "lzcnt"], flags: flag::OF | flag::SF | flag::PF, why: "only CF and ZF are defined" },
    Undefined { mnemonics: &["bextr"], flags: flag::SF | flag::PF, why: "only ZF, CF and OF are defined" },
    Undefined { mnemonics: &["bls", "bzhi", "andn"], flags: flag::PF, why: "PF is undefined" },
];

/// AF is not computed at all: no conditional instruction reads it, and `lahf` and `pushf`, which show it, are unsupported.
const NOT_MODELLED: u64 = flag::AF;

/// Flags that say nothing behind this instruction from this state.
pub fn undefined(case: &Case, before: &State) -> u64 {
    // A prefix that says nothing (`repz imul`) changes no flag.
    let bare = case.bare();
    let stem = |name: &&str| case.mnemonic.starts_with(*name) || bare.starts_with(*name);
    let listed: u64 = UNDEFINED.iter().filter(|u| u.mnemonics.iter().any(stem)).map(|u| u.flags).fold(0, |a, b| a | b);
    listed | NOT_MODELLED | shifted(case, before)
}

/// OF is defined behind shifts by 1 only, CF behind those by less than the width; a shift by 0 changes nothing.
fn shifted(case: &Case, before: &State) -> u64 {
    let name = case.mnemonic.as_str();
    let double = name.starts_with("shld") || name.starts_with("shrd");
    let shift = double || ["shl", "shr", "sar", "sal"].iter().any(|s| name.starts_with(s)) && !name.ends_with('x');
    let rotation = ["rol", "ror", "rcl", "rcr"].iter().any(|s| name.starts_with(s));
    if !shift && !rotation {
        return 0;
    }
    let sized = if double { case.operands.get(1) } else { case.operands.last() };
    let width = match sized {
        Some(Operand::Register(class, _)) => class.trim_start_matches('r').trim_end_matches('h').parse().unwrap_or(64),
        _ if name.ends_with('q') => 64,
        _ if name.ends_with('w') => 16,
        _ if name.ends_with('b') => 8,
        _ => 32,
    };
    let mask = if width == 64 { 63 } else { 31 };
    let count = match case.operands.first() {
        _ if case.operands.len() == 1 => 1,
        // A count that the processor masks to 1 leaves OF undefined, too.
        Some(Operand::Immediate(by)) if *by as u64 & mask != *by as u64 => 2,
        Some(Operand::Immediate(by)) => *by as u64,
        Some(Operand::Register(..)) => before.gpr[RCX] & mask,
        _ => 1,
    };
    let of = if count > 1 { flag::OF } else { 0 };
    let too_far = shift && count >= width;
    of | if too_far { flag::CF } else { 0 } | if double && count > width { flag::STATUS } else { 0 }
}

/// What differs between the CPU's result and ours; empty: they agree.
pub fn differences(case: &Case, before: &State, cpu: &State, ours: &State) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut differ = |what: String, a: u64, b: u64| {
        if a != b {
            wrong.push(format!("{what}: CPU {a:#x}, ours {b:#x}"));
        }
    };
    let (cpu_signal, cpu_rip) = went_on(cpu);
    differ("signal".into(), cpu_signal.into(), ours.signal.into());
    if cpu_signal != SIGTRAP || ours.signal != SIGTRAP || cpu_rip == CODE {
        return wrong;
    }
    differ("rip".into(), cpu_rip, ours.rip);
    for n in 0..16 {
        differ(format!("gpr {n}"), cpu.gpr[n], ours.gpr[n]);
        for limb in 0..4 {
            differ(format!("vector {n}.{limb}"), cpu.vec[n][limb], ours.vec[n][limb]);
        }
    }
    let keep = (flag::STATUS | flag::DF | 1 << 40) & !undefined(case, before);
    differ("flags".into(), cpu.rflags & keep, ours.rflags & keep);
    differ("fs".into(), cpu.fs, ours.fs);
    differ("gs".into(), cpu.gs, ours.gs);
    for i in 0..cpu.window.len() {
        differ(format!("memory {}", 8 * i), cpu.window[i], ours.window[i]);
    }
    // The flags of exceptions are sticky and not kept by us; masks and rounding are.
    differ("mxcsr".into(), u64::from(cpu.mxcsr & !0x3f), u64::from(ours.mxcsr & !0x3f));
    if case.is_x87() {
        differ("fcw".into(), cpu.fcw.into(), ours.fcw.into());
        // C1 says which way a result was rounded; exceptions and the busy bit follow them.
        let keep = 0x4500 | 0x3800;
        differ("fsw".into(), u64::from(cpu.fsw & keep), u64::from(ours.fsw & keep));
        let top = u32::from(cpu.fsw >> 11 & 7);
        for n in (0..8).filter(|n| cpu.ftw >> ((top + n) % 8) & 1 == 1) {
            let n = n as usize;
            differ(format!("st{n}"), cpu.st[n][0], ours.st[n][0]);
            differ(format!("st{n} high"), cpu.st[n][1], ours.st[n][1]);
        }
    }
    wrong
}

/// How two of our own answers from one state differ, if they do; what either leaves unsaid is no difference.
pub fn disagreement(one: &Answer, other: &Answer) -> Option<String> {
    match (one, other) {
        (Answer::Unsupported(_), _) | (_, Answer::Unsupported(_)) => None,
        (Answer::Wrong(why), _) | (_, Answer::Wrong(why)) => Some(why.clone()),
        (Answer::State(a), Answer::State(b)) if a == b => None,
        (Answer::State(a), Answer::State(b)) if a.signal != b.signal || a.rip != b.rip => {
            Some(format!("signal {} at {:#x}, and {} at {:#x}", a.signal, a.rip, b.signal, b.rip))
        }
        (Answer::State(a), Answer::State(b)) => {
            let (a, b): (&[u64], &[u64]) = (bytemuck::cast_slice(bytemuck::bytes_of(&**a)), bytemuck::cast_slice(bytemuck::bytes_of(&**b)));
            let first = (0..a.len()).find(|i| a[*i] != b[*i])?;
            Some(format!("word {first} of the state: {:#x}, and {:#x}", a[first], b[first]))
        }
    }
}

/// Signal and instruction pointer. A breakpoint elsewhere, or no code where a jump led, means that the instruction went on.
fn went_on(s: &State) -> (u32, u64) {
    match s.signal {
        SIGTRAP => (SIGTRAP, s.rip.wrapping_sub(1)),
        SIGSEGV if s.rip != CODE => (SIGTRAP, s.rip),
        // Linux calls it so where the address is not canonical and comes from `rsp` or `rbp`.
        SIGBUS => (SIGSEGV, s.rip),
        other => (other, s.rip),
    }
}
