//! `wryneck replay`.
pub fn run(_: Vec<String>) -> anyhow::Result<u8> {
    Err(crate::problem::problem("not yet", ""))
}
