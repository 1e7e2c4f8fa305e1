//! Threads that share a mutex and a channel; one of them panics, which `join` catches and the mutex remembers.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: u32 = a.get(1).map(|s| s.bytes().map(u32::from).sum()).unwrap_or(0);
    let m = Arc::new(Mutex::new(0u32));
    let (tx, rx) = mpsc::channel();
    let hs: Vec<_> = (0..2)
        .map(|i| {
            let m = m.clone();
            let tx = tx.clone();
            thread::spawn(move || {
                *m.lock().unwrap() += n + i;
                if n == 65 + i {
                    panic!("thread {i}");
                }
                tx.send(i).unwrap();
                i * 2
            })
        })
        .collect();
    drop(tx);
    let mut got: Vec<u32> = rx.iter().collect();
    got.sort();
    let r: Vec<_> = hs.into_iter().map(|h| h.join().map_err(|_| "panicked")).collect();
    println!("{got:?} {r:?} {:?}", m.lock().map(|g| *g).map_err(|_| "poisoned"));
}
