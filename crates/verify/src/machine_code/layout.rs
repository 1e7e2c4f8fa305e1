//! The layout of an executable's memory, as far as effects depend on it:
//! - memory that never changes;
//! - the standard streams;
//! - tables of the C library that no pointer of the program leads to;
//! - variables that only instructions with their address access.
//!
//! The streams and the tables are found by musl's symbols, the variables by the program's own. So a stripped program has none of them.
//! Variables of other C libraries are not taken for musl's.

use rustc_hash::FxHashMap;
use wryneck_exec::State;
use wryneck_exec::ground::memory::page::Byte;
use wryneck_ir::Objects;
use wryneck_ir::code_source::{Stack, Unaddressed};

use super::effects::{self, ANY, NAMED};
use crate::flow::ObjectId;
use crate::flow::fitting::Dangers;

/// More bytes of variables are not searched.
const MOST: u64 = 1 << 20;

/// musl's standard streams, each with the constant pointer to it.
const STREAMS: [(&str, &str); 3] = [("stdin", "__stdin_FILE"), ("stdout", "__stdout_FILE"), ("stderr", "__stderr_FILE")];

/// Sections that only the loader or the program's own start writes.
const ARRAYS: [&str; 5] = [".preinit_array", ".init_array", ".fini_array", ".data.rel.ro", ".got"];

/// musl's variable that begins with four flags, which say whether there are threads, and the functions that change them.
const FLAGS: &str = "__libc";
const THREADS: [&str; 4] = ["__pthread_create", "pthread_create", "_Fork", "fork"];

/// musl's pointers to locks that nothing takes where there is one thread.
const LOCKS: [&str; 8] = [
    "__atexit_lockptr", "__bump_lockptr", "__gettext_lockptr", "__locale_lockptr", "__random_lockptr", "__sem_open_lockptr",
    "__stdio_ofl_lockptr", "__timezone_lockptr",
];

/// The functions of C libraries that make streams or open them again.
const MAKERS: [&str; 11] = [
    "__fdopen", "fdopen", "fmemopen", "fopen", "fopen64", "fopencookie", "freopen", "open_memstream", "open_wmemstream", "popen", "tmpfile",
];

/// The variables of musl's atexit.c, with their sizes. They lie next to one another, and only the functions of that file have their addresses.
const TABLES: [(&str, u64); 3] = [("slot", 4), ("head", 8), ("builtin", 520)];
/// The first one begins at most so many bytes before the last one.
const NEXT: u64 = 128;

/// Sections in which no text is looked for: of code, and of zeros.
const NO_TEXT: [&str; 5] = [".text", ".init", ".fini", ".plt", ".bss"];

#[derive(Default)]
pub struct Layout {
    stack: Option<Stack>,
    /// Addresses and lengths of memory that nothing writes.
    constant: Vec<(u64, u64)>,
    /// By address: words that are constant.
    words: FxHashMap<u64, u64>,
    /// Standard input, output and error, where they are known.
    streams: [Option<u64>; 3],
    /// Addresses and lengths of the C library's tables of what is called at exit.
    tables: Vec<(u64, u64)>,
    /// Variables that only instructions with their address access, by address.
    variables: Vec<Unaddressed>,
    /// The program has no streams but the standard ones.
    only_standard: bool,
    /// Addresses and bytes of memory that nothing writes and that is no code. `any_format`: what its texts, and those of variables, would
    /// do as formats.
    texts: Vec<(u64, Vec<u8>)>,
    any_format: Dangers,
    /// Where `errno` lies: its distance from the thread pointer.
    errno: Option<i64>,
    known: bool,
}

impl Layout {
    pub fn of(stack: Option<Stack>) -> Layout {
        Layout { stack, ..Layout::default() }
    }

