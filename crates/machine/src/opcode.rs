//! The operations of p-code, by SLEIGH's numbers.

/// An operation of p-code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpCode {
    Copy,
    /// From a space and an address.
    Load,
    /// To a space and an address.
    Store,
    /// To an address of code, or to an operation of the same instruction.
    Branch,
    BranchConditional,
    BranchIndirect,
    Call,
    CallIndirect,
    Return,
    /// High and low bytes, joined.
    Piece,
    /// Without so many low bytes.
    Subpiece,
    Popcount,
    /// Zeros above the highest bit.
    LzCount,
    Bool(BoolOp),
    Int(IntOp),
    Float(FloatOp),
    Pseudo(PseudoOp),
}

/// On truth values, or on bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BoolOp {
    Negate,
    And,
    Or,
    Xor,
}

/// Are numbers signed?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IntSign {
    Signed,
    Unsigned,
}

/// On integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IntOp {
    Add,
    Negate,
    Subtract,
    Multiply,
    Divide(IntSign),
    Remainder(IntSign),
    Equal,
    NotEqual,
    LessThan(IntSign),
    LessThanOrEqual(IntSign),
    Extension(IntSign),
    /// Does the sum overflow?
    Carry(IntSign),
    /// Does the difference overflow, as a signed number?
    Borrow,
    ShiftLeft,
    ShiftRight(IntSign),
    Bitwise(BoolOp),
}

/// On floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FloatOp {
    Equal,
    NotEqual,
    LessThan,
    LessThanOrEqual,
    IsNaN,
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
    AbsoluteValue,
    SquareRoot,
    IntToFloat,
    FloatToFloat,
    Truncate,
    Ceiling,
    Floor,
    Round,
}

/// What p-code gives no meaning to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PseudoOp {
    /// An operation that the specification names.
    CallOther,
    ConstantPoolRef,
    New,
}

impl OpCode {
    /// The operation with this number in compiled specifications.
    pub fn numbered(number: u32) -> Option<OpCode> {
        use IntSign::{Signed, Unsigned};
        use OpCode::{Bool, Float, Int, Pseudo};
        Some(match number {
            1 => OpCode::Copy,
            2 => OpCode::Load,
            3 => OpCode::Store,
            4 => OpCode::Branch,
            5 => OpCode::BranchConditional,
            6 => OpCode::BranchIndirect,
            7 => OpCode::Call,
            8 => OpCode::CallIndirect,
            9 => Pseudo(PseudoOp::CallOther),
            10 => OpCode::Return,
            11 => Int(IntOp::Equal),
            12 => Int(IntOp::NotEqual),
            13 => Int(IntOp::LessThan(Signed)),
            14 => Int(IntOp::LessThanOrEqual(Signed)),
            15 => Int(IntOp::LessThan(Unsigned)),
            16 => Int(IntOp::LessThanOrEqual(Unsigned)),
            17 => Int(IntOp::Extension(Unsigned)),
            18 => Int(IntOp::Extension(Signed)),
            19 => Int(IntOp::Add),
            20 => Int(IntOp::Subtract),
            21 => Int(IntOp::Carry(Unsigned)),
            22 => Int(IntOp::Carry(Signed)),
            23 => Int(IntOp::Borrow),
            24 => Int(IntOp::Negate),
            25 => Int(IntOp::Bitwise(BoolOp::Negate)),
            26 => Int(IntOp::Bitwise(BoolOp::Xor)),
            27 => Int(IntOp::Bitwise(BoolOp::And)),
            28 => Int(IntOp::Bitwise(BoolOp::Or)),
            29 => Int(IntOp::ShiftLeft),
            30 => Int(IntOp::ShiftRight(Unsigned)),
            31 => Int(IntOp::ShiftRight(Signed)),
            32 => Int(IntOp::Multiply),
            33 => Int(IntOp::Divide(Unsigned)),
            34 => Int(IntOp::Divide(Signed)),
            35 => Int(IntOp::Remainder(Unsigned)),
            36 => Int(IntOp::Remainder(Signed)),
            37 => Bool(BoolOp::Negate),
            38 => Bool(BoolOp::Xor),
            39 => Bool(BoolOp::And),
            40 => Bool(BoolOp::Or),
            41 => Float(FloatOp::Equal),
            42 => Float(FloatOp::NotEqual),
            43 => Float(FloatOp::LessThan),
            44 => Float(FloatOp::LessThanOrEqual),
            46 => Float(FloatOp::IsNaN),
            47 => Float(FloatOp::Add),
            48 => Float(FloatOp::Divide),
            49 => Float(FloatOp::Multiply),
            50 => Float(FloatOp::Subtract),
            51 => Float(FloatOp::Negate),
            52 => Float(FloatOp::AbsoluteValue),
            53 => Float(FloatOp::SquareRoot),
            54 => Float(FloatOp::IntToFloat),
            55 => Float(FloatOp::FloatToFloat),
            56 => Float(FloatOp::Truncate),
            57 => Float(FloatOp::Ceiling),
            58 => Float(FloatOp::Floor),
            59 => Float(FloatOp::Round),
            62 => OpCode::Piece,
            63 => OpCode::Subpiece,
            68 => Pseudo(PseudoOp::ConstantPoolRef),
            69 => Pseudo(PseudoOp::New),
            72 => OpCode::Popcount,
            73 => OpCode::LzCount,
            _ => return None,
        })
    }
}
