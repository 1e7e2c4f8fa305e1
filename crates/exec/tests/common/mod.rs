//! Small programs in text form, run by the engine. Their environment has one function: `@input(address, size)` makes symbolic bytes, or
//! copies given ones. The result of `@main` is the exit status.

use std::rc::Rc;

use wryneck_exec::core::Core;
use wryneck_exec::state::{NoData, PathData};
use wryneck_exec::{
    Call, Config, Control, Cx, Ended, Environment, Explorer, Image, Limit, Outcome, PathEnd, Reply, Stop, Value, inputs, memory, search,
};
use wryneck_expr::{ExprId, Pool};
use wryneck_ir::link::{Program, Target, Unit};
use wryneck_solver::Solver;

pub struct World {
    pub given: Option<Vec<u8>>,
}

impl Environment for World {
    fn model(&self, name: &str, _: bool) -> Option<u32> {
        (name == "input").then_some(0)
    }
    fn call(&self, _: u32, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
        let (Value::Bits(addr), Value::Bits(size)) = (call.args[0], call.args[1]) else {
            return Err(PathEnd::Unsupported("symbolic arguments".into()).into());
        };
        let bytes: Vec<ExprId> = match &self.given {
            Some(given) => given[..size as usize].iter().map(|b| cx.core.pool.bits(8, (*b).into())).collect(),
            None => inputs::new_input(cx, "in", size),
        };
        memory::write_bytes(cx, addr, &bytes)?;
        Ok(Reply::Void)
    }
    fn initial(&self) -> Rc<dyn PathData> {
        Rc::new(NoData)
    }
}

/// Collects what ends; stops nothing.
#[derive(Default)]
pub struct Collect {
    pub ended: Vec<Ended>,
    /// Reported as memory in use.
    pub memory: u64,
}

impl Control for Collect {
    fn stop(&mut self, _: &Core, _: usize) -> Option<Limit> {
        None
    }
    fn ended(&mut self, _: &mut Core, ended: Ended) {
        self.ended.push(ended);
    }
    fn memory_used(&mut self) -> u64 {
        self.memory += u64::from(self.memory > 0);
        self.memory
    }
}

pub fn explorer(text: &str, given: Option<Vec<u8>>, config: Config, solver: wryneck_solver::Config) -> Explorer {
    prepared(text, given, config, solver, |_| {})
}

