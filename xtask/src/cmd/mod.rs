//! The chores, one file each.

pub mod bench;
pub mod corpus;
pub mod gate;
pub mod setup;
pub mod tidy;

/// The tool that is built, explored with and measured: `target/release/wryneck`, or what `WRYNECK` names. Absolute.
pub fn wryneck() -> anyhow::Result<std::path::PathBuf> {
    let tool = std::env::var_os("WRYNECK").map_or_else(|| "target/release/wryneck".into(), std::path::PathBuf::from);
    tool.canonicalize().map_err(|_| anyhow::anyhow!("`{}` is missing; build it with `cargo build --release`", tool.display()))
}
