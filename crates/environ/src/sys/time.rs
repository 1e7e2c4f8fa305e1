//! Time: a fixed start, advanced by a microsecond per query and by every sleep.

use wryneck_exec::Value;

use super::{Done, Sys};
use crate::errno::{EINVAL, EPERM, Halt};

impl Sys<'_, '_> {
    /// Microseconds since 1970, and the clock moves on.
    fn now(&mut self) -> u64 {
        let start = self.linux.input.time as u64 * 1_000_000;
        let world = self.change();
        world.ticks += 1;
        start + world.ticks
    }

    fn put_pair(&mut self, i: usize, pair: [u64; 2]) -> Result<(), Halt> {
        let addr = self.block(self.args[i], 16, true)?;
        self.put(addr, &pair.map(u64::to_le_bytes).concat())
    }

    /// Sleeps as long as the `struct timespec` at argument `i` says; nothing is left to sleep.
    fn sleep(&mut self, i: usize) -> Done {
        let pair = self.words(self.args[i], 2)?;
        let (seconds, nanoseconds) = (pair[0] as i64, pair[1] as i64);
        if seconds < 0 || !(0..1_000_000_000).contains(&nanoseconds) {
            return Err(EINVAL.into());
        }
        let ticks = &mut self.change().ticks;
        *ticks = ticks.saturating_add((seconds as u64).saturating_mul(1_000_000)).saturating_add(nanoseconds as u64 / 1000);
        Ok(0)
    }
}

/// clock_gettime(clock, time): all clocks tell the same.
pub fn clock_gettime(s: &mut Sys<'_, '_>) -> Done {
    let clock = s.int(0)?;
    if !(0..=11).contains(&clock) {
        return Err(EINVAL.into());
    }
    s.block(s.args[1], 16, true)?;
    let now = s.now();
    s.put_pair(1, [now / 1_000_000, now % 1_000_000 * 1000])?;
    Ok(0)
}

/// clock_settime(clock, time): fails for every user, as in a confined replay.
pub fn clock_settime(s: &mut Sys<'_, '_>) -> Done {
    let clock = s.int(0)?;
    let addr = s.block(s.args[1], 16, false)?;
    let bytes = s.cx.read_bytes(addr, 16)?;
    let [seconds, nanoseconds] = [0, 8].map(|at| s.cx.joined(&bytes[at..at + 8]));
    let pool = &mut s.cx.core.pool;
    let (zero, second) = (pool.bits(64, 0), pool.bits(64, 1_000_000_000));
    let (since, within) = (pool.sle(zero, seconds), pool.ult(nanoseconds, second));
    let valid = pool.and(since, within);
    if clock != 0 || !s.cx.decide(valid)? { Err(EINVAL.into()) } else { Err(EPERM.into()) }
}

pub fn clock_getres(s: &mut Sys<'_, '_>) -> Done {
    let clock = s.int(0)?;
    if !(0..=11).contains(&clock) {
        return Err(EINVAL.into());
    }
    if s.args[1] != Value::Bits(0) {
        s.put_pair(1, [0, 1])?;
    }
    Ok(0)
}

pub fn gettimeofday(s: &mut Sys<'_, '_>) -> Done {
    if s.args[0] != Value::Bits(0) {
        s.block(s.args[0], 16, true)?;
        let now = s.now();
        s.put_pair(0, [now / 1_000_000, now % 1_000_000])?;
    }
    Ok(0)
}

pub fn time(s: &mut Sys<'_, '_>) -> Done {
    let addr = if s.args[0] == Value::Bits(0) { None } else { Some(s.block(s.args[0], 8, true)?) };
    let now = s.now() / 1_000_000;
    if let Some(addr) = addr {
        s.put(addr, &now.to_le_bytes())?;
    }
    Ok(now)
}

pub fn nanosleep(s: &mut Sys<'_, '_>) -> Done {
    s.sleep(0)
}

/// clock_nanosleep(clock, flags, time, left); an absolute time counts as past.
pub fn clock_nanosleep(s: &mut Sys<'_, '_>) -> Done {
    let absolute = s.int(1)? & 1 != 0;
    if absolute { s.words(s.args[2], 2).map(|_| 0) } else { s.sleep(2) }
}
