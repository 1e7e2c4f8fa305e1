//! Processes that a program makes: `fork`, waiting for them, their ends, and giving way (docs/processes.md).

use std::rc::Rc;

use wryneck_exec::processes::{self, ProcessId, are_several, running};
use wryneck_exec::{Cx, FaultKind, LedgerKind, PathEnd, Stop, Turn, Value, inputs, set_stack_pointer};

use super::process::{PID, is_own};
use super::{Done, Sys, fd, signals, standing};
use crate::errno::{EAGAIN, ECHILD, EINVAL, ENOSYS, ESRCH, Halt, RESTARTS};
use crate::failing::choose_byte;
use crate::processes::{CALLS, MOST, Process, Status};
use crate::state::World;
use crate::threads;
use crate::threads::kernel::Asked;

/// Flags of `clone`: memory is shared, and the parent waits until the child ends.
pub(crate) const SHARES_MEMORY: u64 = 0x100;
const AS_VFORK: u64 = 0x4000;
/// The signal that a child's end sends, in the lowest byte of the flags.
const SIGCHLD: u64 = 17;
/// `CLONE_PARENT_SETTID`, `CLONE_CHILD_SETTID`: the child's id goes where the third argument points to, or in the child the fourth.
pub(crate) const TELLS_PARENT: u64 = 0x0010_0000;
pub(crate) const TELLS_CHILD: u64 = 0x0100_0000;
/// `CLONE_CHILD_CLEARTID`: it is cleared at the child's end, which nobody sees where no memory is shared.
pub(crate) const CLEARS: u64 = 0x0020_0000;
const NO_HANG: u32 = 1;
/// Of `waitid`: it leaves the child as it is.
const NO_WAIT: u32 = 0x0100_0000;
const EXITED: i32 = 1;
const KILLED: i32 = 2;

/// The id of a process.
pub fn pid(process: ProcessId) -> u64 {
    PID + u64::from(process)
}

/// The status word of a process that has exited.
fn exited(status: u8) -> u32 {
    u32::from(status) << 8
}

/// Makes a process that is as the running one is: its number, or `None` in the new one. `stack`: where that has its stack, or 0 for the same place.
fn make(s: &mut Sys<'_, '_>, stack: u64) -> Result<Option<ProcessId>, Halt> {
    let me = running(s.cx.state);
    if s.world().processes.all.get(me as usize).is_some_and(|process| process.is_new) {
        s.change().processes_mut().all[me as usize].is_new = false;
        if stack != 0 {
            set_stack_pointer(s.cx, stack);
        }
        return Ok(None);
    }
    if s.cx.core.monitor.is_some() || s.cx.core.lazy.is_some() || s.notes() {
        s.fails("`fork` fails, since several processes are followed by `run` alone");
        return Err(ENOSYS.into());
    }
    if has_shared_memory(s) {
        return Err(PathEnd::Unsupported("`fork` of a program with shared memory".into()).into());
    }
    if s.world().processes.all.iter().filter(|process| process.is_alive()).count() >= MOST {
        s.fails("`fork` fails where a path has 256 processes");
        return Err(EAGAIN.into());
    }
    if !are_several(s.cx.state) {
        let what = "orders in which processes run, but for one: each runs until it waits or ends";
        s.cx.core.ledger.note(LedgerKind::ThreadOrder, what);
    }
    let thread = s.cx.state.thread();
    s.change().add_process(me, thread);
    Ok(Some(processes::make(s.cx.state)))
}

/// How a process has ended by its status word: `si_code` and `si_status`.
fn how(status: u32) -> (i32, u32) {
    if status & 0xff == 0 { (EXITED, status >> 8) } else { (KILLED, status & 0x7f) }
}

/// fork().
pub fn fork(s: &mut Sys<'_, '_>) -> Done {
    Ok(make(s, 0)?.map_or(0, pid))
}

/// vfork(): as `fork`, with a copy of the memory, too.
pub fn vfork(s: &mut Sys<'_, '_>) -> Done {
    make_and_wait(s, 0)
}

