//! Instructions: fixed-size records over numbered slots, and the one table that says what each operator is.
//!
//! A **slot** holds 64 bits. A value of width `w <= 64` is one slot, zero-extended (bits above `w` are 0). A wider value is
//! `ceil(w / 64)` consecutive slots, lowest limb first, the top limb zero-extended: vectors, i128, x87 and XMM values included.
//! Operands are slots unless the table says otherwise. Widths are in bits, sizes in bytes.

use bytemuck::{Pod, Zeroable};

/// "No slot", "no edge", "no list": the operand is absent.
pub const NONE: u32 = u32::MAX;

/// What an atomic access says in place of an alignment, in `b` of [`Op::Load`] and `c` of [`Op::Store`].
pub const ATOMIC: u32 = 1 << 31;

/// What an access of machine code says there whose instruction reads, changes and writes memory, and locks nothing. Whether any other access of
/// machine code is meant to be atomic cannot be told.
pub const PLAIN: u32 = 1 << 30;

/// One instruction. `dst`, `a`, `b`, `c` mean what [`Op`]'s table says; `width` is the width in bits of the result
/// (comparisons and stores: of the operands; see the table). Where the result is an address it is 64, where there is nothing
/// to measure 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Inst {
    /// An [`Op`], as its number: a file can hold any number here until the verifier has seen it.
    pub op: u16,
    pub width: u16,
    pub dst: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

/// How an operand field is read: drives the verifier, the text form and the interpreters' decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Not used; must be [`NONE`].
    No,
    /// Slot(s) of the instruction's width.
    Val,
    /// One slot of 64 bits (an address, a byte offset, a byte count).
    Word,
    /// One slot of 1 bit.
    Bit,
    /// A raw number, not a slot (a source width, a scale, half of an immediate, a rounding mode).
    Imm,
    /// Slot(s) whose width is the number in `c` (casts).
    SrcVal,
    /// Index into the function's edges.
    Edge,
    /// Index into the function's switches.
    Switch,
    /// Index into the module's symbols.
    Symbol,
    /// Index into the module's strings.
    Str,
    /// Index into the module's call records.
    Call,
    /// Index into the function's allocas.
    Alloca,
    /// Start of a run in the module's slot lists; the field after it is its length (Ret: `a` start, `b` length).
    List,
}

/// Where control goes after the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next instruction of the block.
    Next,
    /// It ends its block.
    Ends,
}

