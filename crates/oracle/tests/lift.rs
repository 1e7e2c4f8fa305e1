//! An instruction of each form in coreutils and the C library, from a few states, against the CPU. `xtask gate lift` runs
//! thousands of states, on more encodings.

use wryneck_oracle::compare::undefined;
use wryneck_oracle::state::flag::{CF, OF, PF, SF, ZF};
use wryneck_oracle::{Answer, Case, Engine, Inputs, Lifter, Native, Random, differences, disagreement};

const LISTS: [&str; 2] = [include_str!("x86_64.txt"), include_str!("forms.txt")];
/// States for each instruction; those that the engine runs too.
const STATES: usize = 10;

fn cases() -> impl Iterator<Item = Case> {
    let lines = LISTS.into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let (digits, text) = line.split_once(' ').expect("bytes, then text");
        let byte = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).expect("hexadecimal digits");
        let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
        Case::new(&bytes, text).expect("an instruction")
    })
}

#[test]
fn instructions_do_what_the_cpu_does() {
    let (lifter, native) = (Lifter::new().unwrap(), Native::new().unwrap());
    let mut random = Random::new(7);
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for case in cases() {
        let lifted = lifter.lift(&case.code).unwrap();
        let states: Vec<_> = (0..STATES).map(|_| case.state(&mut random)).collect();
        let after = native.run(&case.code, &states).unwrap();
        for (before, cpu) in states.iter().zip(&after).filter(|(_, cpu)| cpu.spilled == 0) {
            match lifter.run(&lifted, before) {
                Answer::State(ours) => {
                    compared += 1;
                    wrong.extend(differences(&case, before, cpu, &ours).first().map(|d| format!("{}: {d}", case.text)));
                }
                Answer::Unsupported(_) => {}
                Answer::Wrong(why) => wrong.push(format!("{}: {why}", case.text)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 4000, "{compared} states were compared");
}

#[test]
fn symbolic_values_end_as_concrete_ones() {
    let lifter = Lifter::new().unwrap();
    let mut random = Random::new(8);
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for case in cases() {
        let lifted = lifter.lift(&case.code).unwrap();
        let before = case.state(&mut random);
        for inputs in [Inputs::Concrete, Inputs::Symbolic] {
            let path = Engine { lifter: &lifter, inputs }.run(&case, &before).unwrap();
            compared += u32::from(!matches!(path.answer, Answer::Unsupported(_)));
            let differ = disagreement(&lifter.run(&lifted, &path.before), &path.answer);
            wrong.extend(differ.map(|d| format!("{} ({inputs:?}): {d}", case.text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 900, "{compared} paths were compared");
}

/// What no CPU has confirmed is not lifted by SLEIGH's word: processors disagree about `rcpps`.
#[test]
fn forms_that_are_not_confirmed_are_unsupported() {
    let code = [0x0f, 0x53, 0xc1];
    let (lifter, all) = (Lifter::new().unwrap(), Lifter::of_all_forms().unwrap());
    let lifted = lifter.lift(&code).unwrap();
    let why = lifter.unsupported(&lifted).expect("it is unsupported");
    assert!(why.contains("rcpps") && why.contains("confirmed"), "{why}");
    // `pslld` by a register, which SLEIGH has wrong, is ours and confirmed.
    let code = [0x66, 0x0f, 0xf2, 0xc1];
    assert_eq!(lifter.unsupported(&lifter.lift(&code).unwrap()), None);
    assert_eq!(all.unsupported(&all.lift(&code).unwrap()), None);
}

/// Flags that the eight pairs of conditions read.
const CONDITIONS: [u64; 8] = [OF, CF, ZF, CF | ZF, SF, PF, SF | OF, ZF | SF | OF];
/// Instructions that set flags, by their beginnings.
const SETTERS: [&str; 12] = ["cmp", "test", "sub", "add", "and", "dec", "neg", "sbb", "bt ", "shr", "ucomisd", "comiss"];

/// What a conditional instruction reads is what the one before has set, however both are joined.
#[test]
fn conditions_are_what_the_cpu_decides() {
    let (lifter, native) = (Lifter::new().unwrap(), Native::new().unwrap());
    let mut random = Random::new(9);
    let (mut wrong, mut compared) = (Vec::new(), 0);
    let setters = cases().filter(|case| SETTERS.iter().any(|s| case.text.starts_with(s)) && !case.mnemonic.contains("xchg"));
    for (n, first) in setters.enumerate() {
        // Each of a pair is the other's contrary: every second one, of either kind.
        for condition in (n as u8 % 2..16).step_by(2) {
            let second: &[u8] = match (n / 2 + usize::from(condition)) % 3 {
                0 => &[0x0f, 0x90 | condition, 0xc3],
                1 => &[0x0f, 0x80 | condition, 0x10, 2, 0, 0],
                _ => &[0x0f, 0x40 | condition, 0xd9],
            };
            let case = Case { code: [&first.code, second].concat(), ..first.clone() };
            let lifted = lifter.lift(&case.code).unwrap();
            let reads = CONDITIONS[usize::from(condition / 2)];
            let states = (0..STATES).map(|_| case.state(&mut random)).filter(|s| undefined(&case, s) & reads == 0);
            let states: Vec<_> = states.collect();
            let after = native.run(&case.code, &states).unwrap();
            for (before, cpu) in states.iter().zip(&after).filter(|(_, cpu)| cpu.spilled == 0) {
                match lifter.run(&lifted, before) {
                    Answer::State(ours) => {
                        compared += 1;
                        let differ = differences(&case, before, cpu, &ours);
                        wrong.extend(differ.first().map(|d| format!("{} {second:02x?}: {d}", case.text)));
                    }
                    Answer::Unsupported(why) | Answer::Wrong(why) => wrong.push(format!("{} {second:02x?}: {why}", case.text)),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 3000, "{compared} states were compared");
}

/// Flags that nobody reads cost nothing, and comparisons are one operation.
#[test]
fn a_hot_loop_is_few_operations() {
    // The inner loop of a sieve: movb $1, (%rcx,%rax); add %rdx, %rax; cmp $0x1e8480, %rax; jle to the first.
    let code = [0xc6, 0x04, 0x01, 0x01, 0x48, 0x01, 0xd0, 0x48, 0x3d, 0x80, 0x84, 0x1e, 0, 0x7e, 0xf1, 0x48, 0x31, 0xc0];
    let text = Lifter::new().unwrap().text(&code).unwrap();
    let body = text.split("b1:").nth(1).and_then(|rest| rest.split("condbr").next()).expect("a loop");
    let operations = body.lines().filter(|line| line.contains('=') || line.contains("store")).count();
    assert!(operations <= 6, "{text}");
}
