//! Sockets. Local ones (`AF_UNIX`): pairs, and connections that the program makes to itself. There is no other process, so nobody else listens:
//! a name that no file has is `ENOENT`, as for the kernel, and a socket of the host refuses connections (a loss in the ledger). Those of the
//! internet's families ([`super::internet`]) exist where clients were asked for.
//!
//! A connection is two pipes, one for each direction ([`NodeKind::Pipe`]); both ends are nodes of their own ([`NodeKind::Socket`]). Streams alone carry
//! bytes: messages with boundaries end their path by name. Other families have no model: their calls fail, which is a loss.

use std::rc::Rc;

use wryneck_exec::{PathEnd, Value, memory};

use super::fd::{MAX_FDS, O_CLOEXEC, O_NONBLOCK, Receive, Send};
use super::file::{FIRST_INO, new_meta};
use super::path::{AT_FDCWD, Follow, Given, Place};
use super::{Done, Sys, internet};
use crate::epolls::Told;
use crate::errno::{
    EACCES, EADDRINUSE, EAFNOSUPPORT, EAGAIN, ECONNREFUSED, EFAULT, EINVAL, EISCONN, EMFILE, ENOENT, ENOPROTOOPT, ENOTCONN, ENOTSOCK,
    EOPNOTSUPP, EPROTONOSUPPORT, EPROTOTYPE, ESOCKTNOSUPPORT, Halt, RESTARTS,
};
use crate::input::mode;
use crate::libc::stdlib::failed;
use crate::sockets::SOCKET_READABLE;
use crate::state::{Connection, Node, NodeId, NodeKind, Socket, SocketState};

/// The family of local sockets.
const LOCAL: u16 = 1;
/// `SOCK_STREAM`, `SOCK_DGRAM`, `SOCK_SEQPACKET`.
pub const STREAM: i32 = 1;
pub const DATAGRAM: i32 = 2;
const PACKETS: i32 = 5;
/// Read and write.
const BOTH_WAYS: u32 = 2;
/// Bytes of `struct sockaddr_un`, and of its family.
const ADDRESS: u64 = 110;
const FAMILY: usize = 2;
/// The address of a socket that was bound to a symbolic path. No file has an empty name.
pub(super) const SYMBOLIC: &[u8] = b"/\0symbolic";
/// `SOMAXCONN`.
const MOST_PENDING: usize = 4096;

/// Flags of sending and receiving.
mod message {
    pub const PEEK: u32 = 2;
    pub const DONT_WAIT: u32 = 0x40;
    pub const WAIT_ALL: u32 = 0x100;
    pub const NO_SIGNAL: u32 = 0x4000;
    pub const CLOSE_ON_EXEC: u32 = 0x4000_0000;
}

/// What a local address names.
enum Address {
    Unnamed,
    /// A file: its path, from the working directory if it is relative.
    File(Given),
    /// A name that is no file: a zero, and these bytes.
    Abstract(Vec<u8>),
}

pub(super) fn unsupported<T>(what: &str) -> Result<T, Halt> {
    Err(PathEnd::Unsupported(what.to_owned()).into())
}

impl Sys<'_, '_> {
    /// The node of a descriptor that is a socket, its state, and the flags of its open file.
    pub(super) fn socket(&self, fd: i32) -> Result<(NodeId, Socket, u32), Halt> {
        let (open, node) = self.opened(fd)?;
        if node.kind != NodeKind::Socket {
            return Err(ENOTSOCK.into());
        }
        Ok((open.node, self.world().socket(open.node).clone(), open.flags))
    }

    /// A new socket without a name.
    fn new_socket(&mut self, family: u16, kind: i32, state: SocketState) -> NodeId {
        let (time, user) = (self.linux.input.time, self.linux.input.user);
        let world = self.change();
        let mut meta = new_meta(FIRST_INO + world.nodes.len() as u64, 0o777, time);
        (meta.uid, meta.gid) = (user, user);
        let node = world.add_node(Node::new(NodeKind::Socket, meta));
        world.set_socket(node, Socket { kind, family, state, address: Rc::default() });
        node
    }

    /// A pipe for one direction of a connection.
    fn new_direction(&mut self) -> NodeId {
        let time = self.linux.input.time;
        let world = self.change();
        let meta = new_meta(FIRST_INO + world.nodes.len() as u64, 0o600, time);
        world.add_node(Node::new(NodeKind::Pipe { taken: 0, writers: 1, readers: 1 }, meta))
    }

