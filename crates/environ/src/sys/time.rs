//! Time: a fixed start, advanced by a microsecond per query and by every sleep. Where facts are noted, it is input ([`super::volatile`]).

use wryneck_exec::processes::are_several;
use wryneck_exec::{PathEnd, memory, scratch};
use wryneck_expr::ExprId;

use super::{Done, Sys};
use crate::errno::{EINTR, EINVAL, EOPNOTSUPP, EPERM, Errno, Halt};
use crate::observed::{Window, question};

pub(super) const MICROS: u64 = 1_000_000;
pub(super) const NANOS: u64 = 1_000_000_000;
/// Clocks that every kernel has: the last of them are alarms, which need a clock of the board.
pub(super) const CLOCKS: std::ops::Range<i32> = 0..8;
/// `CLOCK_REALTIME`.
const REAL: i32 = 0;

/// Seconds, and fractions of which a second has so many, in microseconds.
pub(super) fn micros(seconds: u64, fraction: u64, fractions: u64) -> Result<u64, Errno> {
    match u64::try_from(seconds as i64) {
        Ok(seconds) if fraction < fractions => Ok(seconds.saturating_mul(MICROS).saturating_add(fraction / (fractions / MICROS))),
        _ => Err(EINVAL),
    }
}

impl Sys<'_, '_> {
    /// Microseconds since 1970, and the clock moves on.
    fn now(&mut self) -> u64 {
        let start = self.linux.input.time as u64 * MICROS;
        let world = self.change();
        world.ticks += 1;
        start + world.ticks
    }

    fn put_pair(&mut self, i: usize, pair: [u64; 2]) -> Result<(), Halt> {
        let addr = self.block(self.args[i], 16, true)?;
        self.put(addr, &pair.map(u64::to_le_bytes).concat())
    }

    /// Writes the time of a clock at argument `i`: seconds and the fractions of which a second has so many. The clock moves on.
    fn tell(&mut self, i: usize, clock: i32, fractions: u64) -> Result<(), Halt> {
        let addr = self.block(self.args[i], 16, true)?;
        if let Some([seconds, fraction]) = self.asked_time(clock, fractions)? {
            for (addr, e) in [(addr, seconds), (addr + 8, fraction)] {
                self.put_expr(addr, e)?;
            }
            return Ok(());
        }
        let now = self.now();
        self.put(addr, &[now / MICROS, now % MICROS * (fractions / MICROS)].map(u64::to_le_bytes).concat())
    }

    /// The time as input, where facts are noted.
    fn asked_time(&mut self, clock: i32, fractions: u64) -> Result<Option<[ExprId; 2]>, Halt> {
        if !self.notes() {
            return Ok(None);
        }
        if self.world().ticks > Window::LONGEST * MICROS / 2 {
            self.linux.captured.note_unknown("the time after a long sleep");
        }
        // Natively the kernel's own code tells the time, on the program's stack.
        scratch::forget_below_stack(self.cx);
        let time = self.volatile_time(clock, fractions);
        if time.is_none() {
            self.linux.captured.note_unknown("the time");
        }
        Ok(time)
    }

    /// Of a clock that is asked for its time or its steps, where facts are noted: the steps, in seconds and nanoseconds.
    fn steps(&self, clock: i32) -> Option<[u64; 2]> {
        let question = question("clock", clock.to_string().as_bytes());
        let answer = self.observed(&question);
        let steps = answer.as_ref().and_then(|answer| {
            let (seconds, nanoseconds) = std::str::from_utf8(answer).ok()?.split_once(' ')?;
            Some([seconds.parse().ok()?, nanoseconds.parse().ok()?])
        });
        match (steps, answer) {
            (Some(_), Some(answer)) => self.linux.captured.note(|| (question, answer)),
            _ => self.linux.captured.note_unknown("which clocks there are"),
        }
        steps
    }

    /// The `struct timespec` at argument `i`, in microseconds.
    fn time(&mut self, i: usize) -> Result<u64, Halt> {
        let pair = self.words(self.args[i], 2)?;
        Ok(micros(pair[0], pair[1], NANOS)?)
    }

    /// The same, of a wait that a null pointer makes last for ever: `None`.
    pub(super) fn limit(&mut self, i: usize) -> Result<Option<u64>, Halt> {
        if self.is_null(i)? { Ok(None) } else { self.time(i).map(Some) }
    }

