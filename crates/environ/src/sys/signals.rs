//! Signals that the program sends itself, timers that send them, and their handlers (docs/signals.md).
//!
//! A signal is pending until the mask lets it through, which is asked at the end of each system call. Its handler is called by
//! `__wryneck_deliver` of the bitcode library, in whose place the system call goes on. When the handler has returned, the mask is as it was before, and
//! the system call gives its result, or is made again (`SA_RESTART`). A timer's signal comes when the clock has passed its time, or when a call waits.
//!
//! A path on which a signal is pending, a timer is set or a handler was called is not sliced: any call may deliver, and no call of the handler stands in
//! the code.

use std::rc::Rc;

use wryneck_exec::processes::running;
use wryneck_exec::{Cx, FaultKind, PathEnd, Reply, Stop, Value};

use super::time::{MICROS, micros};
use super::{Done, Sys, children};
use crate::Linux;
use crate::errno::{EAGAIN, EINTR, EINVAL, Errno, Halt, RESTARTS};
use crate::processes::Own;
use crate::sig::Args;
use crate::state::World;
use crate::threads;

/// The function that calls a handler.
const DELIVER: &str = "__wryneck_deliver";
pub(super) const SIGABRT: u32 = 6;
const SIGKILL: u32 = 9;
const SIGPIPE: u32 = 13;
const SIGALRM: u32 = 14;
const SIGCHLD: u32 = 17;
const SIGCONT: u32 = 18;
const SIGSTOP: u32 = 19;
/// The last one.
pub(super) const SIGNALS: i32 = 64;
/// The first one of which several may be pending.
const FIRST_QUEUED: u32 = 32;
/// Signals in the kernel's order come first where a fault of the program sends them: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS.
const OF_FAULTS: u64 = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 10 | 1 << 30;
/// SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU.
const STOPS: u64 = 1 << 18 | 1 << 19 | 1 << 20 | 1 << 21;
/// What the kernel ignores where the program says nothing: SIGCHLD, SIGCONT, SIGURG, SIGWINCH.
const IGNORED: u64 = 1 << 16 | 1 << 17 | 1 << 22 | 1 << 27;
/// No mask has them.
pub(super) const NEVER_BLOCKED: u64 = 1 << 8 | 1 << 18;
/// Handlers that are no functions: `SIG_DFL`, `SIG_IGN`.
const DEFAULT: u64 = 0;
const IGNORE: u64 = 1;
/// Flags of `sigaction`.
const WITH_INFO: u64 = 4;
const RESTART: u64 = 0x1000_0000;
const NO_DEFER: u64 = 0x4000_0000;
const RESET: u64 = 0x8000_0000;
/// Who sends: `SI_USER`, `SI_KERNEL`, `SI_TKILL`.
pub(super) const BY_KILL: i32 = 0;
const BY_KERNEL: i32 = 0x80;
const BY_TKILL: i32 = -6;

/// A signal that was sent and not delivered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Sent {
    signal: u32,
    /// `si_code`.
    code: i32,
    /// `si_pid` and, above it, `si_uid`.
    who: u64,
    /// `si_value`.
    value: u64,
    /// To this thread, not to the process.
    to_thread: bool,
}

/// The timer of `alarm` and `setitimer`, in microseconds that the clock has moved on.
#[derive(Clone, Copy, Debug, Hash)]
struct Timer {
    at: u64,
    /// 0: once.
    every: u64,
}

/// What the kernel knows of signals beside handlers and the mask.
#[derive(Clone, Debug, Default, Hash)]
pub struct Pending {
    sent: Vec<Sent>,
    /// The mask from before a wait for signals that the next delivery ends.
    suspended: Option<u64>,
    timer: Option<Timer>,
}

/// Whether a handler of this signal may be called by what the slicer takes for no call of it: a write to a broken pipe, an end of the program.
pub(super) fn comes_unseen(signal: i32) -> bool {
    signal as u32 == SIGPIPE || signal as u32 == SIGABRT
}

/// Whether faults of the program send this signal, failed assertions included.
pub(super) fn is_of_faults(signal: i32) -> bool {
    (OF_FAULTS | bit(SIGABRT)) >> (signal - 1) & 1 != 0
}

