//! A panic that nobody catches is a finding, with the program's own line; one that is caught is none.

use std::io::Read;

struct Guard<'a>(&'a std::cell::Cell<u32>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[inline(never)]
fn third(text: &[u8]) -> u8 {
    text[2]
}

fn main() {
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).unwrap();
    std::panic::set_hook(Box::new(|_| {}));
    let dropped = std::cell::Cell::new(0);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _guard = Guard(&dropped);
        if text[0] == b'c' {
            third(&text);
        }
    }));
    if caught.is_err() {
        assert_eq!(dropped.get(), 1);
        std::process::exit(3);
    }
    match text[0] {
        b'b' => third(&text[..2]),
        b'u' => text.iter().copied().find(|byte| *byte == b'v').unwrap(),
        b'd' => 100 / (text[1] - b'0'),
        b'o' => text[1] + 250,
        b'e' => std::str::from_utf8(&text).expect("it is text").len() as u8,
        b'r' => {
            let cell = std::cell::RefCell::new(1);
            let _one = cell.borrow_mut();
            *cell.borrow()
        }
        _ => 0,
    };
}