    /// Connects two sockets.
    fn join(&mut self, one: NodeId, other: NodeId) {
        let (there, back) = (self.new_direction(), self.new_direction());
        let world = self.change();
        let connected = |receives, sends, peer| SocketState::Connected(Connection { receives, sends: Some(sends), peer, reset: false });
        world.socket_mut(one).state = connected(back, there, other);
        world.socket_mut(other).state = connected(there, back, one);
    }

    /// The pipe that a descriptor's node is read from: its own, but for a socket.
    pub fn read_from(&self, node: NodeId) -> Result<NodeId, Halt> {
        if self.world().node(node).kind != NodeKind::Socket {
            return Ok(node);
        }
        let socket = self.world().socket(node);
        match &socket.state {
            SocketState::Connected(_) if socket.kind != STREAM => unsupported("messages of a socket that keeps their boundaries"),
            SocketState::Connected(connection) => Ok(connection.receives),
            _ if socket.takes_datagrams() => match self.world().next_datagram(node) {
                Some((.., pipe)) => Ok(pipe),
                None => unsupported(internet::NO_MORE_DATAGRAMS),
            },
            _ if socket.kind == DATAGRAM => unsupported("a read of a socket that nobody sends to"),
            _ if socket.family != LOCAL => unsupported(internet::UNCONNECTED),
            _ if socket.kind == STREAM => Err(EINVAL.into()),
            _ => Err(ENOTCONN.into()),
        }
    }

    /// The pipe that is written to, likewise; `None`: the socket was shut down.
    pub fn written_to(&self, node: NodeId) -> Result<Option<NodeId>, Halt> {
        if self.world().node(node).kind != NodeKind::Socket {
            return Ok(Some(node));
        }
        let socket = self.world().socket(node);
        match &socket.state {
            SocketState::Connected(_) if socket.kind != STREAM => unsupported("messages of a socket that keeps their boundaries"),
            SocketState::Connected(connection) => Ok(connection.sends),
            _ if socket.family != LOCAL => unsupported(internet::UNCONNECTED),
            _ => Err(ENOTCONN.into()),
        }
    }

    /// The first read after the last byte of a connection whose other end was closed with bytes unread is an error, once.
    pub fn take_reset(&mut self, node: NodeId) -> bool {
        let is_reset = match self.world().sockets.get(&node) {
            Some(Socket { state: SocketState::Connected(connection), .. }) => connection.reset,
            _ => false,
        };
        if is_reset && let SocketState::Connected(connection) = &mut self.change().socket_mut(node).state {
            connection.reset = false;
        }
        is_reset
    }

    /// Reads a `struct sockaddr_un`, whose name is walked as said.
    fn address(&mut self, pointer: Value, len: u64, follow: Follow) -> Result<Address, Halt> {
        if len < FAMILY as u64 || len > ADDRESS {
            return Err(EINVAL.into());
        }
        let at = self.block(pointer, len, false)?;
        let bytes = memory::read_bytes(self.cx, at, len)?;
        let family = memory::joined(self.cx, &bytes[..FAMILY]);
        let family = self.cx.concretise(Value::Sym(family), "the family of a socket's address")?;
        if family != u64::from(LOCAL) {
            return Err(EINVAL.into());
        }
        let name = &bytes[FAMILY..];
        let Some(first) = name.first() else { return Ok(Address::Unnamed) };
        if self.cx.core.pool.as_u64(*first) == Some(0) {
            let name = self.concrete(name);
            return name.map_or_else(|| unsupported("a symbolic abstract name of a socket"), |name| Ok(Address::Abstract(name)));
        }
        if !name.iter().any(|b| self.cx.core.pool.as_u64(*b) == Some(0)) {
            return unsupported("the name of a socket that has no zero at its end");
        }
        Ok(Address::File(self.given(AT_FDCWD, Value::Bits(at + FAMILY as u64), follow)?))
    }

    /// The socket that an address leads to.
    fn named_socket(&mut self, address: Address) -> Result<NodeId, Halt> {
        let given = match address {
            Address::Unnamed => return Err(EINVAL.into()),
            Address::Abstract(name) => return self.world().abstract_socket(&name).ok_or(ECONNREFUSED.into()),
            Address::File(given) if given.name().is_empty() => return Err(ENOENT.into()),
            Address::File(given) => given,
        };
        let found = self.walk(&given, Follow::Yes)?;
        let place = found.there()?;
        let stat = self.stat_of(place);
        if !self.permits(&stat, 2) {
            return Err(EACCES.into());
        }
        match place {
            Place::Node(node) if self.world().sockets.contains_key(node) => Ok(*node),
            Place::Host(..) if stat.mode & mode::KIND == mode::SOCKET => {
                failed(self.cx, "connect");
                self.linux.captured.note_unknown("who listens on a socket of the system");
                Err(ECONNREFUSED.into())
            }
            Place::Node(_) | Place::Host(..) => Err(ECONNREFUSED.into()),
        }
    }
}

