//! Terminals: there is none, and every request returns so. Where facts are noted, a stream is a terminal if the host says so.

use super::{Done, Sys};
use crate::errno::{EINVAL, ENOTTY, Halt};
use crate::observed::question;
use crate::state::{NodeKind, STDERR};

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
}

/// ioctl(descriptor, request, argument): FIONREAD of what can be read; everything else is for devices.
pub fn ioctl(s: &mut Sys<'_, '_>) -> Done {
    const FIONREAD: u32 = 0x541b;
    let (fd, request) = (s.int(0)?, s.int(1)? as u32);
    if let Some((question, structure)) = s.terminal(fd, request) {
        let done = s.put_terminal(&structure)?;
        let answer = s.linux.captured.seen(&question).map_or(Vec::new(), |answer| answer.to_vec());
        s.linux.captured.note(|| (question, answer));
        return Ok(done);
    }
    let (open, node) = s.opened(fd)?;
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
