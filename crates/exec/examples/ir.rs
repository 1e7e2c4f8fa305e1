//! Runs IR files without an environment: `cargo run --release -p wryneck-exec --example ir -- [--search NAME] FILE.wir...`.
//! It shows the engine alone. It prints how the paths ended and how fast the run was.

#![expect(clippy::disallowed_methods, reason = "it shows how long a run takes")]

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use wryneck_exec::core::Core;
use wryneck_exec::state::{NoData, PathData};
use wryneck_exec::{
    Call, Config, Control, Cx, Ended, Environment, Explorer, Image, Limit, PathEnd, Reply, Stop, Value, inputs, memory, search,
};
use wryneck_expr::Pool;
use wryneck_ir::link::{Program, Target, Unit};
use wryneck_solver::Solver;

/// Knows one function: `wryneck_make_symbolic(address, size, name)`.
struct Bare;

impl Environment for Bare {
    fn model(&self, name: &str, _: bool) -> Option<u32> {
        (name == "wryneck_make_symbolic").then_some(0)
    }
    fn call(&self, _: u32, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
        let (Value::Bits(addr), Value::Bits(size)) = (call.args[0], call.args[1]) else {
            return Err(PathEnd::Unsupported("symbolic arguments".into()).into());
        };
        let bytes = inputs::new_input(cx, "input", size);
        memory::write_bytes(cx, addr, &bytes)?;
        Ok(Reply::Void)
    }
    fn initial(&self) -> Rc<dyn PathData> {
        Rc::new(NoData)
    }
}

#[derive(Default)]
struct Count(BTreeMap<String, u64>);

impl Control for Count {
    fn stop(&mut self, _: &Core, _: usize) -> Option<Limit> {
        None
    }
    fn ended(&mut self, _: &mut Core, ended: Ended) {
        *self.0.entry(format!("{:?}", ended.end)).or_default() += 1;
    }
}

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut config = Config::default();
    if args.first().is_some_and(|a| a == "--search") {
        config.search = vec![args[1].clone()];
        args.drain(..2);
    }
    let units = args.iter().map(|path| {
        let module = wryneck_ir::file::open(path.as_ref()).unwrap_or_else(|e| panic!("{path}: {e}"));
        wryneck_ir::verify::verify(&module).unwrap_or_else(|e| panic!("{path}: {e}"));
        Unit { name: path.clone(), module, library: false }
    });
    let program = Program::link(units.collect()).unwrap_or_else(|e| panic!("{e}"));
    let Some(Target::Func(main)) = program.lookup("main") else { panic!("no main") };
    let mut pool = Pool::new();
    let environment: Rc<dyn Environment> = Rc::new(Bare);
    let image = Image::new(program, &*environment, &mut pool);
    let searcher = search::by_names(&config.search, config.seed).unwrap_or_else(|n| panic!("no searcher `{n}`"));
    let solver = Solver::new(Default::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut explorer = Explorer::new(image, pool, solver, environment, None, config, searcher);
    let start = Instant::now();
    explorer.start(main.0, |_| Ok(Vec::new())).unwrap_or_else(|e| panic!("{e:?}"));
    let mut count = Count::default();
    let outcome = explorer.explore(&mut count);
    let seconds = start.elapsed().as_secs_f64();
    let s = &explorer.core.stats;
    println!(
        "{outcome:?} in {seconds:.3} s: {:.1} M instructions, {:.1} M/s",
        s.instructions as f64 / 1e6,
        s.instructions as f64 / 1e6 / seconds
    );
    println!("{s:?}\n{:?}", explorer.core.solver.stats());
    for ((kind, what), n) in &explorer.core.ledger.rows {
        println!("ledger: {kind:?} {what}: {n}");
    }
    for (end, n) in &count.0 {
        println!("{n:6} {end}");
    }
}