/// The kind of socket that is asked for, and the flags of its open file.
fn kind_and_flags(s: &mut Sys<'_, '_>) -> Result<(u16, i32, u32), Halt> {
    let (family, wanted, protocol) = (s.int(0)?, s.int(1)?, s.int(2)?);
    let flags = wanted as u32 & (O_CLOEXEC | O_NONBLOCK);
    let kind = wanted & !((O_CLOEXEC | O_NONBLOCK) as i32);
    if !(0..=10).contains(&kind) {
        return Err(EINVAL.into());
    }
    if let Some(family) = s.internet_family(family) {
        return Ok((family, internet::kind_of(kind, protocol)?, flags));
    }
    if family != i32::from(LOCAL) {
        failed(s.cx, s.name);
        s.linux.captured.note_unknown("the network");
        return Err(EAFNOSUPPORT.into());
    }
    if !(0..=1).contains(&protocol) {
        return Err(EPROTONOSUPPORT.into());
    }
    match kind {
        STREAM | DATAGRAM | PACKETS => Ok((LOCAL, kind, flags)),
        // `SOCK_RAW` is a datagram here, for the kernel, too.
        3 => Ok((LOCAL, DATAGRAM, flags)),
        _ => Err(ESOCKTNOSUPPORT.into()),
    }
}

/// socket(family, kind, protocol).
pub fn socket(s: &mut Sys<'_, '_>) -> Done {
    let (family, kind, flags) = kind_and_flags(s)?;
    if s.world().lowest_free(0) >= MAX_FDS {
        return Err(EMFILE.into());
    }
    let node = s.new_socket(family, kind, SocketState::Fresh);
    s.open_on(node, BOTH_WAYS | (flags & O_NONBLOCK), flags & O_CLOEXEC != 0)
}

/// socketpair(family, kind, protocol, descriptors).
pub fn socketpair(s: &mut Sys<'_, '_>) -> Done {
    let (family, kind, flags) = kind_and_flags(s)?;
    if family != LOCAL {
        return Err(EOPNOTSUPP.into());
    }
    let addr = s.block(s.args[3], 8, true)?;
    if s.world().lowest_free(s.world().lowest_free(0) + 1) >= MAX_FDS {
        return Err(EMFILE.into());
    }
    let (one, other) = (s.new_socket(LOCAL, kind, SocketState::Fresh), s.new_socket(LOCAL, kind, SocketState::Fresh));
    s.join(one, other);
    let mut numbers = Vec::new();
    for node in [one, other] {
        let fd = s.open_on(node, BOTH_WAYS | (flags & O_NONBLOCK), flags & O_CLOEXEC != 0)?;
        numbers.extend((fd as u32).to_le_bytes());
    }
    s.put(addr, &numbers)?;
    Ok(0)
}

/// bind(socket, address, length): makes the file that the address names.
pub fn bind(s: &mut Sys<'_, '_>) -> Done {
    let (fd, len) = (s.int(0)?, s.int(2)? as u32);
    let (node, socket, _) = s.socket(fd)?;
    if socket.family != LOCAL {
        return s.bind_internet(node, &socket, len);
    }
    let given = match s.address(s.args[1], len.into(), Follow::Name { makes: true })? {
        Address::Unnamed => return unsupported("a name for a socket that the kernel chooses"),
        Address::Abstract(_) if !socket.address.is_empty() => return Err(EINVAL.into()),
        Address::Abstract(name) if s.world().abstract_socket(&name).is_some() => return Err(EADDRINUSE.into()),
        Address::Abstract(name) => {
            s.change().socket_mut(node).address = name.into();
            return Ok(0);
        }
        Address::File(given) => given,
    };
    if given.name().is_empty() {
        return Err(ENOENT.into());
    }
    let found = s.walk(&given, Follow::Name { makes: true })?;
    if found.entry()?.is_some() {
        return Err(EADDRINUSE.into());
    }
    s.may_create(&found, false)?;
    if !socket.address.is_empty() {
        return Err(EINVAL.into());
    }
    let directory = s.adopt_directory(&found)?;
    let world = s.change();
    let umask = world.own.umask;
    world.node_mut(node).meta.mode = 0o777 & !umask;
    world.node_mut(node).parent = directory;
    // A key of a symbolic name is no name that the program may see.
    let is_symbolic = given.name().contains(&0);
    world.socket_mut(node).address = if is_symbolic { SYMBOLIC.into() } else { [given.name(), b"\0"].concat().into() };
    s.set_entry(directory, &found.name, Some(node));
    Ok(0)
}

