//! Test files as KLEE's tools read them (format version 3): big-endian lengths, then bytes.
//!
//! ```text
//! "KTEST"  version u32 = 3
//! number of arguments u32, each: length u32, bytes      the command line of the run, not of the test
//! sym_argvs u32  sym_argv_len u32                       0
//! number of objects u32, each: name length u32, name, length u32, bytes
//! ```

/// The parts of a test file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KTest {
    /// The program and its arguments as given to the run, symbolic ones as their options.
    pub args: Vec<Vec<u8>>,
    /// The symbolic inputs, in the order they were made.
    pub objects: Vec<Object>,
}

/// A symbolic input with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub name: Vec<u8>,
    pub bytes: Vec<u8>,
}

/// Why bytes are not a test file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KTestError {
    #[error("not a ktest file")]
    Magic,
    #[error("ktest version {found}, versions 1 to 3 can be read")]
    Version { found: u32 },
    #[error("truncated at byte {at}")]
    Truncated { at: usize },
}

const MAGIC: &[u8] = b"KTEST";
/// The magic KLEE wrote before it took its present one.
const OLD_MAGIC: &[u8] = b"BOUT\n";
const VERSION: u32 = 3;

impl KTest {
    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let number = |out: &mut Vec<u8>, n: usize| out.extend((n as u32).to_be_bytes());
        let text = |out: &mut Vec<u8>, bytes: &[u8]| {
            number(out, bytes.len());
            out.extend(bytes);
        };
        number(&mut out, VERSION as usize);
        number(&mut out, self.args.len());
        self.args.iter().for_each(|arg| text(&mut out, arg));
        number(&mut out, 0);
        number(&mut out, 0);
        number(&mut out, self.objects.len());
        for object in &self.objects {
            text(&mut out, &object.name);
            text(&mut out, &object.bytes);
        }
        out
    }

    /// Reads a file's bytes; what follows the last object is ignored.
    pub fn from_bytes(bytes: &[u8]) -> Result<KTest, KTestError> {
        let mut r = Reader { bytes, at: 0 };
        let magic = r.take(MAGIC.len()).map_err(|_| KTestError::Magic)?;
        if magic != MAGIC && magic != OLD_MAGIC {
            return Err(KTestError::Magic);
        }
        let version = r.number()?;
        if !(1..=VERSION).contains(&version) {
            return Err(KTestError::Version { found: version });
        }
        let mut test = KTest::default();
        for _ in 0..r.number()? {
            test.args.push(r.text()?);
        }
        if version >= 2 {
            r.take(8)?;
        }
        for _ in 0..r.number()? {
            test.objects.push(Object { name: r.text()?, bytes: r.text()? });
        }
        Ok(test)
    }

    /// The bytes of the first object of that name.
    pub fn object(&self, name: &str) -> Option<&[u8]> {
        self.objects.iter().find(|o| o.name == name.as_bytes()).map(|o| &o.bytes[..])
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], KTestError> {
        let end = self.at.checked_add(n).filter(|&end| end <= self.bytes.len()).ok_or(KTestError::Truncated { at: self.bytes.len() })?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, KTestError> {
        Ok(u32::from_be_bytes(self.take(4)?.try_into().expect("four bytes were taken")))
    }

    fn text(&mut self) -> Result<Vec<u8>, KTestError> {
        let n = self.number()?;
        Ok(self.take(n as usize)?.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> KTest {
        let object = |name: &str, bytes: &[u8]| Object { name: name.into(), bytes: bytes.into() };
        KTest { args: vec![b"echo.bc".to_vec(), b"--sym-arg".to_vec()], objects: vec![object("arg00", b"a\0"), object("stdin", b"")] }
    }

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let test = KTest { args: vec![b"p".to_vec()], objects: vec![Object { name: b"x".to_vec(), bytes: vec![7, 8] }] };
        let expected = b"KTEST\0\0\0\x03\0\0\0\x01\0\0\0\x01p\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01x\0\0\0\x02\x07\x08";
        assert_eq!(test.to_bytes(), expected);
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(KTest::from_bytes(&sample().to_bytes()), Ok(sample()));
        assert_eq!(sample().object("arg00"), Some(&b"a\0"[..]));
        assert_eq!(sample().object("arg01"), None);
    }

    #[test]
    fn every_cut_and_every_foreign_file_is_an_error() {
        let bytes = sample().to_bytes();
        for end in 0..bytes.len() {
            let error = KTest::from_bytes(&bytes[..end]).expect_err("a cut file is an error");
            assert_eq!(error == KTestError::Magic, end < MAGIC.len(), "cut at {end}: {error}");
        }
        assert_eq!(KTest::from_bytes(b"\x7fELF\x02\x01\x01"), Err(KTestError::Magic));
        let mut newer = bytes.clone();
        newer[8] = 4;
        assert_eq!(KTest::from_bytes(&newer), Err(KTestError::Version { found: 4 }));
        let mut huge = bytes;
        huge[13..17].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(matches!(KTest::from_bytes(&huge), Err(KTestError::Truncated { .. })));
    }
}
