//! C signatures: the one place where the values of a call become typed arguments.
//!
//! A model's row declares its arguments. A call with fewer arguments ends its path as unsupported instead of running wrong.

use wryneck_exec::{Call, Cx, PathEnd, Stop, Value};
use wryneck_expr::ExprId;
use wryneck_ir::arith::mask;

/// The type of an argument, as x86-64's C has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Ptr,
    /// `size_t` and other 64-bit integers.
    Size,
    Int,
    Double,
}

impl Ty {
    /// Width in bits.
    pub fn width(self) -> u32 {
        match self {
            Ty::Ptr | Ty::Size | Ty::Double => 64,
            Ty::Int => 32,
        }
    }
}

/// The arguments of a call, checked against the model's signature.
pub struct Args<'a> {
    pub call: &'a Call<'a>,
    sig: &'static [Ty],
}

impl<'a> Args<'a> {
    /// Fails if the call brings fewer arguments than the signature has.
    pub fn of(call: &'a Call<'a>, sig: &'static [Ty]) -> Result<Args<'a>, Stop> {
        if call.args.len() < sig.len() {
            let message = format!("call of `{}` with {} of {} arguments", call.name, call.args.len(), sig.len());
            return Err(PathEnd::Unsupported(message).into());
        }
        Ok(Args { call, sig })
    }

    /// Argument `i`, as it came.
    pub fn value(&self, i: usize) -> Value {
        self.call.args[i]
    }

    /// Argument `i` at its type's width.
    pub fn expr(&self, cx: &mut Cx<'_>, i: usize) -> ExprId {
        cx.expr(self.call.args[i], self.sig[i].width())
    }

    /// Argument `i` as a number, concretised if need be.
    pub fn number(&self, cx: &mut Cx<'_>, i: usize) -> Result<u64, Stop> {
        match self.call.args[i] {
            Value::Bits(bits) => Ok(bits & mask(self.sig[i].width())),
            Value::Sym(_) => {
                let e = self.expr(cx, i);
                cx.concretise(Value::Sym(e), &format!("argument {} of {}", i + 1, self.call.name))
            }
        }
    }

    /// The only value argument `i` can have, if there is just one: it is concrete, or a pointer that knows its object.
    pub fn fixed(&self, cx: &Cx<'_>, i: usize) -> Option<u64> {
        match self.call.args[i] {
            Value::Bits(bits) => Some(bits),
            Value::Sym(e) => cx.core.pool.as_u64(e),
        }
    }

    /// Argument `i` if it is concrete.
    pub fn concrete(&self, i: usize) -> Option<u64> {
        match self.call.args[i] {
            Value::Bits(bits) => Some(bits),
            Value::Sym(_) => None,
        }
    }
}
