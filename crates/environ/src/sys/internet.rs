//! Sockets of the internet's families, where the user asked for clients (`--sym-socket`): a stream that is bound and listens gets those of its port,
//! in their order, and a socket of datagrams what was sent to its port. Nobody else connects, and nobody listens elsewhere: `connect` fails, which is a loss in the ledger.

use wryneck_exec::{LedgerKind, Value, memory};

use super::poll::event;
use super::socket::{DATAGRAM, STREAM, unsupported};
use super::{Done, Sys};
use crate::epolls::Told;
use crate::errno::{
    EACCES, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, ECONNREFUSED, EDESTADDRREQ, EINVAL, EMSGSIZE, EPROTONOSUPPORT, ESOCKTNOSUPPORT, Halt,
};
use crate::libc::stdlib::failed;
use crate::sockets::{INET, INET6, address_len, internet, port};
use crate::state::{NodeId, Socket, SocketState};

/// Levels of options that change nothing here: of IP, TCP, IPv6.
pub const LEVELS: [i32; 3] = [0, 6, 41];
/// How a path ends that waits for one more client.
pub const NO_MORE: &str = "a wait for a connection after the last one of `--sym-socket`";
/// How one ends that waits for one more datagram.
pub const NO_MORE_DATAGRAMS: &str = "a wait for a datagram after the last one of `--sym-socket`";
/// How one ends that reads or writes where there is no connection.
pub const UNCONNECTED: &str = "reading or writing a socket of the network that has no connection";
/// Bytes of the longest datagram.
const LONGEST: usize = 65507;
/// Protocols.
const TCP: i32 = 6;
const UDP: i32 = 17;
const RAW: i32 = 3;
const ASSUMED: &str =
    "a client connects as soon as the program listens, sends its bytes at once, and reads all that it is sent; nobody else connects";

/// The kind of socket that is asked for.
pub fn kind_of(kind: i32, protocol: i32) -> Result<i32, Halt> {
    match (kind, protocol) {
        (STREAM, 0 | TCP) => Ok(STREAM),
        (DATAGRAM, 0 | UDP) => Ok(DATAGRAM),
        (RAW, _) => Err(EACCES.into()),
        (STREAM | DATAGRAM, _) => Err(EPROTONOSUPPORT.into()),
        _ => Err(ESOCKTNOSUPPORT.into()),
    }
}

pub fn protocol(kind: i32) -> u32 {
    if kind == STREAM { TCP as u32 } else { UDP as u32 }
}

/// `listen` of a socket that was not bound.
pub fn no_port() -> Done {
    unsupported("a port that the kernel chooses")
}

/// What the kernel says is the name of such a socket that has none.
pub fn unnamed(socket: &Socket) -> Option<Vec<u8>> {
    let is_internet = [INET, INET6].contains(&socket.family);
    (is_internet && socket.address.is_empty()).then(|| vec![0; address_len(socket.family)])
}

impl Sys<'_, '_> {
    /// The family, if it is one of the internet's and there are clients.
    pub(super) fn internet_family(&self, family: i32) -> Option<u16> {
        let family = u16::try_from(family).ok().filter(|family| [INET, INET6].contains(family))?;
        (!self.linux.input.sym_sockets.is_empty()).then_some(family)
    }

    /// bind(socket, address, length).
    pub(super) fn bind_internet(&mut self, node: NodeId, socket: &Socket, len: u32) -> Done {
        let needed = 2 + if socket.family == INET6 { 22 } else { address_len(INET) };
        if (len as usize) < needed {
            return Err(EINVAL.into());
        }
        let at = self.block(self.args[1], needed as u64, false)?;
        let bytes = memory::read_bytes(self.cx, at, needed as u64)?;
        // Port, and where: the zeros at the end of the shorter address may be anything.
        let host = if socket.family == INET { 4..8 } else { 8..24 };
        let mut known = Vec::new();
        for byte in [&bytes[..4], &bytes[host]].concat() {
            known.push(self.cx.concretise(Value::Sym(byte), "the address of a socket")? as u8);
        }
        let (family, wanted, host) = (u16::from_le_bytes([known[0], known[1]]), port(&known[2..]), &known[4..]);
        if family != socket.family {
            return Err(EAFNOSUPPORT.into());
        }
        let any = host.iter().all(|b| *b == 0);
        let is_here = any || if socket.family == INET { host[0] == 127 } else { host[..15].iter().all(|b| *b == 0) && host[15] == 1 };
        if !is_here {
            return Err(EADDRNOTAVAIL.into());
        }
        if !socket.address.is_empty() {
            return Err(EINVAL.into());
        }
        if wanted == 0 {
            return no_port();
        }
        let has_it = |other: &Socket| match other.state {
            SocketState::Listening { .. } => socket.kind == STREAM,
            SocketState::Fresh => socket.kind == DATAGRAM && other.kind == DATAGRAM,
            _ => false,
        };
        let same = |other: &&Socket| other.family == family && !other.address.is_empty() && port(&other.address) == wanted;
        if self.world().sockets.values().filter(same).any(has_it) {
            return Err(EADDRINUSE.into());
        }
        let mut address = internet(family, any, wanted).to_vec();
        if family == INET {
            address[2..6].copy_from_slice(host);
        }
        let world = self.change();
        world.socket_mut(node).address = address.into();
        if world.next_datagram(node).is_some() {
            world.tell(node, Told::All, event::IN | event::READ_NORMAL);
            self.assume_clients();
        }
        Ok(0)
    }

