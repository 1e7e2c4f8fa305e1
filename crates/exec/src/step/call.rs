//! Calls that leave the inner loop: models, undefined functions, function pointers, structures by value.

use smallvec::SmallVec;
use wryneck_ir::{self as ir, Inst, Module, NONE, Op, call_flags, limbs, param_kind};

use super::frame;
use super::machine::Called;
use super::run::{entered, expr_of};
use super::variadic::{self, Adapted};
use crate::ground::code::{self, Callee, Code};
use crate::ground::config::Undefined;
use crate::ground::path_end::{FaultKind, PathEnd};
use crate::state::{Returned, Tagged};
use crate::step::core::LedgerKind;
use crate::step::cx::Cx;
use crate::step::plugin::{Call, Reply, Stop, Value};
use crate::step::threads;
use crate::step::{arith, inputs, landing, machine, memory, pointer, resolve, scratch};

/// A call site, with its arguments evaluated.
struct Site<'m> {
    args: SmallVec<[Value; 6]>,
    widths: &'m [u32],
    dst: u32,
    ret_width: u32,
    flags: u32,
    named: u32,
    /// As [`code::variadic`] says.
    variadic: Option<u32>,
}

/// Makes the call at the top frame's current operation. On success the frame has moved past it.
pub fn call(cx: &mut Cx<'_>, code: &Code, op: Op, inst: &Inst) -> Result<(), Stop> {
    let image = cx.core.image.clone();
    let module = &image.program.units[code.module as usize].module;
    let record = module.calls[inst.b as usize];
    let callee = match op {
        Op::Call => image.callee_of(code.module, inst.a),
        _ => {
            let pointer = cx.operand(inst.a, 64);
            if let Some(name) = resolve::unknown_function(cx, pointer)? {
                let site = site(cx, module, record, inst.dst);
                return skip(cx, &name, &site).map(drop);
            }
            match target(cx, pointer)? {
                Called::Function(callee) => Some(callee),
                Called::MachineCode(address) => {
                    let site = site(cx, module, record, inst.dst);
                    cx.state.frame_mut().go_on();
                    return machine::enter(cx, address, &site.args, site.dst, site.ret_width);
                }
            }
        }
    };
    let Some(callee) = callee else {
        let message = format!("call of `{}`, which is not a function", module.str(module.symbols[inst.a as usize].name));
        return Err(PathEnd::fault(FaultKind::BadCallTarget, message).into());
    };
    let site = site(cx, module, record, inst.dst);
    match site.flags & (call_flags::TELLS_CALL | call_flags::TELLS_RETURN) {
        0 => dispatch(cx, callee, &site),
        call_flags::TELLS_CALL => tell(cx, callee, &site),
        _ => {
            cx.state.returned = Some(Returned { result: site.args.first().map(tagged) });
            cx.state.frame_mut().go_on();
            Ok(())
        }
    }
}

/// The call of this record, with its arguments evaluated.
fn site<'m>(cx: &mut Cx<'_>, module: &'m Module, record: ir::Call, dst: u32) -> Site<'m> {
    let widths = if record.widths.count == 0 { &[][..] } else { module.slot_lists.range(record.widths) };
    let slots = if record.args.count == 0 { &[][..] } else { module.slot_lists.range(record.args) };
    let mut args = SmallVec::with_capacity(slots.len());
    let mut at = slots.iter();
    for width in widths {
        for i in 0..limbs(*width) {
            let Some(slot) = at.next() else { break };
            args.push(cx.operand(*slot, (width - 64 * i).min(64)));
        }
    }
    Site { args, widths, dst, ret_width: record.ret_width, flags: record.flags, named: record.named, variadic: code::variadic(&record) }
}

