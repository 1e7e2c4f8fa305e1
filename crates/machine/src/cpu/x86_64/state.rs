//! `fxsave` and `fxrstor`: the registers of the x87 and of SSE to memory and back (Intel SDM, volume 1, section 10.5). Which registers of the x87 are
//! empty is not kept: all are said to be, as between functions. glibc's loader saves the registers so around each first call of a library's function.

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
