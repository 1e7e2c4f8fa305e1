//! The IR file: a header, a directory and the tables of a [`Module`], opened by mapping it.
//!
//! ```text
//! 0   magic "wryneck\0"    8   version u32    12  number of tables u32
//! 16  hash u64 of everything after the header    24  size of the file u64
//! 32  directory, one entry per table in `Module`'s order: name [u8; 16], record size u64, records u64, first byte u64
//! ..  the tables, each at a multiple of 8, zeros between
//! ```
//! Numbers are little-endian, as the records are: the format is for the machine it was written on. Opening checks sizes,
//! bounds, alignment and the hash (about 1 ms for 10 MB) but no contents: [`crate::verify`] does. The hash finds damage, not
//! malice. A file is written beside its place and renamed, so a reader sees all of it or none.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytemuck::Pod;

use crate::module::{Module, Table, TableSource};

/// What this build writes and reads; any change of a record or an operator's number is a new one.
pub const VERSION: u32 = 4;
const MAGIC: [u8; 8] = *b"wryneck\0";
const HEADER: usize = 32;
const ENTRY: usize = 40;
const NAME: usize = 16;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("not an IR file")]
    NotIr,
    #[error("version {found}, this build reads {VERSION}")]
    Version { found: u32 },
    #[error("truncated: {size} bytes of {expected}")]
    Truncated { size: u64, expected: u64 },
    #[error("table `{table}` damaged: {damage}")]
    Table { table: &'static str, damage: Damage },
    #[error("contents damaged: the hash is {found:#018x}, the header says {expected:#018x}")]
    Hash { found: u64, expected: u64 },
}

/// What is wrong with a table's directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    #[error("it is not in the directory")]
    Missing,
    #[error("its records have {found} bytes instead of {expected}")]
    RecordSize { found: u64, expected: u64 },
    #[error("it is not aligned to 8 bytes")]
    Alignment,
    #[error("it reaches beyond the file")]
    Bounds,
}

/// The file's bytes.
pub fn to_bytes(module: &Module) -> Vec<u8> {
    let mut tables = 0;
    module.for_each_table(|_, _, _| tables += 1);
    let mut out = vec![0; HEADER + tables * ENTRY];
    let mut entry = HEADER;
    module.for_each_table(|name, record, bytes| {
        out.resize(out.len().next_multiple_of(8), 0);
        let start = out.len();
        out.extend_from_slice(bytes);
        let fields = [record as u64, (bytes.len() / record) as u64, start as u64];
        out[entry..entry + name.len()].copy_from_slice(name.as_bytes());
        out[entry + NAME..entry + ENTRY].copy_from_slice(bytemuck::cast_slice(&fields));
        entry += ENTRY;
    });
    let (hash, size) = (hash(&out[HEADER..]), out.len() as u64);
    out[..8].copy_from_slice(&MAGIC);
    out[8..16].copy_from_slice(bytemuck::cast_slice(&[VERSION, tables as u32]));
    out[16..32].copy_from_slice(bytemuck::cast_slice(&[hash, size]));
    out
}

/// Writes the module's file, replacing what is there, in one step.
pub fn write(module: &Module, path: &Path) -> Result<(), FileError> {
    Ok(write_bytes(&to_bytes(module), path)?)
}

