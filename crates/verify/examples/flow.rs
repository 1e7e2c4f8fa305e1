//! Prints results of the static analysis of IR files, and how long it took: `cargo run --release -p wryneck-verify --example flow --
//! PROGRAM.wir LIBC.wir [NAME]`. The results are what calls of the functions whose names contain NAME may do. Files come from
//! `wryneck-lower` (the library's with `--library`).

#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::rc::Rc;
use std::time::Instant;

use wryneck_environ::{Linux, NoHost, ProgramInput, start};
use wryneck_exec::Image;
use wryneck_expr::Pool;
use wryneck_ir::link::{Program, Unit};
use wryneck_verify::flow::{Flow, ObjectId, Summaries};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let files = args.iter().filter(|a| a.ends_with(".wir")).enumerate();
    let mut units: Vec<Unit> = files
        .map(|(i, path)| {
            let module = wryneck_ir::file::open(path.as_ref()).unwrap_or_else(|e| panic!("{path}: {e}"));
            Unit { name: path.clone(), module, library: i > 0 }
        })
        .collect();
    units.push(start::unit().unwrap_or_else(|e| panic!("{e}")));
    let program = Program::link(units).unwrap_or_else(|e| panic!("{e}"));
    let environment = Linux::new(ProgramInput::default(), Rc::new(NoHost));
    let image = Rc::new(Image::new(program, &environment, &mut Pool::new()));
    let named = image.clone();
    let is_event = move |caller, callee| !named.is_library(caller) && matches!(named.callee_name(callee), "fopen" | "fclose");
    let begin = Instant::now();
    let flow =
        Flow::new(image.clone(), Box::new(is_event), Summaries::builtin(), None, None).unwrap_or_else(|too_large| panic!("{too_large:?}"));
    println!("facts: {:.3} s", begin.elapsed().as_secs_f64());
    let (mut sides, mut events, mut leave, mut everything, mut objects) = (0, 0, 0, 0, 0);
    let begin = Instant::now();
    let functions = image.program.functions().len() as u32;
    for f in (0..functions).filter(|f| !image.is_library(*f)) {
        let function = image.function(f).1;
        for block in 0..function.blocks.count {
            let edges = flow.edges(f, 0, block);
            for edge in edges.iter().filter(|_| edges.len() > 1) {
                let side = flow.side(f, 0, block, *edge);
                sides += 1;
                events += u32::from(side.event);
                leave += u32::from(side.leaves);
                everything += u32::from(side.changes.writes.everything);
                objects += side.changes.writes.whole.len() + side.changes.writes.parts.len();
            }
        }
    }
    println!(
        "{sides} sides of branches: {events} may reach an event, {leave} may leave, {everything} may write everything, {:.1} objects each; {:.3} s",
        objects as f64 / f64::from(sides.max(1)),
        begin.elapsed().as_secs_f64()
    );
    println!("{}", flow.statistics());
    let Some(wanted) = args.iter().find(|a| !a.ends_with(".wir")) else { return };
    for f in (0..functions).filter(|f| image.name(*f).contains(wanted.as_str())) {
        let effects = flow.function(f);
        println!(
            "{}: event {}, leaves {}, exits {}, cells {:?}",
            image.name(f),
            effects.event,
            effects.leaves,
            effects.exits,
            effects.changes.cells
        );
        let whole = effects.changes.writes.whole.iter().map(|o| flow.object_name(ObjectId(o)));
        let parts = effects.changes.writes.parts.iter().map(|(o, e)| format!("{} {}..{}", flow.object_name(*o), e.low, e.high));
        whole.chain(parts).take(100).for_each(|name| println!("    {name}"));
    }
}
