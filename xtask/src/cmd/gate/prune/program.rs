//! Random C programs with events, without undefined behaviour, on inputs that can all be tried: what pruning is tested on.
//!
//! Each program draws the constructs it may use (swarm testing: Groce et al., ISSTA 2012), so that small ones meet in pairs. Every integer
//! lies in 0..=7, every pointer leads to one, every loop and recursion counts down; conditions are used again, and so are variables that
//! were set under conditions. A third of the programs have assignments, conditions and events only, as `pruning_check` of the design; half
//! of the others have events when they exit.
//! `@` in the text stands for the program's suffix. A seed means the same program for ever.

mod frames;
mod hidden;
mod jumps;
mod parts;
mod rounds;
mod slots;
mod terms;

pub use self::parts::Shape;
use self::parts::{HIDDEN, PARTS, Part};
use crate::random::Random;

/// A statement: what it needs, how often it is drawn, whether it has statements inside, and how it is written.
struct Statement {
    part: Option<Part>,
    weight: usize,
    nests: bool,
    write: fn(&mut Generator),
}

const fn row(part: Option<Part>, weight: usize, nests: bool, write: fn(&mut Generator)) -> Statement {
    Statement { part, weight, nests, write }
}

/// One more statement: a method of [`Generator`], and its row.
const STATEMENTS: &[Statement] = &[
    row(None, 12, true, Generator::condition_statement),
    row(None, 5, false, Generator::assignment),
    row(None, 6, false, Generator::event),
    row(Some(Part::Blocks), 1, false, Generator::block_operation),
    row(Some(Part::Calls), 3, false, Generator::call_statement),
    row(Some(Part::Exits), 1, false, Generator::leave),
    row(Some(Part::FunctionPointers), 2, false, Generator::function_pointer),
    row(Some(Part::Gotos), 1, true, Generator::labelled),
    row(Some(Part::Gotos), 1, false, Generator::jump),
    row(Some(Part::Heap), 2, true, Generator::heap),
    row(Some(Part::Hidden), 8, false, Generator::hidden_address),
    row(Some(Part::Jumps), 5, true, Generator::guarded),
    row(Some(Part::Jumps), 3, false, Generator::throw),
    row(Some(Part::Loops), 3, true, Generator::repetition),
    row(Some(Part::Pointers), 2, false, Generator::pointer),
    row(Some(Part::Streams), 2, false, Generator::stream),
    row(Some(Part::Switches), 2, true, Generator::switch),
];

/// The functions that pointers may lead to.
const TARGETS: [&str; 4] = ["c0@", "c1@", "evk", "evw"];
/// Statements of a function that is not the entry.
const HELPER: usize = 5;

/// A program, as part of a C file.
#[derive(Clone)]
pub struct Program {
    pub seed: u64,
    /// How many values each of the three input bytes has, from 0.
    pub values: [usize; 3],
    /// Its definitions; the entry is `p_SEED`, and natively `reset_SEED` undoes what a run left.
    pub text: String,
}

impl Program {
    pub fn new(seed: u64, shape: Shape) -> Program {
        let mut random = Random::new(seed);
        let simple = shape == Shape::Plain && seed.is_multiple_of(3);
        let mut parts: Vec<Part> = PARTS.iter().copied().filter(|_| random.below(2) == 0).collect();
        if simple {
            parts.clear();
        }
        if shape == Shape::Hidden {
            parts.extend(HIDDEN);
            if !parts.contains(&Part::Pointers) {
                parts.push(Part::Pointers);
            }
        }
        if shape == Shape::Errors {
            parts.push(Part::Streams);
        }
        if shape == Shape::Jumps {
            parts.retain(|part| *part != Part::Gotos);
            parts.push(Part::Jumps);
        }
        let values = match simple {
            true => [2; 3],
            false => [2 + random.below(3), 2 + random.below(5), 2 + random.below(2)],
        };
        let budget = 8 + random.below(if simple { 8 } else { 32 });
        let events = (0..3).map(|_| random.below(if simple { 3 } else { EVENTS.len() })).collect();
        let at_exit = !simple && seed % 4 < 2;
        let generator = Generator { random, shape, parts, values, events, at_exit, ..Generator::default() };
        Program { seed, values, text: generator.program(budget).replace('@', &format!("_{seed}")) }
    }

