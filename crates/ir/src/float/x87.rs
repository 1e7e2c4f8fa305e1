//! What only the x87 computes, by the host's own instructions.
#![allow(unsafe_code)]

use std::arch::asm;

use crate::inst::X87;

/// The function of the top of the stack and the number below it, 80 bits each, rounded to the nearest of 64 bits of significand.
pub fn x87(function: X87, top: u128, below: u128) -> u128 {
    let (top, below, mut result) = (top.to_le_bytes(), below.to_le_bytes(), [0_u8; 16]);
    macro_rules! run {
        // Both numbers, of which one is left.
        ($name:literal, pops) => {
            // SAFETY: ten bytes are read at `below` and at `top` and written at `result`, each of which has 16. Two registers of the stack are
            // used, and none is left in use.
            unsafe {
                asm!(
                    "fld tbyte ptr [{below}]", "fld tbyte ptr [{top}]", $name, "fstp tbyte ptr [{result}]",
                    top = in(reg) &top, below = in(reg) &below, result = in(reg) &mut result,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _, out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                )
            }
        };
        // The top alone; what else the instructions leave, they pop.
        ($($name:literal),*) => {
            // SAFETY: as above, of one number.
            unsafe {
                asm!(
                    "fld tbyte ptr [{top}]", $($name,)* "fstp tbyte ptr [{result}]",
                    top = in(reg) &top, result = in(reg) &mut result, out("ax") _,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _, out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                )
            }
        };
    }
    match function {
        X87::Sine => run!("fsin"),
        X87::Cosine => run!("fcos"),
        // It pushes a one, unless the angle is out of its range, which C2 says.
        X87::Tangent => run!("fptan", "fnstsw ax", "test ah, 4", "jnz 2f", "fstp st(0)", "2:"),
        X87::PowerLessOne => run!("f2xm1"),
        X87::Angle => run!("fpatan", pops),
        X87::Logarithm => run!("fyl2x", pops),
        X87::LogarithmOfOneMore => run!("fyl2xp1", pops),
    }
    u128::from_le_bytes(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::{Format, cast, from_signed};

    #[test]
    fn functions_are_what_their_names_say() {
        let number = |n: i128| from_signed(Format::Extended, n);
        let double = |x: u128| f64::from_bits(cast(Format::Extended, Format::Double, x) as u64);
        let near = |function, top, below, expected: f64| {
            let is = double(x87(function, number(top), number(below)));
            assert!((is - expected).abs() < 1e-15, "{function:?} of {top} and {below} is {is}");
        };
        near(X87::Sine, 1, 0, 1_f64.sin());
        near(X87::Cosine, 1, 0, 1_f64.cos());
        near(X87::Tangent, 1, 0, 1_f64.tan());
        near(X87::Angle, 3, 2, 2_f64.atan2(3.0));
        near(X87::Logarithm, 8, 5, 15.0);
        near(X87::LogarithmOfOneMore, 0, 5, 0.0);
        near(X87::PowerLessOne, 1, 0, 1.0);
        near(X87::PowerLessOne, -1, 0, -0.5);
        // Out of their range angles stay as they are, again and again: no register of the stack is left in use.
        for _ in 0..20 {
            for function in [X87::Sine, X87::Cosine, X87::Tangent] {
                assert_eq!(x87(function, number(1 << 64), 0), number(1 << 64));
            }
        }
    }
}
