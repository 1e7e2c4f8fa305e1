//! Nodes: the operators in one table, the ids, and the by-value view of a node.
//!
//! A node is 16 bytes: operator and width in one word, and three operand words whose meaning [`Kind`] spells out.
//! Widths are in bits. Meanings are SMT-LIB's (theory FixedSizeBitVectors, logic QF_BV), division by zero included.

use std::num::NonZeroU32;

use crate::float::FloatOp;

/// A number of bits, 1 to [`MAX_WIDTH`].
pub type Width = u32;

/// The widest value, in bits.
pub const MAX_WIDTH: Width = 65_536;

/// A node of a [`Pool`](crate::Pool). Valid until that pool is compacted. `Option<ExprId>` has the same size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(NonZeroU32);

impl ExprId {
    /// The 1-bit 0, in every pool.
    pub const FALSE: ExprId = ExprId::from_raw(0);
    /// The 1-bit 1, in every pool.
    pub const TRUE: ExprId = ExprId::from_raw(1);

    /// The id whose [`raw`](Self::raw) is `raw` (below `u32::MAX`).
    #[inline]
    pub const fn from_raw(raw: u32) -> ExprId {
        ExprId(NonZeroU32::MIN.saturating_add(raw))
    }
    /// The id as a number, to be kept in a word.
    #[inline]
    pub const fn raw(self) -> u32 {
        self.0.get() - 1
    }
    /// The id as an index into tables with one entry per node.
    #[inline]
    pub const fn index(self) -> usize {
        self.raw() as usize
    }
}

impl std::fmt::Debug for ExprId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "e{}", self.raw())
    }
}

/// A symbol: an unknown input of at most 64 bits. Dense from 0; kept by compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymId(pub u32);

