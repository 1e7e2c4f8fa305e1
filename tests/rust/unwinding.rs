//! Panics with payloads of several types are caught, thrown again, and drop what they unwind.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
struct Loud(&'static str);
impl Drop for Loud {
    fn drop(&mut self) {
        println!("drop {} panicking={}", self.0, std::thread::panicking());
    }
}
fn inner(c: u8) -> u32 {
    let _a = Loud("a");
    if c == b'x' {
        panic!("it is {}", c as char);
    }
    let _b = Loud("b");
    if c > 200 {
        std::panic::panic_any(c as u32 * 3);
    }
    let v = [1u32, 2, 3];
    v[(c & 7) as usize]
}
fn main() {
    std::panic::set_hook(Box::new(|i| eprintln!("hook {}", i.location().map(|l| l.line()).unwrap_or(0))));
    let mut b = [0u8; 2];
    let n = std::io::stdin().read(&mut b).unwrap();
    let mut sum = 0u32;
    for &c in &b[..n] {
        let _l = Loud("loop");
        match catch_unwind(|| inner(c)) {
            Ok(v) => {
                println!("ok {v}");
                sum += v;
            }
            Err(e) => {
                if let Some(s) = e.downcast_ref::<String>() {
                    println!("string {s}");
                    sum += 100;
                } else if let Some(u) = e.downcast_ref::<u32>() {
                    println!("u32 {u}");
                    sum += u;
                } else if e.is::<&'static str>() {
                    println!("str");
                } else {
                    println!("other");
                }
                if c == b'x' && sum > 150 {
                    let r = catch_unwind(AssertUnwindSafe(|| {
                        let _z = Loud("z");
                        resume_unwind(e)
                    }));
                    println!("again {}", r.is_err());
                }
            }
        }
    }
    if sum == 4 {
        panic!("end");
    }
    std::process::exit((sum & 127) as i32);
}
