//! Machine code: ELF and SLEIGH p-code to IR, on demand.
