//! Which functions and variables of a program came with the C library.
//!
//! In a dynamic program these are the ones of the loader's file, and of the library with the start function once the loader has mapped it. In a static program they are those with the name of a library function,
//! unless debug information says that they are from another file. A program without the library's start function has no C library.
//!
//! The members of an archive lie together. So an unnamed function between two library functions belongs to the library too (assembly),
//! and a local function counts only next to another library function. Library variables are those with a library variable's name, or a
//! name that C reserves (`__…`), and local ones that follow such a variable and precede no variable of the program.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::elf::{Elf, INTERPRETER_BASE, Symbol};

/// The functions and visible variables of a library.
#[derive(Default)]
pub struct Library<'a> {
    /// By function: the source files that define one of that name. Most are asked for never.
    files: FxHashMap<&'a str, SmallVec<[&'a str; 1]>>,
    /// Functions that are in a file of their name, too.
    own: FxHashSet<&'a str>,
    variables: FxHashSet<&'a str>,
}

/// The function by which the library begins.
pub const LIBRARY_START: &str = "__libc_start_main";

/// Functions that take and give back memory, of which a program has all from the library or none: models of a part of them would be
/// given memory that they know nothing of.
const ALLOCATOR: [&str; 11] = [
    "aligned_alloc", "calloc", "free", "malloc", "malloc_usable_size", "memalign", "posix_memalign", "pvalloc", "realloc", "reallocarray",
    "valloc",
];

/// Files of C libraries that define one of these, but for those of its name.
const ALLOCATOR_FILES: [&str; 3] = ["lite_malloc.c", "malloc.c", "replaced.c"];

/// What the compiler's own start knows about itself.
const START_VARIABLES: [&str; 3] = ["completed.0", "dtor_idx.0", "object.0"];

/// What begins and ends a program, which no library has.
const STARTS: [&str; 11] = [
    "__do_global_ctors_aux", "__do_global_dtors_aux", LIBRARY_START, "_fini", "_init", "_start", "_start_c", "deregister_tm_clones",
    "frame_dummy", "libc_start_main_stage2", "register_tm_clones",
];

/// Beginnings of names that glibc gives its own functions.
const OF_GLIBC: [&str; 5] = ["_IO_", "__gconv_", "__libc_", "_dl_", "_nl_"];

impl<'a> Library<'a> {
    /// Adds a function, defined in a source file.
    pub fn add(&mut self, function: &'a str, file: &'a str) {
        self.files.entry(function).or_default().push(file);
    }

    /// Adds a function, defined in the C file of its name.
    pub fn add_own(&mut self, function: &'a str) {
        self.own.insert(function);
    }

    /// Adds a visible variable.
    pub fn add_variable(&mut self, name: &'a str) {
        self.variables.insert(name);
    }

    /// Whether a program has the library, or one like it, linked: otherwise no function's name counts.
    pub fn is_linked(elf: &Elf) -> bool {
        Library::is_in(elf.symbols.iter().filter(|s| !s.library))
    }

