//! The stages, one technique per file; `chain.rs` has their order. A stage answers, or leaves the query to the next one.

pub(crate) mod abstraction;
pub(crate) mod backend;
pub(crate) mod byte_domain;
pub(crate) mod cache;
pub(crate) mod classes;
pub(crate) mod constant;
pub(crate) mod costly;
pub(crate) mod credit;
pub(crate) mod enumerate;
pub(crate) mod independence;
pub(crate) mod known_bits;
pub(crate) mod log;
pub(crate) mod neighbours;
pub(crate) mod recent_models;
pub(crate) mod search;
pub(crate) mod substitute;
pub(crate) mod validate;
pub(crate) mod value_sets;