    /// Computes the layout of a program, once, from a path's state.
    pub fn find(&mut self, source: &dyn Objects, state: &State) {
        if std::mem::replace(&mut self.known, true) {
            return;
        }
        let statics = &state.memory.statics;
        self.find_texts(state);
        let constant = statics.iter().filter(|s| !s.writable || ARRAYS.contains(&&*s.name));
        self.constant.extend(constant.map(|s| (s.base, s.size)));
        for variable in source.unaddressed() {
            self.variables.push(variable);
            if variable.size == 8
                && !variable.written
                && let Some(word) = word(state, variable.address)
            {
                self.words.insert(variable.address, word);
            }
        }
        self.find_errno(source);
        // Variables lie neither on the stack nor on its shadow.
        let writable = || statics.iter().filter(|s| s.writable && !self.is_stack(s.base));
        if writable().map(|s| s.size).sum::<u64>() > MOST {
            return;
        }
        let mut named = Vec::new();
        for part in writable() {
            let mut at = part.base;
            while at < part.base.saturating_add(part.size) {
                let data = source.data(at);
                // Variables of less than four bytes are none of those below.
                at = data.as_ref().map_or(at + 4, |data| (data.address + data.size).next_multiple_of(4).max(at + 4));
                named.extend(data);
            }
        }
        let one = |name: &str| {
            let mut all = named.iter().filter(|data| data.name == name);
            all.next().filter(|_| all.next().is_none())
        };
        for (number, (pointer, stream)) in STREAMS.into_iter().enumerate() {
            self.streams[number] = one(stream).map(|data| data.address);
            // The pointer lies in memory that is constant once the program has begun.
            if let (Some(pointer), Some(stream)) = (one(pointer).filter(|data| data.size == 8), self.streams[number])
                && word(state, pointer.address) == Some(stream)
            {
                self.words.insert(pointer.address, stream);
                self.constant.push((pointer.address, 8));
            }
        }
        if let Some(flags) = one(FLAGS).filter(|_| THREADS.into_iter().all(|name| source.has_function(name) == Some(false))) {
            self.constant.push((flags.address, 4));
            let pointers = LOCKS.into_iter().filter_map(one).filter(|data| data.size == 8);
            let locks = pointers.filter_map(|data| word(state, data.address)).filter(|lock| *lock != 0);
            self.constant.extend(locks.map(|lock| (lock, 4)));
        }
        // A linker leaves out streams that nothing names.
        let are_known = (0..3).all(|n| self.streams[n].is_some() || named.iter().all(|data| data.name != STREAMS[n].1));
        let is_musl = self.streams.iter().any(Option::is_some);
        self.only_standard = is_musl && are_known && MAKERS.into_iter().all(|name| source.has_function(name) == Some(false));
        let of_size = |(name, size)| {
            let mut all = named.iter().filter(|data| (data.name.as_str(), data.size) == (name, size));
            all.next().filter(|_| all.next().is_none())
        };
        let tables: Vec<_> = TABLES.into_iter().filter_map(of_size).collect();
        let (first, last) = (tables.iter().map(|t| t.address).min(), tables.iter().map(|t| t.address).max());
        if tables.len() == TABLES.len() && first.zip(last).is_some_and(|(first, last)| last - first <= NEXT) {
            self.tables = tables.into_iter().map(|data| (data.address, data.size)).collect();
        }
    }

    /// Finds where `errno` lies in a program whose function for it rests on nothing but the thread pointer, which is also what that points to.
    fn find_errno(&mut self, source: &dyn Objects) {
        // No address lies near it.
        const POINTER: u64 = 1 << 62;
        const NEAR: std::ops::Range<i64> = -0x1_0000..0x1_0000;
        let read = |at: u64, out: &mut [u8]| {
            let word = if at == POINTER { Some(POINTER) } else { self.constant(at) };
            if let Some(word) = word.filter(|_| out.len() == 8) {
                out.copy_from_slice(&word.to_le_bytes());
            }
            word.is_some() && out.len() == 8
        };
        self.errno = source.errno(POINTER, &read).map(|at| at.wrapping_sub(POINTER) as i64).filter(|at| NEAR.contains(at));
    }

    /// Reads the texts of a program.
    fn find_texts(&mut self, state: &State) {
        let statics: Vec<_> = state.memory.statics.iter().filter(|s| !self.is_stack(s.base) && !NO_TEXT.contains(&&*s.name)).collect();
        if statics.iter().map(|s| s.size).sum::<u64>() > MOST {
            self.any_format = Dangers { writes: true, fails: true };
            return;
        }
        for part in statics {
            let byte = |at: u64| match state.memory.space.byte(part.base + at) {
                Byte::Concrete(byte) => byte,
                Byte::Dead | Byte::Uninitialised | Byte::Symbolic { .. } => 0,
            };
            let mut bytes = vec![0; part.size as usize];
            // Most parts have no symbolic byte.
            if !state.memory.space.read(part.base, &mut bytes) {
                bytes = (0..part.size).map(byte).collect();
            }
            let dangers = bytes.split(|byte| *byte == 0).map(Dangers::of);
            self.any_format = dangers.fold(self.any_format, Dangers::or);
            if !part.writable {
                self.texts.push((part.base, bytes));
            }
        }
    }