/// What a signal does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Nothing,
    Ends,
    Stops,
    Calls(u64),
}

fn bit(signal: u32) -> u64 {
    1 << (signal - 1)
}

fn action(world: &World, signal: u32) -> Action {
    match world.own.handlers.get(&signal).map_or(DEFAULT, |action| action[0]) {
        IGNORE => Action::Nothing,
        DEFAULT if IGNORED & bit(signal) != 0 => Action::Nothing,
        DEFAULT if STOPS & bit(signal) != 0 => Action::Stops,
        DEFAULT => Action::Ends,
        handler => Action::Calls(handler),
    }
}

/// The end of a program by a signal.
pub(super) fn end(signal: u32) -> PathEnd {
    let message = if signal == SIGABRT { "the program aborts".into() } else { format!("the program kills itself by signal {signal}") };
    PathEnd::fault(FaultKind::Abort, message)
}

/// How a program ends of which all threads wait while a timer is set; `waits` are their waits in words. `None`: no signal will come, or it is ignored.
pub(crate) fn ends_waits(world: &World, waits: &str) -> Option<PathEnd> {
    world.own.pending.timer?;
    match action(world, SIGALRM) {
        Action::Nothing => None,
        Action::Ends if world.own.signal_mask & bit(SIGALRM) == 0 => Some(end(SIGALRM)),
        Action::Ends | Action::Stops | Action::Calls(_) => {
            Some(PathEnd::Unsupported(format!("all threads wait until a timer's signal comes: {waits}")))
        }
    }
}

/// Whether a process has set a timer.
pub(crate) fn is_timed(own: &Own) -> bool {
    own.pending.timer.is_some()
}

fn stop(signal: u32) -> PathEnd {
    PathEnd::Unsupported(format!("signal {signal} stops the program"))
}

/// Which thread a signal is for, nobody says.
const AMONG: &str = " among several threads";

fn undelivered(signal: u32, among: &str) -> PathEnd {
    PathEnd::Unsupported(format!("delivery of signal {signal} to its handler{among}"))
}

/// Whether the C library's bitcode is there to call handlers.
fn has_handlers(cx: &Cx<'_>) -> bool {
    cx.core.image.function_address(DELIVER).is_some()
}

/// Whether the program handles SIGABRT itself: `Err` if that handler cannot be called.
pub fn handles_abort(cx: &Cx<'_>) -> Result<bool, Stop> {
    match action(World::of(cx), SIGABRT) {
        Action::Calls(_) if has_handlers(cx) => Ok(true),
        Action::Calls(_) => Err(undelivered(SIGABRT, "").into()),
        Action::Nothing | Action::Ends | Action::Stops => Ok(false),
    }
}

impl World {
    /// Whether the program handles a signal that a fault of its own sends.
    pub fn handles_faults(&self) -> bool {
        (1..=SIGNALS as u32).any(|signal| OF_FAULTS & bit(signal) != 0 && matches!(action(self, signal), Action::Calls(_)))
    }

    fn pending(&mut self) -> &mut Pending {
        Rc::make_mut(&mut self.own.pending)
    }

    /// Adds a signal to those that are pending, unless it is ignored.
    fn post(&mut self, sent: Sent) {
        let ignored = action(self, sent.signal) == Action::Nothing && self.own.signal_mask & bit(sent.signal) == 0;
        let pending = self.pending();
        match sent.signal {
            SIGCONT => pending.sent.retain(|other| STOPS & bit(other.signal) == 0),
            signal if STOPS & bit(signal) != 0 => pending.sent.retain(|other| other.signal != SIGCONT),
            _ => {}
        }
        let again = |other: &Sent| (other.signal, other.to_thread) == (sent.signal, sent.to_thread);
        if !ignored && (sent.signal >= FIRST_QUEUED || !pending.sent.iter().any(again)) {
            pending.sent.push(sent);
        }
    }

    /// The place of the signal of this set that the kernel would deliver next.
    fn first(&self, set: u64) -> Option<usize> {
        let sent = self.own.pending.sent.iter().enumerate().filter(|(_, sent)| set & bit(sent.signal) != 0);
        let order = |sent: &Sent| (!sent.to_thread, OF_FAULTS & bit(sent.signal) == 0, sent.signal);
        sent.min_by_key(|(place, sent)| (order(sent), *place)).map(|(place, _)| place)
    }