/// listen(socket, backlog).
pub fn listen(s: &mut Sys<'_, '_>) -> Done {
    let (fd, backlog) = (s.int(0)?, s.int(1)?);
    let (node, socket, _) = s.socket(fd)?;
    let most = usize::try_from(backlog).map_or(MOST_PENDING, |n| n.min(MOST_PENDING));
    let is_new = socket.state == SocketState::Fresh;
    let pending = match socket.state {
        _ if !matches!(socket.kind, STREAM | PACKETS) => return Err(EOPNOTSUPP.into()),
        _ if socket.address.is_empty() && socket.family != LOCAL => return internet::no_port(),
        _ if socket.address.is_empty() => return Err(EINVAL.into()),
        SocketState::Connected(_) | SocketState::Closed | SocketState::Outside => return Err(EINVAL.into()),
        SocketState::Fresh => s.clients_of(&socket),
        SocketState::Listening { pending, .. } => pending,
    };
    let is_waited_for = is_new && !pending.is_empty();
    let world = s.change();
    world.socket_mut(node).state = SocketState::Listening { pending, most };
    if is_waited_for {
        world.tell(node, Told::All, SOCKET_READABLE);
    }
    Ok(0)
}

/// connect(socket, address, length).
pub fn connect(s: &mut Sys<'_, '_>) -> Done {
    let (fd, len) = (s.int(0)?, s.int(2)? as u32);
    let (node, socket, flags) = s.socket(fd)?;
    if socket.family != LOCAL {
        return s.connect_internet(&socket);
    }
    let address = s.address(s.args[1], len.into(), Follow::Yes)?;
    let to = s.named_socket(address)?;
    let target = s.world().socket(to).clone();
    if target.state == SocketState::Closed {
        return Err(ECONNREFUSED.into());
    }
    if target.kind != socket.kind {
        return Err(EPROTOTYPE.into());
    }
    if socket.kind == DATAGRAM {
        return unsupported("a connection of datagrams");
    }
    let SocketState::Listening { mut pending, most } = target.state else { return Err(ECONNREFUSED.into()) };
    if pending.len() > most {
        let waits = flags & O_NONBLOCK == 0;
        if waits {
            s.wait(None, RESTARTS, "a connection that nobody else can accept")?;
        }
        return Err(EAGAIN.into());
    }
    match socket.state {
        SocketState::Connected(_) => return Err(EISCONN.into()),
        SocketState::Listening { .. } | SocketState::Closed | SocketState::Outside => return Err(EINVAL.into()),
        SocketState::Fresh => {}
    }
    let accepted = s.new_socket(LOCAL, target.kind, SocketState::Fresh);
    s.join(node, accepted);
    pending.push(accepted);
    let world = s.change();
    world.socket_mut(accepted).address = target.address;
    world.socket_mut(to).state = SocketState::Listening { pending, most };
    world.tell(to, Told::All, SOCKET_READABLE);
    Ok(0)
}

/// accept(socket, address, length).
pub fn accept(s: &mut Sys<'_, '_>) -> Done {
    accepted(s, 0)
}

/// accept4(socket, address, length, flags).
pub fn accept4(s: &mut Sys<'_, '_>) -> Done {
    let flags = s.int(3)? as u32;
    accepted(s, flags)
}

fn accepted(s: &mut Sys<'_, '_>, flags: u32) -> Done {
    if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
        return Err(EINVAL.into());
    }
    let fd = s.int(0)?;
    let (node, socket, open_flags) = s.socket(fd)?;
    let SocketState::Listening { mut pending, most } = socket.state else {
        return Err(if socket.kind == DATAGRAM { EOPNOTSUPP } else { EINVAL }.into());
    };
    if s.world().lowest_free(0) >= MAX_FDS {
        return Err(EMFILE.into());
    }
    if pending.is_empty() {
        if open_flags & O_NONBLOCK == 0 {
            let what = if socket.family == LOCAL { "a wait for a connection that nobody else can make" } else { internet::NO_MORE };
            s.wait(None, RESTARTS, what)?;
        }
        return Err(EAGAIN.into());
    }
    let first = pending.remove(0);
    let peer = s.world().peer_address(first);
    s.put_address(socket.family, &peer)?;
    s.change().socket_mut(node).state = SocketState::Listening { pending, most };
    s.open_on(first, BOTH_WAYS | (flags & O_NONBLOCK), flags & O_CLOEXEC != 0)
}

