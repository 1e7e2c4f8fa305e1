//! Variables of a function that are reached by their names alone, and such as pointers lead to: through callees, variable arguments, structures,
//! arrays, numbers, results and choices. Each program draws which of its variables have their addresses taken.
//!
//! Events come last and depend on such variables. Nothing else is live before, so that a slicer has no other reason to keep a branch.

use super::Generator;

const VARIABLES: [&str; 6] = ["w0", "w1", "w2", "w3", "w4", "w5"];
const INPUTS: [&str; 3] = ["x0", "x1", "x2"];
/// What pointers are kept in.
const KEEP: &str =
    "  struct { int k, *p; } b = {1, &w0}, *e = &b;\n  int *t[2] = {&w0, &w0};\n  unsigned long far = (unsigned long)&w0 * 2;\n";
/// Statements with a variable's address: `%` is a variable, `#` any, `$` a value.
const FORMS: [&str; 14] = [
    "put(&%, $);",
    "put_last(2, &w0, &%, $);",
    "*same(&%) = $;",
    "e->p = &%;",
    "*b.p = $;",
    "t[$ & 1] = &%;",
    "*t[$ & 1] = $;",
    "far = (unsigned long)&% * 2;",
    "*(int *)(far / 2) = $;",
    "swap_bytes(&%, &w0, sizeof %);",
    "*($ > 1 ? &% : &w0) = $;",
    "put(t[0], $); put(b.p, $);",
    "memset(&%, $, 1);",
    "# = $;",
];

impl Generator {
    /// The statements of an entry.
    pub(super) fn frames(&mut self) {
        for (at, name) in VARIABLES.into_iter().enumerate() {
            self.declared += &format!("  int {name} = {};\n", at % 3);
        }
        let first = 1 + self.below(VARIABLES.len() - 1);
        let mut addressed: Vec<&str> = VARIABLES.into_iter().filter(|_| self.random.below(4) == 0).collect();
        addressed.push(VARIABLES[first]);
        self.declared += &KEEP.replace('%', VARIABLES[first]);
        for (at, name) in INPUTS.into_iter().enumerate() {
            self.line(&format!("int {name} = in@[{at}];"));
        }
        for _ in 0..4 + self.below(6) {
            let form = self.pick(&FORMS).replace('%', self.pick(&addressed)).replace('#', self.pick(&VARIABLES));
            let mut pieces = form.split('$');
            let mut text = pieces.next().unwrap_or_default().to_owned();
            for piece in pieces {
                text += &self.small();
                text += piece;
            }
            if self.below(3) > 0 {
                let at = self.below(INPUTS.len());
                let value = self.random.below(self.values[at]);
                text = format!("if ({} == {value}) {{ {text} }}", INPUTS[at]);
            }
            self.line(&text);
        }
        for event in 0..2 {
            let variable = if self.below(3) == 0 { self.pick(&VARIABLES) } else { self.pick(&addressed) };
            let value = self.below(4);
            self.line(&format!("if ({variable} > {value}) ev{event}();"));
        }
        self.happened = true;
    }

    fn small(&mut self) -> String {
        match self.below(6) {
            0 => self.pick(&INPUTS).into(),
            1 => self.pick(&VARIABLES).into(),
            _ => self.below(8).to_string(),
        }
    }
}