    /// Whether a signal is pending that this mask lets through and that ends a wait.
    fn wakes(&self, mask: u64) -> bool {
        let mut sent = self.own.pending.sent.iter();
        sent.any(|sent| mask & bit(sent.signal) == 0 && action(self, sent.signal) != Action::Nothing)
    }

    /// Sends the signal of a timer whose time has come.
    fn expire(&mut self) {
        let Some(timer) = self.own.pending.timer.filter(|timer| timer.at <= self.ticks) else { return };
        let periods = (self.ticks - timer.at).checked_div(timer.every).map(|passed| passed + 1);
        let next = periods.map(|periods| Timer { at: timer.at.saturating_add(periods.saturating_mul(timer.every)), ..timer });
        self.pending().timer = next;
        self.post(Sent { signal: SIGALRM, code: BY_KERNEL, who: 0, value: 0, to_thread: false });
    }

    /// A handler is set: what is pending and now ignored is forgotten.
    pub(super) fn forget_ignored(&mut self, signal: u32) {
        if action(self, signal) == Action::Nothing && self.own.pending.sent.iter().any(|sent| sent.signal == signal) {
            self.pending().sent.retain(|sent| sent.signal != signal);
        }
    }
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// A signal with a handler came, or one that ends the program.
    Interrupted,
    /// A signal came that was waited for.
    Signal,
    TimedOut,
}

impl Sys<'_, '_> {
    /// Waits until the clock has moved on by so many microseconds since the start, or for ever. `mask`: signals that do not interrupt; `set`: signals
    /// that are waited for. `what`: the wait in words, if more than a signal or the time may end it. `None`: nothing will ever happen.
    fn wait_with(&mut self, until: Option<u64>, mask: u64, set: u64, what: Option<&str>) -> Result<Option<Waited>, Halt> {
        if self.world().ticks >= self.world().own.pending.timer.map_or(u64::MAX, |timer| timer.at) {
            self.change().expire();
        }
        loop {
            let world = self.world();
            if world.first(set).is_some() {
                return Ok(Some(Waited::Signal));
            }
            if world.wakes(mask) {
                return Ok(Some(Waited::Interrupted));
            }
            let rings = (set & bit(SIGALRM) != 0 || mask & bit(SIGALRM) == 0 && action(world, SIGALRM) != Action::Nothing).then_some(());
            let timer = rings.and(world.own.pending.timer).map(|timer| timer.at).filter(|at| until.is_none_or(|until| *at <= until));
            let Some(to) = self.others_first(timer.or(until), what)? else { return Ok(None) };
            let world = self.change();
            world.ticks = world.ticks.max(to);
            world.expire();
            if timer.is_none() {
                return Ok(Some(Waited::TimedOut));
            }
        }
    }

    /// Waits for something that a signal, the time, or another thread or process may end; `what` is that wait in words. `Err` says what interrupted it,
    /// `Ok` that the time came.
    pub fn wait(&mut self, until: Option<u64>, interrupted: Errno, what: &str) -> Result<(), Halt> {
        let mask = self.world().own.signal_mask;
        match self.wait_with(until, mask, 0, Some(what))? {
            Some(Waited::TimedOut) => Ok(()),
            Some(Waited::Interrupted | Waited::Signal) => Err(interrupted.into()),
            None => Err(PathEnd::Unsupported(what.into()).into()),
        }
    }

    /// Sleeps until a time, or until a signal interrupts that.
    pub fn sleep_until_time(&mut self, until: u64) -> Result<(), Halt> {
        let mask = self.world().own.signal_mask;
        match self.wait_with(Some(until), mask, 0, None)? {
            Some(Waited::Interrupted | Waited::Signal) => Err(EINTR.into()),
            Some(Waited::TimedOut) | None => Ok(()),
        }
    }