impl SymId {
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A list of 8-bit expressions, read by [`Op::Read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub u32);

impl ArrayId {
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What operands an operator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// None.
    Leaf,
    /// One, of the result's width.
    Unary,
    /// Two, of the result's width.
    Binary,
    /// Two of one width; the result has 1 bit.
    Compare,
    /// As the operator's own text says.
    Special,
}

macro_rules! operators {
    ($( $(#[$doc:meta])* $name:ident $smt:literal $short:literal $shape:ident $commutes:literal; )*) => {
        /// The operators.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Op { $( $(#[$doc])* $name, )* }

        impl Op {
            /// All operators, in numerical order.
            pub const ALL: &'static [Op] = &[$(Op::$name),*];
            /// SMT-LIB's name of the operator.
            pub const fn smt(self) -> &'static str { match self { $(Op::$name => $smt),* } }
            /// The short sign people read.
            pub const fn short(self) -> &'static str { match self { $(Op::$name => $short),* } }
            pub const fn shape(self) -> Shape { match self { $(Op::$name => Shape::$shape),* } }
            /// Does swapping the operands leave the value unchanged?
            pub const fn commutes(self) -> bool { match self { $(Op::$name => $commutes),* } }
        }
    };
}

// One more operator: a row here; the compiler then lists the matches to extend (`Kind`, facts, evaluator, sweep, printers),
// and the tests over `Op::ALL` ask for its law-free meaning.
operators! {
    /// A constant.
    Const "const" "" Leaf false;
    /// A symbol.
    Sym "sym" "" Leaf false;
    Not "bvnot" "~" Unary false;
    Neg "bvneg" "-" Unary false;
    And "bvand" "&" Binary true;
    Or "bvor" "|" Binary true;
    Xor "bvxor" "^" Binary true;
    Add "bvadd" "+" Binary true;
    Sub "bvsub" "-" Binary false;
    Mul "bvmul" "*" Binary true;
    /// By zero: all ones.
    Udiv "bvudiv" "/u" Binary false;
    /// By zero: the dividend.
    Urem "bvurem" "%u" Binary false;
    /// Rounds towards zero. By zero: -1 of a non-negative dividend, else 1. MIN / -1 is MIN.
    Sdiv "bvsdiv" "/s" Binary false;
    /// Sign of the dividend. By zero: the dividend. MIN % -1 is 0.
    Srem "bvsrem" "%s" Binary false;
    /// By the width or more: 0.
    Shl "bvshl" "<<" Binary false;
    /// By the width or more: 0.
    Lshr "bvlshr" ">>u" Binary false;
    /// By the width or more: the sign everywhere.
    Ashr "bvashr" ">>s" Binary false;
    Eq "=" "==" Compare true;
    Ult "bvult" "<u" Compare false;
    Ule "bvule" "<=u" Compare false;
    Slt "bvslt" "<s" Compare false;
    Sle "bvsle" "<=s" Compare false;
    /// `a` (1 bit) chooses `b` (1) or `c` (0).
    Ite "ite" "?" Special false;
    /// `a` is the high part, `b` the low one.
    Concat "concat" "++" Special false;
    /// The bits from `b` (a number) up.
    Extract "extract" "" Special false;
    Zext "zero_extend" "zext" Special false;
    Sext "sign_extend" "sext" Special false;
    /// The byte of an array at a 64-bit index; 0 out of range.
    Read "select" "" Special false;
    /// A constant 64-bit address plus a 64-bit offset. Never merged with other constants, so that the object a pointer came
    /// from stays known; with a constant offset it is anchored (see [`Pool::ptr`](crate::Pool::ptr)).
    PtrAdd "bvadd" "+p" Special false;
    /// An operation of floating point on bit patterns; see [`FloatOp`](crate::FloatOp).
    Float "fp" "f" Special false;
}

/// A node by value: its operator and operands. Widths come from [`Pool::width`](crate::Pool::width), values of constants
/// from [`Pool::as_u64`](crate::Pool::as_u64) or [`Pool::as_limbs`](crate::Pool::as_limbs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Const,
    Sym(SymId),
    Not(ExprId),
    Neg(ExprId),
    And(ExprId, ExprId),
    Or(ExprId, ExprId),
    Xor(ExprId, ExprId),
    Add(ExprId, ExprId),
    Sub(ExprId, ExprId),
    Mul(ExprId, ExprId),
    Udiv(ExprId, ExprId),
    Urem(ExprId, ExprId),
    Sdiv(ExprId, ExprId),
    Srem(ExprId, ExprId),
    Shl(ExprId, ExprId),
    Lshr(ExprId, ExprId),
    Ashr(ExprId, ExprId),
    Eq(ExprId, ExprId),
    Ult(ExprId, ExprId),
    Ule(ExprId, ExprId),
    Slt(ExprId, ExprId),
    Sle(ExprId, ExprId),
    /// Condition, value if it is 1, value if it is 0.
    Ite(ExprId, ExprId, ExprId),
    /// High part, low part.
    Concat(ExprId, ExprId),
    /// Operand, lowest bit taken.
    Extract(ExprId, Width),
    Zext(ExprId),
    Sext(ExprId),
    /// Array, index.
    Read(ArrayId, ExprId),
    /// Base address, offset.
    PtrAdd(u64, ExprId),
    /// Operation and its operands, the same one twice if it takes one.
    Float(FloatOp, ExprId, ExprId),
}

/// The pattern of operators whose two operands and result have one width.
macro_rules! arithmetic {
    ($a:ident, $b:ident) => {
        Kind::And($a, $b)
            | Kind::Or($a, $b)
            | Kind::Xor($a, $b)
            | Kind::Add($a, $b)
            | Kind::Sub($a, $b)
            | Kind::Mul($a, $b)
            | Kind::Udiv($a, $b)
            | Kind::Urem($a, $b)
            | Kind::Sdiv($a, $b)
            | Kind::Srem($a, $b)
            | Kind::Shl($a, $b)
            | Kind::Lshr($a, $b)
            | Kind::Ashr($a, $b)
    };
}

/// The pattern of operators whose two operands have one width and whose result is a bit.
macro_rules! comparison {
    ($a:ident, $b:ident) => {
        Kind::Eq($a, $b) | Kind::Ult($a, $b) | Kind::Ule($a, $b) | Kind::Slt($a, $b) | Kind::Sle($a, $b)
    };
}

pub(crate) use {arithmetic, comparison};

/// A node as stored, and the key of its hash-consing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    /// Operator in the top 8 bits, width in the low 24.
    head: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
}

impl Node {
    #[inline]
    pub(crate) fn new(op: Op, width: Width, a: u32, b: u32, c: u32) -> Node {
        Node { head: (op as u32) << 24 | width, a, b, c }
    }
    #[inline]
    pub(crate) fn width(self) -> Width {
        self.head & 0x00ff_ffff
    }
    #[inline]
    pub(crate) fn op(self) -> Op {
        Op::ALL[(self.head >> 24) as usize]
    }
    /// The 64-bit number whose halves are `lo` and `hi`.
    #[inline]
    pub(crate) fn join(lo: u32, hi: u32) -> u64 {
        u64::from(hi) << 32 | u64::from(lo)
    }
    /// A key's own hash (by ids: fast, and good only within one pool).
    #[inline]
    pub(crate) fn key_hash(self) -> u64 {
        let x = Node::join(self.head, self.a) ^ Node::join(self.c, self.b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^ x >> 32
    }

    #[inline]
    pub(crate) fn kind(self) -> Kind {
        let (a, b) = (ExprId::from_raw(self.a), ExprId::from_raw(self.b));
        match self.op() {
            Op::Const => Kind::Const,
            Op::Sym => Kind::Sym(SymId(self.a)),
            Op::Not => Kind::Not(a),
            Op::Neg => Kind::Neg(a),
            Op::And => Kind::And(a, b),
            Op::Or => Kind::Or(a, b),
            Op::Xor => Kind::Xor(a, b),
            Op::Add => Kind::Add(a, b),
            Op::Sub => Kind::Sub(a, b),
            Op::Mul => Kind::Mul(a, b),
            Op::Udiv => Kind::Udiv(a, b),
            Op::Urem => Kind::Urem(a, b),
            Op::Sdiv => Kind::Sdiv(a, b),
            Op::Srem => Kind::Srem(a, b),
            Op::Shl => Kind::Shl(a, b),
            Op::Lshr => Kind::Lshr(a, b),
            Op::Ashr => Kind::Ashr(a, b),
            Op::Eq => Kind::Eq(a, b),
            Op::Ult => Kind::Ult(a, b),
            Op::Ule => Kind::Ule(a, b),
            Op::Slt => Kind::Slt(a, b),
            Op::Sle => Kind::Sle(a, b),
            Op::Ite => Kind::Ite(a, b, ExprId::from_raw(self.c)),
            Op::Concat => Kind::Concat(a, b),
            Op::Extract => Kind::Extract(a, self.b),
            Op::Zext => Kind::Zext(a),
            Op::Sext => Kind::Sext(a),
            Op::Read => Kind::Read(ArrayId(self.a), b),
            Op::PtrAdd => Kind::PtrAdd(Node::join(self.b, self.c), a),
            Op::Float => Kind::Float(FloatOp::ALL[self.c as usize], a, b),
        }
    }
}