/// Shows the monitor that a function of machine code begins, if it watches it.
fn tell(cx: &mut Cx<'_>, callee: Callee, site: &Site<'_>) -> Result<(), Stop> {
    let image = cx.core.image.clone();
    if !cx.state.announced
        && let Some(monitor) = cx.core.monitor.clone()
        && image.is_watched(callee)
    {
        let call = Call { ret_width: site.named, variadic: None, ..site.call(image.callee_name(callee)) };
        if monitor.on_call(&call, cx)? {
            // What comes of it is the next operation, as for a call.
            cx.state.announced = true;
            return Ok(());
        }
    }
    let wanted = std::mem::take(&mut cx.state.announced);
    put_result(cx, site.dst, 0, Value::Bits(wanted.into()));
    cx.state.frame_mut().go_on();
    Ok(())
}

/// Whom a function pointer calls.
fn target(cx: &mut Cx<'_>, pointer: Value) -> Result<Called, Stop> {
    let addr = resolve::call_address(cx, pointer)?;
    machine::called_at(cx, addr).ok_or_else(|| {
        let message = match pointer::object_at(cx, addr) {
            _ if addr == 0 => "call of the null pointer".to_owned(),
            Some(o) => format!("call of {}, which is not a function", pointer::describe(cx, &o)),
            None => format!("call of {addr:#x}, which is not a function"),
        };
        PathEnd::fault(FaultKind::BadCallTarget, message).into()
    })
}

fn dispatch(cx: &mut Cx<'_>, callee: Callee, site: &Site<'_>) -> Result<(), Stop> {
    let image = cx.core.image.clone();
    let name = image.callee_name(callee);
    if let Some(monitor) = cx.core.monitor.clone()
        && !cx.state.announced
        && image.is_watched(callee)
        && monitor.on_call(&site.call(name), cx)?
    {
        // The call itself is the next operation, at the same place: what the monitor has changed must not be done again with it.
        cx.state.announced = true;
        return Ok(());
    }
    let watched = cx.state.announced;
    let depth = cx.state.frames.len();
    let result = match callee {
        Callee::Body(f) if cx.core.lazy.is_some() && cx.core.skipped.contains(&f) => skip(cx, name, site)?,
        Callee::Body(f) => {
            enter(cx, f, site)?;
            None
        }
        Callee::Model(m) => {
            let environment = cx.core.environment.clone();
            let reply = environment.call(m, &site.call(name), cx)?;
            match reply {
                Reply::Jump(token, value) => return landing::jump_to(cx, token, value),
                Reply::Land(frame) => return landing::land_at(cx, frame),
                Reply::Switch(to) => {
                    threads::switch(cx, to);
                    return Ok(());
                }
                reply => answer(cx, reply, m, site)?,
            }
        }
        Callee::Undefined(_) => undefined(cx, name, site)?,
    };
    cx.state.announced = false;
    if watched && cx.state.frames.len() > depth {
        cx.state.frame_mut().watched = true;
    } else if watched {
        cx.state.returned = Some(Returned { result: result.as_ref().map(tagged) });
    }
    Ok(())
}

/// Shows the monitor a watched call's return: an operation of its own, between those of the program.
pub fn show_return(cx: &mut Cx<'_>) -> Result<(), Stop> {
    cx.begin_operation();
    let Some(Returned { result }) = cx.state.returned else { return Ok(()) };
    let value = result.map(|(value, tag)| if tag == 0 { Value::Bits(value) } else { Value::Sym(expr_of(value)) });
    if let Some(monitor) = cx.core.monitor.clone() {
        monitor.on_return(value, cx)?;
    }
    cx.state.returned = None;
    Ok(())
}

