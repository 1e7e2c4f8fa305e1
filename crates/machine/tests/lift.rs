//! Lifted instructions against the CPU: one program runs each instruction on random registers and writes what became of
//! them; run natively and by the engine, it must write the same.

mod common;

use std::fmt::Write;

use common::{Input, compile, explore, native};
use wryneck_exec::PathEnd;

const LIST: &str = include_str!("lift/x86_64.txt");
const REGISTERS: [&str; 10] = ["rax", "rbx", "rcx", "rdx", "rdi", "rbp", "r8", "r9", "r10", "rsi"];
const STATES: usize = 24;
/// A state: ten registers, flags, 32 bytes of memory, two SSE registers.
const WORDS: usize = 10 + 1 + 4 + 4;
const FLAGS: [(&str, u64); 6] = [("CF", 1), ("PF", 4), ("ZF", 64), ("SF", 128), ("DF", 1 << 10), ("OF", 1 << 11)];

fn random_words(seed: &mut u64) -> Vec<u64> {
    let mut next = || {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    };
    let edges = [0, 1, u64::MAX, 1 << 63, i64::MAX as u64, 0x8000_0000, 0x7fff_ffff, 0xffff_ffff, 0x80, 0x7f, 63, 64, 31];
    let float = |n: u64| ((n % 2000) as f64 / 16.0 - 50.0).to_bits();
    let mut words: Vec<u64> = (0..WORDS)
        .map(|_| match next() % 4 {
            0 => edges[(next() % edges.len() as u64) as usize],
            1 => next() % 256,
            2 => float(next()),
            _ => next(),
        })
        .collect();
    words[10] = 2 | (next() & (1 | 4 | 64 | 128 | 1 << 11));
    words
}

/// The program: for each instruction and each state, load, run, save; then write everything.
fn program(instructions: &[&str]) -> String {
    let mut s = String::from(".globl _start\n.text\nload:\n");
    for (i, register) in REGISTERS.iter().enumerate().filter(|(_, r)| **r != "rsi") {
        writeln!(s, "mov {}(%r15), %{register}", 8 * i).unwrap();
    }
    for i in 0..4 {
        writeln!(s, "mov {}(%r15), %r14\nmov %r14, scratch+{}(%rip)", 8 * (11 + i), 8 * i).unwrap();
    }
    s += "lea scratch(%rip), %rsi\nmovdqu 120(%r15), %xmm0\nmovdqu 136(%r15), %xmm1\nlea 8(%rsp), %r11\nlea -8(%r11), %rbp\n";
    s += "pushq 80(%r15)\npopfq\nret\nsave:\npushfq\npopq %r14\nmov %r14, 80(%r13)\n";
    for (i, register) in REGISTERS.iter().enumerate() {
        writeln!(s, "mov %{register}, {}(%r13)", 8 * i).unwrap();
    }
    for i in 0..4 {
        writeln!(s, "mov scratch+{}(%rip), %r14\nmov %r14, {}(%r13)", 8 * i, 8 * (11 + i)).unwrap();
    }
    writeln!(s, "movdqu %xmm0, 120(%r13)\nmovdqu %xmm1, 136(%r13)\nadd ${}, %r13\nret\n_start:\nlea out(%rip), %r13", 8 * WORDS).unwrap();
    for (i, instruction) in instructions.iter().enumerate() {
        writeln!(s, "lea states(%rip), %r15\ncase{i}:\ncall load\n{instruction}\ncall save\nadd ${}, %r15", 8 * WORDS).unwrap();
        writeln!(s, "lea states_end(%rip), %r12\ncmp %r12, %r15\njb case{i}").unwrap();
    }
    let size = 8 * WORDS * STATES * instructions.len();
    writeln!(s, "mov $1, %eax\nmov $1, %edi\nlea out(%rip), %rsi\nmov ${size}, %edx\nsyscall").unwrap();
    writeln!(s, "mov $60, %eax\nxor %edi, %edi\nsyscall\n.data\n.balign 16\nscratch: .zero 64\nstates:").unwrap();
    let mut seed = 0x1234_5678_9abc_def1;
    for _ in 0..STATES {
        for word in random_words(&mut seed) {
            writeln!(s, ".quad {word:#x}").unwrap();
        }
    }
    writeln!(s, "states_end:\n.bss\n.balign 16\nout: .zero {size}").unwrap();
    s
}

/// Flags to compare: all we model but the undefined ones.
fn mask(undefined: &str) -> u64 {
    FLAGS.iter().filter(|(name, _)| !undefined.split_whitespace().any(|u| u == *name)).map(|(_, bit)| bit).sum()
}

#[test]
fn instructions_do_what_the_cpu_does() {
    let rows: Vec<(&str, u64)> = LIST
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_once('#').map_or((line, mask("")), |(text, undefined)| (text.trim(), mask(undefined))))
        .collect();
    let texts: Vec<&str> = rows.iter().map(|(text, _)| *text).collect();
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("lift.s");
    std::fs::write(&source, program(&texts)).unwrap();
    let (_dir, binary) = compile(&source, "-O0");
    let cpu = native(&binary, b"").output;
    let explored = explore(&std::fs::read(&binary).unwrap(), Input::Bytes(b""), &[]);
    let [path] = &explored.paths[..] else { panic!("one path") };
    assert_eq!(path.end, PathEnd::Exit(0));
    let word = |bytes: &[u8], i: usize| u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap());
    let mut wrong = Vec::new();
    for (i, (text, flags)) in rows.iter().enumerate() {
        let first = (0..STATES * WORDS).find(|n| {
            let keep = if n % WORDS == 10 { *flags } else { u64::MAX };
            let at = i * STATES * WORDS + n;
            // The stack is elsewhere: %rbp, which points there, is not compared, nor is %rsi.
            !matches!(n % WORDS, 5 | 9) && (word(&cpu, at) ^ word(&path.output, at)) & keep != 0
        });
        if let Some(n) = first {
            let at = i * STATES * WORDS + n;
            let name = REGISTERS.get(n % WORDS).copied().unwrap_or("flags, memory or xmm");
            wrong.push(format!(
                "{text}: state {}, word {} ({name}): CPU {:#x}, ours {:#x}",
                n / WORDS,
                n % WORDS,
                word(&cpu, at),
                word(&path.output, at)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
