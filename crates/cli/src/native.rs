//! Native programs for replays.
