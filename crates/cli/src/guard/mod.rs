//! `wryneck guard`: before a native run, know whether the path of this input is verified (paper 4, Bipath).
//!
//! Reading order: [`policy`] and [`shape`] (generalisation), [`program`] (what runs), [`world`] (facts), [`ask`] (the lookup and what comes of it),
//! [`manage`] (shims, warming up, status), [`verify`] (the exploration), [`worker`] (its process), [`process`] (the native run).

pub mod ask;
pub mod manage;
pub mod options;
pub mod policy;
pub mod process;
pub mod program;
pub mod shape;
pub mod verify;
pub mod worker;
pub mod world;