/// As [`make`], but the parent waits until the child has ended.
fn make_and_wait(s: &mut Sys<'_, '_>, stack: u64) -> Done {
    let me = running(s.cx.state) as usize;
    let child = match s.world().processes.all.get(me).and_then(|process| process.waits_for) {
        Some(child) => child,
        None => {
            let Some(child) = make(s, stack)? else { return Ok(0) };
            let all = &mut s.change().processes_mut().all;
            all[me].waits_for = Some(child);
            // On the same stack its calls would take the place of those in progress.
            all[child as usize].shares_memory = stack != 0;
            child
        }
    };
    if s.world().processes.all[child as usize].is_alive() {
        // Signals do not interrupt it.
        others_first(s.cx, None, "a wait for the child of `vfork`")?;
    }
    s.change().processes_mut().all[me].waits_for = None;
    Ok(pid(child))
}

/// Whether the program has memory that several processes would share.
fn has_shared_memory(s: &Sys<'_, '_>) -> bool {
    s.world().shares_memory || s.world().own.mappings.values().any(|mapping| mapping.shared)
}

/// clone(flags, stack, …): as `fork`, or as `vfork`; on a stack of its own only in machine code.
pub fn clone(s: &mut Sys<'_, '_>) -> Done {
    let (flags, stack) = (s.long(0)?, s.long(1)?);
    let shares = flags & SHARES_MEMORY != 0 && flags & AS_VFORK == 0;
    let has_stack = stack == 0 || s.cx.core.config.machine_code;
    if flags & !(0xff | SHARES_MEMORY | AS_VFORK | TELLS_PARENT | TELLS_CHILD | CLEARS) != 0
        || shares
        || !has_stack
        || flags & 0xff != SIGCHLD
    {
        s.fails("`clone` fails where it makes no process of the known kinds");
        return Err(ENOSYS.into());
    }
    let told = |s: &mut Sys<'_, '_>, flag, i: usize| if flags & flag != 0 { s.block(s.args[i], 4, true).map(Some) } else { Ok(None) };
    let (in_parent, in_child) = (told(s, TELLS_PARENT, 2)?, told(s, TELLS_CHILD, 3)?);
    let done = if flags & AS_VFORK != 0 { make_and_wait(s, stack)? } else { make(s, stack)?.map_or(0, pid) };
    let (at, id) = if done > 0 { (in_parent, done) } else { (in_child, pid(running(s.cx.state))) };
    if let Some(at) = at {
        s.put(at, &(id as u32).to_le_bytes())?;
    }
    Ok(done)
}

/// clone3(structure, size): as `clone`.
pub fn clone3(s: &mut Sys<'_, '_>) -> Done {
    let asked = threads::kernel::by_structure(s.cx, &s.args)?;
    let Asked { flags, stack, in_parent, in_child, pointer } = asked;
    s.args = [flags, stack, in_parent, in_child, pointer, 0].map(Value::Bits);
    clone(s)
}

/// sched_yield().
pub fn sched_yield(s: &mut Sys<'_, '_>) -> Done {
    s.give_way().map(|()| 0)
}

/// wait4(process, status, options, usage).
pub fn wait4(s: &mut Sys<'_, '_>) -> Done {
    // WNOHANG, WUNTRACED, WCONTINUED, __WNOTHREAD, __WALL, __WCLONE.
    const KNOWN: u32 = 1 | 2 | 8 | 0xe000_0000;
    let (process, options) = (s.int(0)?, s.int(2)? as u32);
    if options & !KNOWN != 0 {
        return Err(EINVAL.into());
    }
    if process == i32::MIN {
        return Err(ESRCH.into());
    }
    let of_all = matches!(process, -1 | 0) || process.unsigned_abs() == PID as u32 && process < 0;
    let found = awaited(s, |child| of_all || process > 0 && pid(child) == process as u64, options & NO_HANG != 0)?;
    let Some((child, status)) = found else { return Ok(0) };
    if !s.is_null(1)? {
        let addr = s.block(s.args[1], 4, true)?;
        s.put(addr, &status.to_le_bytes())?;
    }
    if !s.is_null(3)? {
        standing::put_usage(s, 3, "what a child has used (`struct rusage`) is nothing")?;
    }
    s.change().processes_mut().all[child as usize].status = Status::Gone;
    Ok(pid(child))
}

