//! Code met while it runs: what an engine asks for when control reaches an address nobody lowered yet (docs/design/003).

use std::rc::Rc;

use crate::module::Module;
use crate::verify::Malformed;

/// Reads concrete bytes of the running program from an address on; `false` if one of them is not concrete or not there.
pub type ReadBytes<'a> = &'a dyn Fn(u64, &mut [u8]) -> bool;

/// An object that code computes addresses in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeObject {
    pub name: String,
    /// Bytes, at least 1.
    pub size: u64,
    /// Bytes in front of it that belong to it too, since its address may be meant as their end.
    pub before: u64,
    /// How its bounds are known, in words.
    pub known_by: &'static str,
}

/// A variable of static storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    pub name: String,
    pub address: u64,
    /// Bytes, at least 1.
    pub size: u64,
}

/// A variable of static storage that nothing in the program has the address of: only instructions that name it access it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unaddressed {
    pub address: u64,
    /// Bytes, at least 1.
    pub size: u64,
    /// An instruction may write it.
    pub written: bool,
}

/// The variables of a function that lie in its frame, by debug information of code in which they do not move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameVariables {
    /// The function's code: its first address and the one after the last.
    pub code: (u64, u64),
    pub variables: Vec<FrameVariable>,
}

/// A variable in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameVariable {
    /// Bytes from the function's return address to its first byte.
    pub start: i64,
    /// Bytes, at least 1.
    pub size: u64,
    /// It is a number or a pointer, not an array or a structure.
    pub scalar: bool,
}

/// How functions of the code are called from outside of it: in a frame of its own, on the stack below what is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calling {
    /// What the parameters' limbs hold where none of the code runs yet.
    pub initial: Vec<u64>,
    /// The limb that holds the address to go to.
    pub instruction_pointer: usize,
    /// The limb of the stack pointer. It points to the return address when a function begins, 8 bytes after a multiple of 16.
    pub stack_pointer: usize,
    /// The limbs of arguments, 64 bits each; the others are on the stack, after the return address.
    pub arguments: Vec<usize>,
    /// The limbs that functions leave as they like: of words, and of vectors.
    pub scratch: [Vec<usize>; 2],
    /// The return address: the code there returns the result.
    pub back: u64,
    /// What to add to the address of a return address for the word that repeats it.
    pub shadow: u64,
}

/// How control leaves a block of machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// By its edges, or by a computed jump.
    Inside,
    /// To this address, which may have a block of its own by now.
    To(u64),
    /// By a call, which comes back to this address.
    Call { back: u64 },
    /// The block is part of a return, or ends by beginning it.
    Return,
}

/// Where the registers of the calling convention are: numbers of the function's parameters' limbs.
#[derive(Clone, Debug, Default)]
pub struct Convention {
    pub arguments: Vec<usize>,
    pub result: usize,
    /// Those of other results: the second word of a structure, and floating-point numbers.
    pub second: usize,
    pub float_results: Vec<usize>,
    /// Those of arguments that are floating-point numbers, in their order, and the one that says how many of them a variadic call uses.
    pub floats: Vec<Vec<usize>>,
    pub count_of_floats: usize,
    pub stack_pointer: usize,
    /// Those that functions leave as they were, the stack pointer among them.
    pub saved: Vec<usize>,
    /// Where the thread's own memory is, in which the C library keeps `errno`.
    pub thread: usize,
}

/// A call in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveCall {
    /// Where on the stack its return address is.
    pub base: u64,
    /// The block that ends with it, if that is known.
    pub block: Option<u32>,
}

/// A conditional branch and the side of it that was taken, by addresses.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    pub branch: u64,
    /// The instruction that computed the branch's condition.
    pub compare: u64,
    /// Where control went, and where it would have gone otherwise.
    pub went: u64,
    pub other: u64,
}

/// What code does with a value.
#[derive(Clone, Debug, Default)]
pub struct ValueUses {
    /// A branch depends on it.
    pub is_tested: bool,
    /// Addresses of the instructions that use it, or what is computed from it, as an address, a divisor or a width.
    pub readers: Vec<u64>,
}

/// A loop that a side of a branch goes past.
#[derive(Clone, Debug)]
pub struct LoopPast {
    /// The branch is one of the loop's.
    pub is_own: bool,
    /// What is done with the values that the loop makes and nobody tests. `None`: not known.
    pub uses: Option<ValueUses>,
}

