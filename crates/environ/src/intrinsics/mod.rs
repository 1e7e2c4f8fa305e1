//! Intrinsics: functions by which a program speaks to the tool. `wryneck.h`, KLEE's `klee/klee.h`, SV-COMP's `__VERIFIER_*`.

pub mod klee;
pub mod overflow;
pub mod verifier;
pub mod wryneck;