    /// The clients that connect to a socket now that it listens.
    pub(super) fn clients_of(&mut self, socket: &Socket) -> Vec<NodeId> {
        let wanted = port(&socket.address);
        if socket.family != INET && socket.family != INET6 || self.world().clients.iter().all(|(port, _)| *port != wanted) {
            return Vec::new();
        }
        self.assume_clients();
        let world = self.change();
        let (here, elsewhere): (Vec<_>, Vec<_>) = world.clients.iter().copied().partition(|(port, _)| *port == wanted);
        world.clients = elsewhere.into();
        let pending: Vec<NodeId> = here.into_iter().map(|(_, node)| node).collect();
        for node in &pending {
            let SocketState::Connected(connection) = world.socket(*node).state else { continue };
            let theirs = port(&world.socket(connection.peer).address);
            for (end, number) in [(*node, wanted), (connection.peer, theirs)] {
                let end = world.socket_mut(end);
                (end.family, end.address) = (socket.family, internet(socket.family, false, number));
            }
        }
        pending
    }

    fn assume_clients(&mut self) {
        if self.cx.core.monitor.is_some() {
            self.cx.core.ledger.note(LedgerKind::Assumption, ASSUMED);
        }
    }

    /// Whether a socket takes datagrams, and there is none.
    pub(super) fn waits_for_datagram(&self, node: NodeId) -> bool {
        let world = self.world();
        world.sockets.get(&node).is_some_and(Socket::takes_datagrams) && world.next_datagram(node).is_none()
    }

    /// Who sent the next datagram: an address with its family.
    pub(super) fn sender(&self, fd: i32) -> Result<Option<Vec<u8>>, Halt> {
        let (node, socket, _) = self.socket(fd)?;
        let from = self.world().next_datagram(node).map(|(_, from, _)| internet(socket.family, false, from));
        Ok(from.map(|from| [&socket.family.to_le_bytes()[..], &from].concat()))
    }

    /// Receives, and writes who sent it at arguments 4 and 5.
    pub(super) fn receive_from(&mut self, sender: &[u8], receive: impl Fn(&mut Self) -> Done) -> Done {
        let buffer = self.address_buffer([4, 5], sender.len())?;
        let got = receive(self)?;
        self.fill(&buffer, sender, sender.len())?;
        Ok(got)
    }

    /// A datagram is sent: it is output.
    pub(super) fn send_datagram(&mut self, blocks: &[(Value, Value)], to: bool) -> Done {
        if !to {
            return Err(EDESTADDRREQ.into());
        }
        let mut total = 0;
        for (pointer, count) in blocks {
            let n = self.count(*count, LONGEST as u64 + 1)?;
            let addr = self.block(*pointer, n, false)?;
            if n > 0 {
                self.output(addr, n)?;
            }
            total += n;
        }
        if total > LONGEST as u64 { Err(EMSGSIZE.into()) } else { Ok(total) }
    }

    /// connect(socket, address, length): nobody listens.
    pub(super) fn connect_internet(&mut self, socket: &Socket) -> Done {
        if socket.kind == DATAGRAM {
            return unsupported("a connection of datagrams");
        }
        failed(self.cx, "connect");
        self.linux.captured.note_unknown("the network");
        Err(ECONNREFUSED.into())
    }
}
