//! The interpreter's memory: objects in a sorted map, far enough apart that no overrun meets a neighbour.

use std::collections::BTreeMap;

use super::Fault;

/// What an object is: decides where it lies and what may be done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Global,
    Stack,
    Heap,
}

struct Object {
    bytes: Vec<u8>,
    kind: Kind,
    read_only: bool,
}

/// Objects by their address. Addresses are never used again, so the use of a dead object is always noticed.
pub struct Memory {
    objects: BTreeMap<u64, Object>,
    /// The next free address by kind.
    next: [u64; 3],
    /// Bytes of live objects.
    live: u64,
}

/// The most bytes that can be alive.
const MAX_BYTES: u64 = 1 << 30;

impl Default for Memory {
    fn default() -> Self {
        Memory { objects: BTreeMap::new(), next: [0x2_0000_0000, 0x100_0000_0000, 0x4000_0000_0000], live: 0 }
    }
}

impl Memory {
    /// A new object of zeros.
    pub fn allocate(&mut self, kind: Kind, size: u64, align: u64) -> Result<u64, Fault> {
        if size > MAX_BYTES - self.live {
            return Err(Fault::OutOfMemory { size });
        }
        self.live += size;
        let next = &mut self.next[kind as usize];
        let address = next.next_multiple_of(align.max(16));
        *next = address + size + 64;
        self.objects.insert(address, Object { bytes: vec![0; size as usize], kind, read_only: false });
        Ok(address)
    }
    /// A new object of zeros at an address of the caller's choice, apart from all others.
    pub fn map(&mut self, address: u64, size: u64) -> Result<(), Fault> {
        if size > MAX_BYTES - self.live {
            return Err(Fault::OutOfMemory { size });
        }
        self.live += size;
        self.objects.insert(address, Object { bytes: vec![0; size as usize], kind: Kind::Global, read_only: false });
        Ok(())
    }
    fn remove(&mut self, address: u64) {
        if let Some(o) = self.objects.remove(&address) {
            self.live -= o.bytes.len() as u64;
        }
    }
    /// Ends a stack object's life.
    pub fn release(&mut self, address: u64) {
        self.remove(address);
    }
    /// Ends a heap object's life.
    pub fn free(&mut self, address: u64) -> Result<(), Fault> {
        match self.objects.get(&address) {
            Some(o) if o.kind == Kind::Heap => {
                self.remove(address);
                Ok(())
            }
            _ => Err(Fault::BadFree { address }),
        }
    }
    pub fn make_read_only(&mut self, address: u64) {
        if let Some(o) = self.objects.get_mut(&address) {
            o.read_only = true;
        }
    }
    /// Bytes of the live heap object at `address`.
    pub fn heap_size(&self, address: u64) -> Option<u64> {
        self.objects.get(&address).filter(|o| o.kind == Kind::Heap).map(|o| o.bytes.len() as u64)
    }
    /// The `size` bytes at `address`; none at all if size is 0.
    pub fn read(&self, address: u64, size: u64) -> Result<&[u8], Fault> {
        if size == 0 {
            return Ok(&[]);
        }
        let fault = Fault::OutOfBounds { address, size, write: false };
        let (base, object) = self.objects.range(..=address).next_back().ok_or(fault.clone())?;
        let start = address - base;
        match start.checked_add(size) {
            Some(end) if end <= object.bytes.len() as u64 => Ok(&object.bytes[start as usize..end as usize]),
            _ => Err(fault),
        }
    }
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        let size = bytes.len() as u64;
        if size == 0 {
            return Ok(());
        }
        let fault = Fault::OutOfBounds { address, size, write: true };
        let (base, object) = self.objects.range_mut(..=address).next_back().ok_or(fault.clone())?;
        let start = address - base;
        match start.checked_add(size) {
            Some(end) if end <= object.bytes.len() as u64 => {
                if object.read_only {
                    return Err(Fault::ReadOnly { address, size });
                }
                object.bytes[start as usize..end as usize].copy_from_slice(bytes);
                Ok(())
            }
            _ => Err(fault),
        }
    }
    /// The bytes up to the first zero.
    pub fn string(&self, address: u64) -> Result<Vec<u8>, Fault> {
        let mut out = Vec::new();
        loop {
            match self.read(address.wrapping_add(out.len() as u64), 1)?[0] {
                0 => return Ok(out),
                b => out.push(b),
            }
        }
    }
}
