//! Models against the real kernel, and intrinsics against what they promise. Programs are C; clang and our lowering make them IR.

mod engine;
mod native;
mod paths;
mod symbolic;