/// Writes a file beside its place and renames it, so that a reader sees all of it or what was there.
pub fn write_bytes(bytes: &[u8], path: &Path) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut temp = path.as_os_str().to_owned();
    temp.push(format!(".{}-{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let written = File::create(&temp).and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(&temp, path));
    if written.is_err() {
        // The first error is the one to tell; the rest of a file on a full disk goes away.
        let _ = fs::remove_file(&temp);
    }
    written
}

/// Makes the hash in the header of a file's bytes fit again: for tests that forge files, against which the hash is no protection.
pub fn rehash(bytes: &mut [u8]) {
    if bytes.len() >= HEADER {
        let hash = hash(&bytes[HEADER..]);
        bytes[16..24].copy_from_slice(&hash.to_le_bytes());
    }
}

/// Maps a file. The module is not verified yet.
pub fn open(path: &Path) -> Result<Module, FileError> {
    let file = File::open(path)?;
    if file.metadata()?.len() < HEADER as u64 {
        return read(&fs::read(path)?);
    }
    #[allow(unsafe_code, reason = "mapping a file has no safe form")]
    // SAFETY: the bytes must not change while mapped. IR files are never written in place (`write` renames a finished file
    // over its place), and they lie where only the tool writes, as its own executable does.
    let map = Arc::new(unsafe { memmap2::MmapOptions::new().populate().map(&file)? });
    let tables = Tables { bytes: &map, entry: HEADER, map: Some(&map) };
    check_header(&map)?;
    Module::from_tables(tables)
}

/// Copies a module out of a file's bytes. It is not verified yet.
pub fn read(bytes: &[u8]) -> Result<Module, FileError> {
    check_header(bytes)?;
    Module::from_tables(Tables { bytes, entry: HEADER, map: None })
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn check_header(bytes: &[u8]) -> Result<(), FileError> {
    let size = bytes.len() as u64;
    if !bytes.starts_with(&MAGIC) {
        // A file that stops inside the magic, or is empty, is a truncated one.
        let begun = MAGIC.starts_with(bytes);
        return Err(if begun { FileError::Truncated { size, expected: HEADER as u64 } } else { FileError::NotIr });
    }
    if bytes.len() < HEADER {
        return Err(FileError::Truncated { size, expected: HEADER as u64 });
    }
    let found = number(bytes, 8) as u32;
    if found != VERSION {
        return Err(FileError::Version { found });
    }
    let expected = number(bytes, 24);
    if size < expected {
        return Err(FileError::Truncated { size, expected });
    }
    let (found, expected) = (hash(&bytes[HEADER..]), number(bytes, 16));
    if found != expected {
        return Err(FileError::Hash { found, expected });
    }
    Ok(())
}

struct Tables<'a> {
    bytes: &'a [u8],
    /// Where the next directory entry starts.
    entry: usize,
    /// The map that `bytes` are, if they are one.
    map: Option<&'a Arc<memmap2::Mmap>>,
}

impl TableSource for Tables<'_> {
    type Error = FileError;

    fn table<T: Pod>(&mut self, table: &'static str) -> Result<Table<T>, FileError> {
        let damaged = |damage| FileError::Table { table, damage };
        let entry = self.bytes.get(self.entry..self.entry + ENTRY).ok_or(damaged(Damage::Missing))?;
        self.entry += ENTRY;
        let name = entry[..NAME].split(|&b| b == 0).next();
        if name != Some(table.as_bytes()) {
            return Err(damaged(Damage::Missing));
        }
        let (record, count, start) = (number(entry, NAME), number(entry, NAME + 8), number(entry, NAME + 16));
        let expected = size_of::<T>() as u64;
        if record != expected {
            return Err(damaged(Damage::RecordSize { found: record, expected }));
        }
        if start % 8 != 0 {
            return Err(damaged(Damage::Alignment));
        }
        // Indices are 32 bits, and NONE is none of them.
        let in_range = |&end: &u64| end <= self.bytes.len() as u64 && count < u64::from(u32::MAX);
        let end = count.checked_mul(record).and_then(|n| n.checked_add(start)).filter(in_range).ok_or(damaged(Damage::Bounds))?;
        let (start, len) = (start as usize, count as usize);
        Ok(match self.map {
            Some(map) => Table::Mapped { map: Arc::clone(map), start, len },
            None => {
                let mut records = vec![T::zeroed(); len];
                bytemuck::cast_slice_mut(&mut records).copy_from_slice(&self.bytes[start..end as usize]);
                Table::Owned(records)
            }
        })
    }
}

