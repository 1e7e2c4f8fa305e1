//! An instruction of each form in coreutils and the C library, from a few states, against the CPU. `xtask gate lift` runs
//! thousands of states, on more encodings.

use wryneck_oracle::{Answer, Case, Engine, Inputs, Lifter, Native, Random, differences, disagreement};

const LIST: &str = include_str!("x86_64.txt");
/// States for each instruction; those that the engine runs too.
const STATES: usize = 10;

fn cases() -> impl Iterator<Item = Case> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#'));
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