/// waitid(kind, id, information, options, usage); a descriptor of a process cannot be there.
pub fn waitid(s: &mut Sys<'_, '_>) -> Done {
    const KNOWN: u32 = 1 | 2 | 4 | 8 | NO_WAIT | 0xe000_0000;
    const ENDS: u32 = 4;
    let (kind, id, options) = (s.int(0)?, s.int(1)?, s.int(3)? as u32);
    match kind {
        _ if options & !KNOWN != 0 || options & 0b1110 == 0 => return Err(EINVAL.into()),
        0 | 2 => {}
        1 if id > 0 => {}
        3 if id >= 0 => return Err(crate::errno::EBADF.into()),
        _ => return Err(EINVAL.into()),
    }
    let matches = |child| options & ENDS != 0 && (kind == 0 || kind == 2 && matches!(id as u64, 0 | PID) || pid(child) == id as u64);
    let found = awaited(s, matches, options & NO_HANG != 0)?;
    let info = if s.is_null(2)? { None } else { Some(s.block(s.args[2], 128, true)?) };
    if let Some(info) = info {
        let mut bytes = [0; 128];
        if let Some((child, status)) = found {
            let (code, status) = how(status);
            bytes[..4].copy_from_slice(&(SIGCHLD as u32).to_le_bytes());
            bytes[8..12].copy_from_slice(&code.to_le_bytes());
            bytes[16..20].copy_from_slice(&(pid(child) as u32).to_le_bytes());
            bytes[20..24].copy_from_slice(&s.linux.input.user.to_le_bytes());
            bytes[24..28].copy_from_slice(&status.to_le_bytes());
        }
        s.put(info, &bytes)?;
    }
    if let Some((child, _)) = found.filter(|_| options & NO_WAIT == 0) {
        s.change().processes_mut().all[child as usize].status = Status::Gone;
    }
    Ok(0)
}

/// A child that has ended, and its status word; `None`: none has, and the call does not wait. Waits otherwise.
fn awaited(s: &mut Sys<'_, '_>, matches: impl Fn(ProcessId) -> bool, no_hang: bool) -> Result<Option<(ProcessId, u32)>, Halt> {
    let me = running(s.cx.state);
    let all = &s.world().processes.all;
    let children = (0..).zip(all).filter(|(child, process)| process.parent == Some(me) && matches(*child));
    let (mut any, mut ended) = (false, None);
    for (child, process) in children {
        any |= process.status != Status::Gone;
        match process.status {
            Status::Ended(status) => ended = ended.or(Some((child, status))),
            Status::Ready | Status::Waits(_) | Status::Gone => {}
        }
    }
    match ended {
        _ if !any => Err(ECHILD.into()),
        Some(_) => Ok(ended),
        None if no_hang => s.give_way().map(|()| None),
        None => {
            s.wait(None, RESTARTS, "a wait for a child")?;
            Err(EAGAIN.into())
        }
    }
}

/// A child executes another program, which is not run: it reads and writes nothing, and ends with status 0 or 1. `None`: the program is no child.
pub fn executes(s: &mut Sys<'_, '_>) -> Result<Option<Halt>, Halt> {
    if running(s.cx.state) == 0 {
        return Ok(None);
    }
    const STATUS: &str = "status of an executed program";
    let status = choose_byte(s.cx, STATUS, &[0, 1])?;
    inputs::new_input(s.cx, STATUS, 1);
    s.fails("a program that a child executes is not run: it reads and writes nothing, and ends with status 0 or 1");
    Ok(Some(exit(s.cx, status).into()))
}

/// The end of the running process with an exit status.
pub fn exit(cx: &mut Cx<'_>, status: u8) -> Stop {
    if !are_several(cx.state) {
        return PathEnd::Exit(status).into();
    }
    end_running(cx, exited(status))
}

/// The end of the running process by a signal that ends it. `abort` is an error, and so is a signal that ends the first process. `who`: the sender's id.
pub fn killed(cx: &mut Cx<'_>, signal: u32, who: u64) -> Stop {
    let me = running(cx.state);
    let is_abort = signal == signals::SIGABRT && who as u32 == pid(me) as u32;
    if me > 0 && !is_abort { end_running(cx, signal) } else { signals::end(signal).into() }
}

fn end_running(cx: &mut Cx<'_>, status: u32) -> Stop {
    let me = running(cx.state);
    let of_both = |process: &Process| process.parent.filter(|_| process.shares_memory);
    if let Some(parent) = World::of(cx).processes.all.get(me as usize).and_then(of_both) {
        processes::leave_memory(cx.state, parent);
    }
    let world = World::change(cx);
    close_all(world);
    ended(world, me, (me, status));
    goes_on(cx, me, true)
}

/// Closes the descriptors of the running process.
fn close_all(world: &mut World) {
    for number in 0..world.own.fds.len() {
        fd::release(world, number);
    }
}

