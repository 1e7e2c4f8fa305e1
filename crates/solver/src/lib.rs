//! Decides path conditions: stages, caches, bit-blasting, backends.
