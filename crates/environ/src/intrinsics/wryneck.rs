//! Our own intrinsics, as `wryneck.h` declares them, where they are not the same as another family's.

use wryneck_exec::{Cx, FaultKind, PathEnd, Reply, Stop};

use crate::Linux;
use crate::libc::assert::text;
use crate::sig::Args;

/// wryneck_error(message): the path ends with a finding.
pub fn error(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let message = text(cx, args.value(0));
    Err(PathEnd::fault(FaultKind::Reported, message).into())
}
