//! A tiny environment for programs without a libc, and running them natively.
#![allow(dead_code, reason = "each test target uses its part")]

use std::cell::RefCell;
use std::hash::Hasher;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use wryneck_exec::ground::memory::Static;
use wryneck_exec::search::by_names;
use wryneck_exec::{
    Call, Config, Control, Core, Cx, Ended, Environment, Explorer, Image, Limit, Outcome, PathData, PathEnd, Reply, Stop, Value, globals,
    inputs, memory,
};
use wryneck_expr::{Evaluator, ExprId, Pool, Remap};
use wryneck_ir::link::{Program, Unit};
use wryneck_machine::{Elf, MachineProgram, SYSTEM_CALL};
use wryneck_solver::Solver;

pub const STACK: u64 = 0x7ffe_0000_0000;
pub const STACK_SIZE: u64 = 64 << 10;

/// Standard input and output of a path.
#[derive(Clone, Default)]
pub struct Io {
    pub input: Vec<ExprId>,
    pub read: usize,
    pub output: Vec<ExprId>,
}

impl PathData for Io {
    fn for_each_expr(&self, f: &mut dyn FnMut(ExprId)) {
        self.input.iter().chain(&self.output).for_each(|e| f(*e));
    }
    fn remap(&mut self, map: &Remap) {
        for e in self.input.iter_mut().chain(&mut self.output) {
            *e = map.get(*e).expect("kept");
        }
    }
    fn hash_into(&self, h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64) {
        self.input.iter().chain(&self.output).for_each(|e| h.write_u64(hash_expr(*e)));
        h.write_usize(self.read);
    }
}

/// read, write, exit.
pub struct World;

impl Environment for World {
    fn model(&self, name: &str, _: bool) -> Option<u32> {
        (name == SYSTEM_CALL).then_some(0)
    }
    fn call(&self, _: u32, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
        assert_eq!((call.args.len(), call.ret_width), (7, 64));
        let number = cx.concretise(call.args[0], "number of a system call")?;
        let a = cx.concretise(call.args[1], "first argument")?;
        let done = match number {
            60 | 231 => return Err(PathEnd::Exit(a as u8).into()),
            0 => {
                let (address, len) = (cx.concretise(call.args[2], "buffer")?, cx.concretise(call.args[3], "length")?);
                let io: &Io = cx.state.env();
                let bytes: Vec<ExprId> = io.input[io.read..].iter().copied().take(len as usize).collect();
                memory::write_bytes(cx, address, &bytes)?;
                cx.state.env_mut::<Io>().read += bytes.len();
                bytes.len()
            }
            1 => {
                let (address, len) = (cx.concretise(call.args[2], "buffer")?, cx.concretise(call.args[3], "length")?);
                let bytes = memory::read_bytes(cx, address, len)?;
                cx.state.env_mut::<Io>().output.extend(&bytes);
                bytes.len()
            }
            other => return Err(PathEnd::Unsupported(format!("system call {other}")).into()),
        };
        Ok(Reply::Value(Value::Bits(done as u64)))
    }
    fn initial(&self) -> Rc<dyn PathData> {
        Rc::new(Io::default())
    }
    fn returned(&self, _: Option<Value>, _: &mut Cx<'_>) -> Stop {
        PathEnd::Internal("machine code does not return".into()).into()
    }
}

/// How a run ended, as the world sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    pub code: u8,
    pub output: Vec<u8>,
}

/// A path's end with the input that leads there.
#[derive(Clone, Debug)]
pub struct Found {
    pub end: PathEnd,
    pub input: Vec<u8>,
    pub output: Vec<u8>,
}

#[derive(Default)]
struct Collect {
    paths: Vec<Found>,
}