    /// As [`Sys::wait`], with another mask meanwhile, which a handler that interrupts begins with.
    pub fn wait_masked(&mut self, until: Option<u64>, mask: Option<u64>, what: &str) -> Result<(), Halt> {
        let Some(mask) = mask.map(|mask| mask & !NEVER_BLOCKED) else { return self.wait(until, EINTR, what) };
        let waited = self.wait_with(until, mask, 0, Some(what))?;
        if let Some(Waited::Interrupted | Waited::Signal) = waited {
            let world = self.change();
            let before = std::mem::replace(&mut world.own.signal_mask, mask);
            world.pending().suspended = Some(before);
            return Err(EINTR.into());
        }
        if waited.is_none() { Err(PathEnd::Unsupported(what.into()).into()) } else { Ok(()) }
    }

    /// Whether a signal may come by itself.
    pub fn has_timer(&self) -> bool {
        self.world().own.pending.timer.is_some()
    }

    fn put_info(&mut self, at: u64, sent: &Sent) -> Result<(), Halt> {
        let mut info = [0; 128];
        info[..4].copy_from_slice(&sent.signal.to_le_bytes());
        info[8..12].copy_from_slice(&sent.code.to_le_bytes());
        info[16..24].copy_from_slice(&sent.who.to_le_bytes());
        info[24..32].copy_from_slice(&sent.value.to_le_bytes());
        self.put(at, &info)
    }

    fn me(&self) -> u64 {
        children::pid(running(self.cx.state)) | u64::from(self.linux.input.user) << 32
    }
}

/// The program sends itself a signal.
fn send(s: &mut Sys<'_, '_>, signal: i32, code: i32, value: u64) -> Done {
    if !(0..=SIGNALS).contains(&signal) {
        return Err(EINVAL.into());
    }
    let signal = signal as u32;
    match signal {
        0 => return Ok(0),
        SIGKILL => {
            let who = s.me();
            return Err(children::killed(s.cx, signal, who).into());
        }
        SIGSTOP => return Err(stop(signal).into()),
        _ => {}
    }
    if let Action::Calls(_) = action(s.world(), signal)
        && (!has_handlers(s.cx) || threads::has_others(s.cx))
    {
        let among = if threads::has_others(s.cx) { AMONG } else { "" };
        return Err(undelivered(signal, among).into());
    }
    let sent = Sent { signal, code, who: s.me(), value, to_thread: code == BY_TKILL };
    s.change().post(sent);
    // From now on any call may deliver it, which no slice follows.
    if s.world().own.pending.sent.iter().any(|other| other.signal == signal) {
        s.cx.state.jumped = true;
    }
    Ok(0)
}

/// Who sends a signal by `kill`, for [`send_to_parked`].
pub fn sender(s: &Sys<'_, '_>) -> u64 {
    s.me()
}

/// Sends a signal to the process that the world is that of. `Ok(true)`: that ends it.
pub fn send_to_parked(world: &mut World, signal: i32, (code, value): (i32, u64), who: u64) -> Result<bool, Halt> {
    if !(0..=SIGNALS).contains(&signal) {
        return Err(EINVAL.into());
    }
    let signal = signal as u32;
    if signal == 0 {
        return Ok(false);
    }
    if signal == SIGKILL {
        return Ok(true);
    }
    match action(world, signal) {
        Action::Stops => return Err(stop(signal).into()),
        Action::Ends if world.own.signal_mask & bit(signal) == 0 => return Ok(true),
        Action::Nothing | Action::Ends | Action::Calls(_) => {}
    }
    world.post(Sent { signal, code, who, value, to_thread: false });
    Ok(false)
}

/// A child of the process that the world is that of has ended: how (`si_code`), its number, its status. Whether nobody will ask for that.
pub fn child_ended(world: &mut World, (code, child, status): (i32, u64, u32)) -> bool {
    const NO_CHILD_WAITS: u64 = 2;
    let action = world.own.handlers.get(&SIGCHLD).copied().unwrap_or_default();
    if action[0] != IGNORE {
        world.post(Sent { signal: SIGCHLD, code, who: child, value: status.into(), to_thread: false });
    }
    action[0] == IGNORE || action[1] & NO_CHILD_WAITS != 0
}

/// By `kill`.
pub fn send_to_process(s: &mut Sys<'_, '_>, signal: i32) -> Done {
    send(s, signal, BY_KILL, 0)
}

/// By `tkill` or `tgkill`.
pub fn send_to_thread(s: &mut Sys<'_, '_>, signal: i32) -> Done {
    send(s, signal, BY_TKILL, 0)
}

