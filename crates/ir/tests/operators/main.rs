//! Every operator with a value, at many widths, compared with what clang and the CPU make of the same operation in C: one C
//! function and one IR function per row ([`rows`]), random and corner inputs ([`inputs`]), results equal bit for bit.
//! Needs a clang with `_BitInt` (that is how C says 7, 65 or 200 bits); without one it says so and does nothing.

mod inputs;
mod rows;

use std::io::Write;
use std::process::{Command, Stdio};

use inputs::Rng;
use rows::Row;
use wryneck_ir::interp::{Interp, Libc, Stop};
use wryneck_ir::link::{Program, Target, Unit};
use wryneck_ir::{Op, limbs, text, verify};

/// Limbs of an operand or result in a record of the C driver.
const LIMBS: usize = 4;

fn compiler() -> Option<&'static str> {
    let works = |cc: &&str| Command::new(cc).arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
    ["clang-22", "clang"].into_iter().find(works)
}

/// One record: row, a, b, c.
type Case = (usize, [[u64; LIMBS]; 3]);

/// What the C functions give.
fn native(cc: &str, rows: &[Row], cases: &[Case]) -> Vec<[u64; LIMBS]> {
    let dir = tempfile::tempdir().unwrap();
    let (source, binary) = (dir.path().join("t.c"), dir.path().join("t"));
    std::fs::write(&source, rows::c_file(rows)).unwrap();
    let flags = ["-O1", "-w", "-ffp-contract=off", "-fno-math-errno", "-fbracket-depth=4096"];
    let built = Command::new(cc).args(flags).arg(&source).arg("-o").arg(&binary).arg("-lm").output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let input: Vec<u8> = cases
        .iter()
        .flat_map(|(row, [a, b, c])| std::iter::once(*row as u64).chain(a.iter().chain(b).chain(c).copied()))
        .flat_map(u64::to_le_bytes)
        .collect();
    let mut child = Command::new(&binary).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    let limb = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    output.stdout.chunks(8 * LIMBS).map(|r| std::array::from_fn(|i| limb(&r[8 * i..8 * i + 8]))).collect()
}

fn program(rows: &[Row]) -> Program {
    let source: String = rows.iter().enumerate().map(|(i, row)| row.ir(i)).collect();
    let module = text::parse(&source).unwrap_or_else(|e| panic!("{e}"));
    verify::verify(&module).unwrap_or_else(|e| panic!("{e}"));
    Program::link(vec![Unit { name: "operators".into(), module, library: false }]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_operator_is_native() {
    let cc = compiler().expect("clang is not installed: install Debian's `clang-22`");
    let rows = rows::all();
    let rng = &mut Rng(3);
    let cases: Vec<Case> =
        rows.iter().enumerate().flat_map(|(i, row)| inputs::of(row, rng).into_iter().map(move |input| (i, input))).collect();
    let expected = native(cc, &rows, &cases);
    assert_eq!(expected.len(), cases.len());
    let program = program(&rows);
    let mut interp = Interp::new(&program, Libc::default(), u64::MAX).unwrap();
    let mut wrong = Vec::new();
    for ((row_number, input), want) in cases.iter().zip(&expected) {
        let row = &rows[*row_number];
        let Some(Target::Func(f)) = program.lookup(format!("f{row_number}")) else { panic!() };
        let args: Vec<u64> = row.params().zip(input).flat_map(|(w, v)| v[..limbs(w) as usize].to_vec()).collect();
        let got = interp.call(f, &args);
        let mut want = want[..limbs(row.result()) as usize].to_vec();
        let same = match &got {
            Ok(got) => {
                row.canonical(&mut want);
                let mut got = got.clone();
                row.canonical(&mut got);
                got == want
            }
            Err(_) => false,
        };
        if !same {
            let stop = got.as_ref().err().map(|s: &Stop| format!("{s:?}"));
            wrong.push(format!("{} of {:x?}: native {want:x?}, ours {:x?} {stop:?}", row.name, args, got.unwrap_or_default()));
        }
    }
    println!("{} rows, {} cases", rows.len(), cases.len());
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), cases.len(), wrong[..wrong.len().min(60)].join("\n"));
}

/// A new operator has to get rows here, or be of a kind that has no value of its own.
#[test]
fn every_operator_has_a_row() {
    let rows = rows::all();
    for &op in Op::ALL {
        let control_or_memory = matches!(
            op,
            Op::Imm
                | Op::Load
                | Op::Store
                | Op::Alloca
                | Op::AllocaDyn
                | Op::StackSave
                | Op::StackRestore
                | Op::MemUndef
                | Op::MemCopy
                | Op::MemMove
                | Op::MemSet
                | Op::Call
                | Op::CallIndirect
                | Op::Br
                | Op::CondBr
                | Op::Switch
                | Op::Ret
                | Op::Jump
                | Op::Unreachable
                | Op::Unsupported
                | Op::Trap
                | Op::Unwound
        );
        assert_ne!(rows.iter().any(|r| r.op == op), control_or_memory, "{op:?}");
    }
}