/// Eight multiply-and-fold lanes over 64 bytes at a time (the construction of wyhash), as many as a processor has on the way at once, then the rest.
fn hash(bytes: &[u8]) -> u64 {
    const KEYS: [u64; 8] = [
        0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0xd6e8_feb8_6659_fd93, 0xa076_1d64_78bd_642f,
        0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3,
    ];
    let fold = |x: u64, key: u64| {
        let product = u128::from(x) * u128::from(key);
        product as u64 ^ (product >> 64) as u64
    };
    let mut lanes = KEYS;
    let mut chunks = bytes.chunks_exact(64);
    for chunk in &mut chunks {
        let words: [[u8; 8]; 8] = *chunk.as_chunks().0.first_chunk().expect("a chunk has 64 bytes");
        for (i, (lane, word)) in lanes.iter_mut().zip(words).enumerate() {
            *lane = fold(*lane ^ u64::from_le_bytes(word), KEYS[i]).wrapping_add(KEYS[7 - i]);
        }
    }
    let mut end = bytes.len() as u64;
    for (&b, i) in chunks.remainder().iter().zip(1..) {
        end = fold(end ^ u64::from(b) << 32 ^ i, KEYS[1]).wrapping_add(KEYS[2]);
    }
    lanes.iter().zip(KEYS).fold(end, |h, (&lane, key)| fold(h ^ lane, key).wrapping_add(lane))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn same(a: &Module, b: &Module) -> bool {
        to_bytes(a) == to_bytes(b)
    }

    #[test]
    fn a_written_module_is_mapped_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.ir");
        let module = samples::everything();
        for _ in 0..2 {
            write(&module, &path).unwrap();
            let mapped = open(&path).unwrap();
            assert!(matches!(mapped.insts, Table::Mapped { .. }) && same(&module, &mapped));
            assert!(same(&module, &read(&fs::read(&path).unwrap()).unwrap()));
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(matches!(write(&module, &dir.path().join("no/m.ir")), Err(FileError::Io(_))));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let good = to_bytes(&samples::everything());
        let message = |edit: &dyn Fn(&mut Vec<u8>), rehash: bool| {
            let mut bytes = good.clone();
            edit(&mut bytes);
            if rehash {
                let h = hash(&bytes[HEADER..]);
                bytes[16..24].copy_from_slice(&h.to_le_bytes());
            }
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("f"), &bytes).unwrap();
            let (a, b) = (open(&dir.path().join("f")).err().unwrap(), read(&bytes).err().unwrap());
            assert_eq!(a.to_string(), b.to_string());
            a.to_string()
        };
        let size = good.len();
        assert_eq!(message(&|b| b.clear(), false), "truncated: 0 bytes of 32");
        assert_eq!(message(&|b| b.truncate(20), false), "truncated: 20 bytes of 32");
        assert_eq!(message(&|b| b.truncate(size - 1), false), format!("truncated: {} bytes of {size}", size - 1));
        assert_eq!(message(&|b| b[0] = b'x', false), "not an IR file");
        assert_eq!(message(&|b| *b = b"BC\xc0\xde".to_vec(), false), "not an IR file");
        assert_eq!(message(&|b| b[8] = 200, false), format!("version 200, this build reads {VERSION}"));
        assert!(message(&|b| b[size - 1] ^= 1, false).starts_with("contents damaged"));
        let entry = HEADER + 2 * ENTRY;
        assert_eq!(message(&|b| b[entry] = b'x', true), "table `insts` damaged: it is not in the directory");
        let records = "table `insts` damaged: its records have 21 bytes instead of 20";
        assert_eq!(message(&|b| b[entry + NAME] = 21, true), records);
        assert_eq!(message(&|b| b[entry + NAME + 16] += 4, true), "table `insts` damaged: it is not aligned to 8 bytes");
        assert_eq!(message(&|b| b[entry + NAME + 15] = 255, true), "table `insts` damaged: it reaches beyond the file");
    }

    /// Bytes changed anywhere, with a hash that fits again: an error, or a module that the verifier can judge.
    #[test]
    fn damaged_bytes_never_panic() {
        let rng = &mut samples::Rng(9);
        let (mut unreadable, mut refused, mut accepted) = (0, 0, 0);
        let good: Vec<Vec<u8>> = (0..8).map(|seed| to_bytes(&samples::random(seed))).collect();
        for round in 0..20_000 {
            let mut bytes = good[round % 8].clone();
            for _ in 0..=rng.below(3) {
                // Half of the damage goes to the directory.
                let end = if rng.below(2) == 0 { HEADER + 21 * ENTRY } else { bytes.len() };
                let i = HEADER + rng.below(end - HEADER);
                bytes[i] = rng.next() as u8;
            }
            let h = hash(&bytes[HEADER..]);
            bytes[16..24].copy_from_slice(&h.to_le_bytes());
            match read(&bytes).map(|m| crate::verify::verify(&m)) {
                Err(_) => unreadable += 1,
                Ok(Err(_)) => refused += 1,
                Ok(Ok(())) => accepted += 1,
            }
        }
        assert!(unreadable > 5_000 && refused > 1_000 && accepted > 100, "{unreadable} {refused} {accepted}");
    }

    #[test]
    fn each_byte_counts_in_the_hash() {
        let mut bytes = vec![0u8; 100];
        let before = hash(&bytes);
        for i in 0..100 {
            bytes[i] = 1;
            assert_ne!(hash(&bytes), before);
            bytes[i] = 0;
        }
        assert_ne!(hash(&bytes[..99]), before);
    }
}