/// A write to a pipe that nobody reads.
pub fn broken_pipe(s: &mut Sys<'_, '_>) -> Done {
    send(s, SIGPIPE as i32, BY_KILL, 0)
}

/// rt_sigqueueinfo(process, signal, info).
pub fn rt_sigqueueinfo(s: &mut Sys<'_, '_>) -> Done {
    let (pid, signal) = (s.int(0)?, s.int(1)?);
    let info = s.words(s.args[2], 4)?;
    if children::send(s, pid, signal, (info[1] as u32 as i32, info[3]))? {
        return Ok(0);
    }
    send(s, signal, info[1] as u32 as i32, info[3])
}

/// rt_sigpending(set, size).
pub fn rt_sigpending(s: &mut Sys<'_, '_>) -> Done {
    let addr = s.block(s.args[0], 8, true)?;
    let world = s.world();
    let pending = world.own.pending.sent.iter().fold(0, |set, sent| set | bit(sent.signal)) & world.own.signal_mask;
    s.put(addr, &pending.to_le_bytes())?;
    Ok(0)
}

/// rt_sigsuspend(mask, size).
pub fn rt_sigsuspend(s: &mut Sys<'_, '_>) -> Done {
    let mask = s.words(s.args[0], 1)?[0];
    s.wait_masked(None, Some(mask), IN_VAIN)?;
    Err(EINTR.into())
}

const IN_VAIN: &str = "a wait for a signal that nobody sends";

pub fn pause(s: &mut Sys<'_, '_>) -> Done {
    s.wait(None, EINTR, IN_VAIN)?;
    Err(EINTR.into())
}

/// rt_sigtimedwait(set, info, time, size): takes a pending signal of the set, or waits for one.
pub fn rt_sigtimedwait(s: &mut Sys<'_, '_>) -> Done {
    let set = s.words(s.args[0], 1)?[0] & !NEVER_BLOCKED;
    let until = s.limit(2)?.map(|time| s.world().ticks.saturating_add(time));
    let info = if s.is_null(1)? { None } else { Some(s.block(s.args[1], 128, true)?) };
    let mask = s.world().own.signal_mask;
    match s.wait_with(until, mask, set, Some(IN_VAIN))? {
        Some(Waited::Signal) => {}
        Some(Waited::Interrupted) => return Err(EINTR.into()),
        Some(Waited::TimedOut) => return Err(EAGAIN.into()),
        None => return Err(PathEnd::Unsupported(IN_VAIN.into()).into()),
    }
    let place = s.world().first(set).ok_or(EAGAIN)?;
    let sent = s.change().pending().sent.remove(place);
    if let Some(info) = info {
        note_info(s.linux);
        s.put_info(info, &sent)?;
    }
    Ok(sent.signal.into())
}

/// alarm(seconds).
pub fn alarm(s: &mut Sys<'_, '_>) -> Done {
    let seconds = s.int(0)? as u32;
    let (left, _) = left(s.world());
    set_timer(s, u64::from(seconds) * MICROS, 0);
    // Less than a second is one; more is rounded to the nearest.
    let seconds = left / MICROS + u64::from(left % MICROS >= MICROS / 2);
    Ok(if left > 0 { seconds.max(1) } else { 0 })
}

/// Microseconds until the timer's signal, and between it and the next.
fn left(world: &World) -> (u64, u64) {
    world.own.pending.timer.map_or((0, 0), |timer| (timer.at.saturating_sub(world.ticks).max(1), timer.every))
}

fn set_timer(s: &mut Sys<'_, '_>, time: u64, every: u64) {
    s.cx.state.jumped |= time > 0;
    let world = s.change();
    let at = world.ticks.saturating_add(time);
    world.pending().timer = (time > 0).then_some(Timer { at, every });
}

fn real_timer(which: i32) -> Result<(), Halt> {
    match which {
        0 => Ok(()),
        1 | 2 => Err(PathEnd::Unsupported("a timer of the processor's time (`ITIMER_VIRTUAL`, `ITIMER_PROF`)".into()).into()),
        _ => Err(EINVAL.into()),
    }
}

