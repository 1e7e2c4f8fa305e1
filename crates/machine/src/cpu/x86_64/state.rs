//! The state of the x87 and of SSE to memory and back: `fxsave` and `fxrstor` (Intel SDM, volume 1, section 10.5), `fnstenv` and `fldenv` (section 8.1.10).
//! Which registers of the x87 are empty is not kept: all are said to be, as between functions. glibc's loader saves the registers so around each first call
//! of a library's function, and `getcontext` and `feholdexcept` the environment.

use wryneck_ir::Op;

use super::emit::Emit;
use super::encoding::{Address, Rm};
use super::integer::set_mxcsr;

/// Offsets in bytes: control and status word, empty registers, MXCSR and its mask, registers of the x87, of SSE.
const CONTROL: i64 = 0;
const STATUS: i64 = 2;
const TAGS: i64 = 4;
const POINTERS: i64 = 8;
const MXCSR: i64 = 24;
const MASK: i64 = 28;
const STACK: i64 = 32;
const VECTORS: i64 = 160;
/// Bits of MXCSR that may be set.
const MXCSR_BITS: u64 = 0xffff;

fn place(x: &Emit<'_, '_, '_, '_>) -> Result<Address, String> {
    match x.e.rm {
        Rm::Memory(a) => Ok(a),
        Rm::Register(_) => Err("a register where memory belongs".to_owned()),
    }
}

fn at(place: &Address, offset: i64) -> Address {
    Address { displacement: place.displacement + offset, ..*place }
}

pub fn save(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let to = place(x)?;
    let (control, status, mxcsr) = (x.named("FPUControlWord")?, x.named("FPUStatusWord")?, x.named("MXCSR")?);
    x.store(&at(&to, CONTROL), 16, control)?;
    x.store(&at(&to, STATUS), 16, status)?;
    let (zero, mask) = (x.constant(64, 0), x.constant(32, MXCSR_BITS));
    let (none, no_opcode) = (x.bits(zero, 64, 0, 32), x.bits(zero, 64, 0, 48));
    x.store(&at(&to, TAGS), 32, none)?;
    x.store(&at(&to, POINTERS), 64, zero)?;
    x.store(&at(&to, POINTERS + 8), 64, zero)?;
    x.store(&at(&to, MXCSR), 32, mxcsr)?;
    x.store(&at(&to, MASK), 32, mask)?;
    for n in 0..8 {
        let top = x.named(&format!("ST{n}"))?;
        x.store(&at(&to, STACK + 16 * n), 80, top)?;
        x.store(&at(&to, STACK + 16 * n + 10), 48, no_opcode)?;
    }
    for n in 0..16 {
        let vector = x.vector(n as usize)?;
        let low = x.bits(vector, 256, 0, 128);
        x.store(&at(&to, VECTORS + 16 * n), 128, low)?;
    }
    Ok(())
}

pub fn restore(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let from = place(x)?;
    let mxcsr = x.load(&at(&from, MXCSR), 32)?;
    set_mxcsr(x, mxcsr)?;
    for (name, offset, width) in [("FPUControlWord", CONTROL, 16), ("FPUStatusWord", STATUS, 16)] {
        let (register, value) = (x.named(name)?, x.load(&at(&from, offset), width)?);
        x.p.copy(width, register, value);
    }
    for n in 0..8 {
        let (register, value) = (x.named(&format!("ST{n}"))?, x.load(&at(&from, STACK + 16 * n), 80)?);
        x.p.copy(80, register, value);
    }
    for n in 0..16 {
        let value = x.load(&at(&from, VECTORS + 16 * n), 128)?;
        x.set_vector(n as usize, 128, value)?;
    }
    Ok(())
}

/// Offsets in bytes of the environment of 32 bits, and its words that say where the last instruction and its operand were.
const ENVIRONMENT: [(&str, i64); 2] = [("FPUControlWord", 0), ("FPUStatusWord", 4)];
const EMPTY: i64 = 8;
const LAST: [i64; 4] = [12, 16, 20, 24];
/// Of the control word: exceptions that are masked.
const MASKED: u64 = 0x3f;

pub fn store_environment(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let to = place(x)?;
    // The upper halves are ones.
    let (ones, zero) = (x.constant(16, 0xffff), x.constant(32, 0));
    for (name, offset) in ENVIRONMENT {
        let value = x.named(name)?;
        x.store(&at(&to, offset), 16, value)?;
        x.store(&at(&to, offset + 2), 16, ones)?;
    }
    x.store(&at(&to, EMPTY), 16, ones)?;
    x.store(&at(&to, EMPTY + 2), 16, ones)?;
    LAST.into_iter().try_for_each(|offset| x.store(&at(&to, offset), 32, zero))?;
    let (control, masked) = (x.named("FPUControlWord")?, x.constant(16, MASKED));
    let masked = x.op(Op::Or, 16, control, masked);
    x.p.copy(16, control, masked);
    Ok(())
}

pub fn load_environment(x: &mut Emit<'_, '_, '_, '_>) -> Result<(), String> {
    let from = place(x)?;
    for (name, offset) in ENVIRONMENT {
        let (register, value) = (x.named(name)?, x.load(&at(&from, offset), 16)?);
        x.p.copy(16, register, value);
    }
    Ok(())
}
