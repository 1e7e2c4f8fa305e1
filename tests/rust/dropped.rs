//! What is dropped while an uncaught panic unwinds ends the program in several ways.

use std::io::Read;

enum Ending {
    Exits,
    Panics,
    Reads(*mut u8),
    Prints,
}

impl Drop for Ending {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        match *self {
            Ending::Exits => std::process::exit(7),
            Ending::Panics => panic!("once more"),
            Ending::Reads(at) => unsafe {
                drop(Box::from_raw(at));
                std::process::exit(i32::from(std::ptr::read_volatile(at)))
            },
            Ending::Prints => println!("dropped"),
        }
    }
}

fn main() {
    let mut byte = [0];
    std::io::stdin().read_exact(&mut byte).unwrap();
    let _ending = match byte[0] {
        b'e' => Ending::Exits,
        b'p' => Ending::Panics,
        b'r' => Ending::Reads(Box::into_raw(Box::new(byte[0]))),
        _ => Ending::Prints,
    };
    assert!(byte[0] < b'a', "a letter");
}
