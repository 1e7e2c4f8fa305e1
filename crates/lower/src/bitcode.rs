//! Reading the input: what kind of file it is, LLVM's reader and verifier, the target; every way to fail has a name.
//!
//! The magic numbers are looked at before LLVM is asked, since its answer to a foreign file is a parse error of its
//! text form. LLVM's words are sorted afterwards: the reader names the producer when the file is newer than itself.
//! Cost: one pass of LLVM's reader and verifier.

use crate::error::ReadError;
use crate::ffi::{self, Module};

/// One more foreign format: its magic and its name.
const FOREIGN: &[(&[u8], &str)] = &[
    (b"!<arch>\n", "an archive (`.a`)"),
    (b"!<thin>\n", "a thin archive (`.a`)"),
    (b"\x7fELF", "an ELF object file or executable"),
    (b"\xfe\xed\xfa\xce", "a Mach-O object file"),
    (b"\xfe\xed\xfa\xcf", "a Mach-O object file"),
    (b"\xce\xfa\xed\xfe", "a Mach-O object file"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O object file"),
    (b"\0asm", "a WebAssembly module"),
    (b"MZ", "a Windows executable"),
    (b"#!", "a script"),
    (b"wryneck\0", "an IR file, lowered already"),
];

const BITCODE: &[u8] = b"BC\xc0\xde";
const WRAPPED_BITCODE: &[u8] = b"\xde\xc0\x17\x0b";

/// Parses bitcode or LLVM's text form, verifies it, and checks the target.
///
/// # Errors
/// As [`ReadError`] names them, `Io` and `Write` excepted.
pub fn read(input: &[u8]) -> Result<Module, ReadError> {
    let binary = is_bitcode(input)?;
    let module = Module::parse(input).map_err(|(by_verifier, words)| sort(input, binary, by_verifier, &words))?;
    let triple = module.triple();
    let known = triple.is_empty() || (triple.starts_with("x86_64") && !triple.contains("windows"));
    let x32 = triple.contains("x32");
    if known && !x32 && module.is_little_endian_64() { Ok(module) } else { Err(ReadError::WrongTarget { triple }) }
}

/// Bitcode (true) or something that may be LLVM's text form (false)?
fn is_bitcode(input: &[u8]) -> Result<bool, ReadError> {
    if input.is_empty() {
        return Err(ReadError::Empty);
    }
    if let Some(&(_, what)) = FOREIGN.iter().find(|(magic, _)| input.starts_with(magic)) {
        return Err(ReadError::NotBitcode { what });
    }
    if input.starts_with(BITCODE) || input.starts_with(WRAPPED_BITCODE) {
        return Ok(true);
    }
    if BITCODE.starts_with(input) {
        return Err(ReadError::Truncated { why: format!("it has {} bytes", input.len()) });
    }
    match input.contains(&0) {
        true => Err(ReadError::NotBitcode { what: "a binary file of an unknown kind" }),
        false => Ok(false),
    }
}

/// Does a block at the top level reach beyond the end? Each is two words (abbreviation 1 of two bits, block number,
/// abbreviation width; length in words) and its contents.
fn is_truncated(input: &[u8]) -> bool {
    let word = |bytes: &[u8], at: usize| bytes.get(at..at + 4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]) as usize);
    let bitcode = if input.starts_with(WRAPPED_BITCODE) {
        match (word(input, 8), word(input, 12)) {
            (Some(offset), Some(size)) if offset + size <= input.len() => &input[offset..offset + size],
            _ => return true,
        }
    } else {
        input
    };
    let mut at = BITCODE.len();
    while let (Some(header), Some(length)) = (word(bitcode, at), word(bitcode, at + 4)) {
        if header & 3 != 1 {
            return false;
        }
        at += 8 + 4 * length;
    }
    at != bitcode.len()
}

/// Names what LLVM said about an input (`binary`: bitcode, not text).
fn sort(input: &[u8], binary: bool, by_verifier: bool, words: &str) -> ReadError {
    let why = words.trim().to_owned();
    let reader = ffi::version()[0];
    if by_verifier {
        return ReadError::Invalid { why };
    }
    if !binary {
        let source = why.lines().next().unwrap_or_default().to_owned();
        return ReadError::Malformed { why: source };
    }
    let producer = why.split("Producer: '").nth(1).and_then(|s| s.split('\'').next()).unwrap_or_default();
    let digits = producer.trim_start_matches(|c: char| !c.is_ascii_digit());
    let major: u32 = digits.split('.').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    if major > reader {
        return ReadError::Newer { producer: producer.to_owned(), reader, why };
    }
    if is_truncated(input) { ReadError::Truncated { why } } else { ReadError::Malformed { why } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_producer_of_a_newer_file_is_named() {
        let words = "input: error: Unknown attribute kind (300) (Producer: 'LLVM99.0.1' Reader: 'LLVM 22.1.8')";
        let error = sort(BITCODE, true, false, words);
        assert!(matches!(error, ReadError::Newer { producer, reader: 22, .. } if producer == "LLVM99.0.1"));
        let older = words.replace("99.0.1", "14.0.6");
        assert!(matches!(sort(BITCODE, true, false, &older), ReadError::Malformed { .. }));
    }
}
