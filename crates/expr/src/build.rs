//! The primitive constructors: one per operator, the only way to make a node.
//!
//! A constructor first looks the node up as asked for (with commutative operands in order): a node that exists is in normal
//! form already, so repeated construction costs one probe, and what was rewritten lately is remembered. Otherwise constants
//! are folded, then the operator's laws tried, and only then is a node made. Operands of a commutative operator are ordered by structural hash, a constant last.

use crate::eval;
use crate::float;
use crate::node::{ArrayId, ExprId, Kind, Node, Op, Shape, Width};
use crate::pool::{Pool, check_width};
use crate::wide;

/// Laws that lead to laws this deep are left alone: a guard of the stack that programs do not meet. Below it alone can the
/// normal form depend on what was made before.
const DEEPEST: u32 = 256;
/// New nodes that one constructor may look at while it rewrites; a larger expression stays as it is. Some laws go into both operands of shared
/// expressions, which takes exponential time where those are deep.
const MOST_REWRITES: u64 = 50_000;

impl Pool {
    /// A [`Shape::Unary`] operator applied.
    pub fn unary(&mut self, op: Op, a: ExprId) -> ExprId {
        assert!(op.shape() == Shape::Unary, "`{}` is not unary", op.smt());
        let node = Node::new(op, self.width(a), a.raw(), 0, 0);
        self.make(node)
    }

    /// A [`Shape::Binary`] or [`Shape::Compare`] operator applied to operands of one width.
    #[inline]
    pub fn binary(&mut self, op: Op, a: ExprId, b: ExprId) -> ExprId {
        let width = self.width(a);
        assert!(width == self.width(b), "`{}` of {width} and {} bits", op.smt(), self.width(b));
        let result = match op.shape() {
            Shape::Binary => width,
            Shape::Compare => 1,
            Shape::Leaf | Shape::Unary | Shape::Special => panic!("`{}` is not binary", op.smt()),
        };
        let (a, b) = if self.simplifying && op.commutes() { self.in_order(a, b) } else { (a, b) };
        self.make(Node::new(op, result, a.raw(), b.raw(), 0))
    }

    /// `c` (1 bit) chooses `a` (1) or `b` (0), of one width.
    pub fn ite(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        assert!(self.width(c) == 1, "the condition of `ite` has {} bits", self.width(c));
        assert!(self.width(a) == self.width(b), "`ite` of {} and {} bits", self.width(a), self.width(b));
        self.make(Node::new(Op::Ite, self.width(a), c.raw(), a.raw(), b.raw()))
    }

    /// `hi` above `lo`.
    pub fn concat(&mut self, hi: ExprId, lo: ExprId) -> ExprId {
        self.make(Node::new(Op::Concat, self.width(hi) + self.width(lo), hi.raw(), lo.raw(), 0))
    }

    /// The `width` bits of `e` from bit `lo` up.
    pub fn extract(&mut self, e: ExprId, lo: Width, width: Width) -> ExprId {
        let from = self.width(e);
        assert!(lo < from && width <= from - lo, "`extract` of {width} bits at {lo} of {from}");
        self.make(Node::new(Op::Extract, width, e.raw(), lo, 0))
    }

    /// Zero-extended to `width` bits, at least `e`'s.
    pub fn zext(&mut self, e: ExprId, width: Width) -> ExprId {
        assert!(width >= self.width(e), "`zero_extend` of {} to {width} bits", self.width(e));
        if width == self.width(e) { e } else { self.make(Node::new(Op::Zext, width, e.raw(), 0, 0)) }
    }

    /// Sign-extended to `width` bits, at least `e`'s.
    pub fn sext(&mut self, e: ExprId, width: Width) -> ExprId {
        assert!(width >= self.width(e), "`sign_extend` of {} to {width} bits", self.width(e));
        if width == self.width(e) { e } else { self.make(Node::new(Op::Sext, width, e.raw(), 0, 0)) }
    }

    /// The byte of `array` at `index` (64 bits); 0 out of range.
    pub fn read(&mut self, array: ArrayId, index: ExprId) -> ExprId {
        assert!(self.width(index) == 64, "the index of `select` has {} bits", self.width(index));
        self.make(Node::new(Op::Read, 8, array.0, index.raw(), 0))
    }

    /// The pointer `base + offset` (64 bits), which remembers its base. With a constant offset it is **anchored**: its value is known
    /// ([`Pool::as_u64`]), addition, subtraction and choice keep its base, and every other operator takes it for the constant it is.
    pub fn ptr(&mut self, base: u64, offset: ExprId) -> ExprId {
        assert!(self.width(offset) == 64, "the offset of a pointer has {} bits", self.width(offset));
        self.make(Node::new(Op::PtrAdd, 64, offset.raw(), base as u32, (base >> 32) as u32))
    }

    /// The node with its operands `a` and `b` replaced where others are given; of [`Op::Read`], `b` is the index.
    pub(crate) fn with_operands(&mut self, node: Node, a: Option<ExprId>, b: Option<ExprId>) -> ExprId {
        let (a, b) = (a.map_or(node.a, ExprId::raw), b.map_or(node.b, ExprId::raw));
        match node.op().shape() {
            Shape::Binary | Shape::Compare => self.binary(node.op(), ExprId::from_raw(a), ExprId::from_raw(b)),
            Shape::Leaf | Shape::Unary | Shape::Special => self.make(Node::new(node.op(), node.width(), a, b, node.c)),
        }
    }

