//! Strings that a program was given and writes to, where their length is no part of a path's condition (paper 4, argument generalization).

use crate::errno::Halt;
use crate::input::{Arg, EnvValue};
use crate::observed::{keep, question};
use crate::sys::Sys;
use wryneck_exec::memory;

/// A path that ends may have written to strings that it was given. Where their length is no part of its condition, it would write to what follows a
/// shorter one: then the length becomes one, if it can be checked.
pub fn strings(s: &mut Sys<'_, '_>) -> Result<(), Halt> {
    if s.linux.captured.log.is_none() {
        return Ok(());
    }
    let input = &s.linux.input;
    let symbolic = input.args.iter().filter(|arg| !matches!(arg, Arg::Concrete(_))).enumerate();
    for (number, arg) in symbolic {
        let name = format!("arg{number:02}");
        if let Arg::Symbolic(len) = arg
            && s.is_written(&format!("the argument `{name}`"), 0, &name, *len)?
        {
            s.linux.captured.note_unknown(&format!("whether `{name}`, to which the program writes, is long enough"));
        }
    }
    for (name, value) in &input.env {
        let spelled = String::from_utf8_lossy(name);
        if let EnvValue::Exact(len) = value
            && s.is_written(&format!("the variable `{spelled}`"), name.len() as u64 + 1, &format!("env_{spelled}"), *len)?
        {
            s.linux.captured.note(|| (question("envlen", name), len.to_string().into_bytes()));
        }
    }
    keep(s);
    Ok(())
}

impl Sys<'_, '_> {
    /// Whether a string that the program was given, `what` it is, has other bytes than those of its input from an offset on.
    fn is_written(&mut self, what: &str, offset: u64, input: &str, len: u32) -> Result<bool, Halt> {
        let Some(addr) = self.world().given.iter().find(|(_, given)| &***given == what).map(|(addr, _)| *addr) else { return Ok(false) };
        let bytes = memory::read_bytes(self.cx, addr + offset, len.into())?;
        let pool = &mut self.cx.core.pool;
        let symbols = (0..len).map(|i| {
            let symbol = pool.symbol(input, i, 8);
            pool.sym(symbol)
        });
        Ok(!bytes.into_iter().eq(symbols))
    }
}
