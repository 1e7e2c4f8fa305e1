//! The register file: which slots hold which bytes of SLEIGH's register space.
//!
//! The registers are the parameters of the one machine code function, so they keep their slots as the function is extended. Each has as
//! many slots as it has limbs; a part of a register is bits of its slots.

use wryneck_ir::build::ParamDef;
use wryneck_ir::{limbs, param_kind};

use crate::cpu::Cpu;
use crate::error::MachineError;
use crate::pcode::Decoder;

/// A register of the file.
#[derive(Clone, Debug)]
pub struct Register {
    pub name: &'static str,
    /// First byte in SLEIGH's register space.
    pub offset: u64,
    /// Size in bytes.
    pub size: u32,
    /// Its number among the function's parameters.
    pub param: usize,
    /// Number of its lowest limb among the parameters' limbs.
    pub limb: usize,
}

/// All registers of a CPU, by offset.
pub struct RegisterFile {
    rows: Vec<Register>,
    pub limbs: usize,
}

impl RegisterFile {
    /// Lays the CPU's registers out.
    pub fn new(cpu: &Cpu, decoder: &Decoder) -> Result<RegisterFile, MachineError> {
        let mut rows = Vec::with_capacity(cpu.registers.len());
        let mut limb = 0;
        for (param, name) in cpu.registers.iter().enumerate() {
            let (offset, size) = decoder.register(name)?;
            rows.push(Register { name, offset, size, param, limb });
            limb += limbs(8 * size) as usize;
        }
        rows.sort_by_key(|r| r.offset);
        Ok(RegisterFile { rows, limbs: limb })
    }

    /// The register that holds `size` bytes from `offset` of the register space on.
    pub fn holding(&self, offset: u64, size: u32) -> Option<&Register> {
        let before = self.rows.partition_point(|r| r.offset <= offset).checked_sub(1)?;
        self.rows.get(before).filter(|r| offset - r.offset + u64::from(size) <= u64::from(r.size))
    }

    pub fn named(&self, name: &str) -> Result<&Register, MachineError> {
        self.rows.iter().find(|r| r.name == name).ok_or_else(|| MachineError::NoRegister(name.to_owned()))
    }

    /// The limbs of these registers.
    pub fn limbs_of(&self, names: &[&str]) -> Result<Vec<usize>, MachineError> {
        let all = names.iter().map(|name| self.named(name).map(|r| r.limb..r.limb + limbs(8 * r.size) as usize));
        Ok(all.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// The function's parameters: the registers in the order of the CPU's row.
    pub fn params(&self) -> Vec<ParamDef<'static>> {
        let mut rows: Vec<&Register> = self.rows.iter().collect();
        rows.sort_by_key(|r| r.param);
        let def = |r: &Register| ParamDef { width: 8 * r.size as u16, kind: param_kind::INTEGER, size: 0, name: r.name };
        rows.into_iter().map(def).collect()
    }
}
