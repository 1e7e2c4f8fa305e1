//! Variables of functions that are reached by their names alone, and such as pointers lead to: through callees, variable arguments, structures,
//! arrays, numbers, results and choices. Each function draws which of its variables have their addresses taken.

use super::{Generator, Part};

/// The variables of a function, beside those that each has.
const VARIABLES: [&str; 6] = ["w0", "w1", "w2", "w3", "w4", "w5"];
/// What pointers are kept in; they lead to a global first.
const KEEP: &str =
    "  struct { int k, *p; } b = {1, &g0@}, *e = &b;\n  int *t[2] = {&g0@, &g1@};\n  unsigned long far = (unsigned long)&g1@ * 2;\n";
/// Statements with a variable's address: `%` is the variable, `#` another one, `$` a value.
const FORMS: [&str; 12] = [
    "put(&%, $);",
    "put_last(2, &#, &%, $);",
    "*same(&%) = $;",
    "e->p = &%;",
    "*b.p = $;",
    "t[$ & 1] = &%;",
    "*t[$ & 1] = $;",
    "far = (unsigned long)&% * 2;",
    "*(int *)(far / 2) = $;",
    "swap_bytes(&%, &#, sizeof %);",
    "*($ > 1 ? &% : &#) = $;",
    "put(t[0], $); put(b.p, $);",
];

impl Generator {
    /// Declares them in the function that is begun.
    pub(super) fn frame_variables(&mut self) {
        if !self.has(Part::Frames) {
            return;
        }
        for (at, name) in VARIABLES.into_iter().enumerate() {
            self.declared += &format!("  int {name} = {};\n", at % 3);
            self.readable.push(name.into());
            self.writable.push(name.into());
        }
        self.declared += KEEP;
        self.addressed = VARIABLES.into_iter().filter(|_| self.random.below(3) == 0).collect();
    }

    pub(super) fn frame_address(&mut self) {
        let form = self.pick(&FORMS);
        let addressed = self.addressed.clone();
        let line = match addressed.is_empty() {
            true => format!("{} = {};", self.pick(&VARIABLES), self.value(1)),
            false => form.replace('%', self.pick(&addressed)).replace('#', self.pick(&addressed)),
        };
        let mut pieces = line.split('$');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            text += &self.value(1);
            text += piece;
        }
        match self.below(2) {
            0 => {
                let c = self.condition();
                self.line(&format!("if ({c}) {{ {text} }}"));
            }
            _ => self.line(&text),
        }
    }
}