    /// Sleeps as long as the `struct timespec` at argument `i` says; at argument `i + 1`, what was left if a signal came.
    fn sleep(&mut self, i: usize) -> Done {
        let time = self.time(i)?;
        let left = if self.is_null(i + 1)? { None } else { Some(self.args[i + 1]) };
        // Nobody knows before whether it is written.
        let left = left.filter(|_| self.has_timer() || are_several(self.cx.state)).map(|left| self.block(left, 16, true)).transpose()?;
        let until = self.world().ticks.saturating_add(time);
        let done = self.sleep_until_time(until);
        if let (Err(Halt::Errno(EINTR)), Some(left)) = (&done, left) {
            let rest = until - self.world().ticks;
            self.put(left, &[rest / MICROS, rest % MICROS * 1000].map(u64::to_le_bytes).concat())?;
        }
        done.map(|()| 0)
    }

    /// Sleeps until the time at argument `i`. Where the time is input, how long that is nobody knows.
    fn sleep_until(&mut self, i: usize) -> Done {
        let time = self.time(i)?;
        if self.notes() {
            self.linux.captured.note_unknown("how long a sleep to a given time is");
        }
        let start = self.linux.input.time as u64 * MICROS;
        let until = time.saturating_sub(start).max(self.world().ticks);
        self.sleep_until_time(until)?;
        Ok(0)
    }
}

/// clock_gettime(clock, time): all clocks tell the same, but where facts are noted.
pub fn clock_gettime(s: &mut Sys<'_, '_>) -> Done {
    let clock = s.int(0)?;
    known_clock(s, clock)?;
    s.tell(1, clock, NANOS)?;
    Ok(0)
}

/// The steps of a clock that there is.
fn known_clock(s: &mut Sys<'_, '_>, clock: i32) -> Result<[u64; 2], Halt> {
    let steps = if s.notes() { s.steps(clock) } else { None };
    if clock < 0 {
        return Err(PathEnd::Unsupported("the clock of another process or thread".into()).into());
    }
    if (0..=11).contains(&clock) { Ok(steps.unwrap_or([0, 1])) } else { Err(EINVAL.into()) }
}

/// clock_settime(clock, time): fails for every user, as in a confined replay.
pub fn clock_settime(s: &mut Sys<'_, '_>) -> Done {
    let clock = s.int(0)?;
    let addr = s.block(s.args[1], 16, false)?;
    let bytes = memory::read_bytes(s.cx, addr, 16)?;
    let [seconds, nanoseconds] = [0, 8].map(|at| memory::joined(s.cx, &bytes[at..at + 8]));
    let pool = &mut s.cx.core.pool;
    let (zero, second) = (pool.bits(64, 0), pool.bits(64, 1_000_000_000));
    let (since, within) = (pool.sle(zero, seconds), pool.ult(nanoseconds, second));
    let valid = pool.and(since, within);
    if clock != 0 || !s.cx.decide(valid)? { Err(EINVAL.into()) } else { Err(EPERM.into()) }
}

pub fn clock_getres(s: &mut Sys<'_, '_>) -> Done {
    let clock = s.int(0)?;
    let steps = known_clock(s, clock)?;
    if !s.is_null(1)? {
        s.put_pair(1, steps)?;
    }
    Ok(0)
}

pub fn gettimeofday(s: &mut Sys<'_, '_>) -> Done {
    if !s.is_null(0)? {
        s.tell(0, REAL, MICROS)?;
    }
    Ok(0)
}

pub fn time(s: &mut Sys<'_, '_>) -> Done {
    let addr = if s.is_null(0)? { None } else { Some(s.block(s.args[0], 8, true)?) };
    if let Some([seconds, _]) = s.asked_time(REAL, MICROS)? {
        s.symbolic = Some(seconds);
        addr.map_or(Ok(()), |addr| s.put_expr(addr, seconds))?;
        return Ok(0);
    }
    let now = s.now() / MICROS;
    if let Some(addr) = addr {
        s.put(addr, &now.to_le_bytes())?;
    }
    Ok(now)
}

pub fn nanosleep(s: &mut Sys<'_, '_>) -> Done {
    s.sleep(0)
}

/// clock_nanosleep(clock, flags, time, left).
pub fn clock_nanosleep(s: &mut Sys<'_, '_>) -> Done {
    let (clock, absolute) = (s.int(0)?, s.int(1)? & 1 != 0);
    match clock {
        // CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI
        0 | 1 | 7 | 11 => {}
        // CLOCK_MONOTONIC_RAW, and the coarse ones
        4..=6 => return Err(EOPNOTSUPP.into()),
        3 | 10 | 12.. => return Err(EINVAL.into()),
        _ => return Err(PathEnd::Unsupported("a sleep by the time of a processor, or by an alarm".into()).into()),
    }
    if absolute { s.sleep_until(2) } else { s.sleep(2) }
}
