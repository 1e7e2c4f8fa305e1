//! Our decoder beside Ghidra's, on instructions made at random: the same p-code, the same length, the same words, and the same refusals.

use libsla::{Address, AddressSpaceType, GhidraSleigh, InstructionLoader, OpCode, Sleigh, VarnodeData};
use wryneck_machine::cpu::x86_64::CPU;
use wryneck_machine::pcode::{Pcode, Space, Varnode};
use wryneck_machine::sleigh::Specification;

const COMPILED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/x86-64.sla"));
const PROCESSOR: &str = include_str!(concat!(env!("OUT_DIR"), "/x86-64.pspec"));

/// Instructions compared.
const ROUNDS: u64 = 200_000;
/// Every how many of them as words, too.
const IN_WORDS: u64 = 8;

struct Loader(u64, [u8; 16]);

impl InstructionLoader for Loader {
    fn load_instruction_bytes(&self, source: &VarnodeData) -> Result<Vec<u8>, String> {
        let skip = (source.address.offset - self.0) as usize;
        Ok(self.1[skip..(skip + source.size).min(16)].to_vec())
    }
}

/// Numbers that follow from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Random bytes behind prefixes, of which there are few, and an escape to one of the maps of opcodes.
    fn instruction(&mut self) -> [u8; 16] {
        const PREFIXES: [u8; 10] = [0x66, 0x67, 0xf2, 0xf3, 0x48, 0x41, 0x4c, 0x64, 0xf0, 0x40];
        const ESCAPES: [&[u8]; 8] = [&[], &[], &[], &[0x0f], &[0x0f], &[0x0f, 0x38], &[0x0f, 0x3a], &[0xc5]];
        let mut bytes = [0; 16];
        let (low, high) = (self.next().to_le_bytes(), self.next().to_le_bytes());
        bytes[..8].copy_from_slice(&low);
        bytes[8..].copy_from_slice(&high);
        let choice = self.next();
        let prefixes = (choice % 8).saturating_sub(4) as usize;
        for (i, byte) in bytes[..prefixes].iter_mut().enumerate() {
            *byte = PREFIXES[(choice >> (8 + 8 * i)) as usize % PREFIXES.len()];
        }
        let escape = ESCAPES[(choice >> 56) as usize % ESCAPES.len()];
        bytes[prefixes..prefixes + escape.len()].copy_from_slice(escape);
        bytes
    }
}

/// Theirs, as ours. Spaces are pointers to them: which one loads and stores are to is not compared.
fn varnode(v: &VarnodeData) -> Varnode {
    let space = match v.address.address_space.space_type {
        AddressSpaceType::Constant => Space::Const,
        AddressSpaceType::Internal => Space::Unique,
        _ if v.address.address_space.name == "register" => Space::Register,
        _ => Space::Memory,
    };
    Varnode { space, offset: v.address.offset, size: v.size as u32 }
}

fn ours(op: &Pcode) -> String {
    let skip = usize::from(matches!(op.op, wryneck_machine::pcode::OpCode::Load | wryneck_machine::pcode::OpCode::Store));
    format!("{:?} {:?} {:?}", op.op, op.output, &op.inputs[skip..])
}

#[test]
fn instructions_mean_what_ghidra_says() {
    let theirs = GhidraSleigh::builder().processor_spec(PROCESSOR).unwrap().build(COMPILED).unwrap();
    let own = Specification::new((CPU.specification)());
    let (code, mut random, mut decoded) = (theirs.default_code_space(), Random(1), 0);
    for round in 0..ROUNDS {
        let (address, bytes) = (0x40_0000 + 16 * round, random.instruction());
        let loader = Loader(address, bytes);
        let expected = theirs.disassemble_pcode(&loader, Address::new(code.clone(), address));
        let got = own.decode(address, &bytes);
        match (&expected, &got) {
            (Ok(expected), Ok((length, ops))) => {
                decoded += 1;
                assert_eq!(expected.origin.size, *length, "{bytes:02x?}");
                let skip = |op: &OpCode| usize::from(matches!(op, OpCode::Load | OpCode::Store));
                let expected: Vec<String> = (expected.instructions.iter())
                    .map(|i| {
                        let inputs: Vec<Varnode> = i.inputs[skip(&i.op_code)..].iter().map(varnode).collect();
                        format!("{:?} {:?} {inputs:?}", i.op_code, i.output.as_ref().map(varnode))
                    })
                    .collect();
                let got: Vec<String> = ops.iter().map(ours).collect();
                assert_eq!(expected, got, "{bytes:02x?}");
            }
            (Err(_), Err(_)) => {}
            _ => panic!("{bytes:02x?}: Ghidra says {expected:?}, we say {got:?}"),
        }
        if round % IN_WORDS == 0 && expected.is_ok() {
            let native = theirs.disassemble_native(&loader, Address::new(code.clone(), address)).unwrap().instruction;
            assert_eq!(Ok((native.mnemonic, native.body)), own.text(address, &bytes), "{bytes:02x?}");
        }
    }
    assert!(decoded > ROUNDS / 3, "only {decoded} of {ROUNDS} were instructions");
}

#[test]
fn registers_have_the_places_that_ghidra_gives_them() {
    let theirs = GhidraSleigh::builder().processor_spec(PROCESSOR).unwrap().build(COMPILED).unwrap();
    let own = Specification::new((CPU.specification)());
    for (place, name) in theirs.register_name_map() {
        assert_eq!(own.register(&name), Some((place.address.offset, place.size as u32)), "{name}");
    }
    assert_eq!(own.register("R99"), None);
}

#[test]
fn instructions_cut_off_are_refused() {
    let own = Specification::new((CPU.specification)());
    let call = [0xe8, 1, 2, 3, 4];
    assert_eq!(own.decode(0, &call).unwrap().0, 5);
    for bytes in 0..5 {
        assert!(own.decode(0, &call[..bytes]).is_err(), "{bytes} bytes");
    }
}
