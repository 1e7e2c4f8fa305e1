//! Pipes: how they are made, and how much one takes.

use super::fd::{MAX_FDS, O_CLOEXEC, O_NONBLOCK, O_RDONLY, O_WRONLY, PIPE_ROOM};
use wryneck_exec::processes::are_several;

use super::{Done, Sys};
use crate::errno::{EAGAIN, EINVAL, EMFILE, EPIPE, Halt, RESTARTS};
use crate::state::{Node, NodeKind};

/// Bytes that a pipe takes all at once or not at all.
pub const PAGE: u64 = 4096;

impl Sys<'_, '_> {
    /// How many of these bytes a pipe accepts.
    pub fn room_in_pipe(&mut self, wanted: u64, room: u64, readers: u32, flags: u32, no_signal: bool) -> Result<u64, Halt> {
        match () {
            () if wanted == 0 => Ok(0),
            () if readers == 0 && no_signal => Err(EPIPE.into()),
            () if readers == 0 => {
                super::signals::broken_pipe(self)?;
                Err(EPIPE.into())
            }
            () if wanted <= room => Ok(wanted),
            // Another process or thread takes it bit by bit.
            () if room == PIPE_ROOM && flags & O_NONBLOCK == 0 && (are_several(self.cx.state) || self.cx.state.has_threads()) => Ok(wanted),
            () if flags & O_NONBLOCK == 0 => {
                match self.wait(None, RESTARTS, "a write to a full pipe or socket that nobody else can empty") {
                    // What had room was written before the wait.
                    Err(Halt::Errno(RESTARTS)) if room > 0 && wanted > PAGE => Ok(room),
                    waited => waited.and(Err(EAGAIN.into())),
                }
            }
            () if room == 0 || wanted <= PAGE => Err(EAGAIN.into()),
            () => Ok(room),
        }
    }
}

pub fn pipe(s: &mut Sys<'_, '_>) -> Done {
    make_pipe(s, 0)
}

pub fn pipe2(s: &mut Sys<'_, '_>) -> Done {
    let flags = s.int(1)? as u32;
    if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
        return Err(EINVAL.into());
    }
    make_pipe(s, flags)
}

fn make_pipe(s: &mut Sys<'_, '_>, flags: u32) -> Done {
    let addr = s.block(s.args[0], 8, true)?;
    let (time, user) = (s.linux.input.time, s.linux.input.user);
    if s.world().lowest_free(s.world().lowest_free(0) + 1) >= MAX_FDS {
        return Err(EMFILE.into());
    }
    let world = s.change();
    let mut meta = super::file::new_meta(super::file::FIRST_INO + world.nodes.len() as u64, 0o600, time);
    (meta.uid, meta.gid) = (user, user);
    let kind = NodeKind::Pipe { taken: 0, writers: 1, readers: 1 };
    let node = world.add_node(Node::new(kind, meta));
    let on_exec = flags & O_CLOEXEC != 0;
    let read = world.open_node(node, O_RDONLY | (flags & O_NONBLOCK), on_exec);
    let write = world.open_node(node, O_WRONLY | (flags & O_NONBLOCK), on_exec);
    [read, write].into_iter().for_each(|number| world.moved(number));
    let numbers = [read as u32, write as u32].map(u32::to_le_bytes).concat();
    s.put(addr, &numbers)?;
    Ok(0)
}
