//! The engine's side: the instruction runs with registers and memory that are symbolic; what it leaves behind, evaluated under
//! the model of the path, must be what the reference interpreter gives from the state that the model is.
//!
//! Registers that addresses are made of stay concrete, so that one path says much.

use std::cell::RefCell;
use std::hash::Hasher;
use std::rc::Rc;

use wryneck_exec::ground::memory::Static;
use wryneck_exec::search::by_names;
use wryneck_exec::{
    Call, Config, Control, Core, Cx, Ended, Environment, Explorer, FaultKind, Image, Limit, PathData, PathEnd, Reply, Stop, Value, globals,
    inputs, memory,
};
use wryneck_expr::{Evaluator, ExprId, Model, Pool, Remap};
use wryneck_ir::build::{CallDef, Callee, FunctionBuilder, Names, Slot};
use wryneck_ir::code_source::ReadBytes;
use wryneck_ir::link::{Program, Unit};
use wryneck_ir::{ControlFlow, Lowering, Module, NoCode, Objects, limbs};
use wryneck_solver::Solver;

use crate::case::{Base, Operand};
use crate::lifted::{Answer, NAME, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, STOP};
use crate::state::{PAGE, RBP, RCX, RSP, SCRATCH, State, WINDOW, WINDOW_WORDS};
use crate::{Case, Lifter, OracleError};

/// Instructions of the IR that a path may take.
const STEPS: u64 = 100_000;

/// Which values are symbolic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inputs {
    Concrete,
    Symbolic,
}

/// Runs a case on the engine.
pub struct Engine<'l> {
    pub lifter: &'l Lifter,
    pub inputs: Inputs,
}

/// A path: the state it began with, by its model, and what it came to.
pub struct Path {
    pub before: State,
    pub answer: Answer,
}

/// What a path leaves behind: address, registers limb by limb, bytes of the window.
#[derive(Clone, Default)]
struct Left {
    address: u64,
    registers: Vec<ExprId>,
    window: Vec<ExprId>,
}

impl PathData for Left {
    fn for_each_expr(&self, f: &mut dyn FnMut(ExprId)) {
        self.registers.iter().chain(&self.window).for_each(|e| f(*e));
    }
    fn remap(&mut self, map: &Remap) {
        for e in self.registers.iter_mut().chain(&mut self.window) {
            *e = map.get(*e).unwrap_or(*e);
        }
    }
    fn hash_into(&self, h: &mut dyn Hasher, hash_expr: &mut dyn FnMut(ExprId) -> u64) {
        self.registers.iter().chain(&self.window).for_each(|e| h.write_u64(hash_expr(*e)));
    }
}

/// Knows how an instruction stops.
struct World {
    /// Widths of the registers' limbs, in bits.
    widths: Vec<u32>,
}

impl Environment for World {
    fn model(&self, name: &str, _: bool) -> Option<u32> {
        (name == STOP).then_some(0)
    }
    fn call(&self, _: u32, call: &Call<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
        let address = cx.concretise(call.args[0], "where it stops")?;
        let window = memory::read_bytes(cx, WINDOW, 8 * WINDOW_WORDS as u64)?;
        let registers = call.args[1..].iter().zip(&self.widths).map(|(value, width)| match value {
            Value::Bits(bits) => cx.core.pool.bits(*width, *bits),
            Value::Sym(e) => *e,
        });
        let registers = registers.collect();
        *cx.state.env_mut::<Left>() = Left { address, registers, window };
        Err(PathEnd::Exit(0).into())
    }
    fn initial(&self) -> Rc<dyn PathData> {
        Rc::new(Left::default())
    }
    fn returned(&self, _: Option<Value>, _: &mut Cx<'_>) -> Stop {
        PathEnd::Internal("an instruction does not return".into()).into()
    }
}

/// Behind the instruction, wherever that is, control stops.
struct Behind {
    names: Names,
    widths: Vec<u32>,
}

impl Objects for Behind {}

impl ControlFlow for Behind {}

