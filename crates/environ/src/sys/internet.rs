//! Sockets of the internet's families, where the user asked for clients (`--sym-socket`): a stream that is bound and listens gets those of its port,
//! in their order. Nobody else connects, and nobody listens elsewhere: `connect` fails, which is a loss in the ledger.

use wryneck_exec::{LedgerKind, PathEnd, Value};

use super::socket::STREAM;
use super::{Done, Sys};
use crate::errno::{EACCES, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, ECONNREFUSED, EINVAL, EPROTONOSUPPORT, ESOCKTNOSUPPORT, Halt};
use crate::libc::stdlib::failed;
use crate::sockets::{INET, INET6, address_len, internet, port};
use crate::state::{NodeId, Socket, SocketState};

/// Levels of options that change nothing here: of IP, TCP, IPv6.
pub const LEVELS: [i32; 3] = [0, 6, 41];
/// How a path ends that waits for one more client.
pub const NO_MORE: &str = "a wait for a connection after the last one of `--sym-socket`";
/// Protocols.
const TCP: i32 = 6;
const UDP: i32 = 17;
const DATAGRAM: i32 = 2;
const RAW: i32 = 3;
const ASSUMED: &str =
    "a client connects as soon as the program listens, sends its bytes at once, and reads all that it is sent; nobody else connects";

fn unsupported<T>(what: &str) -> Result<T, Halt> {
    Err(PathEnd::Unsupported(what.to_owned()).into())
}

/// The kind of socket that is asked for.
pub fn kind_of(kind: i32, protocol: i32) -> Result<i32, Halt> {
    match (kind, protocol) {
        (STREAM, 0 | TCP) => Ok(STREAM),
        (DATAGRAM, 0 | UDP) => unsupported("datagrams of the network"),
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
        let bytes = self.cx.read_bytes(at, needed as u64)?;
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
        let listens = |other: &Socket| {
            matches!(other.state, SocketState::Listening { .. }) && other.family == family && port(&other.address) == wanted
        };
        if self.world().sockets.values().any(listens) {
            return Err(EADDRINUSE.into());
        }
        let mut address = internet(family, any, wanted).to_vec();
        if family == INET {
            address[2..6].copy_from_slice(host);
        }
        self.change().socket_mut(node).address = address.into();
        Ok(0)
    }

    /// The clients that connect to a socket now that it listens.
    pub(super) fn clients_of(&mut self, socket: &Socket) -> Vec<NodeId> {
        let wanted = port(&socket.address);
        if socket.family != INET && socket.family != INET6 || self.world().clients.iter().all(|(port, _)| *port != wanted) {
            return Vec::new();
        }
        if self.cx.core.monitor.is_some() {
            self.cx.core.ledger.note(LedgerKind::Assumption, ASSUMED);
        }
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

    /// connect(socket, address, length): nobody listens.
    pub(super) fn connect_internet(&mut self) -> Done {
        failed(self.cx, "connect");
        self.linux.captured.note_unknown("the network");
        Err(ECONNREFUSED.into())
    }
}
