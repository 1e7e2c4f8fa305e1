//! Statements that jump out of functions: blocks that `longjmp` leaves for a handler, from where it is thrown in them and in what they call.
//!
//! `armed` counts the blocks in progress. No statement returns out of a block, and variables of functions are volatile, so C defines the program.

use super::{Generator, Part};

impl Generator {
    /// A block and its handler.
    pub(super) fn guarded(&mut self) {
        self.guards += 1;
        self.line("if (armed < 4) {");
        self.line("  switch (setjmp(landing[armed])) {");
        self.line("  case 0:");
        self.line("    armed++;");
        self.indent += 1;
        self.inside(3);
        self.throw();
        self.inside(2);
        self.indent -= 1;
        self.line("    armed--;");
        self.line("    break;");
        self.guards -= 1;
        self.line("  case 1: case 2:");
        self.inside(2);
        self.line("    break;");
        self.line("  default:");
        self.inside(2);
        self.line("  }");
        self.line("}");
    }

    pub(super) fn throw(&mut self) {
        let (c, value) = (self.condition(), self.value(1));
        match self.below(3) {
            0 => self.line(&format!("if (({c}) && armed) longjmp(landing[--armed], {value});")),
            1 => self.line(&format!("if ({c}) throws({value});")),
            _ => {
                self.happened = true;
                let place = self.place();
                self.line(&format!("{place} = evj({value});"));
            }
        }
    }

    /// What is thrown past must be in memory.
    pub(super) fn local(&self) -> &'static str {
        if self.has(Part::Jumps) { "volatile int" } else { "int" }
    }
}