impl Lowering for Behind {
    fn block_at(&mut self, address: u64, module: &mut Module, _: ReadBytes<'_>) -> Result<u32, NoCode> {
        let stop = self.names.symbol(module, STOP);
        let function = module.functions.len() as u32 - 1;
        let mut append = || {
            let mut b = FunctionBuilder::append(module, &mut self.names, function)?;
            let block = b.block();
            b.start(block);
            let mut args: Vec<(Slot, u16)> = vec![(b.int(64, address), 64)];
            args.extend(self.widths.iter().enumerate().map(|(n, width)| (b.param(n), *width as u16)));
            b.call_to(None, Callee::Symbol(stop), CallDef { args: &args, ret_width: 0, flags: 0, named: 0 });
            b.unreachable();
            b.finish()?;
            Ok::<u32, wryneck_ir::build::BuildError>(block.index())
        };
        append().map_err(|e| NoCode::Unsupported(e.to_string()))
    }
}

#[derive(Default)]
struct First {
    ended: Option<(Ended, Option<Evaluated>)>,
}

/// Values of what is left, under the path's model.
struct Evaluated {
    address: u64,
    registers: Vec<u64>,
    window: Vec<u8>,
}

impl Control for First {
    fn stop(&mut self, core: &Core, _: usize) -> Option<Limit> {
        (self.ended.is_some() || core.stats.instructions > STEPS).then_some(Limit::Instructions)
    }
    fn ended(&mut self, core: &mut Core, ended: Ended) {
        if self.ended.is_some() {
            return;
        }
        let evaluated = ended.data.environment().as_any().downcast_ref::<Left>().map(|left| {
            let mut eval = Evaluator::default();
            Evaluated {
                address: left.address,
                registers: left.registers.iter().map(|e| eval.eval(&core.pool, *e, &ended.model)).collect(),
                window: left.window.iter().map(|e| eval.eval(&core.pool, *e, &ended.model) as u8).collect(),
            }
        });
        self.ended = Some((ended, evaluated));
    }
}