/// Notes that a process has ended, by its status word: its parent may ask for that, and gets a signal. Its own children have no parent any more.
fn ended(world: &mut World, running: ProcessId, (process, status): (ProcessId, u32)) {
    let all = &mut world.processes_mut().all;
    for child in all.iter_mut().filter(|child| child.parent == Some(process)) {
        child.parent = None;
        if matches!(child.status, Status::Ended(_)) {
            child.status = Status::Gone;
        }
    }
    let parent = all[process as usize].parent;
    all[process as usize].status = if parent.is_some() { Status::Ended(status) } else { Status::Gone };
    let processes = world.processes_mut();
    if process == 0 {
        processes.first = Some(status);
    }
    processes.try_again();
    let Some(parent) = parent else { return };
    world.exchange(running, parent);
    let (code, status) = how(status);
    if signals::child_ended(world, (code, pid(process), status)) {
        // Nobody asks for it.
        world.processes_mut().all[process as usize].status = Status::Gone;
    }
    world.exchange(parent, running);
}

/// Which process goes on in place of one that waits or has ended. If none can: the path is over.
fn goes_on(cx: &mut Cx<'_>, me: ProcessId, ends: bool) -> Stop {
    let world = World::of(cx);
    let next = world.ready(me).or_else(|| world.first_to_wake().map(|(_, process)| process));
    match (next, World::of(cx).processes.first) {
        (Some(to), _) => {
            World::change(cx).exchange(me, to);
            World::change(cx).processes_mut().all[to as usize].status = Status::Ready;
            Stop::Switch(Turn { to, ends })
        }
        // What is left waits for ever, and nobody waits for it.
        (None, Some(status)) => match how(status) {
            (EXITED, status) => PathEnd::Exit(status as u8).into(),
            (_, signal) => signals::end(signal).into(),
        },
        (None, None) => deadlock(cx).into(),
    }
}

fn deadlock(cx: &Cx<'_>) -> PathEnd {
    let all = (0..).zip(&World::of(cx).processes.all);
    let waits = all.filter_map(|(number, process)| match &process.status {
        Status::Waits(what) => Some(format!("{} is at {what}", name(number))),
        Status::Ready | Status::Ended(_) | Status::Gone => None,
    });
    let waits = waits.collect::<Vec<_>>().join("; ");
    let world = World::of(cx);
    match signals::is_timed(&world.own) || world.processes.are_timed() {
        true => PathEnd::Unsupported(format!("all processes wait until a timer's signal comes: {waits}")),
        false => PathEnd::fault(FaultKind::Deadlock, format!("all processes wait: {waits}")),
    }
}

fn name(process: ProcessId) -> String {
    if process == 0 { "the first process".into() } else { format!("child {process}") }
}

/// Other processes go on where the running one waits, until a time or for ever; `what` in words. `Ok` as [`Sys::others_first`].
pub(crate) fn others_first(cx: &mut Cx<'_>, until: Option<u64>, what: &str) -> Result<Option<u64>, Stop> {
    let (me, world) = (running(cx.state), World::of(cx));
    if until.is_some_and(|until| until <= world.ticks) {
        return Ok(until);
    }
    let (ready, first) = (world.ready(me), world.first_to_wake());
    if ready.is_none() && until.is_some_and(|until| first.is_none_or(|(at, process)| (until, me) <= (at, process))) {
        return Ok(until);
    }
    let place = threads::place(cx, &cx.state.call_stack());
    let what: Rc<str> = format!("{what} ({place})").into();
    let process = &mut World::change(cx).processes_mut().all[me as usize];
    (process.status, process.until, process.calls) = (Status::Waits(what), until, 0);
    Err(goes_on(cx, me, false))
}

impl Sys<'_, '_> {
    /// The running thread waits for what only another one or another process can do, or for a time: others go on. `Ok`: it is its turn although nothing
    /// has happened; the clock may move on to this time, if there is one. `what`: the wait in words, if not for a time alone.
    pub fn others_first(&mut self, until: Option<u64>, what: Option<&str>) -> Result<Option<u64>, Halt> {
        if self.cx.state.has_threads() {
            let next = match (what, until) {
                (None, Some(until)) => threads::calls::sleep(self.cx, until, self.number.into())?,
                _ => threads::calls::others_first(self.cx, until, self.number.into(), self.file())?,
            };
            // Its time has come, which the call that it began with says.
            return next.map_or_else(|| Ok(Some(self.world().ticks)), |thread| Err(Halt::Switch(thread)));
        }
        if !are_several(self.cx.state) {
            return Ok(until);
        }
        let until = self.world().processes.all[running(self.cx.state) as usize].until.or(until);
        Ok(others_first(self.cx, until, what.unwrap_or("a sleep"))?)
    }