    /// What a format at this address does; `None`: at any.
    pub fn format(&self, address: Option<u64>) -> Dangers {
        let rest = |address: u64| {
            let (base, bytes) = self.texts.iter().find(|(base, bytes)| contains(&(*base, bytes.len() as u64), address))?;
            bytes.get(address.wrapping_sub(*base) as usize..)?.split(|byte| *byte == 0).next()
        };
        address.and_then(rest).map_or(self.any_format, Dangers::of)
    }

    pub fn is_shadow(&self, base: u64) -> bool {
        self.stack.is_some_and(|stack| stack.shadow.0 == base)
    }

    /// Whether an address lies on the stack of a thread or in its shadow.
    fn is_stack(&self, address: u64) -> bool {
        self.stack.is_some_and(|stack| stack.contains(address) || contains(&stack.shadow, address))
    }

    /// The value of a word that is constant, if it is known.
    pub fn constant(&self, address: u64) -> Option<u64> {
        self.words.get(&address).copied()
    }

    /// Where `errno` lies, as a distance from the thread pointer, if it is known.
    pub fn errno(&self) -> Option<i64> {
        self.errno
    }

    /// Whether an address is that of standard output or error, or of standard input with `input`.
    pub fn is_standard(&self, address: u64, input: bool) -> bool {
        self.streams[usize::from(!input)..].contains(&Some(address))
    }

    /// If the program has no streams but the standard ones: those of them that are input, with their addresses.
    pub fn only_inputs(&self) -> Option<&[Option<u64>]> {
        self.only_standard.then_some(&self.streams[..1])
    }

    /// Memory that never changes, or that the program itself cannot reach.
    pub fn is_hidden(&self, address: u64) -> bool {
        let constant = || self.variable(address).is_some_and(|variable| !variable.written);
        self.stack.iter().map(|stack| &stack.shadow).chain(&self.constant).any(|part| contains(part, address)) || constant()
    }

    /// The part of memory that an address lies in. Only some kinds of writes reach the tables and the variables above.
    pub fn part(&self, address: u64) -> ObjectId {
        match () {
            () if self.tables.iter().any(|part| contains(part, address)) => effects::TABLES,
            () if self.variable(address).is_some() => NAMED,
            () => ANY,
        }
    }

    fn variable(&self, address: u64) -> Option<&Unaddressed> {
        let before = self.variables.partition_point(|variable| variable.address <= address);
        self.variables[..before].last().filter(|variable| address - variable.address < variable.size)
    }
}

fn contains((base, size): &(u64, u64), address: u64) -> bool {
    address.wrapping_sub(*base) < *size
}

/// The word at an address, if it is concrete.
fn word(state: &State, address: u64) -> Option<u64> {
    (0..8).rev().try_fold(0, |word, at| match state.memory.space.byte(address + at) {
        Byte::Concrete(byte) => Some(word << 8 | u64::from(byte)),
        Byte::Dead | Byte::Uninitialised | Byte::Symbolic { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_memory_are_told_apart() {
        let named = |address, size, written| Unaddressed { address, size, written };
        let layout = Layout {
            stack: Some(Stack { base: 0x600, size: 8, shadow: (0x100, 0x10), rooms: (0, 0) }),
            constant: vec![(0x200, 8)],
            streams: [Some(1), Some(2), Some(3)],
            tables: vec![(0x300, 4)],
            variables: vec![named(0x400, 2, true), named(0x404, 4, false)],
            words: [(0x200, 2)].into_iter().collect(),
            texts: vec![(0x500, b"%d\0a%n".to_vec())],
            any_format: Dangers { writes: true, fails: false },
            only_standard: false,
            errno: None,
            known: true,
        };
        assert!(layout.is_hidden(0x10f) && layout.is_hidden(0x207) && !layout.is_hidden(0x208) && !layout.is_hidden(0x300));
        assert!(layout.part(0x303) == effects::TABLES && layout.part(0x304) == ANY && layout.part(0x2ff) == ANY);
        assert!(layout.part(0x401) == NAMED && layout.part(0x402) == ANY && layout.part(0x407) == NAMED);
        assert!(layout.is_hidden(0x407) && !layout.is_hidden(0x401));
        assert!(
            layout.is_standard(2, false) && layout.is_standard(1, true) && !layout.is_standard(1, false) && !layout.is_standard(0, true)
        );
        // The first thread's stack is above the rooms of the others.
        assert!(layout.is_stack(0x604) && layout.is_stack(0x104) && !layout.is_stack(0x608));
        let writes = |address| layout.format(address).writes;
        assert!(!writes(Some(0x500)) && writes(Some(0x503)) && writes(Some(0x600)) && writes(None) && !layout.format(None).fails);
        assert_eq!((layout.constant(0x200), layout.constant(0x201)), (Some(2), None));
    }
}