/// getsockname(socket, address, length).
pub fn getsockname(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    let (_, socket, _) = s.socket(fd)?;
    let unbound = internet::unnamed(&socket);
    named(s, socket.family, unbound.as_deref().unwrap_or(&socket.address))
}

/// getpeername(socket, address, length).
pub fn getpeername(s: &mut Sys<'_, '_>) -> Done {
    let fd = s.int(0)?;
    let (node, socket, _) = s.socket(fd)?;
    if !matches!(socket.state, SocketState::Connected(_)) {
        return Err(ENOTCONN.into());
    }
    let peer = s.world().peer_address(node);
    named(s, socket.family, &peer)
}

fn named(s: &mut Sys<'_, '_>, family: u16, address: &[u8]) -> Done {
    if s.is_null(1)? {
        return Err(EFAULT.into());
    }
    s.put_address(family, address)?;
    Ok(0)
}

/// shutdown(socket, how).
pub fn shutdown(s: &mut Sys<'_, '_>) -> Done {
    let (fd, how) = (s.int(0)?, s.int(1)?);
    let (node, socket, _) = s.socket(fd)?;
    if !(0..=2).contains(&how) {
        return Err(EINVAL.into());
    }
    let SocketState::Connected(mut connection) = socket.state else { return unsupported("`shutdown` of a socket without a connection") };
    let sends = if how == 0 { None } else { connection.sends.take() };
    let world = s.change();
    world.leave(None, sends);
    if how != 1 {
        world.shut_incoming(connection.receives);
    }
    world.socket_mut(node).state = SocketState::Connected(connection);
    world.tell(node, Told::All, 0);
    world.tell(connection.peer, Told::All, 0);
    Ok(0)
}

/// setsockopt(socket, level, option, value, length): options of a local socket change nothing here.
pub fn setsockopt(s: &mut Sys<'_, '_>) -> Done {
    let (fd, level) = (s.int(0)?, s.int(1)?);
    let option = s.int(2)?;
    let (_, socket, _) = s.socket(fd)?;
    // SO_RCVTIMEO, SO_SNDTIMEO, and their forms for times of 64 bits.
    if level == SOL_SOCKET && matches!(option, 20 | 21 | 66 | 67) {
        s.fails("a time limit of a socket is not kept");
    }
    if level == SOL_SOCKET || socket.family != LOCAL && internet::LEVELS.contains(&level) { Ok(0) } else { Err(EOPNOTSUPP.into()) }
}

const SOL_SOCKET: i32 = 1;

/// getsockopt(socket, level, option, value, length): kind, errors, family, whether it listens.
pub fn getsockopt(s: &mut Sys<'_, '_>) -> Done {
    let (fd, level, option) = (s.int(0)?, s.int(1)?, s.int(2)?);
    let (node, socket, _) = s.socket(fd)?;
    if level != SOL_SOCKET {
        return Err(EOPNOTSUPP.into());
    }
    let value = match option {
        // SO_TYPE, SO_ERROR, SO_ACCEPTCONN, SO_PROTOCOL, SO_DOMAIN
        3 => socket.kind as u32,
        4 if s.take_reset(node) => crate::errno::ECONNRESET.0 as u32,
        38 if socket.family != LOCAL => internet::protocol(socket.kind),
        4 | 38 => 0,
        30 => matches!(socket.state, SocketState::Listening { .. }).into(),
        39 => socket.family.into(),
        1..=82 => return unsupported("an option of a socket that is asked for"),
        _ => return Err(ENOPROTOOPT.into()),
    };
    let value = value.to_le_bytes();
    let buffer = s.buffer([3, 4], value.len(), "the room for a socket's option")?;
    s.fill(&buffer, &value, buffer.size)?;
    Ok(0)
}

/// sendto(socket, bytes, count, flags, address, length).
pub fn sendto(s: &mut Sys<'_, '_>) -> Done {
    let (fd, flags) = (s.int(0)?, s.int(3)? as u32);
    let names = !s.is_null(4)?;
    send(s, fd, &[(s.args[1], s.args[2])], flags, names)
}

