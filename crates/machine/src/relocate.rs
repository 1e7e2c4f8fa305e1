//! Relocations of x86-64 (its ABI, section 4.4): what each kind writes, as a row of a table.
//!
//! Thread-local storage that is looked up by a call (general and local dynamic model) is rewritten to the code that the ABI gives for the
//! local model (Drepper, "ELF Handling For Thread-Local Storage", section 5). No other code is changed.

/// What a relocation writes. S is the symbol's address, A the addend, P the place, T the thread pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    /// S + A
    Absolute,
    /// S + A - P
    Relative,
    /// The address of a word that holds S, + A - P.
    Slot,
    /// The address of the table of such words + A - P.
    Table,
    /// S + A - the address of the table.
    InTable,
    /// S + A - T
    Thread,
    /// The address of a word that holds S - T, + A - P.
    ThreadSlot,
    /// The symbol's size + A.
    Size,
    /// The code that finds a thread's variable, or all of them: becomes other code, which holds S - T.
    General,
    Local,
    Nothing,
}

/// Which values fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Signed,
    Unsigned,
    /// Either way.
    Any,
}

/// A kind of relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its number in the ABI.
    pub number: u32,
    pub name: &'static str,
    pub formula: Formula,
    /// Bytes it writes.
    pub size: usize,
    pub fit: Fit,
}

const fn row(number: u32, name: &'static str, formula: Formula, size: usize, fit: Fit) -> Kind {
    Kind { number, name, formula, size, fit }
}

/// By number. One more: its row.
#[rustfmt::skip]
static KINDS: &[Kind] = &[
    row(0, "R_X86_64_NONE", Formula::Nothing, 0, Fit::Any),
    row(1, "R_X86_64_64", Formula::Absolute, 8, Fit::Any),
    row(2, "R_X86_64_PC32", Formula::Relative, 4, Fit::Signed),
    row(4, "R_X86_64_PLT32", Formula::Relative, 4, Fit::Signed),
    row(9, "R_X86_64_GOTPCREL", Formula::Slot, 4, Fit::Signed),
    row(10, "R_X86_64_32", Formula::Absolute, 4, Fit::Unsigned),
    row(11, "R_X86_64_32S", Formula::Absolute, 4, Fit::Signed),
    row(12, "R_X86_64_16", Formula::Absolute, 2, Fit::Any),
    row(13, "R_X86_64_PC16", Formula::Relative, 2, Fit::Signed),
    row(14, "R_X86_64_8", Formula::Absolute, 1, Fit::Any),
    row(15, "R_X86_64_PC8", Formula::Relative, 1, Fit::Signed),
    row(17, "R_X86_64_DTPOFF64", Formula::Thread, 8, Fit::Any),
    row(18, "R_X86_64_TPOFF64", Formula::Thread, 8, Fit::Any),
    row(19, "R_X86_64_TLSGD", Formula::General, 4, Fit::Signed),
    row(20, "R_X86_64_TLSLD", Formula::Local, 4, Fit::Signed),
    row(21, "R_X86_64_DTPOFF32", Formula::Thread, 4, Fit::Signed),
    row(22, "R_X86_64_GOTTPOFF", Formula::ThreadSlot, 4, Fit::Signed),
    row(23, "R_X86_64_TPOFF32", Formula::Thread, 4, Fit::Signed),
    row(24, "R_X86_64_PC64", Formula::Relative, 8, Fit::Any),
    row(25, "R_X86_64_GOTOFF64", Formula::InTable, 8, Fit::Any),
    row(26, "R_X86_64_GOTPC32", Formula::Table, 4, Fit::Signed),
    row(29, "R_X86_64_GOTPC64", Formula::Table, 8, Fit::Any),
    row(32, "R_X86_64_SIZE32", Formula::Size, 4, Fit::Unsigned),
    row(33, "R_X86_64_SIZE64", Formula::Size, 8, Fit::Any),
    row(41, "R_X86_64_GOTPCRELX", Formula::Slot, 4, Fit::Signed),
    row(42, "R_X86_64_REX_GOTPCRELX", Formula::Slot, 4, Fit::Signed),
];

/// The kind of this number, if it is known.
pub fn kind(number: u32) -> Option<&'static Kind> {
    KINDS.binary_search_by_key(&number, |k| k.number).ok().map(|i| &KINDS[i])
}

/// Code that finds a thread's variables by a call, and what becomes of it: where it begins from the relocation's place, its bytes, and where in
/// them S - T is, if they hold it. The relocation of the call is the next one.
pub struct ThreadCode {
    pub before: u64,
    pub bytes: &'static [u8],
    pub value: Option<usize>,
}

/// The code of a formula that is of this sort.
pub fn thread_code(formula: Formula) -> Option<ThreadCode> {
    // data16 lea x@tlsgd(%rip),%rdi; data16 data16 rex.W call __tls_get_addr  =>  mov %fs:0,%rax; lea x@tpoff(%rax),%rax
    const GENERAL: &[u8] = &[0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x8d, 0x80, 0, 0, 0, 0];
    // lea x@tlsld(%rip),%rdi; call __tls_get_addr  =>  data16 data16 data16 mov %fs:0,%rax
    const LOCAL: &[u8] = &[0x66, 0x66, 0x66, 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0];
    match formula {
        Formula::General => Some(ThreadCode { before: 4, bytes: GENERAL, value: Some(12) }),
        Formula::Local => Some(ThreadCode { before: 3, bytes: LOCAL, value: None }),
        _ => None,
    }
}

impl Kind {
    /// The bytes of a value; `None` if it does not fit.
    pub fn bytes(&self, value: u64) -> Option<Vec<u8>> {
        let bits = 8 * self.size as u32;
        let (signed, unsigned) = (value as i64, bits >= 64 || value >> bits == 0);
        let extends = bits >= 64 || bits > 0 && signed >> (bits - 1) == signed >> 63;
        let fits = match self.fit {
            Fit::Signed => extends,
            Fit::Unsigned => unsigned,
            Fit::Any => extends || unsigned,
        };
        fits.then(|| value.to_le_bytes()[..self.size].to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(KINDS.windows(2).all(|w| w[0].number < w[1].number));
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let bytes = |number, value: i64| kind(number).and_then(|k| k.bytes(value as u64));
        assert_eq!(bytes(2, -1), Some(vec![0xff; 4]));
        assert_eq!((bytes(2, 1 << 31), bytes(2, -(1 << 31)).is_some()), (None, true));
        assert_eq!((bytes(10, -1), bytes(10, 0xffff_ffff)), (None, Some(vec![0xff; 4])));
        assert_eq!((bytes(15, 128), bytes(15, -128)), (None, Some(vec![0x80])));
        assert_eq!((bytes(12, -1), bytes(12, 0x1_0000)), (Some(vec![0xff; 2]), None));
        assert_eq!(bytes(1, i64::MIN), Some(vec![0, 0, 0, 0, 0, 0, 0, 0x80]));
    }
}
