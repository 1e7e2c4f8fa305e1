// Rust without its standard library: checked and saturating arithmetic, wide integers, enums with data, slices, iterators, traits.
#![no_std]
#![no_main]

use core::ffi::{c_char, c_int};
use core::hint::black_box;

extern "C" {
    fn printf(format: *const c_char, ...) -> c_int;
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { abort() }
}
#[no_mangle]
extern "C" fn rust_eh_personality() {}

fn show(n: i64) {
    unsafe { printf(b"%ld \0".as_ptr().cast(), n) };
}

enum Tree<'t> {
    Leaf(i32),
    Node(&'t Tree<'t>, &'t Tree<'t>),
}
fn sum(t: &Tree) -> Option<i32> {
    match t {
        Tree::Leaf(n) => Some(*n),
        Tree::Node(a, b) => sum(a)?.checked_add(sum(b)?),
    }
}
trait Area {
    fn area(&self) -> u32;
}
struct Square(u32);
struct Pair(u16, u16);
impl Area for Square {
    fn area(&self) -> u32 {
        self.0 * self.0
    }
}
impl Area for Pair {
    fn area(&self) -> u32 {
        u32::from(self.0) * u32::from(self.1)
    }
}

#[no_mangle]
pub extern "C" fn main(_argc: c_int, _argv: *const *const c_char) -> c_int {
    let x = black_box(2_000_000_000i32);
    show(x.checked_add(x).map_or(-1, i64::from));
    show(x.saturating_add(x).into());
    show(x.wrapping_mul(3).into());
    show(x.overflowing_sub(-x).1.into());
    show((-x).saturating_sub(x).into());
    let u = black_box(250u8);
    show(u.saturating_add(9).into());
    show(u.wrapping_shl(3).into());
    show(i64::from(u.rotate_left(3)) + i64::from(u.leading_zeros()) * 1000 + i64::from(u.count_ones()) * 10000);
    for f in [1e10f64, -1e10, 3.99, -0.5, f64::NAN, f64::INFINITY] {
        let f = black_box(f);
        show((f as i32).into());
        show((f as u8).into());
        show(f as i64);
        show((f as f32 as u64) as i64);
        show((f as i128 >> 3) as i64);
        show((f as u128 >> 3) as i64);
    }
    let w = black_box(0x1234_5678_9abc_def0_1111_2222_3333_4444u128);
    show((w / 1_000_000_007 % 97) as i64);
    show((w.wrapping_mul(w) >> 64) as i64);
    show((w as i128).cmp(&-(w as i128)) as i64);
    let (a, b, c) = (Tree::Leaf(3), Tree::Leaf(black_box(4)), Tree::Leaf(i32::MAX));
    let (d, e) = (Tree::Node(&a, &b), Tree::Node(&a, &c));
    show(sum(&Tree::Node(&d, &a)).unwrap_or(-1).into());
    show(sum(&Tree::Node(&d, &e)).unwrap_or(-1).into());
    let shapes: [&dyn Area; 3] = [&Square(black_box(5)), &Pair(3, 4), &Square(2)];
    show(shapes.iter().map(|s| i64::from(s.area())).sum());
    let mut v = [5, 3, 9, 1, 7, black_box(2), 8];
    v.sort_unstable();
    show(v.iter().fold(0, |n, d| n * 10 + d));
    show(v.iter().rev().skip(1).step_by(2).filter(|n| **n > 2).count() as i64);
    show(v.binary_search(&black_box(7)).map_or(-1, |i| i as i64));
    show("wryneck".bytes().zip(1..).map(|(b, n)| i64::from(b) * n).sum());
    show(black_box("\u{20ac}uro").chars().map(|c| i64::from(u32::from(c))).sum());
    show(black_box(-7i32).rem_euclid(3).into());
    show(black_box(12345u32).isqrt().into());
    0
}