/// getitimer(which, value).
pub fn getitimer(s: &mut Sys<'_, '_>) -> Done {
    let which = s.int(0)?;
    real_timer(which)?;
    let addr = s.block(s.args[1], 32, true)?;
    put_timer(s, addr)
}

fn put_timer(s: &mut Sys<'_, '_>, addr: u64) -> Done {
    let (left, every) = left(s.world());
    s.put(addr, &[every / MICROS, every % MICROS, left / MICROS, left % MICROS].map(u64::to_le_bytes).concat())?;
    Ok(0)
}

/// setitimer(which, new, old).
pub fn setitimer(s: &mut Sys<'_, '_>) -> Done {
    let which = s.int(0)?;
    real_timer(which)?;
    let new = if s.is_null(1)? { vec![0; 4] } else { s.words(s.args[1], 4)? };
    let (every, time) = (micros(new[0], new[1], MICROS)?, micros(new[2], new[3], MICROS)?);
    if !s.is_null(2)? {
        let addr = s.block(s.args[2], 32, true)?;
        put_timer(s, addr)?;
    }
    set_timer(s, time, every);
    Ok(0)
}

/// Who sent a signal, natively another process id.
fn note_info(linux: &Linux) {
    linux.captured.note_unknown("which process sent a signal");
}

/// A system call with its number and arguments, which may be made again.
pub type Made<'a> = (u64, &'a [Value; 6]);

/// What a system call with this result gives: the signals that may be delivered come first.
pub fn then(linux: &Linux, mut result: Value, made: Option<Made<'_>>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let world = World::of(cx);
    if world.own.pending.timer.is_some_and(|timer| timer.at <= world.ticks) {
        World::change(cx).expire();
    }
    loop {
        let world = World::of(cx);
        let Some(place) = world.first(!world.own.signal_mask) else { return Ok(Reply::Value(result)) };
        let sent = world.own.pending.sent[place];
        let signal = sent.signal;
        let (does, among) = (action(world, signal), threads::has_others(cx));
        let world = World::change(cx);
        world.pending().sent.remove(place);
        let handler = match does {
            Action::Nothing => continue,
            Action::Ends => return Err(children::killed(cx, signal, sent.who)),
            Action::Stops => return Err(stop(signal).into()),
            Action::Calls(_) if among => return Err(undelivered(signal, AMONG).into()),
            Action::Calls(handler) => handler,
        };
        let [_, flags, _, masked] = world.own.handlers.get(&signal).copied().unwrap_or_default();
        let mask = world.own.signal_mask;
        let before = if world.own.pending.suspended.is_some() { world.pending().suspended.take() } else { None }.unwrap_or(mask);
        world.own.signal_mask = (mask | masked | if flags & NO_DEFER == 0 { bit(signal) } else { 0 }) & !NEVER_BLOCKED;
        if flags & RESET != 0
            && let Some(action) = Rc::make_mut(&mut world.own.handlers).get_mut(&signal)
        {
            action[0] = DEFAULT;
        }
        if flags & WITH_INFO != 0 {
            note_info(linux);
        }
        let restarts = Value::Bits(RESTARTS.negated()) == result;
        if restarts {
            result = Value::Bits(EINTR.negated());
        }
        let again = made.filter(|_| restarts && flags & RESTART != 0);
        cx.state.jumped = true;
        let Some(deliver) = cx.core.image.function_address(DELIVER) else { return Err(undelivered(signal, "").into()) };
        let (number, args) = again.unwrap_or((0, &[Value::Bits(0); 6]));
        let code = i64::from(sent.code) as u64;
        let words = [signal.into(), handler, flags, before, code, sent.who, sent.value, again.is_some().into(), number].map(Value::Bits);
        return Ok(Reply::Tail(deliver, [&[result], &words[..], &args[..]].concat()));
    }
}

/// `__wryneck_signals()`: delivers what may be delivered before a handler begins.
pub fn others(linux: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    then(linux, Value::Bits(0), None, cx)
}

/// `__wryneck_signalled(result, mask)`: a handler has returned.
pub fn returned(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let (result, mask) = (args.value(0), args.number(cx, 1)?);
    World::change(cx).own.signal_mask = mask & !NEVER_BLOCKED;
    then(linux, result, None, cx)
}