macro_rules! ops {
    ($( $(#[$doc:meta])* $name:ident $text:literal $flow:ident ($dst:ident, $a:ident, $b:ident, $c:ident); )*) => {
        /// The operators. Integer operators have SMT-LIB's meaning at the instruction's width, except where stated.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Op { $( $(#[$doc])* $name, )* }

        impl Op {
            /// All operators, in numerical order.
            pub const ALL: &'static [Op] = &[$(Op::$name),*];
            /// The operator's name in the text form.
            pub fn name(self) -> &'static str { match self { $(Op::$name => $text),* } }
            /// What `dst`, `a`, `b`, `c` are.
            pub fn operands(self) -> [Operand; 4] {
                match self { $(Op::$name => [Operand::$dst, Operand::$a, Operand::$b, Operand::$c]),* }
            }
            pub fn flow(self) -> Flow { match self { $(Op::$name => Flow::$flow),* } }
        }
    };
}

// One more operator: a row here; the compiler then lists the interpreters and lowerings to extend, and
// `tests/operators.rs` asks for its comparison with native.
ops! {
    /// dst = a.
    Copy "copy" Next (Val, Val, No, No);
    /// dst = immediate: `a` low 32 bits, `b` high 32 bits (zero-extended to the width). For code lowered while it runs.
    Imm "imm" Next (Val, Imm, Imm, No);
    Add "add" Next (Val, Val, Val, No);
    Sub "sub" Next (Val, Val, Val, No);
    Mul "mul" Next (Val, Val, Val, No);
    /// Division by zero is a fault of the program, decided by the engine (all four).
    Udiv "udiv" Next (Val, Val, Val, No);
    /// The overflow MIN / -1 is a fault too (it traps on the CPU). Rounds towards zero.
    Sdiv "sdiv" Next (Val, Val, Val, No);
    Urem "urem" Next (Val, Val, Val, No);
    /// Sign of the dividend. MIN % -1 faults as [`Op::Sdiv`] does.
    Srem "srem" Next (Val, Val, Val, No);
    And "and" Next (Val, Val, Val, No);
    Or "or" Next (Val, Val, Val, No);
    Xor "xor" Next (Val, Val, Val, No);
    /// `b >= width` gives 0 (Shl, Lshr) or the sign (Ashr). `c` = 1: the source language calls that undefined, so the
    /// engine reports it as a fault; `c` = 0: it is defined (machine code).
    Shl "shl" Next (Val, Val, Val, Imm);
    Lshr "lshr" Next (Val, Val, Val, Imm);
    Ashr "ashr" Next (Val, Val, Val, Imm);
    /// Funnel shifts: the high (low) half of (a:b) shifted left (right) by c mod width.
    Fshl "fshl" Next (Val, Val, Val, Val);
    Fshr "fshr" Next (Val, Val, Val, Val);
    /// Comparisons: `width` is the operands'; the result is 1 bit.
    Eq "eq" Next (Bit, Val, Val, No);
    Ne "ne" Next (Bit, Val, Val, No);
    Ult "ult" Next (Bit, Val, Val, No);
    Ule "ule" Next (Bit, Val, Val, No);
    Slt "slt" Next (Bit, Val, Val, No);
    Sle "sle" Next (Bit, Val, Val, No);
    /// Does the operation overflow? `width` is the operands'; the result is 1 bit.
    UaddOverflow "uadd.overflow" Next (Bit, Val, Val, No);
    SaddOverflow "sadd.overflow" Next (Bit, Val, Val, No);
    UsubOverflow "usub.overflow" Next (Bit, Val, Val, No);
    SsubOverflow "ssub.overflow" Next (Bit, Val, Val, No);
    UmulOverflow "umul.overflow" Next (Bit, Val, Val, No);
    SmulOverflow "smul.overflow" Next (Bit, Val, Val, No);
    /// Width casts: `width` is the result's, `c` the source's.
    Zext "zext" Next (Val, SrcVal, No, Imm);
    Sext "sext" Next (Val, SrcVal, No, Imm);
    Trunc "trunc" Next (Val, SrcVal, No, Imm);
    /// dst = bits [b, b + width) of `a`, a value of `c` bits; `b` is a raw number.
    Extract "extract" Next (Val, SrcVal, Imm, Imm);
    /// dst = `a` (a value of width - c bits, the high part) concatenated with `b` (a value of `c` bits, the low part).
    /// Text and verifier derive both source widths from `width` and `c`.
    Concat "concat" Next (Val, SrcVal, SrcVal, Imm);
    /// dst = if a (1 bit) then b else c.
    Select "select" Next (Val, Bit, Val, Val);
    /// Byte order reversed; width is a multiple of 8.
    Bswap "bswap" Next (Val, Val, No, No);
    Bitreverse "bitreverse" Next (Val, Val, No, No);
    /// Bits set; leading and trailing zeros (of 0: the width).
    Ctpop "ctpop" Next (Val, Val, No, No);
    Ctlz "ctlz" Next (Val, Val, No, No);
    Cttz "cttz" Next (Val, Val, No, No);

    /// Address arithmetic, kept apart from addition so that bounds follow the base: dst = a + b * c; `a` is the base,
    /// `b` a signed 64-bit count, `c` a raw scale in bytes (at least 1). Width is 64.
    PtrAdd "ptradd" Next (Word, Word, Word, Imm);
    /// dst = the `width` bits at address a, little-endian, in ceil(width / 8) bytes. `b`: alignment in bytes the CPU would
    /// enforce, or 0 for none; or a [`Part`] of a larger load; or [`ATOMIC`] or [`PLAIN`].
    Load "load" Next (Val, Word, Imm, No);
    /// Writes `b` (`width` bits) to address a in ceil(width / 8) bytes. `c`: alignment, or [`ATOMIC`] or [`PLAIN`].
    Store "store" Next (No, Word, Val, Imm);
    /// dst = address of this call's instance of static alloca `a` (see the function's allocas).
    Alloca "alloca" Next (Word, Alloca, No, No);
    /// dst = address of `a` new bytes on the stack, aligned to `b` (a raw number), gone at return or StackRestore.
    AllocaDyn "alloca.dyn" Next (Word, Word, Imm, No);
    /// dst = a mark of the dynamic stack; StackRestore frees what was allocated since the mark `a`.
    StackSave "stack.save" Next (Word, No, No, No);
    StackRestore "stack.restore" Next (No, Word, No, No);
    /// The `b` bytes at `a` become uninitialised (a variable's life begins or ends; b is a slot).
    MemUndef "mem.undef" Next (No, Word, Word, No);
    /// Copies `c` bytes from `b` to `a` (MemCopy: overlap is a fault only if partial; MemMove: any overlap).
    MemCopy "mem.copy" Next (No, Word, Word, Word);
    MemMove "mem.move" Next (No, Word, Word, Word);
    /// Fills `c` bytes at `a` with the low 8 bits of `b`.
    MemSet "mem.set" Next (No, Word, Word, Word);

    /// Calls symbol `a`; `b` is a call record: arguments, result width, call-site facts. The result goes to `dst`
    /// (consecutive slots; NONE when void or unused).
    Call "call" Next (Val, Symbol, Call, No);
    /// Calls the function whose address is in slot `a`.
    CallIndirect "call.indirect" Next (Val, Word, Call, No);

    /// IEEE arithmetic at width 16, 32, 64, 80 (x87: 80 significant bits in two limbs) or 128, round to nearest even.
    Fadd "fadd" Next (Val, Val, Val, No);
    Fsub "fsub" Next (Val, Val, Val, No);
    Fmul "fmul" Next (Val, Val, Val, No);
    Fdiv "fdiv" Next (Val, Val, Val, No);
    /// C's fmod.
    Frem "frem" Next (Val, Val, Val, No);
    Fneg "fneg" Next (Val, Val, No, No);
    Fabs "fabs" Next (Val, Val, No, No);
    Fsqrt "fsqrt" Next (Val, Val, No, No);
    /// dst = a * b + c, rounded once.
    Fma "fma" Next (Val, Val, Val, Val);
    /// IEEE 754-2008 minNum and maxNum (a number wins over a quiet NaN).
    Fmin "fmin" Next (Val, Val, Val, No);
    Fmax "fmax" Next (Val, Val, Val, No);
    /// Rounds to an integral value; `b` is a [`Round`].
    Fround "fround" Next (Val, Val, Imm, No);
    /// What only the x87 computes, of 80 bits; `a` is the top of its stack, `b` the number below, `c` an [`X87`].
    X87 "x87" Next (Val, Val, Val, Imm);
    /// Comparison; `c` is an [`FcmpPred`]; `width` is the operands'; the result is 1 bit.
    Fcmp "fcmp" Next (Bit, Val, Val, Imm);
    /// Float to float; `width` is the result's, `c` the source's.
    Fcast "fcast" Next (Val, SrcVal, No, Imm);
    /// Float of `c` bits to a signed (unsigned) integer of `width` bits, towards zero. Out of range: as x86-64 does.
    FtoS "ftos" Next (Val, SrcVal, No, Imm);
    FtoU "ftou" Next (Val, SrcVal, No, Imm);
    /// Signed (unsigned) integer of `c` bits to a float of `width` bits.
    StoF "stof" Next (Val, SrcVal, No, Imm);
    UtoF "utof" Next (Val, SrcVal, No, Imm);

    /// Goes along edge `a`.
    Br "br" Ends (No, Edge, No, No);
    /// a (1 bit) ? edge b : edge c.
    CondBr "condbr" Ends (No, Bit, Edge, Edge);
    /// Looks value `a` (`width` bits, at most 64) up in switch `b`.
    Switch "switch" Ends (No, Val, Switch, No);
    /// Returns the `b` slots listed from `a` in the slot lists; `width` is the result's width, 0 for none.
    Ret "ret" Ends (No, List, Imm, No);
    /// Goes to the code address in slot `a`: machine code's computed jumps, calls and returns. The engine asks its code
    /// source for the block there.
    Jump "jump" Ends (No, Word, No, No);
    /// Control never gets here; if it does, the program has a fault (missing return, false assumption).
    Unreachable "unreachable" Ends (No, No, No, No);
    /// The front end cannot express what stands here; `a` says why. Ends the paths that reach it, and only those.
    Unsupported "unsupported" Ends (No, Str, No, No);
    /// The program stops itself here by a trap instruction (`ud2`, `llvm.trap`); `a` says which.
    Trap "trap" Ends (No, Str, No, No);
    /// dst = a, an address that came from the object which begins at address `b`; `c` is its number with the code source
    /// ([`Objects::object`](crate::Objects::object)). What an engine checks bounds by, where machine code computes addresses.
    Anchor "anchor" Next (Word, Word, Word, Imm);
    /// Stands behind a call that may be unwound: dst = 0 when the call returns, 1 when an exception lands here. Symbol `a` is the table
    /// of what the landing pad catches ([`pad`](crate::pad)).
    Unwound "unwound" Next (Bit, Symbol, No, No);
}

impl Op {
    /// The operator with this number, if there is one.
    pub fn from_u16(n: u16) -> Option<Op> {
        Op::ALL.get(usize::from(n)).copied()
    }
}

/// Of machine code's vectors each limb is loaded by itself. This says so, in `b` of [`Op::Load`]: the processor reads all bytes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes of the whole, a power of two.
    pub of: u32,
    /// Bytes of the whole before this part.
    pub at: u32,
}

impl Part {
    const OF: u32 = 16;
    const AT: u32 = 24;

    /// As `b` of a load.
    pub fn pack(self) -> u32 {
        self.of << Part::OF | self.at << Part::AT
    }
    /// What `b` of a load says, if it is this.
    pub fn unpack(b: u32) -> Option<Part> {
        let (of, at) = (b >> Part::OF & 0xff, b >> Part::AT);
        (b & 0xffff == 0 && of.is_power_of_two() && at < of).then_some(Part { of, at })
    }
}

/// Rounding of [`Op::Fround`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Round {
    Floor,
    Ceil,
    Trunc,
    /// Half to even: rint, nearbyint, roundeven.
    Even,
    /// Half away from zero: C's round.
    Away,
}

