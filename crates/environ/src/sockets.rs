//! What a path knows of its sockets ([`crate::sys::socket`]).

use std::rc::Rc;

use crate::epolls::Told;
use crate::state::{NodeId, NodeKind, World};
use crate::sys::poll::event;
use crate::sys::socket::DATAGRAM;

/// What a socket is told when there is something to read or to accept.
pub const SOCKET_READABLE: u16 = event::IN | event::URGENT | event::READ_NORMAL | event::READ_BAND;

/// The families of the internet's addresses.
pub const INET: u16 = 2;
pub const INET6: u16 = 10;

/// Bytes of an address behind its family.
pub const fn address_len(family: u16) -> usize {
    if family == INET6 { 26 } else { 14 }
}

/// An address of this machine as it is behind its family: where clients connect, or any.
pub fn internet(family: u16, any: bool, port: u16) -> Rc<[u8]> {
    let mut bytes = vec![0; address_len(family)];
    bytes[..2].copy_from_slice(&port.to_be_bytes());
    if !any && family == INET6 {
        bytes[21] = 1;
    } else if !any {
        bytes[2..6].copy_from_slice(&[127, 0, 0, 1]);
    }
    bytes.into()
}

/// The port in such an address.
pub fn port(address: &[u8]) -> u16 {
    address.first_chunk().map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

/// A socket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Socket {
    /// `SOCK_STREAM` and so on.
    pub kind: i32,
    /// `AF_UNIX` and so on.
    pub family: u16,
    pub state: SocketState,
    /// What the kernel calls its name: a path with a zero after it, or a zero and an abstract name; empty if it has none. Of the internet's
    /// families, what is in an address behind the family.
    pub address: Rc<[u8]>,
}

impl Socket {
    /// Whether it is of the network and receives datagrams.
    pub fn takes_datagrams(&self) -> bool {
        self.kind == DATAGRAM && (self.family == INET || self.family == INET6)
    }
}

/// How far a socket has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SocketState {
    /// Neither connected nor listening.
    Fresh,
    /// The last descriptor is closed; the file with its name may still be there.
    Closed,
    /// It accepts connections: those that wait for it, in their order, and how many may.
    Listening {
        pending: Vec<NodeId>,
        most: usize,
    },
    Connected(Connection),
    /// A client's, outside of the program.
    Outside,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Connection {
    /// The pipe it reads. Once it was shut down, the pipe has no writer and no reader.
    pub receives: NodeId,
    /// The pipe it writes; `None` once it was shut down.
    pub sends: Option<NodeId>,
    /// The other end.
    pub peer: NodeId,
    /// The other end was closed before it had read everything.
    pub reset: bool,
}

impl World {
    pub fn socket(&self, node: NodeId) -> &Socket {
        self.sockets.get(&node).expect("every node of this kind is entered")
    }

    pub fn socket_mut(&mut self, node: NodeId) -> &mut Socket {
        Rc::make_mut(&mut self.sockets).get_mut(&node).expect("every node of this kind is entered")
    }

    /// Whether the program has made a socket by which others reach it.
    pub fn has_internet(&self) -> bool {
        self.sockets.values().any(|socket| socket.family == INET || socket.family == INET6)
    }

    pub fn set_socket(&mut self, node: NodeId, socket: Socket) {
        Rc::make_mut(&mut self.sockets).insert(node, socket);
    }

    /// The socket with an abstract name, which begins with a zero.
    pub fn abstract_socket(&self, name: &[u8]) -> Option<NodeId> {
        self.sockets.iter().find(|(_, socket)| *socket.address == *name).map(|(node, _)| *node)
    }

    /// The pipe to a client, if this socket sends to one.
    pub fn sends_outside(&self, node: NodeId) -> Option<NodeId> {
        match self.sockets.get(&node)?.state {
            SocketState::Connected(Connection { sends, peer, .. }) if self.socket(peer).state == SocketState::Outside => sends,
            _ => None,
        }
    }

    /// The next datagram for a socket: its place among all, from which port it comes, and the pipe that holds it.
    pub fn next_datagram(&self, node: NodeId) -> Option<(usize, u16, NodeId)> {
        let socket = self.sockets.get(&node).filter(|socket| socket.takes_datagrams() && !socket.address.is_empty())?;
        let place = self.datagrams.iter().position(|(to, ..)| *to == port(&socket.address))?;
        let (_, from, pipe) = self.datagrams[place];
        Some((place, from, pipe))
    }

