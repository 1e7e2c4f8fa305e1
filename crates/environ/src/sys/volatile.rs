//! What nobody knows before a run: clocks, process ids, random bytes, free space and free memory.
//!
//! Where facts are noted ([`crate::observed`]), each such answer is symbolic input of its own, so a path depends on it only where it branches.
//! Who looks a path up later has to know that its branches hold for every value, or that every side of them is verified.
//! So values are no wider than what the kernel may answer: what lies outside would ask for paths that no run takes.

use wryneck_exec::{memory, seed};
use wryneck_expr::ExprId;

use super::Sys;
use crate::errno::Halt;
use crate::observed::{Window, volatile};

/// A process id is less than 2^22 (`PID_MAX_LIMIT`).
const PID_BITS: u32 = 22;
/// Clocks that tell the time of day: `CLOCK_REALTIME`, and the coarse one.
const OF_DAY: [i32; 2] = [0, 5];
/// Seconds of the time of day are the start of a window and an offset of so many bits.
const OFFSET_BITS: u32 = 12;
/// Seconds of other clocks.
const OTHER_BITS: u32 = 32;
/// Longest run of random bytes that is input.
const RANDOM: u64 = 4096;

impl Sys<'_, '_> {
    /// Whether answers that change by themselves are input.
    pub fn notes(&self) -> bool {
        self.linux.captured.log.is_some()
    }

    /// Input of as many bytes as the seed has, of which nobody knows the value before a run.
    pub fn volatile_bytes(&mut self, what: &str, seed: &[u8]) -> Vec<ExprId> {
        seed::seeded_input(self.cx, &volatile(what), seed)
    }

    /// The same as a number of 64 bits, of which only so many may be set.
    fn volatile_number(&mut self, what: &str, bits: u32, seed: u64) -> ExprId {
        let len = bits.div_ceil(8) as usize;
        let bytes = self.volatile_bytes(what, &seed.to_le_bytes()[..len]);
        let whole = memory::joined(self.cx, &bytes);
        let pool = &mut self.cx.core.pool;
        let low = pool.extract(whole, 0, bits);
        pool.zext(low, 64)
    }

    /// Below `end`, by the remainder.
    fn below(&mut self, e: ExprId, end: u64) -> ExprId {
        let pool = &mut self.cx.core.pool;
        let (width, end) = (pool.width(e), end);
        let end = pool.bits(width, end);
        pool.urem(e, end)
    }

    /// Seconds and fractions of which a second has so many, as a clock tells them; `None`: nobody can say between which times a run is.
    pub fn volatile_time(&mut self, clock: i32, fractions: u64) -> Option<[ExprId; 2]> {
        let seconds = if OF_DAY.contains(&clock) {
            let now = self.linux.captured.seen(b"now")?;
            let now: u64 = std::str::from_utf8(&now).ok()?.parse().ok()?;
            let window = Window::around(now);
            let offset = self.volatile_number(&window.name(), OFFSET_BITS, now - window.start);
            let offset = self.below(offset, Window::SECONDS);
            let start = self.cx.core.pool.bits(64, window.start);
            self.cx.core.pool.add(start, offset)
        } else {
            self.volatile_number("clock", OTHER_BITS, 1000)
        };
        let bits = u64::BITS - (fractions - 1).leading_zeros();
        let fraction = self.volatile_number("fraction of a second", bits, 0);
        Some([seconds, self.below(fraction, fractions)])
    }

    /// A process id: of this process 1 or more, of others 0 where they are out of sight.
    pub fn volatile_pid(&mut self, what: &str, least: u64, seed: u64) -> ExprId {
        let known = self.cx.state.inputs.iter().find(|input| *input.name == *volatile(what)).map(|input| input.bytes.clone());
        let id = match known {
            // One process has one id.
            Some(bytes) => {
                let bytes: Vec<ExprId> = bytes.iter().map(|symbol| self.cx.core.pool.sym(*symbol)).collect();
                let whole = memory::joined(self.cx, &bytes);
                let pool = &mut self.cx.core.pool;
                let low = pool.extract(whole, 0, PID_BITS);
                pool.zext(low, 64)
            }
            None => self.volatile_number(what, PID_BITS, seed),
        };
        let pool = &mut self.cx.core.pool;
        let least = pool.bits(64, least);
        pool.add(id, least)
    }

    /// Random bytes at a checked address.
    pub fn put_random(&mut self, addr: u64, len: u64) -> Result<(), Halt> {
        if len > RANDOM {
            self.linux.captured.note_unknown("many random bytes");
            return self.put(addr, &vec![0; len as usize]);
        }
        let bytes = self.volatile_bytes("random bytes", &vec![0x5a; len as usize]);
        Ok(memory::write_bytes(self.cx, addr, &bytes)?)
    }
}