    /// The node in normal form.
    #[inline]
    pub(crate) fn make(&mut self, node: Node) -> ExprId {
        match self.find(node).or_else(|| self.recall(node)) {
            Some(known) => known,
            None => self.make_new(node),
        }
    }

    #[cold]
    fn make_new(&mut self, node: Node) -> ExprId {
        check_width(node.width());
        if !self.simplifying {
            return self.intern(node);
        }
        if self.nesting == 0 {
            self.most_rewrites = self.rewrites + MOST_REWRITES;
        }
        self.rewrites += 1;
        let simpler = self.fold(node).or_else(|| {
            (self.nesting < DEEPEST && self.rewrites < self.most_rewrites).then_some(())?;
            self.nesting += 1;
            let simpler = self.simplify(node);
            self.nesting -= 1;
            simpler
        });
        let result = simpler.unwrap_or_else(|| self.intern(node));
        if simpler.is_some() {
            self.remember(node, result);
        }
        result
    }

    /// Operands of a commutative operator in canonical order: a constant last, else by structural hash.
    #[inline]
    pub(crate) fn in_order(&self, a: ExprId, b: ExprId) -> (ExprId, ExprId) {
        let key = |e: ExprId| (self.is_const(e), self.structural_hash(e), e);
        if key(a) <= key(b) { (a, b) } else { (b, a) }
    }

    /// The constant an operator of constants stands for.
    fn fold(&mut self, node: Node) -> Option<ExprId> {
        let kind = node.kind();
        let foldable = match kind {
            Kind::Const | Kind::Sym(_) | Kind::Ite(..) | Kind::Read(..) | Kind::PtrAdd(..) => false,
            _ => kind.children().all(|child| self.is_const(child)),
        };
        if !foldable {
            return None;
        }
        if let Kind::Float(op, a, b) = kind {
            let of = |e: ExprId| self.as_limbs(e).map(float::joined);
            let value = float::eval(op, self.width(a), node.width(), of(a)?, of(b)?);
            return Some(self.wide(node.width(), &float::limbs(node.width(), value)));
        }
        let first = kind.children().next().expect("operators have operands");
        if node.width() <= 64 && kind.children().all(|child| self.width(child) <= 64) {
            let x = self.as_u64(first)?;
            let y = kind.children().nth(1).and_then(|child| self.as_u64(child)).unwrap_or(0);
            let from = self.width(first);
            let value = match kind {
                Kind::Not(_) => !x,
                Kind::Neg(_) => x.wrapping_neg(),
                Kind::Concat(_, lo) => x << self.width(lo) | y,
                Kind::Extract(_, lo) => x >> lo,
                Kind::Zext(_) => x,
                Kind::Sext(_) => eval::signed(from, x) as u64,
                _ => eval::apply(node.op(), from, x, y)?,
            };
            return Some(self.bits(node.width(), value));
        }
        let limbs = self.fold_wide(node, first)?;
        Some(self.wide(node.width(), &limbs))
    }

    fn fold_wide(&self, node: Node, first: ExprId) -> Option<Vec<u64>> {
        let (width, from) = (node.width(), self.width(first));
        let x = self.as_limbs(first)?;
        match node.kind() {
            Kind::Not(_) => Some(wide::not(width, x)),
            Kind::Neg(_) => Some(wide::neg(width, x)),
            Kind::Concat(_, lo) => Some(wide::concat(width, x, self.as_limbs(lo)?, self.width(lo))),
            Kind::Extract(_, lo) => Some(wide::extract(x, lo, width)),
            Kind::Zext(_) => Some(wide::zext(width, x)),
            Kind::Sext(_) => Some(wide::sext(width, x, from)),
            _ => wide::binary(node.op(), from, x, self.as_limbs(ExprId::from_raw(node.b))?),
        }
    }
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),+) = $shape:ident $op:ident;)*) => {
        impl Pool { $(
            $(#[$doc])*
            #[inline]
            pub fn $name(&mut self, $($arg: ExprId),+) -> ExprId { self.$shape(Op::$op, $($arg),+) }
        )* }
    };
}

constructors! {
    not(a) = unary Not;
    neg(a) = unary Neg;
    and(a, b) = binary And;
    or(a, b) = binary Or;
    xor(a, b) = binary Xor;
    add(a, b) = binary Add;
    sub(a, b) = binary Sub;
    mul(a, b) = binary Mul;
    udiv(a, b) = binary Udiv;
    urem(a, b) = binary Urem;
    sdiv(a, b) = binary Sdiv;
    srem(a, b) = binary Srem;
    shl(a, b) = binary Shl;
    lshr(a, b) = binary Lshr;
    ashr(a, b) = binary Ashr;
    eq(a, b) = binary Eq;
    ult(a, b) = binary Ult;
    ule(a, b) = binary Ule;
    slt(a, b) = binary Slt;
    sle(a, b) = binary Sle;
}
