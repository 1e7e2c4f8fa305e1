//! The parts of states that a compaction has already rebuilt ([`crate::ground::sharing`]).

use std::rc::Rc;

use wryneck_expr::Remap;
use wryneck_solver::RemapMemo;

use crate::ground::memory::space::SpaceMemo;
use crate::ground::sharing::Memo;
use crate::state::{Frame, PathData, State};

/// The parts that a compaction has rebuilt already, so that states go on sharing them.
#[derive(Default)]
pub struct Rebuilt {
    pub(crate) frames: Memo<Frame>,
    pub(crate) space: SpaceMemo,
    pub(crate) paths: RemapMemo,
    pub(crate) data: Memo<dyn PathData>,
}

/// Renumbers a state that may be shared: a shared one is copied first, and what the copies have in common stays shared.
pub(crate) fn remap_shared(state: &mut Rc<State>, map: &Remap, rebuilt: &mut Rebuilt) {
    if Rc::get_mut(state).is_none() {
        *state = Rc::new(state.fork_idle());
    }
    Rc::get_mut(state).expect("just made unique").remap(map, rebuilt);
}
