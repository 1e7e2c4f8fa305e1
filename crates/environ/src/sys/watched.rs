//! What goes to standard output or error, as goals look at it (`run --find output:TEXT`).

use wryneck_exec::goals::Goals;
use wryneck_exec::{Stop, goals};
use wryneck_expr::ExprId;

use super::Sys;
use crate::content::Byte;
use crate::state::NodeId;

impl Sys<'_, '_> {
    /// Lets goals look at what goes to standard output or error, behind what went there before.
    pub(super) fn watch_output(&mut self, node: NodeId, new: &[Byte]) -> Result<(), Stop> {
        let longest = self.cx.core.goals.as_ref().map_or(0, Goals::longest_output) as u64;
        if longest == 0 {
            return Ok(());
        }
        let content = &self.world().node(node).content;
        let start = content.len().saturating_sub(longest);
        let before = content.read(start, longest);
        let mut exprs = |bytes: &[Byte]| -> Vec<ExprId> {
            let pool = &mut self.cx.core.pool;
            let expr = |byte: &Byte| match byte {
                Byte::Concrete(b) => pool.bits(8, (*b).into()),
                Byte::Symbolic(e) => *e,
            };
            bytes.iter().map(expr).collect()
        };
        let (before, new) = (exprs(&before), exprs(new));
        goals::wrote(self.cx, &before, &new)
    }
}
