//! What lies in the memory of a program that is machine code, by its files: variables, the stack, and what was linked in.

use super::ReadBytes;

/// What is known of a program's memory. Addresses are the program's.
pub trait Objects {
    /// The object that code numbers so ([`Op::Anchor`](crate::Op::Anchor)).
    fn object(&self, _number: u32) -> Option<&CodeObject> {
        None
    }
    /// Whether the function has returned whose variable `number` began at an address of the stack. Unknown: no.
    fn has_returned(&self, _number: u32, _base: u64, _read: ReadBytes<'_>) -> bool {
        false
    }
    /// The variables in the frame of the function around a code address. `None`: not known.
    fn frame_variables(&self, _address: u64) -> Option<FrameVariables> {
        None
    }
    /// The variable of static storage that an address lies in, if it has a name.
    fn data(&self, _address: u64) -> Option<Data> {
        None
    }
    /// Where `errno` is of the thread with this thread pointer, if the C library's function for it is known. Reads the path's memory.
    fn errno(&self, _thread: u64, _read: ReadBytes<'_>) -> Option<u64> {
        None
    }
    /// Where the visible variable of this name is: the program's own before those of libraries.
    fn address_of_data(&self, _name: &str) -> Option<u64> {
        None
    }
    /// The address and the bytes of the static storage that pointers derived from an address of it stay in: a variable with a name, or an array
    /// of variables that the linker makes.
    fn bounds(&self, _address: u64) -> Option<(u64, u64)> {
        None
    }
    /// The variables of the program whose addresses nothing in it has, by address, apart. Not all have to be given.
    fn unaddressed(&self) -> Vec<Unaddressed> {
        Vec::new()
    }
    /// What each thread's variables begin with, of the program's own file.
    fn thread_image(&self) -> ThreadImage {
        ThreadImage::default()
    }
    /// Where the program's stack is. `None`: not known.
    fn stack(&self) -> Option<Stack> {
        None
    }
    /// The name that an address stands for which is neither code nor data of the program.
    fn elsewhere(&self, _address: u64) -> Option<&str> {
        None
    }
    /// Whether the program has a function of this name, its own or a library's; `None`: not known.
    fn has_function(&self, _name: &str) -> Option<bool> {
        None
    }
    /// Whether the end of the program calls functions of its own, without being told so while it runs.
    fn has_destructors(&self) -> bool {
        false
    }
}

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
    /// It is a pointer.
    pub pointer: bool,
}

/// A stack, which grows downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Its lowest address.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// Where its shadow is, which the program itself cannot reach: the lowest address and the size in bytes.
    pub shadow: (u64, u64),
    /// The rooms for stacks of threads that it begins with: how many, and bytes of each. The last one is for the first thread that is made.
    pub rooms: (u64, u64),
}

/// The thread-local variables of a program, as each thread begins with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadImage {
    /// Where the bytes of those with a value lie, and how many there are; the others begin with 0.
    pub address: u64,
    pub bytes: u64,
    /// Of all, in bytes.
    pub size: u64,
    pub align: u64,
}

impl Stack {
    /// The room of the stack of this thread, which is not the first: its lowest address and its bytes.
    pub fn room(&self, thread: u64) -> Option<(u64, u64)> {
        let (count, size) = self.rooms;
        (1..=count).contains(&thread).then(|| (self.base + (count - thread) * size, size))
    }

    /// Whether an address lies in it, not in its shadow.
    pub fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.size
    }
}