    /// The row of the table that the native driver walks.
    pub fn row(&self) -> String {
        let (seed, [x, y, z]) = (self.seed, self.values);
        format!("{{{seed}, {{{x}, {y}, {z}}}, p_{seed}, reset_{seed}}},")
    }
}

/// Events as statements, `%` for values; the first three are alike.
const EVENTS: &[&str] = &[
    "ev0();",
    "ev1();",
    "ev2();",
    "evk(%);",
    "evp(&a@[% & 3]);",
    "evp(q@);",
    "evw(%);",
    "g1@ = evw(%);",
    "evr(%, %);",
    "if (evr(%, %)) g0@ = %;",
    "{ int *r = evq(%); if (r) q@ = r; }",
    "evn(%);",
    "evm(&q@);",
    "g2@ = evx(%);",
];

#[derive(Default)]
struct Generator {
    random: Random,
    shape: Shape,
    parts: Vec<Part>,
    values: [usize; 3],
    /// Which of [`EVENTS`] the program has.
    events: Vec<usize>,
    /// Functions that are written, the current function's body, and what it declares.
    done: String,
    body: String,
    declared: String,
    indent: usize,
    /// Statements left in the current function, and how deep the next one may nest.
    left: usize,
    depth: u32,
    loops: u32,
    /// Blocks that the statement is in which nothing returns out of.
    guards: u32,
    /// Names are numbered over the whole program.
    names: u32,
    /// Integers of the current function that may be read, and of those the ones that may be written.
    readable: Vec<String>,
    writable: Vec<String>,
    /// Labels further down in the current function.
    labels: Vec<u32>,
    /// Functions that may be called, by name; the entry alone may point to its locals.
    callable: Vec<&'static str>,
    entry: bool,
    /// Input is the byte of the round at hand.
    in_round: bool,
    /// There is a function to run at the end.
    at_exit: bool,
    /// Conditions on input that were used before.
    conditions: Vec<String>,
    happened: bool,
}

impl Generator {
    fn program(mut self, budget: usize) -> String {
        if self.has(Part::Calls) || self.has(Part::FunctionPointers) {
            self.helper("c0@", HELPER / 2);
            self.helper("c1@", HELPER / 2);
            self.callable = vec!["c0@", "c1@"];
        }
        if self.has(Part::Calls) {
            self.helper("h0@", HELPER);
            self.callable.push("h0@");
            self.helper("r@", HELPER);
            self.callable.push("r@");
        }
        if self.at_exit {
            self.last();
        }
        self.entry(budget);
        let (globals, resets) = self.globals();
        let undone = format!("#ifdef NATIVE\nstatic void reset@(void) {{\n  {resets}\n}}\n#endif\n");
        format!("{globals}{}{undone}", self.done)
    }

    /// The program's globals, and the statements that give them their first values again.
    fn globals(&mut self) -> (String, String) {
        let (mut text, mut resets) = (String::from("static unsigned char in@[3];\n"), String::new());
        let mut define = |ty: &str, name: &str, value: &str| {
            text += &format!("static {} = {value};\n", ty.replace('$', name));
            resets += &format!("{name} = {value}; ");
        };
        for name in ["g0@", "g1@", "g2@"] {
            let value = self.random.below(3).to_string();
            define("int $", name, &value);
        }
        define("int *$", "q@", "&g2@");
        define("int (*$)(int)", "f@", "evk");
        define("struct n@ { int v; struct n@ *next; } *$", "list@", "0");
        for (ty, name) in [
            ("int $[4]", "a@"),
            ("unsigned char $[5]", "m@"),
            ("unsigned char $[5]", "l@"),
            ("struct s@ { int x, y, *p; int (*f)(int); } $", "s@"),
        ] {
            text += &format!("static {};\n", ty.replace('$', name));
            resets += &format!("memset(&{name}, 0, sizeof {name}); ");
        }
        text += "static struct s@ o@;\n";
        let mut numbers =
            |most: usize, count: usize| (0..count).map(|_| self.random.below(most).to_string()).collect::<Vec<_>>().join(", ");
        let (kinds, states) = (numbers(4, 8), numbers(8, 16));
        text += &format!("static const unsigned char kind@[8] = {{{kinds}}}, state@[16] = {{{states}}};\n");
        if self.has(Part::Hidden) {
            text += hidden::STORE;
        }
        if self.shape == Shape::Slots {
            text += slots::STORE;
        }
        text += "__attribute__((noreturn, noinline)) static void die@(int n) { if (n > 1) ev2(); exit(n); }\n";
        text += "__attribute__((noinline)) static void stop@(int n) { if (n) exit(1); }\n";
        resets += "memset(&o@, 0, sizeof o@);";
        (text, resets)
    }

