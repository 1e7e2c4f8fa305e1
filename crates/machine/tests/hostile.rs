//! Files and code made to be wrong: every answer is an error by name or well-formed IR, never a panic.

mod common;

use common::compile;
use wryneck_ir::verify::{verify, verify_growth};
use wryneck_ir::{Lowering, NoCode};
use wryneck_machine::link::{self, Elsewhere};
use wryneck_machine::{Elf, MachineError, MachineProgram, Process};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// An executable with one segment: these bytes, at this address.
fn file(base: u64, flags: u32, bytes: &[u8]) -> Vec<u8> {
    let mut f = Vec::from(*b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0");
    for word in [base, 64, 0] {
        f.extend(word.to_le_bytes());
    }
    f.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0]);
    f.extend(1u32.to_le_bytes());
    f.extend(flags.to_le_bytes());
    for word in [120, base, base, bytes.len() as u64, bytes.len() as u64, 1] {
        f.extend(word.to_le_bytes());
    }
    f.extend(bytes);
    f
}

#[test]
fn damaged_files_are_refused_or_read() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/spike.c");
    let (_dir, program) = compile(std::path::Path::new(source), "-O1");
    let good = std::fs::read(program).unwrap();
    assert!(Elf::parse(&good).is_ok());
    let mut random = Random(42);
    let mut refused = 0;
    for len in 0..good.len().min(512) {
        refused += u32::from(Elf::parse(&good[..len]).is_err());
    }
    assert!(refused > 100);
    for _ in 0..20_000 {
        let mut bad = good.clone();
        for _ in 0..1 + random.next() % 4 {
            let at = random.next() % 400;
            bad[at as usize] = random.next() as u8;
        }
        if let Ok(elf) = Elf::parse(&bad) {
            let _ = elf.segment(random.next());
            let _ = elf.place_name(random.next());
        }
    }
    assert!(matches!(Elf::parse(b"#!/bin/sh"), Err(MachineError::NotElf(_))));
    let mut other = file(0x1000, 5, b"\xc3");
    other[18] = 0xb7;
    assert!(matches!(Elf::parse(&other), Err(MachineError::UnknownCpu(0xb7))));
    other[18] = 0x3e;
    other[16] = 4;
    assert!(matches!(Elf::parse(&other), Err(MachineError::NotExecutable(4))));
}

/// Headers, section headers, symbols and names of a program with a C library, changed anywhere: an error or a program, whose every
/// segment lies apart from the others and whose code can be asked for.
#[test]
fn damaged_programs_are_refused_or_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let (source, program) = (dir.path().join("p.c"), dir.path().join("p"));
    std::fs::write(&source, "#include <stdio.h>\nint main(void) { return puts(\"x\"); }\n").unwrap();
    for flags in [&["-static"][..], &[]] {
        let built = std::process::Command::new("musl-gcc").args(flags).arg(&source).arg("-o").arg(&program).status();
        assert!(built.expect("musl-tools is installed").success());
        let good = std::fs::read(&program).unwrap();
        let read = &mut |_: &[u8]| Ok::<_, MachineError>(good.clone());
        // A program that names itself as its loader.
        assert_eq!(Process::load(&good, read).is_ok(), flags == ["-static"]);
        let word = |at: usize| u64::from_le_bytes(good[at..at + 8].try_into().unwrap());
        let places = [(0, 64), (word(32) as usize, 56 * 8), (word(40) as usize, good.len() - word(40) as usize), (0, good.len())];
        let mut random = Random(99);
        let (mut refused, mut loaded) = (0, 0);
        for n in 0..4_000 {
            let mut bad = good.clone();
            let (start, len) = places[n % places.len()];
            for _ in 0..1 + random.next() % 8 {
                let at = start + random.next() as usize % len.min(good.len() - start);
                bad[at] = if random.next().is_multiple_of(4) { 0xff } else { random.next() as u8 };
            }
            if n % 50 == 0 {
                bad.truncate(random.next() as usize % bad.len());
            }
            match Process::load(&bad, &mut |_| Ok::<_, MachineError>(good.clone())) {
                Err(error) => {
                    refused += 1;
                    assert!(!error.to_string().contains('\n'));
                }
                Ok(process) => {
                    loaded += 1;
                    assert!(process.elf.segments.windows(2).all(|w| w[0].base + w[0].size <= w[1].base));
                    let _ = process.elf.place_name(process.elf.entry);
                }
            }
        }
        assert!(refused > 100, "{flags:?}: {refused}");
        assert!(loaded > 100 || flags.is_empty(), "{flags:?}: {loaded}");
    }
}

