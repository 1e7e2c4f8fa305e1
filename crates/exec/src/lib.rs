//! The engine: states, memory, steps, forks, searchers, replay, and the traits plug-ins meet.