    /// Whether these symbols are, or have, the library's.
    fn is_in<'s>(mut symbols: impl Iterator<Item = &'s Symbol>) -> bool {
        symbols.any(|s| s.code && s.name == LIBRARY_START)
    }

    /// Which functions of a file that is loaded are what their names say: those of the C library, but for its allocator where the program or a library
    /// before it brings one.
    pub fn counts<'s>(elf: &'s Elf, file: &'s [Symbol]) -> impl Fn(&str) -> bool + use<'s> {
        // The loader's own is for itself.
        let brings = |s: &Symbol| s.code && s.address < INTERPRETER_BASE && ALLOCATOR.contains(&s.name.as_str());
        let (is_library, other) = (Library::is_in(file.iter()), elf.symbols.iter().any(brings));
        move |name| is_library && !(other && ALLOCATOR.contains(&name))
    }

    /// Marks the functions and variables of a program that came with this library, whatever else is marked.
    pub fn mark(&self, elf: &mut Elf) {
        self.mark_variables(elf);
        self.mark_functions(elf);
    }

    fn mark_variables(&self, elf: &mut Elf) {
        let starts = |s: &Symbol| s.code && s.name == LIBRARY_START;
        let linked = elf.symbols.iter().any(starts);
        let archive = elf.symbols.iter().any(|s| starts(s) && !s.library);
        let named = |s: &Symbol| s.name.starts_with("__") || self.variables.contains(s.name.as_str());
        let data: Vec<usize> = (0..elf.symbols.len()).filter(|i| !elf.symbols[*i].code && elf.symbols[*i].size > 0).collect();
        let mut of_library = vec![false; data.len()];
        // Whose the nearest visible variable before is, and whether one of the program lies behind.
        let (mut before, mut behind) = (false, false);
        for (n, symbol) in data.iter().map(|i| &elf.symbols[*i]).enumerate() {
            before = if symbol.local { before } else { named(symbol) };
            of_library[n] = before && (archive || !symbol.local);
        }
        for (n, symbol) in data.iter().map(|i| &elf.symbols[*i]).enumerate().rev() {
            behind = if symbol.local { behind } else { !named(symbol) };
            of_library[n] &= !(symbol.local && behind);
        }
        for (i, of_library) in data.into_iter().zip(of_library) {
            let symbol = &mut elf.symbols[i];
            symbol.library |= linked && (of_library || symbol.local && START_VARIABLES.contains(&symbol.name.as_str()));
        }
    }

    fn mark_functions(&self, elf: &mut Elf) {
        let code: Vec<usize> = (0..elf.symbols.len()).filter(|i| elf.symbols[*i].code).collect();
        let linked = Library::is_linked(elf);
        if linked {
            show_hidden(elf, &code);
        }
        let mut named: Vec<bool> = code.iter().map(|i| linked && self.names(elf, *i)).collect();
        self.decide_allocator(elf, &code, &mut named);
        let beside = |all: &[bool], n: usize| {
            let side = |mut others: Box<dyn Iterator<Item = usize> + '_>| others.find(|m| !elf.symbols[code[*m]].local).map(|m| all[m]);
            (side(Box::new((0..n).rev())).unwrap_or(false), side(Box::new(n + 1..code.len())).unwrap_or(false))
        };
        let of_library: Vec<bool> = (0..code.len())
            .map(|n| {
                let ((before, behind), local) = (beside(&named, n), elf.symbols[code[n]].local);
                let begins = STARTS.contains(&elf.symbols[code[n]].name.as_str());
                begins
                    || linked && self.is_of_glibc(elf, code[n])
                    || if named[n] { !local || before || behind } else { before && behind && self.positions(elf, code[n]).is_empty() }
            })
            .collect();
        for (i, of_library) in code.into_iter().zip(of_library) {
            elf.symbols[i].library |= of_library;
        }
    }

    /// All functions of the allocator are the library's, or none.
    fn decide_allocator(&self, elf: &Elf, code: &[usize], named: &mut [bool]) {
        let name = |n: usize| elf.symbols[code[n]].name.as_str();
        let all: Vec<usize> = (0..code.len()).filter(|n| ALLOCATOR.contains(&name(*n)) && !elf.symbols[code[*n]].local).collect();
        let is_library = |n: usize| {
            let is_in = |file: &String| ALLOCATOR_FILES.contains(&file.as_str()) || file.strip_suffix(".c") == Some(name(n));
            named[n] || elf.symbols[code[n]].library || self.positions(elf, code[n]).iter().all(is_in)
        };
        let of_library = Library::is_linked(elf) && all.iter().all(|n| is_library(*n));
        all.into_iter().for_each(|n| named[n] = of_library);
    }

    /// Whether a symbol has the name of a function of the library, and is from no other file.
    fn names(&self, elf: &Elf, symbol: usize) -> bool {
        let name = elf.symbols[symbol].name.as_str();
        let (files, own) = (self.files.get(name), self.own.contains(name));
        let is_in = |file: &str| own && file.strip_suffix(".c") == Some(name) || files.into_iter().flatten().any(|f| base_name(f) == file);
        (own || files.is_some()) && self.positions(elf, symbol).iter().all(|file| is_in(file))
    }

    /// Whether a function without debug information has a name of glibc's. It says nothing of those beside it.
    fn is_of_glibc(&self, elf: &Elf, symbol: usize) -> bool {
        OF_GLIBC.iter().any(|prefix| elf.symbols[symbol].name.starts_with(prefix)) && self.positions(elf, symbol).is_empty()
    }

    /// The source file of a function, if it is known.
    fn positions(&self, elf: &Elf, symbol: usize) -> Vec<String> {
        let positions = elf.dwarf.iter().map(|d| d.positions(elf.symbols[symbol].address)).find(|all| !all.is_empty());
        let own = positions.and_then(|mut all| all.pop()).filter(|own| !own.file.is_empty());
        own.map(|own| base_name(&own.file).to_owned()).into_iter().collect()
    }
}

/// glibc hides its `malloc` in programs that move (`-static-pie`), where it has the address of `__libc_malloc`: it is what the program calls all the same.
fn show_hidden(elf: &mut Elf, code: &[usize]) {
    let is_of_glibc = |i: &usize| OF_GLIBC.iter().any(|prefix| elf.symbols[*i].name.starts_with(prefix));
    let addresses: FxHashSet<u64> = code.iter().filter(|i| is_of_glibc(i)).map(|i| elf.symbols[*i].address).collect();
    for i in code {
        let symbol = &mut elf.symbols[*i];
        symbol.local &= !(ALLOCATOR.contains(&symbol.name.as_str()) && addresses.contains(&symbol.address));
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
