//! The CPU's side: `harness.c`, built once, run once per instruction.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::OracleError;
use crate::state::State;

/// The harness, built.
pub struct Native {
    _dir: tempfile::TempDir,
    program: PathBuf,
}

impl Native {
    /// Builds it with the machine's C compiler.
    pub fn new() -> Result<Native, OracleError> {
        let dir = tempfile::tempdir().map_err(OracleError::Harness)?;
        let (source, program) = (dir.path().join("harness.c"), dir.path().join("harness"));
        std::fs::write(&source, include_str!("harness.c")).map_err(OracleError::Harness)?;
        let flags = ["-O1", "-w", "-fno-stack-protector", "-mfsgsbase", "-o"];
        let built = Command::new("gcc").args(flags).arg(&program).arg(&source).status().map_err(OracleError::Harness)?;
        if !built.success() {
            return Err(OracleError::NotBuilt);
        }
        Ok(Native { _dir: dir, program })
    }

    /// Runs the instruction from each state; the states it leaves behind.
    pub fn run(&self, code: &[u8], states: &[State]) -> Result<Vec<State>, OracleError> {
        let started = Command::new(&self.program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(OracleError::Harness)?;
        let mut input = child.stdin.take().expect("piped above");
        let head = [states.len() as u32, code.len() as u32];
        // It reads all before it writes.
        let sent = [bytemuck::cast_slice(&head), code, bytemuck::cast_slice(states)].iter().try_for_each(|part| input.write_all(part));
        drop(input);
        let out = child.wait_with_output().map_err(OracleError::Harness)?;
        sent.map_err(OracleError::Harness)?;
        if !out.status.success() || out.stdout.len() != size_of_val(states) {
            return Err(OracleError::Ended { code: code.to_vec(), status: out.status });
        }
        Ok(out.stdout.chunks_exact(size_of::<State>()).map(bytemuck::pod_read_unaligned).collect())
    }
}