/// Objects changed anywhere, headers, symbols, relocations and groups among them: an error by name, or segments that lie apart.
#[test]
fn damaged_objects_are_refused_or_linked() {
    let dir = tempfile::tempdir().unwrap();
    let sources = [
        ("a.cc", "inline int f() { static int n; return ++n; } int g(int); __thread int t; int main() { return f() + g(t); }"),
        ("b.cc", "inline int f() { static int n; return ++n; } int a[9], *p = a + 2; int g(int x) { return f() + *p + x; }"),
    ];
    let objects: Vec<(String, Vec<u8>)> = sources
        .map(|(name, text)| {
            let (source, object) = (dir.path().join(name), dir.path().join("o"));
            std::fs::write(&source, text).unwrap();
            let built = std::process::Command::new("g++").args(["-g", "-O1", "-fPIC", "-c"]).arg(&source).arg("-o").arg(&object).status();
            assert!(built.expect("g++ is installed").success());
            (name.to_owned(), std::fs::read(&object).unwrap())
        })
        .into();
    let elsewhere = |name: &str| match name.len() % 3 {
        0 => Elsewhere::Function,
        1 => Elsewhere::Variable,
        _ => Elsewhere::Missing("nowhere"),
    };
    assert!(link::objects(&objects, &elsewhere).is_ok());
    let mut random = Random(5);
    let (mut refused, mut linked) = (0, 0);
    for n in 0..6_000 {
        let mut files = objects.clone();
        let bad = &mut files[n % 2].1;
        let table = u64::from_le_bytes(bad[40..48].try_into().unwrap()) as usize;
        let (start, len) = [(0, 64), (table, bad.len() - table), (0, bad.len())][n % 3];
        for _ in 0..1 + random.next() % 8 {
            bad[start + random.next() as usize % len] = if random.next().is_multiple_of(4) { 0xff } else { random.next() as u8 };
        }
        if n % 50 == 0 {
            bad.truncate(random.next() as usize % bad.len());
        }
        match link::objects(&files, &elsewhere) {
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().contains('\n'));
            }
            Ok(mut elf) => {
                linked += 1;
                assert!(elf.segments.windows(2).all(|w| w[0].base + w[0].size <= w[1].base));
                let _ = (elf.lines(), elf.place_name(random.next()), elf.resolve(&|name| (name.len() > 4).then_some(1 << 30)));
                elf.dwarf.iter().for_each(|d| _ = d.parameters(elf.segments[0].base));
            }
        }
    }
    assert!(refused > 1_000 && linked > 100, "{refused} {linked}");
}

#[test]
fn random_code_becomes_well_formed_blocks() {
    let base = 0x40_0000;
    let mut random = Random(7);
    // Opcodes that matter come up more often than by chance.
    let often = [0x0f, 0x48, 0x66, 0xf2, 0xf3, 0x89, 0x8b, 0x83, 0xff, 0x74, 0xeb, 0xe8, 0xd1, 0xa4, 0x40, 0x05];
    let code: Vec<u8> = (0..1 << 16)
        .map(|_| match random.next() % 3 {
            0 => often[(random.next() % 16) as usize],
            _ => random.next() as u8,
        })
        .collect();
    let elf = Elf::parse(&file(base, 5, &code)).unwrap();
    let (mut program, mut module) = MachineProgram::new(elf).unwrap();
    verify(&module).unwrap();
    let read = |at: u64, out: &mut [u8]| {
        let from = at.wrapping_sub(base) as usize;
        let there = code.get(from..).and_then(|rest| rest.get(..out.len()));
        there.map(|bytes| out.copy_from_slice(bytes)).is_some()
    };
    for _ in 0..150 {
        let address = base + random.next() % code.len() as u64;
        let before = module.functions[0];
        let block = program.block_at(address, &mut module, &read).unwrap();
        assert!(block < module.functions[0].blocks.count);
        verify_growth(&module, &before).unwrap();
        assert_eq!(program.block_at(address, &mut module, &read), Ok(block));
    }
    assert!(matches!(program.block_at(0x10, &mut module, &read), Err(NoCode::NotExecutable(0x10, _))));
    verify(&module).unwrap();
}

#[test]
fn code_that_can_be_written_is_not_lowered() {
    let (mut program, mut module) = MachineProgram::new(Elf::parse(&file(0x1000, 7, b"\xc3")).unwrap()).unwrap();
    assert!(matches!(program.block_at(0x1000, &mut module, &|_, _| true), Err(NoCode::Unsupported(_))));
    let (mut program, mut module) = MachineProgram::new(Elf::parse(&file(0x1000, 6, b"\xc3")).unwrap()).unwrap();
    assert!(matches!(program.block_at(0x1000, &mut module, &|_, _| true), Err(NoCode::NotExecutable(0x1000, _))));
}
