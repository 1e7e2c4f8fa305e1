//! Statements that are repeated for each byte of input, and forget some of what they know in between, so that many paths come to equal states.

use super::{Generator, Part};

impl Generator {
    pub(super) fn rounds(&mut self) {
        self.conditions.clear();
        self.in_round = true;
        self.loops += 1;
        self.readable.extend(["c".to_owned(), "t".to_owned()]);
        self.line("for (int t = 0; t < 3; t++) {");
        self.indent += 1;
        self.line("int c = in@[t];");
        self.all_statements();
        let mut kept: Vec<String> = ["g0@", "g1@", "u", "v"].map(str::to_owned).to_vec();
        if self.has(Part::Structures) {
            kept.extend(["s@.x", "o@.y", "a@[0]", "a@[1]"].map(str::to_owned));
        }
        for name in kept {
            match self.below(4) {
                0 => {}
                1 => self.line(&format!("{name} = 0;")),
                2 => self.line(&format!("{name} &= 1;")),
                _ => {
                    let value = self.value(0);
                    self.line(&format!("{name} = {name} > {value};"));
                }
            }
        }
        self.indent -= 1;
        self.line("}");
        self.in_round = false;
    }
}