/// recvfrom(socket, bytes, count, flags, address, length).
pub fn recvfrom(s: &mut Sys<'_, '_>) -> Done {
    let (fd, flags) = (s.int(0)?, s.int(3)? as u32);
    // Decided before anything is taken.
    let nowhere = s.is_null(4)?;
    if let Some(sender) = s.sender(fd)?.filter(|_| !nowhere) {
        return s.receive_from(&sender, |s| receive(s, fd, &[(s.args[1], s.args[2])], flags));
    }
    let len_at = if nowhere { None } else { Some(s.block(s.args[5], 4, true)?) };
    let got = receive(s, fd, &[(s.args[1], s.args[2])], flags)?;
    if let Some(at) = len_at {
        // A stream says nothing of who sent.
        s.put(at, &0u32.to_le_bytes())?;
    }
    Ok(got)
}

/// A `struct msghdr`: its blocks, whether it names an address, and whether it has control data.
struct Header {
    at: u64,
    blocks: Vec<(Value, Value)>,
    names: bool,
    controls: bool,
}

fn header(s: &mut Sys<'_, '_>) -> Result<Header, Halt> {
    let at = s.block(s.args[1], 56, false)?;
    let words = s.words(Value::Bits(at), 6)?;
    // The kernel's counts have 64 bits; those of the C library 32, and padding.
    let blocks = s.blocks_of(Value::Bits(words[2]), words[3] as u32 as i32)?;
    Ok(Header { at, blocks, names: words[0] != 0 && words[1] as u32 != 0, controls: words[4] != 0 && words[5] as u32 != 0 })
}

/// sendmsg(socket, header, flags).
pub fn sendmsg(s: &mut Sys<'_, '_>) -> Done {
    let (fd, flags) = (s.int(0)?, s.int(2)? as u32);
    let header = header(s)?;
    if header.controls {
        return unsupported("control data that is sent over a socket");
    }
    send(s, fd, &header.blocks, flags, header.names)
}

/// recvmsg(socket, header, flags).
pub fn recvmsg(s: &mut Sys<'_, '_>) -> Done {
    let (fd, flags) = (s.int(0)?, s.int(2)? as u32);
    let header = header(s)?;
    if s.sender(fd)?.is_some() {
        return unsupported("`recvmsg` of a datagram");
    }
    let got = receive(s, fd, &header.blocks, flags)?;
    let at = s.block(Value::Bits(header.at), 56, true)?;
    // No address, no control data, no flags.
    s.put(at + 8, &0u32.to_le_bytes())?;
    s.put(at + 40, &0u64.to_le_bytes())?;
    s.put(at + 48, &0u32.to_le_bytes())?;
    Ok(got)
}

fn send(s: &mut Sys<'_, '_>, fd: i32, blocks: &[(Value, Value)], flags: u32, to: bool) -> Done {
    let (_, socket, _) = s.socket(fd)?;
    if flags & !(message::DONT_WAIT | message::NO_SIGNAL) != 0 {
        return unsupported("sending with other flags than `MSG_DONTWAIT` and `MSG_NOSIGNAL`");
    }
    if socket.takes_datagrams() {
        return s.send_datagram(blocks, to);
    }
    match socket.state {
        // TCP does not look at it.
        SocketState::Connected(_) if to && socket.family != LOCAL => {}
        SocketState::Connected(_) if to && socket.kind == STREAM => return Err(EISCONN.into()),
        _ if to && socket.kind == STREAM => return Err(EOPNOTSUPP.into()),
        _ if to => return unsupported("a message to an address"),
        _ => {}
    }
    s.send(fd, blocks, None, Send { dont_wait: flags & message::DONT_WAIT != 0, no_signal: flags & message::NO_SIGNAL != 0 })
}

fn receive(s: &mut Sys<'_, '_>, fd: i32, blocks: &[(Value, Value)], flags: u32) -> Done {
    s.socket(fd)?;
    if flags & !(message::DONT_WAIT | message::CLOSE_ON_EXEC | message::NO_SIGNAL | message::PEEK | message::WAIT_ALL) != 0 {
        return unsupported("receiving with other flags than `MSG_DONTWAIT`, `MSG_PEEK` and `MSG_WAITALL`");
    }
    let dont_wait = flags & message::DONT_WAIT != 0;
    let how = Receive { dont_wait, peek: flags & message::PEEK != 0, all: flags & message::WAIT_ALL != 0 && !dont_wait };
    s.receive(fd, blocks, None, how)
}