impl Control for Collect {
    fn stop(&mut self, core: &Core, _: usize) -> Option<Limit> {
        (core.stats.instructions > 50_000_000).then_some(Limit::Instructions)
    }
    fn ended(&mut self, core: &mut Core, ended: Ended) {
        let io: &Io = ended.data.environment().as_any().downcast_ref().expect("our own data");
        let mut eval = Evaluator::default();
        let mut bytes = |all: &[ExprId]| all.iter().map(|e| eval.eval(&core.pool, *e, &ended.model) as u8).collect();
        self.paths.push(Found { end: ended.end, input: bytes(&io.input), output: bytes(&io.output) });
    }
}

/// What the program reads.
pub enum Input<'a> {
    Bytes(&'a [u8]),
    Symbolic(u64),
}

/// A finished exploration.
pub struct Explored {
    pub paths: Vec<Found>,
    pub core: Core,
}

/// Explores an executable. Registers of these names begin with these values.
pub fn explore(file: &[u8], input: Input<'_>, registers: &[(&str, u64)]) -> Explored {
    let elf = Elf::parse(file).expect("an executable");
    let (mut program, module) = MachineProgram::new(elf).expect("a CPU we know");
    // What runs here is compared with the CPU.
    program.trust_all_forms();
    wryneck_ir::verify::verify(&module).expect("a well-formed module");
    let unit = Unit { name: "spike".into(), module, library: false };
    // What grows need not be last.
    let behind = wryneck_ir::text::parse("func strong @behind() { a: unreachable }").expect("a module");
    let behind = Unit { name: "behind".into(), module: behind, library: false };
    let linked = Program::link(vec![unit, behind]).expect("two modules");
    let mut pool = Pool::new();
    let mut image = Image::new(linked, &World, &mut pool);
    for s in &program.elf.segments {
        let name = format!("segment at {:#x}", s.base);
        globals::map(
            &mut image,
            Static { base: s.base, size: s.size, name: name.as_str().into(), writable: s.writable },
            Some(&s.bytes),
            &mut pool,
        );
    }
    let stack = Static { base: STACK, size: STACK_SIZE, name: "stack".into(), writable: true };
    globals::map(&mut image, stack, Some(&[]), &mut pool);
    let mut start = vec![("RIP", program.elf.entry), ("RSP", STACK + STACK_SIZE - 256)];
    start.extend(registers);
    let arguments = program.arguments(&start).expect("registers the CPU has");
    let search = by_names(&["dfs".into()], 0).expect("a searcher");
    let solver = Solver::new(wryneck_solver::Config::default()).expect("a backend");
    let mut explorer = Explorer::new(image, pool, solver, Rc::new(World), None, Config::default(), search);
    explorer.core.code_source = Some(Rc::new(RefCell::new(program)));
    let set_up = |cx: &mut Cx<'_>| {
        let bytes = match input {
            Input::Bytes(bytes) => bytes.iter().map(|b| cx.core.pool.bits(8, u64::from(*b))).collect(),
            Input::Symbolic(len) => inputs::new_input(cx, "stdin", len),
        };
        cx.state.env_mut::<Io>().input = bytes;
        Ok(arguments.iter().map(|v| Value::Bits(*v)).collect())
    };
    explorer.start(0, set_up).expect("room for a frame");
    let mut control = Collect::default();
    assert_eq!(explorer.explore(&mut control), Outcome::Complete);
    Explored { paths: control.paths, core: explorer.core }
}

/// Builds a program without a libc.
pub fn compile(source: &Path, level: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("room for a program");
    let out = dir.path().join("program");
    let status = Command::new("clang-22")
        .args(["-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-no-pie", "-w", level, "-o"])
        .arg(&out)
        .arg(source)
        .status()
        .expect("clang-22 is installed");
    assert!(status.success(), "clang-22 compiles {}", source.display());
    (dir, out)
}

/// Runs a program on the real CPU.
pub fn native(program: &Path, input: &[u8]) -> Seen {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    // A program that does not read its input closes the pipe early.
    let _ = child.stdin.take().expect("piped").write_all(input);
    let out = child.wait_with_output().expect("it ends");
    Seen { code: out.status.code().expect("it exits") as u8, output: out.stdout }
}
