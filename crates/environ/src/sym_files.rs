//! Symbolic files and standard input, created before the program starts.
//!
//! A file's inputs have KLEE's names: `A_data`; `A_data_size` if the size is a decision; `A_data_stat` if the metadata are symbolic. Standard
//! input is `stdin`, its size `stdin_size`.

use wryneck_exec::{Cx, PathEnd, Stop, Value, inputs, memory};

use crate::Linux;
use crate::content::{Byte, Content};
use crate::errno::Halt;
use crate::input::{Stdin, mode};
use crate::state::{NodeId, NodeKind, SymbolicMeta, World};
use crate::sys::Sys;
use crate::sys::path::{Follow, Given};

/// Permissions that decide nothing for the owner and the superuser: those to read and write of the others, set-id, sticky.
pub const FREE_PERMISSIONS: u32 = 0o7066;

fn input_name(path: &[u8], what: &str) -> String {
    format!("{}_{what}", String::from_utf8_lossy(path))
}

/// How long each file is.
pub struct Sizes {
    files: Vec<u64>,
    stdin: u64,
}

/// How long each file is. Changes nothing.
pub fn decide_sizes(linux: &Linux, cx: &mut Cx<'_>) -> Result<Sizes, Stop> {
    let files = linux.input.sym_files.iter().map(|file| decide_size(cx, &input_name(&file.path, "data_size"), file.size));
    let files = files.collect::<Result<_, _>>()?;
    let stdin = match linux.input.stdin {
        Stdin::Symbolic(least, most) => decide_size(cx, STDIN_SIZE, (least, most))?,
        Stdin::Bytes(_) => 0,
    };
    Ok(Sizes { files, stdin })
}

const STDIN_SIZE: &str = "stdin_size";

fn decide_size(cx: &mut Cx<'_>, name: &str, (least, most): (u64, u64)) -> Result<u64, Stop> {
    if least == most {
        return Ok(least);
    }
    let bytes = inputs::coming_input(cx, name, 8);
    let size = memory::joined(cx, &bytes);
    let pool = &mut cx.core.pool;
    let (least, most) = (pool.bits(64, least), pool.bits(64, most));
    let (above, below) = (pool.ule(least, size), pool.ule(size, most));
    let allowed = pool.and(above, below);
    cx.assume(allowed)?;
    cx.concretise(Value::Sym(size), "size of a symbolic file")
}

/// Makes the symbolic files, of these sizes, and standard input.
pub fn make(linux: &Linux, cx: &mut Cx<'_>, sizes: &Sizes) -> Result<(), Stop> {
    for (file, size) in linux.input.sym_files.iter().zip(&sizes.files) {
        if file.size.0 != file.size.1 {
            inputs::new_input(cx, &input_name(&file.path, "data_size"), 8);
        }
        let content = symbolic_content(cx, &input_name(&file.path, "data"), *size)?;
        let id = node(linux, cx, &file.path).map_err(|halt| match halt {
            Halt::Errno(e) => {
                PathEnd::Unsupported(format!("the symbolic file `{}`: error number {}", String::from_utf8_lossy(&file.path), e.0)).into()
            }
            halt => halt.stop(),
        })?;
        World::change(cx).node_mut(id).content = content;
        if file.metadata {
            metadata(cx, &file.path, id, linux.input.user)?;
        }
    }
    if let Stdin::Symbolic(least, most) = linux.input.stdin {
        if least != most {
            inputs::new_input(cx, STDIN_SIZE, 8);
        }
        let content = symbolic_content(cx, "stdin", sizes.stdin)?;
        World::change(cx).node_mut(0).content = content;
    }
    Ok(())
}

/// The regular file of a path: the host's, or a new one.
fn node(linux: &Linux, cx: &mut Cx<'_>, path: &[u8]) -> Result<NodeId, Halt> {
    let mut sys = Sys::of_start(linux, cx);
    let found = sys.walk(&Given::here(path), Follow::Make { follow: true })?;
    let id = match found.entry()? {
        Some(_) => sys.node_of(&found)?,
        None => sys.create(&found, NodeKind::Regular, 0o644)?,
    };
    if sys.world().node(id).kind == NodeKind::Regular {
        return Ok(id);
    }
    Err(PathEnd::Unsupported(format!("`{}`, which is no regular file, as a symbolic file", String::from_utf8_lossy(path))).into())
}

fn metadata(cx: &mut Cx<'_>, path: &[u8], id: NodeId, user: u32) -> Result<(), Stop> {
    let meta = World::of(cx).node(id).meta;
    if ![0, meta.uid].contains(&user) {
        return Err(PathEnd::Unsupported("symbolic metadata of a file of somebody else's".into()).into());
    }
    let bytes = inputs::new_input(cx, &input_name(path, "data_stat"), 12);
    let [permissions, atime, mtime] = [0, 4, 8].map(|i| memory::joined(cx, &bytes[i..i + 4]));
    let free = u64::from(FREE_PERMISSIONS);
    let pool = &mut cx.core.pool;
    let mask = pool.bits(32, free);
    let fixed = pool.bits(32, u64::from(mode::REGULAR | (meta.mode & 0o7777)) & !free);
    let chosen = pool.and(permissions, mask);
    let [atime, mtime] = [atime, mtime].map(|seconds| pool.zext(seconds, 64));
    let symbolic = SymbolicMeta { mode: Some(pool.or(chosen, fixed)), atime: Some(atime), mtime: Some(mtime), ..SymbolicMeta::default() };
    World::change(cx).node_mut(id).symbolic = symbolic;
    Ok(())
}

pub(crate) fn symbolic_content(cx: &mut Cx<'_>, name: &str, size: u64) -> Result<Content, Stop> {
    inputs::room_for_input(cx, name, size)?;
    let bytes: Vec<Byte> = inputs::new_input(cx, name, size).into_iter().map(Byte::Symbolic).collect();
    let mut content = Content::default();
    content.write(0, &bytes);
    Ok(content)
}