impl Round {
    pub const ALL: [Round; 5] = [Round::Floor, Round::Ceil, Round::Trunc, Round::Even, Round::Away];

    /// The rounding with this number, if there is one.
    pub fn from_u32(n: u32) -> Option<Round> {
        Round::ALL.get(n as usize).copied()
    }
}

/// Functions of [`Op::X87`] (Intel SDM 2). IEEE 754 does not define them, and processors disagree about the last bits: here they are the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum X87 {
    /// Of the top alone, an angle in radians. From 2^63 on it is unchanged.
    Sine,
    Cosine,
    Tangent,
    /// The angle of the point whose ordinate is the number below the top, and whose abscissa is the top.
    Angle,
    /// The number below times the binary logarithm of the top.
    Logarithm,
    /// The number below times the binary logarithm of the top and one.
    LogarithmOfOneMore,
    /// Of the top alone: the power of two, less one.
    PowerLessOne,
}

impl X87 {
    pub const ALL: [X87; 7] =
        [X87::Sine, X87::Cosine, X87::Tangent, X87::Angle, X87::Logarithm, X87::LogarithmOfOneMore, X87::PowerLessOne];

    /// The function with this number, if there is one.
    pub fn from_u32(n: u32) -> Option<X87> {
        X87::ALL.get(n as usize).copied()
    }
}

/// Predicates of [`Op::Fcmp`]: a bit set of the four possible outcomes of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FcmpPred(pub u32);

impl FcmpPred {
    pub const EQ: u32 = 1;
    pub const GT: u32 = 2;
    pub const LT: u32 = 4;
    pub const UNORDERED: u32 = 8;

    /// The bit of an ordered outcome.
    #[inline(always)]
    pub fn of(order: std::cmp::Ordering) -> u32 {
        match order {
            std::cmp::Ordering::Less => FcmpPred::LT,
            std::cmp::Ordering::Equal => FcmpPred::EQ,
            std::cmp::Ordering::Greater => FcmpPred::GT,
        }
    }
}

impl Inst {
    pub fn new(op: Op, width: u16, dst: u32, a: u32, b: u32, c: u32) -> Inst {
        Inst { op: op as u16, width, dst, a, b, c }
    }
    /// The operator; `None` only in a file the verifier has not accepted.
    pub fn operator(&self) -> Option<Op> {
        Op::from_u16(self.op)
    }
}

/// Slots a value of `width` bits takes (0 for width 0).
pub fn limbs(width: u32) -> u32 {
    width.div_ceil(64)
}