/// As [`explorer`], prepared before it starts.
pub fn prepared(
    text: &str,
    given: Option<Vec<u8>>,
    config: Config,
    solver: wryneck_solver::Config,
    prepare: impl FnOnce(&mut Explorer),
) -> Explorer {
    let module = wryneck_ir::text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    wryneck_ir::verify::verify(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::link(vec![Unit { name: "test".into(), module, library: false }]).expect("links");
    let Some(Target::Func(main)) = program.lookup("main") else { panic!("no main") };
    let mut pool = Pool::new();
    let world: Rc<dyn Environment> = Rc::new(World { given });
    let image = Image::new(program, &*world, &mut pool);
    let searcher = search::by_names(&config.search, config.seed).expect("known searcher");
    let solver = Solver::new(solver).expect("known backend");
    let mut explorer = Explorer::new(image, pool, solver, world, None, config, searcher);
    prepare(&mut explorer);
    explorer.start(main.0, |_| Ok(Vec::new())).expect("starts");
    explorer
}

pub fn explore(text: &str, config: Config, solver: wryneck_solver::Config) -> (Explorer, Collect) {
    let mut explorer = explorer(text, None, config, solver);
    let mut all = Collect::default();
    assert_eq!(explorer.explore(&mut all), Outcome::Complete);
    (explorer, all)
}

/// How the program ends on these input bytes.
pub fn concrete(text: &str, bytes: &[u8]) -> PathEnd {
    let mut explorer = explorer(text, Some(bytes.to_vec()), Config::default(), Default::default());
    let mut all = Collect::default();
    explorer.explore(&mut all);
    assert_eq!(all.ended.len(), 1, "a concrete run has one path");
    all.ended.remove(0).end
}

/// The input bytes of an ended path.
pub fn inputs(ended: &Ended) -> Vec<u8> {
    ended.inputs.iter().flat_map(|i| i.bytes.iter().map(|s| ended.model.get(*s) as u8)).collect()
}

/// Exit status, or the kind of fault.
pub fn class(end: &PathEnd) -> String {
    match end {
        PathEnd::Exit(n) => format!("exit {n}"),
        PathEnd::Fault(f) => f.kind.to_string(),
        other => format!("{other:?}"),
    }
}

/// Random programs over two input nibbles, four byte variables and an array: branches, loops, switches, calls, symbolic
/// indices, divisions and shifts that may fault.
pub struct Generator {
    seed: u64,
    labels: u32,
    temps: u32,
    out: String,
    fills: bool,
}

impl Generator {
    /// `fills`: blocks of symbolic length are filled, which the engine fixes value by value.
    pub fn program(seed: u64, fills: bool) -> String {
        let mut g = Generator { seed, labels: 0, temps: 0, out: String::new(), fills };
        g.line("declare func @input");
        g.line("func strong @twice(%0: 8) -> 8 { entry: %1 = add.8 %0, %0 ret.8 %1 }");
        g.line("func strong @main() -> 8 {\n  $in: 2\n  $v0: 1\n  $v1: 1\n  $v2: 1\n  $v3: 1\n  $a: 8\nentry:");
        for (i, name) in ["in", "v0", "v1", "v2", "v3", "a"].iter().enumerate() {
            g.line(&format!("  %p{i} = alloca ${name}"));
        }
        g.line("  call @input(%p0:64, 2:64)\n  %i1p = ptradd %p0, 1 scale 1\n  %i0 = load.8 %p0\n  %i1 = load.8 %i1p");
        g.line("  %n0 = and.8 %i0, 15\n  %n1 = and.8 %i1, 15\n  store.8 %p1, %n0\n  store.8 %p2, %n1");
        g.statements(3, 5);
        let r = g.value();
        g.line(&format!("  ret.8 {r}\n}}"));
        g.out
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn below(&mut self, n: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 33) % n
    }

    fn temp(&mut self) -> String {
        self.temps += 1;
        format!("%t{}", self.temps)
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("l{}", self.labels)
    }

    fn value(&mut self) -> String {
        match self.below(8) {
            0 | 1 => format!("{}", self.below(20)),
            2 => self.element(None),
            _ => {
                let (t, p) = (self.temp(), 1 + self.below(4));
                self.line(&format!("  {t} = load.8 %p{p}"));
                t
            }
        }
    }

    /// Loads from (or stores to) the array at a computed index, in bounds or not.
    fn element(&mut self, store: Option<String>) -> String {
        let (x, i, w, p, t) = (self.value_of_variable(), self.temp(), self.temp(), self.temp(), self.temp());
        let mask = if self.below(6) == 0 { 15 } else { 7 };
        self.line(&format!("  {i} = and.8 {x}, {mask}\n  {w} = zext.64 {i} from 8\n  {p} = ptradd %p5, {w} scale 1"));
        match store {
            Some(v) => {
                self.line(&format!("  store.8 {p}, {v}"));
                v
            }
            None => {
                self.line(&format!("  {t} = load.8 {p}"));
                t
            }
        }
    }

    fn value_of_variable(&mut self) -> String {
        let (t, p) = (self.temp(), 1 + self.below(4));
        self.line(&format!("  {t} = load.8 %p{p}"));
        t
    }

    fn arithmetic(&mut self) -> String {
        let (a, b, t) = (self.value(), self.value(), self.temp());
        let op = ["add", "sub", "mul", "and", "or", "xor", "add", "xor", "udiv", "srem", "shl", "lshr"][self.below(12) as usize];
        let checked = if matches!(op, "shl" | "lshr") && self.below(2) == 0 { " checked 1" } else { "" };
        self.line(&format!("  {t} = {op}.8 {a}, {b}{checked}"));
        t
    }

    fn condition(&mut self) -> String {
        let (a, b, t) = (self.value(), self.value(), self.temp());
        let op = ["eq", "ne", "ult", "ule", "slt", "sle"][self.below(6) as usize];
        self.line(&format!("  {t} = {op}.8 {a}, {b}"));
        t
    }

    fn statements(&mut self, depth: u32, most: u64) {
        for _ in 0..1 + self.below(most) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let kind = if depth == 0 { 3 + self.below(4) } else { self.below(7) };
        match kind {
            0 | 1 => {
                let (c, yes, no, end) = (self.condition(), self.label(), self.label(), self.label());
                self.line(&format!("  condbr {c}, {yes}, {no}\n{yes}:"));
                self.statements(depth - 1, 3);
                self.line(&format!("  br {end}\n{no}:"));
                if self.below(2) == 0 {
                    self.statements(depth - 1, 2);
                }
                self.line(&format!("  br {end}\n{end}:"));
            }
            2 if self.below(2) == 0 => {
                let (x, one, two, other, end) = (self.value(), self.label(), self.label(), self.label(), self.label());
                let k = self.below(16);
                self.line(&format!("  switch.8 {x} [{k}: {one}, {}: {two}, {}: {one}] else {other}", k + 1, k + 3));
                for l in [one, two, other] {
                    self.line(&format!("{l}:"));
                    self.statements(depth - 1, 2);
                    self.line(&format!("  br {end}"));
                }
                self.line(&format!("{end}:"));
            }
            2 => {
                // A loop of at most four rounds whose exit may be symbolic.
                let (head, body, end, n, n1, c, stop) =
                    (self.label(), self.label(), self.label(), self.temp(), self.temp(), self.temp(), self.temp());
                let bound = self.value();
                self.line(&format!("  br {head}({n} = 0)\n{head}:\n  {c} = ult.8 {n}, {bound}\n  {stop} = ult.8 {n}, 4"));
                let both = self.temp();
                self.line(&format!("  {both} = and.1 {c}, {stop}\n  condbr {both}, {body}, {end}\n{body}:"));
                self.statements(depth - 1, 2);
                self.line(&format!("  {n1} = add.8 {n}, 1\n  br {head}({n} = {n1})\n{end}:"));
            }
            3 => {
                let v = self.value();
                self.element(Some(v));
            }
            4 if self.fills && self.below(3) == 0 => {
                let (x, few, length, v, wide) = (self.value(), self.temp(), self.temp(), self.value(), self.temp());
                self.line(&format!("  {few} = and.8 {x}, 7\n  {length} = zext.64 {few} from 8\n  {wide} = zext.64 {v} from 8"));
                self.line(&format!("  mem.set %p5, {wide}, {length}"));
            }
            4 => {
                let (v, t, p) = (self.value(), self.temp(), 1 + self.below(4));
                self.line(&format!("  {t} = call.8 @twice({v}:8)\n  store.8 %p{p}, {t}"));
            }
            _ => {
                let (v, p) = (self.arithmetic(), 1 + self.below(4));
                self.line(&format!("  store.8 %p{p}, {v}"));
            }
        }
    }
}