    /// The open file that a call waits for whose first argument is its descriptor.
    fn file(&self) -> Option<u32> {
        let Value::Bits(fd) = self.args[0] else { return None };
        let is_descriptor = threads::calls::is_of_descriptor(self.name);
        self.world().own.fds.get(fd as usize)?.filter(|_| is_descriptor).map(|fd| fd.open)
    }

    /// A thread that waits in this call has its turn: the descriptor must be open on the same file.
    pub fn keeps_its_file(&self) -> Result<(), Stop> {
        match threads::calls::awaited_file(self.cx) {
            // The kernel goes on with the old one.
            Some(file) if self.file() != Some(file) => {
                Err(PathEnd::Unsupported("a descriptor that is closed while a thread waits for it".into()).into())
            }
            _ => Ok(()),
        }
    }

    /// The running process has made many calls: another one goes on first, if need be after its sleep.
    pub fn end_turn(&mut self) -> Result<(), Halt> {
        let me = running(self.cx.state);
        let gave_way = self.world().processes.all[me as usize].gave_way;
        let Some((until, to)) = self.world().only_sleeper(me).filter(|_| !gave_way) else { return self.give_way() };
        let world = self.change();
        world.ticks = world.ticks.max(until);
        world.processes_mut().all[to as usize].status = Status::Ready;
        Err(self.hand_over(to))
    }

    /// Another process goes on first, if one can; once a call.
    pub fn give_way(&mut self) -> Result<(), Halt> {
        if !are_several(self.cx.state) {
            return Ok(());
        }
        let me = running(self.cx.state);
        let gave_way = self.world().processes.all[me as usize].gave_way;
        let Some(to) = self.world().ready(me).filter(|_| !gave_way) else { return Ok(()) };
        Err(self.hand_over(to))
    }

    /// Another process goes on, and the running one makes its call again later.
    fn hand_over(&mut self, to: ProcessId) -> Halt {
        let me = running(self.cx.state);
        let world = self.change();
        let mine = &mut world.processes_mut().all[me as usize];
        mine.gave_way = true;
        if mine.calls > CALLS {
            mine.calls = 0;
        }
        world.exchange(me, to);
        Stop::Switch(Turn { to, ends: false }).into()
    }
}

/// Sends a signal, with its `si_code` and `si_value`, to another process of the path. `Ok(false)`: it is for the running one.
pub fn send(s: &mut Sys<'_, '_>, to: i32, signal: i32, info: (i32, u64)) -> Result<bool, Halt> {
    if !are_several(s.cx.state) {
        return is_own(to).map(|()| false);
    }
    let me = running(s.cx.state);
    let all = &s.world().processes.all;
    let others = all.iter().enumerate().any(|(i, process)| i as ProcessId != me && process.is_alive());
    match to {
        i32::MIN..=0 => {
            let of_path = to < -1 && (PID..PID + all.len() as u64).contains(&to.unsigned_abs().into());
            if !of_path {
                is_own(to)?;
            }
            if others || of_path && to.unsigned_abs() != PID as u32 {
                Err(PathEnd::Unsupported("a signal to a group of several processes".into()).into())
            } else {
                Ok(false)
            }
        }
        _ => {
            let process = (to as u64).checked_sub(PID).filter(|i| *i < all.len() as u64).ok_or(ESRCH)? as ProcessId;
            if process == me {
                return Ok(false);
            }
            match all[process as usize].status {
                Status::Gone => Err(ESRCH.into()),
                Status::Ended(_) => Ok(true),
                Status::Ready | Status::Waits(_) => signal_to(s, me, process, (signal, info)).map(|()| true),
            }
        }
    }
}

fn signal_to(s: &mut Sys<'_, '_>, me: ProcessId, process: ProcessId, (signal, info): (i32, (i32, u64))) -> Result<(), Halt> {
    let who = signals::sender(s);
    let world = s.change();
    world.exchange(me, process);
    let sent = signals::send_to_parked(world, signal, info, who);
    if let Ok(true) = sent {
        close_all(world);
        world.exchange(process, me);
        ended(world, me, (process, signal as u32));
        processes::end(s.cx.state, process);
        return Ok(());
    }
    world.exchange(process, me);
    sent.map(|_| ())
}