impl Engine<'_> {
    /// Runs the case from a state, or from all states if its values are symbolic, the first path of which is this one's.
    pub fn run(&self, case: &Case, before: &State) -> Result<Path, OracleError> {
        let (module, names) = self.lifter.module(&case.code)?;
        let params = self.lifter.registers.params();
        let widths: Vec<u32> = params.iter().map(|p| u32::from(p.width)).collect();
        let unit = Unit { name: NAME.into(), module, library: false };
        let linked = Program::link(vec![unit]).map_err(|e| OracleError::Malformed(format!("{e:?}")))?;
        let limb_widths: Vec<u32> = widths.iter().flat_map(|w| (0..limbs(*w)).map(move |i| (w - 64 * i).min(64))).collect();
        let world = Rc::new(World { widths: limb_widths.clone() });
        let mut pool = Pool::new();
        let mut image = Image::new(linked, &*world, &mut pool);
        let mut page = vec![0; PAGE as usize];
        page[(WINDOW - SCRATCH) as usize..][..8 * WINDOW_WORDS].copy_from_slice(bytemuck::cast_slice(&before.window));
        globals::map(&mut image, Static { base: SCRATCH, size: PAGE, name: "scratch".into(), writable: true }, Some(&page), &mut pool);
        let search = by_names(&["dfs".into()], 0).map_err(|e| OracleError::Malformed(e.to_string()))?;
        let solver = Solver::new(wryneck_solver::Config::default()).map_err(|e| OracleError::Malformed(e.to_string()))?;
        let mut explorer = Explorer::new(image, pool, solver, world, None, Config::default(), search);
        explorer.core.code_source = Some(Rc::new(RefCell::new(Behind { names, widths })));
        let arguments = self.lifter.arguments(before);
        let concrete = self.concrete(case);
        let mut inputs = Vec::new();
        let started = explorer.start(0, |cx| {
            if self.inputs == Inputs::Concrete {
                return Ok(arguments.iter().map(|v| Value::Bits(*v)).collect());
            }
            let window: &[u8] = bytemuck::cast_slice(&before.window);
            let bytes = inputs::new_input(cx, "window", window.len() as u64);
            memory::write_bytes(cx, WINDOW, &bytes)?;
            inputs.extend(bytes.iter().zip(window).map(|(e, byte)| (*e, u64::from(*byte))));
            let mut values = Vec::with_capacity(arguments.len());
            for (n, (value, width)) in arguments.iter().zip(&limb_widths).enumerate() {
                if concrete.contains(&n) {
                    values.push(Value::Bits(*value));
                    continue;
                }
                let bytes = inputs::new_input(cx, "register", u64::from(width.div_ceil(8)));
                inputs.extend(bytes.iter().enumerate().map(|(i, e)| (*e, value >> (8 * i) & 0xff)));
                let all = cx.core.pool.concat_all(&bytes);
                // A flag is a byte of which one bit counts.
                let bit = if *width == 8 { 1 } else { *width };
                let low = cx.core.pool.extract(all, 0, bit);
                values.push(Value::Sym(cx.core.pool.zext(low, *width)));
            }
            let symbols: Vec<_> = cx.state.inputs.iter().flat_map(|input| input.bytes.iter().copied()).collect();
            let seed: Vec<_> = symbols.into_iter().zip(inputs.iter().map(|(_, value)| *value)).collect();
            cx.state.model = Model::empty().with(&seed);
            Ok(values)
        });
        started.map_err(|e| OracleError::Malformed(format!("{e:?}")))?;
        let mut first = First::default();
        explorer.explore(&mut first);
        let Some((ended, evaluated)) = first.ended else {
            return Ok(Path { before: *before, answer: Answer::Wrong("no path has ended".into()) });
        };
        let mut eval = Evaluator::default();
        let values: Vec<u64> = inputs.iter().map(|(e, _)| eval.eval(&explorer.core.pool, *e, &ended.model)).collect();
        let begun = self.begun(before, &arguments, &limb_widths, &concrete, &values);
        let answer = self.answer(&ended.end, evaluated, &begun);
        Ok(Path { before: begun, answer })
    }

    /// The state that these values of the inputs are.
    fn begun(&self, before: &State, arguments: &[u64], widths: &[u32], concrete: &[usize], values: &[u64]) -> State {
        let mut state = *before;
        if self.inputs == Inputs::Concrete {
            return state;
        }
        let (window, rest) = values.split_at(8 * WINDOW_WORDS);
        let bytes: Vec<u8> = window.iter().map(|v| *v as u8).collect();
        state.poke(WINDOW, &bytes);
        let (mut limbs, mut rest) = (arguments.to_vec(), rest.iter());
        let taken = limbs.iter_mut().zip(widths).enumerate().filter(|(n, _)| !concrete.contains(n));
        for (_, (limb, width)) in taken {
            *limb = (0..width.div_ceil(8)).zip(&mut rest).map(|(i, byte)| byte << (8 * i)).sum();
            if *width == 8 {
                *limb &= 1;
            }
        }
        let window = state.window;
        State { window, rip: before.rip, ..self.lifter.state(&limbs, &state) }
    }

    fn answer(&self, end: &PathEnd, evaluated: Option<Evaluated>, begun: &State) -> Answer {
        let signal = match (end, evaluated) {
            (PathEnd::Exit(_), Some(left)) => {
                let mut after = self.lifter.state(&left.registers, begun);
                after.poke(WINDOW, &left.window);
                (after.rip, after.signal) = (left.address, SIGTRAP);
                return Answer::State(Box::new(after));
            }
            (PathEnd::Fault(fault), _) => match fault.kind {
                FaultKind::DivisionByZero | FaultKind::DivisionOverflow => SIGFPE,
                FaultKind::Trap if fault.message.contains("int3") => SIGTRAP,
                FaultKind::Trap if fault.message.contains("ud2") => SIGILL,
                _ => SIGSEGV,
            },
            (PathEnd::Unsupported(why), _) => return Answer::Unsupported(why.clone()),
            (other, _) => return Answer::Wrong(format!("{other:?}")),
        };
        Answer::State(Box::new(State { signal, ..*begun }))
    }

    /// Limbs of registers that stay concrete: those of addresses, counts and what is no number.
    fn concrete(&self, case: &Case) -> Vec<usize> {
        let mut general = vec![RSP];
        let everything = case.text.contains('*') || case.mnemonic.contains("ret");
        let counted = case.mnemonic.contains("rep") || case.mnemonic.starts_with("bt");
        general.extend(counted.then_some(RCX));
        general.extend((case.mnemonic == "leave").then_some(RBP));
        for operand in &case.operands {
            match operand {
                Operand::Memory(m) => {
                    general.extend(m.index.filter(|_| !m.gathers));
                    if let Base::Register(n) = m.base {
                        general.push(n);
                    }
                }
                Operand::Register(_, n) if counted || everything => general.push(*n),
                _ => {}
            }
        }
        let gathers = case.operands.iter().any(|o| matches!(o, Operand::Memory(m) if m.gathers));
        self.lifter.limbs_but(&general, case.is_x87() || gathers)
    }
}
