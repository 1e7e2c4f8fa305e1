//! The clients of a server (`--sym-socket PORT:SIZE`), made before the program starts. Each is one end of a connection whose other end the program
//! will accept: its request waits there, and the stream ends after it. What the program sends the client reads at once.

use wryneck_exec::{Cx, Stop};

use crate::Linux;
use crate::sockets::{Connection, INET, Socket, SocketState, internet};
use crate::state::{Node, NodeId, NodeKind, World};
use crate::sym_files::symbolic_content;
use crate::sys::file::{FIRST_INO, new_meta};
use crate::sys::socket::STREAM;

/// The port of the first client.
const FIRST_PORT: u16 = 40000;

/// Makes the clients and their requests.
pub fn make(linux: &Linux, cx: &mut Cx<'_>) -> Result<(), Stop> {
    let (mut clients, mut datagrams) = (Vec::new(), Vec::new());
    for (number, socket) in (0..).zip(&linux.input.sym_sockets) {
        let request = symbolic_content(cx, &socket.input(), socket.size.into())?;
        let time = linux.input.time;
        let world = World::change(cx);
        let mut add = |kind| {
            let meta = new_meta(FIRST_INO + world.nodes.len() as u64, 0o777, time);
            world.add_node(Node::new(kind, meta))
        };
        let receives = add(NodeKind::Pipe { taken: 0, writers: 0, readers: 1 });
        if socket.datagram {
            world.node_mut(receives).content = request;
            datagrams.push((socket.port, FIRST_PORT + number, receives));
            continue;
        }
        let sends = add(NodeKind::Pipe { taken: 0, writers: 1, readers: 1 });
        let [peer, accepted]: [NodeId; 2] = std::array::from_fn(|_| add(NodeKind::Socket));
        world.node_mut(receives).content = request;
        let address = internet(INET, false, FIRST_PORT + number);
        let socket_of = |state| Socket { kind: STREAM, family: INET, state, address: address.clone() };
        world.set_socket(peer, socket_of(SocketState::Outside));
        world.set_socket(accepted, socket_of(SocketState::Connected(Connection { receives, sends: Some(sends), peer, reset: false })));
        clients.push((socket.port, accepted));
    }
    if !clients.is_empty() {
        World::change(cx).clients = clients.into();
    }
    if !datagrams.is_empty() {
        World::change(cx).datagrams = datagrams.into();
    }
    Ok(())
}
