//! Findings and runs as plain data, and the formats they are written in.