/// Lowers machine code block by block, on first visit, into the last function of one module.
///
/// The code is one function, so that calls it makes inside itself are its own business.
pub trait CodeSource {
    /// The number, in that function, of the block at a code address; lowers it (and what it likes beside it) if there is none.
    /// Existing records stay as they are; an address keeps its block.
    fn block_at(&mut self, address: u64, module: &mut Module, read: ReadBytes<'_>) -> Result<u32, NoCode>;
    /// Where code may be: addresses and sizes in bytes, apart. None: not known.
    fn executable(&self) -> Vec<(u64, u64)> {
        Vec::new()
    }
    /// The object that code numbers so ([`Op::Anchor`](crate::Op::Anchor)).
    fn object(&self, _number: u32) -> Option<&CodeObject> {
        None
    }
    /// The variable of static storage that an address lies in, if it has a name.
    fn data(&self, _address: u64) -> Option<Data> {
        None
    }
    /// Whether the program has a function of this name, its own or a library's; `None`: not known.
    fn has_function(&self, _name: &str) -> Option<bool> {
        None
    }
    /// The variables of the program whose addresses nothing in it has, by address, apart. Not all have to be given.
    fn unaddressed(&self) -> Vec<Unaddressed> {
        Vec::new()
    }
    /// The variables in the frame of the function around a code address. `None`: not known.
    fn frame_variables(&self, _address: u64) -> Option<FrameVariables> {
        None
    }
    /// Whether the function has returned whose variable `number` began at an address of the stack. Unknown: no.
    fn has_returned(&self, _number: u32, _base: u64, _read: ReadBytes<'_>) -> bool {
        false
    }
    /// The address that an instruction of the module was lowered from.
    fn address_of(&self, _instruction: u32) -> Option<u64> {
        None
    }
    /// Whether anything after the call that an instruction of the module was lowered from looks at the call's result. Unknown: yes.
    fn looks_at_result(&self, _instruction: u32) -> bool {
        true
    }
    /// Whether an address lies right behind a function: a call that would come back there does not come back. Unknown: no.
    fn is_behind_function(&self, _address: u64) -> bool {
        false
    }
    /// What is done with the result of the call that an instruction of the module was lowered from. `None`: not known.
    fn uses_of_result(&self, _instruction: u32) -> Option<ValueUses> {
        None
    }
    /// The loop that a side of a branch goes past. `None`: there is none, or it is not known.
    fn loop_past(&self, _taken: Taken) -> Option<Rc<LoopPast>> {
        None
    }
    /// The calls in progress inside the function: the numbers of the blocks that end with them, innermost first, at most `most`. `limb`
    /// gives what a limb of the parameters holds now, if it is concrete.
    fn calls_in_progress(&self, _limb: &dyn Fn(usize) -> Option<u64>, _read: ReadBytes<'_>, _most: usize) -> Vec<u32> {
        Vec::new()
    }
    /// The name that an address stands for which is neither code nor data of the program.
    fn elsewhere(&self, _address: u64) -> Option<&str> {
        None
    }
    /// The program maps bytes as code, which nobody can write. False: other code was there before, or the source has no room for more.
    fn map_code(&mut self, _address: u64, _bytes: Vec<u8>, _name: &str) -> bool {
        false
    }
    /// The address of a function that stands for any one. It is defined nowhere. `None`: there is none.
    fn any_function(&self) -> Option<u64> {
        None
    }
    /// How functions of the code are called from outside. `None`: they are not.
    fn calling(&self) -> Option<&Calling> {
        None
    }
    /// The same, whatever they are calls of: outermost first.
    fn active_calls(&self, _limb: &dyn Fn(usize) -> Option<u64>, _read: ReadBytes<'_>) -> Vec<ActiveCall> {
        Vec::new()
    }
    /// How control leaves a block.
    fn transfer(&self, _block: u32) -> Transfer {
        Transfer::Inside
    }
    /// The blocks that end with calls.
    fn call_blocks(&self) -> Vec<u32> {
        Vec::new()
    }
    /// Whether the call that ends a block is one by which a C library begins `main`, or what comes before it.
    fn begins(&self, _block: u32) -> bool {
        false
    }
    /// The block of a code address, if it is lowered.
    fn block_of(&self, _address: u64) -> Option<u32> {
        None
    }
    /// Addresses that fixed branches lead to and calls come back to, which are not lowered yet; each is given once.
    fn take_beyond(&mut self) -> Vec<u64> {
        Vec::new()
    }
    /// The names of the function that begins with a block, and whether each is one of the C library.
    fn names_of(&self, _block: u32) -> Vec<(String, bool)> {
        Vec::new()
    }
    /// The block that the function around a block begins with, by the function's symbol. `None`: there is none, or it is a part of another one.
    fn entry_around(&self, _block: u32) -> Option<u32> {
        None
    }
    /// Whether the end of the program calls functions of its own, without being told so while it runs.
    fn has_destructors(&self) -> bool {
        false
    }
    /// The calling convention; `None`: not known.
    fn convention(&self) -> Option<Convention> {
        None
    }
    /// Where the stack's shadow is, which the program itself cannot reach: its lowest address and its size in bytes.
    fn shadow(&self) -> Option<(u64, u64)> {
        None
    }
    /// Where the program's stack is, which grows downwards: its lowest address and its size in bytes. `None`: not known.
    fn stack(&self) -> Option<(u64, u64)> {
        None
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