    /// A datagram was received.
    pub fn take_datagram(&mut self, node: NodeId) {
        if let Some((place, ..)) = self.next_datagram(node) {
            Rc::make_mut(&mut self.datagrams).remove(place);
        }
    }

    /// The name of the other end.
    pub fn peer_address(&self, node: NodeId) -> Rc<[u8]> {
        match self.socket(node).state {
            SocketState::Connected(connection) => self.socket(connection.peer).address.clone(),
            SocketState::Fresh | SocketState::Closed | SocketState::Listening { .. } | SocketState::Outside => Rc::default(),
        }
    }

    /// A pipe has one reader less, another one writer less.
    pub fn leave(&mut self, receives: Option<NodeId>, sends: Option<NodeId>) {
        for (pipe, reads) in [(receives, true), (sends, false)] {
            let Some(pipe) = pipe else { continue };
            if let NodeKind::Pipe { readers, writers, .. } = &mut self.node_mut(pipe).kind {
                let count = if reads { readers } else { writers };
                // None is left of a direction that was shut down.
                *count = count.saturating_sub(1);
            }
        }
    }

    /// A direction takes no more; what is in it can be read.
    pub fn shut_incoming(&mut self, pipe: NodeId) {
        if let NodeKind::Pipe { readers, writers, .. } = &mut self.node_mut(pipe).kind {
            (*readers, *writers) = (0, 0);
        }
    }

    /// Bytes that wait in a pipe.
    pub fn waiting(&self, pipe: NodeId) -> u64 {
        match self.node(pipe).kind {
            NodeKind::Pipe { taken, .. } => self.node(pipe).content.len() - taken,
            _ => 0,
        }
    }

    /// The last descriptor of a socket is closed.
    pub fn close_socket(&mut self, node: NodeId) {
        let socket = self.socket_mut(node);
        if socket.address.first() == Some(&0) {
            socket.address = Rc::default();
        }
        match std::mem::replace(&mut socket.state, SocketState::Closed) {
            SocketState::Fresh | SocketState::Closed | SocketState::Outside => {}
            SocketState::Listening { pending, .. } => pending.into_iter().for_each(|waiting| {
                if let SocketState::Connected(connection) = self.socket(waiting).state {
                    self.reset(connection.peer);
                }
                self.close_socket(waiting);
            }),
            SocketState::Connected(connection) => {
                if self.waiting(connection.receives) > 0 {
                    self.reset(connection.peer);
                }
                self.leave(Some(connection.receives), connection.sends);
                self.tell(connection.peer, Told::All, 0);
            }
        }
    }

    /// Bytes came into a pipe, or were sent by a socket: who reads them is told.
    pub fn has_bytes(&mut self, node: NodeId) {
        if let Some(pipe) = self.sends_outside(node) {
            // It reads at once.
            let len = self.node(pipe).content.len();
            if let NodeKind::Pipe { taken, .. } = &mut self.node_mut(pipe).kind {
                *taken = len;
            }
            return;
        }
        match self.sockets.get(&node).map(|socket| &socket.state) {
            None => self.tell(node, Told::Readers, event::IN | event::READ_NORMAL),
            Some(SocketState::Connected(connection)) => self.tell(connection.peer, Told::All, SOCKET_READABLE),
            Some(_) => {}
        }
    }

    /// Bytes were read from a pipe, or by a socket: who writes them is told.
    pub fn has_room(&mut self, node: NodeId) {
        match self.sockets.get(&node).map(|socket| &socket.state) {
            None => self.tell(node, Told::Writers, event::OUT | event::WRITE_NORMAL),
            Some(SocketState::Connected(connection)) => {
                self.tell(connection.peer, Told::All, event::OUT | event::WRITE_NORMAL | event::WRITE_BAND);
            }
            Some(_) => {}
        }
    }

    fn reset(&mut self, peer: NodeId) {
        if let SocketState::Connected(connection) = &mut self.socket_mut(peer).state {
            connection.reset = true;
        }
    }
}
