//! The lowest floor: the parts that need no path in progress. These are the prepared program, memory, prefixes, path ends and the
//! configuration.

pub mod chain;
pub mod code;
pub mod config;
pub mod digest;
mod exposed;
pub mod globals;
pub mod image;
pub mod job;
pub mod machine_code;
pub mod memory;
pub mod path_end;
pub mod places;
pub mod prefix;
pub mod sharing;
pub mod stacks;
pub mod thread_locals;
pub mod tree;

/// Random numbers below a bound, for tests: the same for the same seed.
#[cfg(test)]
pub(crate) fn random(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    }
}
