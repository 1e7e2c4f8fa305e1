//! How blocks of machine code hang together: transfers, functions, calls and their convention, and what is done with values on the way.

use std::rc::Rc;

use super::ReadBytes;

/// Where control goes in code that was lowered, and who calls whom. Blocks are numbered as in the function that holds all machine code.
pub trait ControlFlow {
    /// The block of a code address, if it is lowered.
    fn block_of(&self, _address: u64) -> Option<u32> {
        None
    }
    /// How control leaves a block.
    fn transfer(&self, _block: u32) -> Transfer {
        Transfer::Inside
    }
    /// The blocks that end with calls, ascending.
    fn call_blocks(&self) -> Vec<u32> {
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
    /// Whether an address lies right behind a function: a call that would come back there does not come back. Unknown: no.
    fn is_behind_function(&self, _address: u64) -> bool {
        false
    }
    /// The calling convention; `None`: not known.
    fn convention(&self) -> Option<&Convention> {
        None
    }
    /// The calls in progress inside the code, innermost first, at most `most`. `limb` gives what a limb of the parameters holds now, if it is
    /// concrete.
    fn calls_in_progress(&self, _limb: &dyn Fn(usize) -> Option<u64>, _read: ReadBytes<'_>, _most: usize) -> Vec<ActiveCall> {
        Vec::new()
    }
    /// What is done with the result of the call that an instruction of the module was lowered from. `None`: not known.
    fn uses_of_result(&self, _instruction: u32) -> Option<ValueUses> {
        None
    }
    /// The loop that a side of a branch goes past. `None`: there is none, or it is not known.
    fn loop_past(&self, _taken: Taken) -> Option<Rc<LoopPast>> {
        None
    }
}

/// How control leaves a block of machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// By its edges, or by a computed jump.
    Inside,
    /// To this address, which may have a block of its own by now.
    To(u64),
    /// By a call, which comes back to this address. `begins`: a C library begins `main` by it, or what comes before `main`.
    Call { back: u64, begins: bool },
    /// The block is part of a return, or ends by beginning it.
    Return,
}

/// Where the registers of the calling convention are: numbers of the function's parameters' limbs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Convention {
    /// Those of arguments, 64 bits each; the others are on the stack, after the return address.
    pub arguments: Vec<usize>,
    pub result: usize,
    /// Those of other results: the second word of a structure, and floating-point numbers.
    pub second: usize,
    pub float_results: Vec<usize>,
    /// Those of arguments that are floating-point numbers, in their order, and the one that says how many of them a variadic call uses.
    pub floats: Vec<Vec<usize>>,
    pub count_of_floats: usize,
    /// It points to the return address when a function begins, 8 bytes after a multiple of 16.
    pub stack_pointer: usize,
    /// Those that functions leave as they were, the stack pointer among them.
    pub saved: Vec<usize>,
    /// Those that functions leave as they like: of words, and of vectors.
    pub scratch: [Vec<usize>; 2],
    /// Where the thread's own memory is, in which the C library keeps `errno`.
    pub thread: usize,
    /// How functions are called from outside of the code. `None`: they are not.
    pub calling: Option<Calling>,
}

/// How functions of the code are called from outside of it: in a frame of its own, on the stack below what is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calling {
    /// What the parameters' limbs hold where none of the code runs yet.
    pub initial: Vec<u64>,
    /// The limb that holds the address to go to.
    pub instruction_pointer: usize,
    /// The return address: the code there returns the result.
    pub back: u64,
    /// What to add to the address of a return address for the word that repeats it.
    pub shadow: u64,
}

/// A call in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveCall {
    /// Where on the stack its return address is.
    pub base: u64,
    /// The block that ends with it, if that is known.
    pub block: Option<u32>,
    /// It comes from outside of the code, or from what runs before `main`: neither it nor the calls around it belong to the program's stack.
    pub is_outer: bool,
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
