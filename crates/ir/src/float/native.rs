//! binary32 and binary64 by the host's own arithmetic, with x86-64's NaNs. Inlined: a call with a constant operator costs the
//! operation and one test for NaN.

macro_rules! native {
    ($(#[$doc:meta])* $module:ident, $float:ty, $bits:ty, $format:expr) => {
        $(#[$doc])*
        pub mod $module {
            use crate::float::Format;
            use crate::inst::{FcmpPred, Op, Round};

            const FORMAT: Format = $format;
            const SIGN: u64 = 1 << (<$bits>::BITS - 1);

            #[inline(always)]
            fn value(bits: u64) -> $float {
                <$float>::from_bits(bits as $bits)
            }
            /// The result's bits; a NaN comes from the first operand that is one.
            #[inline(always)]
            fn bits(result: $float, operands: [u64; 3]) -> u64 {
                if result.is_nan() { nan(operands) } else { u64::from(result.to_bits()) }
            }
            #[cold]
            fn nan(operands: [u64; 3]) -> u64 {
                FORMAT.nan_of(&operands.map(u128::from)).unwrap_or(FORMAT.default_nan()) as u64
            }
            /// See [`crate::float::eval`].
            #[inline(always)]
            pub fn eval(op: Op, a: u64, b: u64, c: u64) -> Option<u64> {
                let (x, y) = (value(a), value(b));
                Some(match op {
                    Op::Fadd => bits(x + y, [a, b, 0]),
                    Op::Fsub => bits(x - y, [a, b, 0]),
                    Op::Fmul => bits(x * y, [a, b, 0]),
                    Op::Fdiv => bits(x / y, [a, b, 0]),
                    Op::Frem => bits(x % y, [a, b, 0]),
                    Op::Fsqrt => bits(x.sqrt(), [a, 0, 0]),
                    Op::Fma => bits(x.mul_add(y, value(c)), [a, b, c]),
                    Op::Fneg => a ^ SIGN,
                    Op::Fabs => a & !SIGN,
                    Op::Fmin => if x.is_nan() || y < x { b } else { a },
                    Op::Fmax => if x.is_nan() || x < y { b } else { a },
                    _ => return None,
                })
            }
            /// See [`crate::float::cmp`].
            #[inline(always)]
            pub fn cmp(predicate: u32, a: u64, b: u64) -> bool {
                let (x, y) = (value(a), value(b));
                let outcome = match x.partial_cmp(&y) {
                    Some(order) => FcmpPred::of(order),
                    None => FcmpPred::UNORDERED,
                };
                predicate & outcome != 0
            }
            /// See [`crate::float::round`].
            #[inline(always)]
            pub fn round(mode: Round, a: u64) -> u64 {
                let x = value(a);
                let r = match mode {
                    Round::Floor => x.floor(),
                    Round::Ceil => x.ceil(),
                    Round::Trunc => x.trunc(),
                    Round::Even => x.round_ties_even(),
                    Round::Away => x.round(),
                };
                bits(r, [a, 0, 0])
            }
        }
    };
}

native! {
    /// binary32 in the low half of a slot.
    single, f32, u32, Format::Single
}
native! {
    /// binary64.
    double, f64, u64, Format::Double
}