/// Does what a model replied; the result, if it is there already.
fn answer(cx: &mut Cx<'_>, reply: Reply, model: u32, site: &Site<'_>) -> Result<Option<Value>, Stop> {
    if cx.core.config.scratch && site.flags & call_flags::REPLACES != 0 {
        scratch::forget(cx, &site.args);
    }
    let result = match reply {
        Reply::Void => {
            for i in 0..limbs(site.ret_width) {
                put_result(cx, site.dst, i, Value::Bits(0));
            }
            None
        }
        Reply::Value(v) => {
            give(cx, site, &[v]);
            Some(v)
        }
        Reply::Limbs(all) => {
            give(cx, site, &all);
            all.first().copied()
        }
        Reply::Decline => {
            let image = cx.core.image.clone();
            return match image.body_of_model(model) {
                Some(f) => enter(cx, f, site).map(|()| None),
                None => undefined(cx, image.model_name(model), site),
            };
        }
        Reply::Run(list) => {
            cx.state.frame_mut().go_on();
            for (addr, args) in list.iter().rev() {
                machine::enter_called(cx, *addr, args, NONE, 0)?;
            }
            return Ok(None);
        }
        Reply::Jump(token, value) => return landing::jump_to(cx, token, value).map(|()| None),
        Reply::Land(frame) => return landing::land_at(cx, frame).map(|()| None),
        Reply::Switch(to) => {
            threads::switch(cx, to);
            return Ok(None);
        }
        Reply::Again(addr, args) => {
            machine::enter_called(cx, addr, &args, NONE, 0)?;
            return Ok(None);
        }
        Reply::Tail(addr, args) => {
            cx.state.frame_mut().go_on();
            machine::enter_called(cx, addr, &args, site.dst, site.ret_width)?;
            return Ok(None);
        }
    };
    cx.state.frame_mut().go_on();
    Ok(result)
}

fn give(cx: &mut Cx<'_>, site: &Site<'_>, values: &[Value]) {
    for i in 0..limbs(site.ret_width) {
        let width = (site.ret_width - 64 * i).min(64);
        let value = match values.get(i as usize) {
            Some(Value::Sym(e)) => Value::Sym(arith::fit(&mut cx.core.pool, *e, width)),
            Some(Value::Bits(bits)) => Value::Bits(bits & ir::arith::mask(width)),
            None => Value::Bits(0),
        };
        put_result(cx, site.dst, i, value);
    }
}

fn put_result(cx: &mut Cx<'_>, dst: u32, limb: u32, value: Value) {
    if dst != NONE {
        cx.put(dst + limb, value);
    }
}

pub(super) fn tagged(v: &Value) -> Tagged {
    match *v {
        Value::Bits(bits) => (bits, 0),
        Value::Sym(e) => (u64::from(e.raw()), 1),
    }
}

/// Enters a function of the program, making its own copies of structures passed by value.
fn enter(cx: &mut Cx<'_>, func: u32, site: &Site<'_>) -> Result<(), Stop> {
    let image = cx.core.image.clone();
    let code = image.code(func);
    let given = match site.variadic == code.variadic {
        true => Adapted { args: site.args.clone(), more: Vec::new() },
        false => variadic::adapted(cx, func, &site.args, site.variadic)?,
    };
    let mut args: Vec<Tagged> = given.args.iter().map(tagged).collect();
    let mut copies = Vec::new();
    if code.by_value {
        let (module, function) = image.function(func);
        let mut limb = 0;
        for param in module.params.range(function.params) {
            if param.kind == param_kind::BY_VALUE && limb < args.len() {
                let from = memory::block_address(cx, given.args[limb], param.size.into(), false)?;
                let bytes = memory::read_bytes(cx, from, param.size.into())?;
                copies.push((limb, bytes));
            }
            limb += limbs(param.width) as usize;
        }
    }
    // The copies live on the callee's stack: they are booked on the caller's frame's top and handed over.
    let mut dynamic = Vec::new();
    let sp = cx.state.sp;
    for (limb, bytes) in copies {
        let Some(addr) = frame::allocate_dynamic(cx.core, cx.state, bytes.len() as u64, 16) else {
            return Err(PathEnd::fault(FaultKind::StackOverflow, "no room for a structure passed by value").into());
        };
        memory::write_bytes(cx, addr, &bytes)?;
        args[limb] = (addr, 0);
        dynamic.extend(cx.state.frame_mut().dynamic.pop());
    }
    if let (false, Some(list)) = (given.more.is_empty(), args.last_mut()) {
        let Some(addr) = frame::allocate_dynamic(cx.core, cx.state, variadic::list_size(given.more.len()), 16) else {
            return Err(PathEnd::fault(FaultKind::StackOverflow, "no room for variable arguments").into());
        };
        variadic::write_list(cx, addr, &given.more)?;
        *list = (addr, 0);
        dynamic.extend(cx.state.frame_mut().dynamic.pop());
    }
    cx.state.frame_mut().go_on();
    frame::enter(cx.core, cx.state, code, &args, site.dst, site.ret_width)?;
    let top = cx.state.frame_mut();
    top.top = sp;
    top.dynamic = dynamic;
    entered(cx.core, cx.state);
    Ok(())
}

