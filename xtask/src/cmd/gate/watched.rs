//! Sequences of calls about descriptors that are watched, for [`super::files`].

use super::files::pick;
use crate::random::Random;

/// What every sequence begins with: two pipes, a pair of sockets, two counters, two instances of epoll that watch some of it. All without waiting.
const BEGINNING: &str =
    "pipe 04000;pipe 04000;pair 04000;eventfd 0 04000;eventfd 3 04001;epoll 0;epoll 0;watch 11 1 3 1 103;watch 11 1 7 0x2005 107";
/// Events: by level and at edges, once, exclusive, none.
const EVENTS: &[u32] =
    &[1, 4, 5, 0x2005, 0x8000_0001, 0x8000_0005, 0x8000_2005, 0x4000_0001, 0x4000_0005, 0xc000_0005, 0x1000_0001, 0, 0x145];

pub fn script(seed: u64, calls: usize) -> String {
    let mut r = Random::new(seed);
    let mut lines = vec![BEGINNING.to_owned()];
    for _ in 0..calls {
        lines.push(call(&mut r));
    }
    lines.join(";")
}

fn call(r: &mut Random) -> String {
    let fd = if r.below(40) == 0 { pick(r, &[-1, 50, 0, 1]) } else { 3 + r.below(11) as i32 };
    let (other, instance) = (3 + r.below(11), pick(r, &[11, 11, 12, 13]));
    let (size, events) = (pick(r, &[1, 2, 8, 100, 4096]), pick(r, EVENTS));
    let letter = char::from(b'a' + r.below(26) as u8);
    match r.below(39) {
        0..=8 => format!("watch {instance} 1 {fd} {events:#x} {}", 100 + r.below(900)),
        9..=11 => format!("watch {instance} 3 {fd} {events:#x} {}", 100 + r.below(900)),
        12 => format!("watch {instance} 2 {fd} 0 0"),
        13..=20 => format!("wait {instance} {}", pick(r, &[1, 2, 20, 20, 0])),
        21..=25 => format!("write {} {size} {letter}", pick(r, &[4, 6, 7, 8, 9])),
        26..=29 => format!("read {} {}", pick(r, &[3, 5, 7, 8, 9, 10]), pick(r, &[1, 8, 5000, 5000])),
        30 | 31 => format!("count {} {}", pick(r, &[9, 10]), pick(r, &[1, 2, -1, -2])),
        32 => format!("shutdown {} {}", pick(r, &[7, 8]), r.below(3)),
        33 => format!("close {fd}"),
        34 => format!("dup {fd}"),
        35 => format!("dup2 {fd} {other}"),
        36 => format!("poll {fd} {other} {instance} {:#x} {:#x}", pick(r, &[1, 4, 5, 0x145, 0x2005]), pick(r, &[1, 5])),
        37 => pick(r, &["pipe 04000", "pair 04000", "epoll 0", "epoll 02000000"]).to_owned(),
        _ => format!("fcntl {fd} {} 0", pick(r, &[0, 1])),
    }
}
