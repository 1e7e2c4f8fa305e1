//! LLVM bitcode to IR; the executable wryneck-lower.
