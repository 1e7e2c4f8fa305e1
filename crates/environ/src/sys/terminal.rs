//! Requests to descriptors (`ioctl`). No descriptor is a terminal; where facts are noted, a stream is one if the host says so.

use wryneck_exec::PathEnd;

use super::fd::O_NONBLOCK;
use super::{Done, Sys};
use crate::errno::{EBADF, EINVAL, ENOTTY, Halt};
use crate::observed::question;
use crate::state::{NodeKind, STDERR};

/// Requests that change the descriptor, or its flags, whatever it leads to.
const FIONCLEX: u32 = 0x5450;
const FIOCLEX: u32 = 0x5451;
const FIONBIO: u32 = 0x5421;
const FIOASYNC: u32 = 0x5452;
const FIONREAD: u32 = 0x541b;
/// What is still to be sent.
const TIOCOUTQ: u32 = 0x5411;
/// The group of requests about sockets.
const OF_SOCKETS: u32 = 0x89;

/// What an answer of the host begins with where a stream is a terminal; the structure that the request fills comes next.
const TERMINAL: &[u8] = b"terminal ";

impl Sys<'_, '_> {
    /// The structure that a terminal gives, of a stream that is one: `TCGETS`, `TIOCGWINSZ`.
    fn terminal(&self, fd: i32, request: u32) -> Option<(Vec<u8>, Vec<u8>)> {
        self.linux.captured.log.as_ref()?;
        let node = self.world().open_of(fd)?.node;
        let size = [(0x5401, 36), (0x5413, 8)].into_iter().find(|(known, _)| *known == request)?.1;
        let question = question("ioctl", format!("{node} {request:x}").as_bytes());
        let answer = self.linux.captured.seen(&question).filter(|_| node <= STDERR)?;
        Some((question, answer.strip_prefix(TERMINAL)?.get(..size)?.to_vec()))
    }

    fn put_terminal(&mut self, structure: &[u8]) -> Result<u64, Halt> {
        let addr = self.block(self.args[2], structure.len() as u64, true)?;
        self.put(addr, structure)?;
        Ok(0)
    }

    /// Sets or clears `O_NONBLOCK`, as the program's `int` says.
    fn set_nonblocking(&mut self, fd: i32) -> Done {
        let on = self.number_at(self.args[2], 4)? != 0;
        let open = self.change().open_of_mut(fd).ok_or(EBADF)?;
        open.flags = if on { open.flags | O_NONBLOCK } else { open.flags & !O_NONBLOCK };
        Ok(0)
    }
}

/// ioctl(descriptor, request, argument): the descriptor's own flags, and FIONREAD of what can be read; everything else is for devices.
pub fn ioctl(s: &mut Sys<'_, '_>) -> Done {
    let (fd, request) = (s.int(0)?, s.int(1)? as u32);
    if let Some((question, structure)) = s.terminal(fd, request) {
        let done = s.put_terminal(&structure)?;
        let answer = s.linux.captured.seen(&question).map_or(Vec::new(), |answer| answer.to_vec());
        s.linux.captured.note(|| (question, answer));
        return Ok(done);
    }
    let (open, node) = s.opened(fd)?;
    match (request, node.kind) {
        (FIOCLEX | FIONCLEX, _) => {
            if let Some(fd) = &mut s.change().own.fds[fd as usize] {
                fd.close_on_exec = request == FIOCLEX;
            }
            return Ok(0);
        }
        (FIONBIO, _) => return s.set_nonblocking(fd),
        (FIOASYNC, _) | (TIOCOUTQ, NodeKind::Socket) => return Err(unsupported(request)),
        (_, NodeKind::Socket) if request >> 8 & 0xff == OF_SOCKETS => return Err(unsupported(request)),
        _ => {}
    }
    let there = match node.kind {
        NodeKind::Regular => node.content.len().saturating_sub(open.offset),
        NodeKind::Pipe { taken, .. } => node.content.len() - taken,
        NodeKind::Socket => match s.read_from(open.node) {
            Ok(pipe) => s.world().waiting(pipe),
            Err(Halt::Errno(_)) => return Err(EINVAL.into()),
            Err(stop) => return Err(stop),
        },
        _ => {
            return Err(ENOTTY.into());
        }
    };
    if request != FIONREAD {
        return Err(ENOTTY.into());
    }
    let addr = s.block(s.args[2], 4, true)?;
    s.put(addr, &(there as u32).to_le_bytes())?;
    Ok(0)
}

fn unsupported(request: u32) -> Halt {
    PathEnd::Unsupported(format!("request {request:#x} of `ioctl`")).into()
}