    /// Writes a function of one integer: `r@` calls itself with less, once.
    fn helper(&mut self, name: &str, budget: usize) {
        self.readable = vec!["n".into(), "u".into()];
        self.writable = vec!["u".into()];
        self.declared = format!("  {} u = n & 3;\n", self.local());
        self.begin(budget, 2);
        if name == "r@" {
            self.line("if (n <= 0) return u;");
            self.statements(2);
            self.line("u = r@(n - 1);");
        }
        self.statements(3);
        self.line("return u;");
        let inline = if self.random.below(2) == 0 { "__attribute__((noinline)) " } else { "" };
        self.end(&format!("{inline}static int {name}(int n)"));
    }

    /// Writes the function that runs at the end: it neither ends the program nor calls what does.
    fn last(&mut self) {
        let (parts, callable) = (std::mem::take(&mut self.parts), std::mem::take(&mut self.callable));
        (self.readable, self.writable, self.declared) = (Vec::new(), Vec::new(), String::new());
        self.begin(HELPER, 2);
        self.statements(3);
        self.line("ev2();");
        self.end("static void last@(void)");
        (self.parts, self.callable) = (parts, callable);
    }

    fn entry(&mut self, budget: usize) {
        let locals = ["u", "v"].map(str::to_owned).to_vec();
        (self.readable, self.writable, self.entry) = (locals.clone(), locals, true);
        self.declared = format!("  {} u = 0, v = 1;\n", self.local());
        self.begin(budget, 3);
        self.line("wryneck_make_symbolic(in@, sizeof in@, \"in\");");
        for (i, values) in self.values.into_iter().enumerate() {
            match values.is_power_of_two() {
                true => self.line(&format!("in@[{i}] &= {};", values - 1)),
                false => self.line(&format!("wryneck_assume(in@[{i}] < {values});")),
            }
        }
        self.line("s@.p = o@.p = &g1@;");
        self.line("s@.f = o@.f = evk;");
        if self.has(Part::Hidden) {
            self.save_all();
        }
        if self.at_exit {
            let c = self.condition();
            self.line(&format!("if (!({c})) atexit(last@);"));
        }
        match self.shape {
            Shape::Plain | Shape::Hidden | Shape::Jumps | Shape::Errors => self.all_statements(),
            Shape::Frames => self.frames(),
            Shape::Rounds => self.rounds(),
            Shape::Slots => self.slots(),
        }
        if !self.happened {
            let c = self.condition();
            self.line(&format!("if ({c}) ev0();"));
        }
        self.end("void p@(void)");
    }

    fn all_statements(&mut self) {
        while self.left > 0 {
            self.statements(4);
        }
    }

    fn begin(&mut self, budget: usize, depth: u32) {
        (self.left, self.depth, self.indent) = (budget, depth, 1);
        self.body.clear();
    }

    fn end(&mut self, head: &str) {
        self.done += &format!("{head} {{\n{}{}}}\n", self.declared, self.body);
    }

    fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.random.below(of.len())].clone()
    }

    fn fresh(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    fn line(&mut self, text: &str) {
        self.body += &format!("{:1$}{text}\n", "", 2 * self.indent);
    }

    /// Of pointers, strings and blocks.
    fn comparison(&mut self) -> String {
        match self.below(4) {
            0 if self.has(Part::Pointers) => format!("q@ == {}", self.target()),
            1 if !self.callable.is_empty() => format!("f@ == {}", self.pick(&TARGETS)),
            2 if self.has(Part::Blocks) => "!memcmp(m@, l@, 4)".into(),
            3 if self.has(Part::Blocks) => "strcmp((char *)m@, (char *)l@)".into(),
            _ => format!("{} != {}", self.value(1), self.value(0)),
        }
    }

    /// The address of an integer that lives as long as the program.
    fn target(&mut self) -> String {
        match self.below(6) {
            0 | 1 => format!("&a@[{} & 3]", self.leaf()),
            2 => self.pick(&["&s@.x", "&o@.y"]).into(),
            3 if self.entry => self.pick(&["&u", "&v"]).into(),
            _ => self.pick(&["&g0@", "&g1@", "&g2@"]).into(),
        }
    }

    /// Up to `most` statements, as many as are left.
    fn statements(&mut self, most: usize) {
        for _ in 0..1 + self.below(most) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let allowed = |s: &&Statement| s.part.is_none_or(|part| self.has(part)) && (!s.nests || self.depth > 0);
            let rows: Vec<&Statement> = STATEMENTS.iter().filter(allowed).collect();
            let mut at = self.random.below(rows.iter().map(|s| s.weight).sum());
            let chosen = rows.into_iter().find(|s| {
                let here = at < s.weight;
                at = at.wrapping_sub(s.weight);
                here
            });
            (chosen.expect("the number is below the sum").write)(self);
        }
    }

    /// Statements in braces after `head`.
    fn block(&mut self, head: &str, most: usize) {
        self.line(&format!("{head} {{"));
        self.inside(most);
        self.line("}");
    }

    fn inside(&mut self, most: usize) {
        (self.indent, self.depth) = (self.indent + 1, self.depth - 1);
        self.statements(most);
        (self.indent, self.depth) = (self.indent - 1, self.depth + 1);
    }
}

/// The statements.
impl Generator {
    fn condition_statement(&mut self) {
        let c = self.condition();
        self.block(&format!("if ({c})"), 3);
        if self.below(3) == 0 {
            self.block("else", 2);
        }
    }

    fn assignment(&mut self) {
        let (place, value) = (self.place(), self.value(1));
        self.line(&format!("{place} = {value};"));
    }