/// A function defined nowhere: a fresh symbolic scalar, or the end of the path.
fn undefined(cx: &mut Cx<'_>, name: &str, site: &Site<'_>) -> Result<Option<Value>, Stop> {
    if cx.core.lazy.is_some() {
        let unknown = cx.state.called_unknown.take();
        return skip(cx, unknown.as_deref().unwrap_or(name), site);
    }
    cx.core.ledger.note(LedgerKind::UndefinedFunction, name);
    let float = site.flags & call_flags::RETURNS_FLOAT != 0;
    if cx.core.config.undefined == Undefined::Error || site.flags & call_flags::NO_RETURN != 0 || float {
        return Err(PathEnd::Unsupported(format!("call of `{name}`, which is defined nowhere")).into());
    }
    cx.state.approximates(format!("`{name}`, which is defined nowhere, is not entered"));
    let bytes = inputs::new_input(cx, &format!("result of {name}"), u64::from(site.ret_width.div_ceil(8)));
    let mut values = Vec::new();
    for part in bytes.chunks(8) {
        let mut whole = part[0];
        for byte in &part[1..] {
            whole = cx.core.pool.concat(*byte, whole);
        }
        values.push(Value::Sym(whole));
    }
    give(cx, site, &values);
    cx.state.frame_mut().go_on();
    Ok(values.first().copied())
}

/// A call that is not followed, where inputs are lazily made.
fn skip(cx: &mut Cx<'_>, name: &str, site: &Site<'_>) -> Result<Option<Value>, Stop> {
    let Some(lazy) = cx.core.lazy.clone() else { return Ok(None) };
    if site.flags & call_flags::NO_RETURN != 0 || never_returns(name) || comes_back_behind_function(cx) {
        return Err(PathEnd::Assumed.into());
    }
    let values = lazy.skip(&site.call(name), cx)?;
    give(cx, site, &values);
    cx.state.frame_mut().go_on();
    Ok(values.first().copied())
}

/// Whether the call that machine code is in would come back to where its function has ended.
fn comes_back_behind_function(cx: &Cx<'_>) -> bool {
    let Some(source) = cx.core.code_source.as_ref().filter(|_| cx.core.image.is_machine_code(cx.pos().func)) else { return false };
    let source = source.borrow();
    let Some(convention) = source.convention() else { return false };
    let code = cx.core.image.code(cx.pos().func);
    let (pointer, tag) = cx.state.frame().get(code.consts.len() + convention.stack_pointer);
    let mut back = [0; 8];
    tag == 0 && cx.state.memory.space.read(pointer, &mut back) && source.is_behind_function(u64::from_le_bytes(back))
}

/// Whether a function that nobody defines is known never to return: machine code does not say so.
fn never_returns(name: &str) -> bool {
    const NAMES: [&str; 13] = [
        "_Exit", "_Unwind_Resume", "_ZSt9terminatev", "__assert_fail", "__assert_perror_fail", "__chk_fail", "__cxa_rethrow",
        "__cxa_throw", "__fortify_fail", "__longjmp_chk", "__stack_chk_fail", "_exit", "abort",
    ];
    NAMES.binary_search(&name).is_ok() || name.contains("9panicking")
}

impl Site<'_> {
    fn call<'a>(&'a self, name: &'a str) -> Call<'a> {
        Call {
            name,
            args: &self.args,
            widths: self.widths,
            ret_width: self.ret_width,
            variadic: self.variadic,
            returns_pointer: self.flags & call_flags::RETURNS_POINTER != 0,
        }
    }
}
