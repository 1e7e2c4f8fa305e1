//! Lowering on demand: what an engine asks for when control reaches an address nobody lowered yet.

use super::ReadBytes;
use crate::module::Module;
use crate::verify::Malformed;

/// Lowers machine code block by block, on first visit, into the last function of one module.
///
/// The code is one function, so that calls it makes inside itself are its own business.
pub trait Lowering {
    /// The number, in that function, of the block at a code address; lowers it (and what it likes beside it) if there is none.
    /// Existing records stay as they are; an address keeps its block.
    fn block_at(&mut self, address: u64, module: &mut Module, read: ReadBytes<'_>) -> Result<u32, NoCode>;
    /// Addresses that fixed branches lead to and calls come back to, which are not lowered yet; each is given once.
    fn take_beyond(&mut self) -> Vec<u64> {
        Vec::new()
    }
    /// The program maps bytes as code, which nobody can write: those of a file from an offset on. False: other code was there before, or the source
    /// has no room for more.
    fn map_code(&mut self, _address: u64, _bytes: Vec<u8>, _file: &dyn Fn() -> Vec<u8>, _offset: u64) -> bool {
        false
    }
    /// Where code may be: addresses and sizes in bytes, apart. None: not known.
    fn executable(&self) -> Vec<(u64, u64)> {
        Vec::new()
    }
    /// The address of a function that stands for any one. It is defined nowhere. `None`: there is none.
    fn any_function(&self) -> Option<u64> {
        None
    }
    /// The address that an instruction of the module was lowered from.
    fn address_of(&self, _instruction: u32) -> Option<u64> {
        None
    }
    /// Whether a function of this name begins at an address.
    fn begins_at(&self, _name: &str, _address: u64) -> bool {
        false
    }
}

/// Why there is no code at an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCode {
    /// The program is wrong: nothing there may be executed. The address, and where that is in words.
    #[error("{0:#x}{1}")]
    NotExecutable(u64, String),
    /// We are: it may be, and we cannot lower it.
    #[error("{0}")]
    Unsupported(String),
    /// What was lowered breaks a rule of the IR: the source must not be asked again.
    #[error("{0}")]
    Malformed(Box<Malformed>),
}