    fn event(&mut self) {
        self.happened = true;
        let text = EVENTS[self.pick(&self.events.clone())];
        let mut pieces = text.split('%').collect::<Vec<_>>().into_iter();
        let mut line = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            line += &self.value(1);
            line += piece;
        }
        self.line(&line);
    }

    fn block_operation(&mut self) {
        let line = match self.below(5) {
            0 => format!("memset(m@, {}, 4);", self.value(1)),
            1 => "memcpy(l@, m@, 4);".into(),
            2 => "o@ = s@;".into(),
            3 => "memcpy(&s@, &o@, sizeof s@);".into(),
            _ => format!("memset(l@, {}, 1 + ({} & 1));", self.below(3), self.input()),
        };
        self.line(&line);
    }

    fn call_statement(&mut self) {
        if self.callable.is_empty() {
            return self.assignment();
        }
        let (function, place, value) = (self.pick(&self.callable.clone()), self.place(), self.value(1));
        let line = match self.below(3) {
            0 => format!("{function}({value} & 3);"),
            _ => format!("{place} = {function}({value} & 3);"),
        };
        self.line(&line);
    }

    fn leave(&mut self) {
        let (c, value) = (self.condition(), self.value(1));
        let line = match self.below(4) {
            0 if self.guards > 0 => format!("if ({c}) die@({value});"),
            0 if self.entry => format!("if ({c}) return;"),
            0 => format!("if ({c}) return {value};"),
            1 => format!("if ({c}) exit({value});"),
            2 => format!("if ({c}) die@({value});"),
            _ => format!("stop@({c});"),
        };
        self.line(&line);
    }

    fn function_pointer(&mut self) {
        let (pointer, target) = (self.pick(&["f@", "f@", "s@.f", "o@.f"]), self.pick(&TARGETS));
        // What a pointer leads to calls no pointer, so it comes to an end.
        let line = match self.below(3) {
            0 if !self.callable.is_empty() => format!("{} = {pointer}({});", self.place(), self.value(1)),
            _ if self.callable.is_empty() => format!("{pointer} = {};", self.pick(&TARGETS[2..])),
            _ => format!("{pointer} = {target};"),
        };
        self.line(&line);
    }

    /// Statements with a label after them, sometimes one in the middle of a block that a jump leads into.
    fn labelled(&mut self) {
        let label = self.fresh();
        if self.below(3) == 0 {
            let (c, d) = (self.condition(), self.condition());
            self.line(&format!("if ({c}) goto L{label};"));
            self.line(&format!("if ({d}) {{"));
            self.inside(2);
            self.line(&format!("  L{label}:;"));
            self.inside(2);
            self.line("}");
            return;
        }
        self.labels.push(label);
        self.jump();
        self.line("{");
        self.inside(3);
        self.line("}");
        self.labels.pop();
        self.line(&format!("L{label}:;"));
    }

    fn jump(&mut self) {
        match self.labels.is_empty() {
            true => self.assignment(),
            false => {
                let (c, label) = (self.condition(), self.pick(&self.labels.clone()));
                self.line(&format!("if ({c}) goto L{label};"));
            }
        }
    }

    fn heap(&mut self) {
        let value = self.value(1);
        match self.below(4) {
            // The value may be read by the old pointer.
            0 => self.line(&format!("{{ int to = {value}; q@ = malloc(sizeof *q@); *q@ = to; }}")),
            1 => {
                let n = self.fresh();
                self.line(&format!("int *t{n} = malloc(sizeof *t{n}); *t{n} = {value};"));
                self.readable.push(format!("*t{n}"));
                self.line("{");
                self.inside(2);
                self.line("}");
                self.readable.pop();
                self.line(&format!("free(t{n});"));
            }
            2 => self.line(&format!("{{ struct n@ *e = malloc(sizeof *e); e->v = {value}; e->next = list@; list@ = e; }}")),
            _ => {
                let n = self.fresh();
                self.readable.push(format!("i{n}->v"));
                self.writable.push(format!("i{n}->v"));
                self.loops += 1;
                self.block(&format!("for (struct n@ *i{n} = list@; i{n}; i{n} = i{n}->next)"), 2);
                self.loops -= 1;
                self.writable.pop();
                self.readable.pop();
            }
        }
    }

    fn repetition(&mut self) {
        if self.loops == 2 {
            return self.assignment();
        }
        self.loops += 1;
        let (n, value) = (self.fresh(), self.value(1));
        self.readable.push(format!("i{n}"));
        match self.below(4) {
            0 | 1 => self.block(&format!("for (int i{n} = 0; i{n} < ({value} & 3); i{n}++)"), 3),
            2 => {
                let c = self.condition();
                self.declared += &format!("  int i{n} = 3;\n");
                self.block(&format!("while (i{n}-- > 0 && ({c}))"), 2);
            }
            _ => {
                let c = self.condition();
                let word = self.pick(&["break", "continue"]);
                self.line(&format!("for (int i{n} = {value} & 3; i{n} > 0; i{n}--) {{"));
                self.line(&format!("  if ({c}) {word};"));
                self.inside(3);
                self.line("}");
            }
        }
        self.readable.pop();
        self.loops -= 1;
    }

    fn pointer(&mut self) {
        let (pointer, target) = (self.pick(&["q@", "q@", "s@.p", "o@.p"]), self.target());
        let line = match self.below(4) {
            0 => {
                let (c, other) = (self.condition(), self.target());
                format!("{pointer} = ({c}) ? {target} : {other};")
            }
            _ => format!("{pointer} = {target};"),
        };
        self.line(&line);
    }

    fn switch(&mut self) {
        let value = self.value(1);
        self.line(&format!("switch ({value}) {{"));
        for case in ["case 0:", "case 1: case 3:", "default:"] {
            self.line(case);
            self.inside(2);
            if self.below(4) > 0 {
                self.line("  break;");
            }
        }
        self.line("}");
    }
}
