//! Program start: arguments, environment and auxiliary vector in memory, then the libc's start-up code or `main`.
//!
//! Execution starts in a small module of our own ([`unit`]), because the number of arguments is a decision, and only a call on a path can
//! decide. The layout is the initial stack of the System V x86-64 ABI (section 3.4.1): argc, argv, 0, envp, 0, auxv.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use wryneck_exec::{Cx, Image, PathEnd, Reply, Stop, Value, heap_calls, inputs, memory, seed};
use wryneck_expr::ExprId;
use wryneck_ir::build::{BuildError, CallDef, Callee, FunctionDef, ModuleBuilder, ParamDef};
use wryneck_ir::link::{Target, Unit};
use wryneck_ir::{CALL_BACK, Param, function_flags, limbs, linkage, param_kind};

use crate::content::Content;
use crate::host::Captured;
use crate::input::{Arg, Entry, EnvValue, FUZZER, Parameter, ParameterKind, ProgramInput, Stat, Stdin};
use crate::libc::alloc::GIVEN;
use crate::observed::volatile;
use crate::processes::Own;
use crate::sig::Args;
use crate::state::{Fd, Lock, Node, NodeId, NodeKind, Open, ROOT, STDERR, STDOUT, World};
use crate::{Linux, sym_files, sym_sockets, sys};

/// The function an exploration starts with, defined by [`unit`].
pub const ENTRY: &str = "__wryneck_entry";
/// What libc's start-up code runs in place of `main` where the entry is another function.
pub const CALL: &str = "__wryneck_entry_call";

/// The module to link with the program: [`ENTRY`] prepares the program's start, makes it, and exits with what it returns; [`CALL_BACK`] calls for
/// models.
pub fn unit() -> Result<Unit, BuildError> {
    let mut m = ModuleBuilder::new();
    const MODELS: [&str; 6] =
        ["__wryneck_begin", "__wryneck_start", "__wryneck_finish", "__wryneck_exit", "__wryneck_call", "__wryneck_preamble"];
    let [begin, start, finish, exit, call, preamble] = MODELS.map(|name| {
        let symbol = m.symbol(name);
        m.declare_function(symbol);
        symbol
    });
    let def = FunctionDef { name: ENTRY, flags: function_flags::LIBRARY, ..FunctionDef::default() };
    let entry = m.symbol(ENTRY);
    let mut f = m.function(entry, linkage::STRONG, def)?;
    let block = f.block();
    f.start(block);
    f.call_to(None, Callee::Symbol(begin), CallDef::default());
    let status = f.call(Callee::Symbol(start), CallDef { ret_width: 32, ..CallDef::default() });
    f.call_to(None, Callee::Symbol(finish), CallDef::default());
    f.call_to(None, Callee::Symbol(exit), CallDef { args: &[(status, 32)], ..CallDef::default() });
    f.unreachable();
    f.finish()?;
    let params = [32, 64, 64].map(|width| ParamDef { width, ..ParamDef::default() });
    let def = FunctionDef { name: CALL, params: &params, ret_width: 32, flags: function_flags::LIBRARY, ..FunctionDef::default() };
    let symbol = m.symbol(CALL);
    let mut f = m.function(symbol, linkage::STRONG, def)?;
    let block = f.block();
    f.start(block);
    f.call_to(None, Callee::Symbol(preamble), CallDef::default());
    f.call_to(None, Callee::Symbol(call), CallDef::default());
    let zero = f.int(32, 0);
    f.ret(32, Some(zero));
    f.finish()?;
    let params = [64, 64].map(|width| ParamDef { width, ..ParamDef::default() });
    let def = FunctionDef { name: CALL_BACK, params: &params, ret_width: 64, flags: function_flags::LIBRARY, ..FunctionDef::default() };
    let symbol = m.symbol(CALL_BACK);
    let mut f = m.function(symbol, linkage::STRONG, def)?;
    let block = f.block();
    f.start(block);
    let (called, argument) = (f.param(0), f.param(1));
    let result = f.call(Callee::Address(called), CallDef { args: &[(argument, 64)], ret_width: 64, ..CallDef::default() });
    f.ret(64, Some(result));
    f.finish()?;
    Ok(Unit { name: "the start".into(), module: m.finish(), library: true })
}

/// The world before the program starts: three descriptors, the directories down to the working directory, and nothing symbolic yet.
pub fn world(input: &ProgramInput, captured: &Captured) -> World {
    let stdin = match &input.stdin {
        Stdin::Bytes(bytes) => Content::captured(Arc::new(bytes.clone())),
        Stdin::Symbolic(..) => Content::default(),
    };
    let node = |kind, ino, permissions| Node::new(kind, sys::file::new_meta(ino, permissions, input.time));
    let open = |node, flags| Open { node, offset: 0, flags, refs: 1, lock: Lock::None };
    let nodes = vec![
        Node { content: stdin, ..node(NodeKind::Regular, 1, 0o644) },
        node(NodeKind::Output, 2, 0o600),
        node(NodeKind::Output, 3, 0o600),
        directory(captured, b"/", ROOT),
    ];
    let mut world = World {
        own: Own {
            fds: (0..3).map(|open| Some(Fd { open, close_on_exec: false })).collect(),
            working_directory: ROOT,
            umask: 0o022,
            handlers: Rc::new(inherited_handlers(captured)),
            signal_stack: crate::sys::process::NO_STACK,
            ..Own::default()
        },
        opens: vec![open(0, 0), open(STDOUT, 1), open(STDERR, 1)],
        nodes: nodes.into_iter().map(Rc::new).collect(),
        sockets: Rc::default(),
        clients: Rc::default(),
        datagrams: Rc::default(),
        epolls: Rc::default(),
        may_fail: if input.process.as_ref().is_some_and(|process| process.is_loaded_first) { 0 } else { input.fail_calls },
        ticks: 0,
        random: 0,
        given: Rc::default(),
        standard_moved: false,
        input_moved: false,
        bad_descriptor: false,
        names: Rc::default(),
        processes: Rc::default(),
        shares_memory: false,
        observed: Rc::default(),
    };
    let mut path = Vec::new();
    for name in input.working_directory.split(|b| *b == b'/').filter(|name| !name.is_empty()) {
        path.push(b'/');
        path.extend(name);
        let above = world.own.working_directory;
        let id = world.add_node(directory(captured, &path, above));
        world.set_name(above, name, Some(id));
        world.own.working_directory = id;
    }
    world
}

/// Signals that are ignored as the program starts, with how they are handled: `SIG_IGN`.
fn inherited_handlers(captured: &Captured) -> BTreeMap<u32, [u64; 4]> {
    let ignored = captured.ignored_signals().map_or(0, |(_, ignored)| ignored);
    (1..=64).filter(|signal| ignored >> (signal - 1) & 1 == 1).map(|signal| (signal, [1, 0, 0, 0])).collect()
}

/// A directory of the host that everything below is seen from.
fn directory(captured: &Captured, path: &[u8], parent: NodeId) -> Node {
    let unknown = || Stat { nlink: 2, size: 4096, ..sys::file::new_meta(parent.into(), 0o755, 0) };
    let meta = captured.stat(path, false).unwrap_or_else(|_| unknown());
    Node { parent, host: Some(path.into()), ..Node::new(NodeKind::Directory, meta) }
}

/// The address of a visible function of the program.
pub(crate) fn function(cx: &Cx<'_>, name: &str) -> Option<u64> {
    cx.core.image.function_address(name)
}

/// `__wryneck_begin()`: runs the constructors where no libc will ask for it.
pub fn begin(linux: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    Ok(if function(cx, LIBC_START).is_some() { Reply::Void } else { Reply::Run(constructors(linux, cx)) })
}

/// `__wryneck_finish()`: `main` has returned; runs the destructors where no libc has done so.
pub fn finish(linux: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    if function(cx, LIBC_START).is_some() { Ok(Reply::Void) } else { run_fini_array(linux, args, cx) }
}

const LIBC_START: &str = "__libc_start_main";

/// `__wryneck_run_init_array()`: musl's overlay asks for the constructors.
pub fn run_init_array(linux: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    Ok(Reply::Run(constructors(linux, cx)))
}

/// `__wryneck_run_fini_array()`.
pub fn run_fini_array(_: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let image = &cx.core.image;
    Ok(Reply::Run(calls(image, image.program.destructors(), &image.machine_code_ends)))
}

fn constructors(linux: &Linux, cx: &Cx<'_>) -> Vec<(u64, Vec<Value>)> {
    if !linux.input.constructors {
        return Vec::new();
    }
    let image = &cx.core.image;
    calls(image, image.program.constructors(), &image.machine_code_begins)
}

/// Calls without arguments: of functions of bitcode, and of machine code.
fn calls(image: &Image, targets: &[Target], addresses: &[u64]) -> Vec<(u64, Vec<Value>)> {
    let targets = targets.iter().map(|t| image.target_address(*t));
    targets.chain(addresses.iter().copied()).map(|address| (address, Vec::new())).collect()
}

/// `__wryneck_preamble()`: runs the function that sets up what the entry works on, if there is one.
pub fn preamble(linux: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let Some(name) = &linux.input.preamble else { return Ok(Reply::Void) };
    match function(cx, name) {
        Some(address) => Ok(Reply::Run(vec![(address, Vec::new())])),
        None => Err(PathEnd::Unsupported(format!("the program has no function `{name}`")).into()),
    }
}

/// `__wryneck_exit(status)`: the end of a program that no libc ends.
pub fn exit(_: &Linux, args: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let status = args.expr(cx, 0);
    Err(sys::process::exited(cx, status)?)
}

/// `__wryneck_loaded()`: the program's loader has done its work, in which no call fails.
pub fn loaded(linux: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    World::change(cx).may_fail = linux.input.fail_calls;
    Ok(Reply::Value(Value::Bits(0)))
}

/// `__wryneck_start()`: lays out what the program is given and begins it.
pub fn start(linux: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    let input = &linux.input;
    let begins = match (&input.process, &input.entry) {
        (Some(process), _) => &process.function,
        (None, Entry::Main) => "main",
        (None, Entry::Fuzzer { .. } | Entry::Function { .. }) => CALL,
    };
    let Some(begins) = function(cx, begins) else {
        return Err(PathEnd::Unsupported("the program has no function `main`".into()).into());
    };
    let counts = decide_counts(cx, &input.args)?;
    assume_exact(cx, &input.args)?;
    let sizes = sym_files::decide_sizes(linux, cx)?;
    let argv = arguments(cx, input, &counts)?;
    let envp = environment(cx, &input.env)?;
    sym_files::make(linux, cx, &sizes)?;
    sym_sockets::make(linux, cx)?;
    let auxiliary = auxiliary(cx, linux, argv[0])?;
    let mut words = vec![argv.len() as u64];
    words.extend(&argv);
    words.push(0);
    words.extend(&envp);
    words.push(0);
    let first = words.len() * 8;
    words.extend(auxiliary.iter().flat_map(|(key, value)| [*key, value.unwrap_or(0)]));
    words.extend([0, 0]);
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let unknown = (first as u64..).step_by(16).zip(&auxiliary).filter(|(_, (_, value))| value.is_none());
    let unknown: Vec<_> = unknown.map(|(at, _)| (at + 8, inputs::new_input(cx, "where the program is", 8))).collect();
    let bits = |words: &[u64]| words.iter().map(|w| Value::Bits(*w)).collect();
    if let Some(process) = &input.process {
        let stack = process.stack_end.saturating_sub(bytes.len() as u64) & !15;
        memory::write_concrete(cx, stack, &bytes)?;
        unknown.iter().try_for_each(|(at, value)| memory::write_bytes(cx, stack + at, value))?;
        let mut registers = process.registers.clone();
        registers[process.stack_pointer] = stack;
        return Ok(Reply::Tail(begins, bits(&registers)));
    }
    let stack = object(cx, "the vectors of arguments and environment", &[], bytes.len() as u64)?;
    memory::write_concrete(cx, stack, &bytes)?;
    unknown.iter().try_for_each(|(at, value)| memory::write_bytes(cx, stack + at, value))?;
    let (argc, argv, envp) = (argv.len() as u64, stack + 8, stack + 8 * (argv.len() as u64 + 2));
    Ok(match function(cx, LIBC_START) {
        Some(libc) => Reply::Tail(libc, bits(&[begins, argc, argv, 0, 0, 0])),
        None => Reply::Tail(begins, bits(&[argc, argv, envp])),
    })
}

/// A row of the auxiliary vector; no value: nobody knows it before the run.
type Row = (u64, Option<u64>);

/// The auxiliary vector without its end. `name` is the address of the program's name.
fn auxiliary(cx: &mut Cx<'_>, linux: &Linux, name: u64) -> Result<Vec<Row>, Stop> {
    let input = &linux.input;
    let known = |(row, value): &(u64, u64)| (*row, Some(*value));
    let mut rows: Vec<Row> = input.process.iter().flat_map(|process| &process.auxiliary).map(known).collect();
    let asked = |question: &[u8]| linux.captured.log.is_some().then(|| linux.captured.seen(question)).flatten();
    let mut ids = [u64::from(input.user); 4];
    if let Some(answer) = asked(b"ids") {
        for (id, told) in ids.iter_mut().zip(String::from_utf8_lossy(&answer).split(' ')) {
            *id = told.parse().unwrap_or(*id);
        }
    }
    match asked(b"auxiliary") {
        Some(answer) => of_the_kernel(cx, &answer, &mut rows)?,
        // AT_CLKTCK, AT_EXECFN.
        None if input.process.is_some() => rows.extend([(17, Some(100)), (31, Some(name))]),
        None => {}
    }
    // AT_PAGESZ, AT_UID, AT_EUID, AT_GID, AT_EGID, AT_SECURE, AT_RANDOM.
    rows.extend([(6, 4096), (11, ids[0]), (12, ids[1]), (13, ids[2]), (14, ids[3]), (23, 0)].map(|row| known(&row)));
    let random =
        if linux.captured.log.is_some() { seed::seeded_input(cx, &volatile("random bytes of the start"), &[0x5a; 16]) } else { Vec::new() };
    rows.push((25, Some(object(cx, "the random bytes of the start", &random, 16)?)));
    const ORDER: [u64; 22] = [33, 51, 16, 6, 17, 3, 4, 5, 7, 8, 9, 11, 12, 13, 14, 23, 25, 26, 31, 15, 27, 28];
    rows.sort_by_key(|(row, _)| ORDER.iter().position(|at| at == row));
    Ok(rows)
}

/// Rows that the kernel gives every program alike, as [`crate::observed`] has them: `row=value ` for each number, then the platform. Where the
/// program, the kernel's code and the file's name are nobody knows.
fn of_the_kernel(cx: &mut Cx<'_>, answer: &[u8], rows: &mut Vec<Row>) -> Result<(), Stop> {
    const PLATFORM: u64 = 15;
    const FILE_NAME: u64 = 31;
    const NAME: u64 = 256;
    // AT_PHDR, AT_PHENT, AT_PHNUM, AT_BASE, AT_FLAGS, AT_ENTRY, AT_SYSINFO_EHDR.
    const PLACES: [u64; 7] = [3, 4, 5, 7, 8, 9, 33];
    let at = answer.iter().rposition(|b| *b == b' ').map_or(0, |at| at + 1);
    let numbers = String::from_utf8_lossy(&answer[..at]);
    let number = |word: &str| word.split_once('=').and_then(|(row, value)| Some((row.parse().ok()?, value.parse().ok()?)));
    rows.extend(numbers.split_whitespace().filter_map(number).map(|(row, value)| (row, Some(value))));
    rows.push((PLATFORM, Some(string(cx, "the platform", &answer[at..])?)));
    let name = inputs::new_input(cx, "the file that runs", NAME);
    rows.push((FILE_NAME, Some(object(cx, "the name of the file that runs", &name, NAME)?)));
    let missing: Vec<Row> = PLACES.iter().filter(|row| rows.iter().all(|(other, _)| other != *row)).map(|row| (*row, None)).collect();
    rows.extend(missing);
    Ok(())
}

/// A new object that the program is given, zero but for these first bytes; `what` it is for messages.
fn object(cx: &mut Cx<'_>, what: &str, bytes: &[ExprId], size: u64) -> Result<u64, Stop> {
    let Some(addr) = heap_calls::allocate(cx, size, 16, true, GIVEN) else {
        return Err(PathEnd::Unsupported(format!("program input of {size} bytes")).into());
    };
    memory::write_bytes(cx, addr, bytes)?;
    World::change(cx).name_given(addr, what);
    Ok(addr)
}

/// How many arguments each `--sym-args` stands for, as decisions on inputs named as KLEE's: `n_args`, `n_args_1`, …
fn decide_counts(cx: &mut Cx<'_>, args: &[Arg]) -> Result<Vec<u32>, Stop> {
    let mut counts = Vec::new();
    for arg in args {
        let Arg::Several { min, max, .. } = arg else { continue };
        let name = if counts.is_empty() { "n_args".to_owned() } else { format!("n_args_{}", counts.len()) };
        let bytes = inputs::coming_input(cx, &name, 4);
        let count = memory::joined(cx, &bytes);
        let (low, high) = (cx.core.pool.bits(32, (*min).into()), cx.core.pool.bits(32, (*max).into()));
        let (above, below) = (cx.core.pool.ule(low, count), cx.core.pool.ule(count, high));
        let allowed = cx.core.pool.and(above, below);
        cx.assume(allowed)?;
        let conds: Vec<ExprId> = (*min..=*max)
            .map(|n| {
                let n = cx.core.pool.bits(32, n.into());
                cx.core.pool.eq(count, n)
            })
            .collect();
        let chosen = if conds.len() == 1 { 0 } else { cx.choose(&conds, &[])? };
        counts.push(min + chosen as u32);
    }
    Ok(counts)
}

/// The bytes of arguments of a fixed length are not zero. Such arguments stand alone: none is of a group.
fn assume_exact(cx: &mut Cx<'_>, args: &[Arg]) -> Result<(), Stop> {
    let symbolic = args.iter().filter_map(|arg| match arg {
        Arg::Exact(len) => Some(Some(*len)),
        Arg::Symbolic(_) | Arg::Several { .. } => Some(None),
        Arg::Concrete(_) => None,
    });
    for (number, len) in symbolic.enumerate() {
        let Some(len) = len else { continue };
        for byte in inputs::coming_input(cx, &format!("arg{number:02}"), len.into()) {
            let zero = cx.core.pool.bits(8, 0);
            let is_zero = cx.core.pool.eq(byte, zero);
            let not_zero = cx.core.pool.not(is_zero);
            cx.assume(not_zero)?;
        }
    }
    Ok(())
}

/// Makes the arguments' strings; their addresses.
fn arguments(cx: &mut Cx<'_>, input: &ProgramInput, counts: &[u32]) -> Result<Vec<u64>, Stop> {
    let mut argv = vec![string(cx, "the program's name", &input.name)?];
    let (mut number, mut counts) = (0, counts.iter());
    let mut symbolic = |cx: &mut Cx<'_>, len: u32| {
        let name = format!("arg{number:02}");
        number += 1;
        symbolic_string(cx, &format!("the argument `{name}`"), &name, len, b"")
    };
    for arg in &input.args {
        match arg {
            Arg::Concrete(bytes) => argv.push(string(cx, "an argument", bytes)?),
            Arg::Symbolic(len) | Arg::Exact(len) => argv.push(symbolic(cx, *len)?),
            Arg::Several { len, .. } => {
                inputs::new_input(cx, "n_args", 4);
                for _ in 0..*counts.next().expect("one count was decided per group") {
                    argv.push(symbolic(cx, *len)?);
                }
            }
        }
    }
    Ok(argv)
}

fn string(cx: &mut Cx<'_>, what: &str, bytes: &[u8]) -> Result<u64, Stop> {
    let addr = object(cx, what, &[], bytes.len() as u64 + 1)?;
    memory::write_concrete(cx, addr, bytes)?;
    Ok(addr)
}

/// A string of up to `len` symbolic bytes after a concrete beginning. Its input has a byte more, as KLEE's has.
pub(crate) fn symbolic_string(cx: &mut Cx<'_>, what: &str, name: &str, len: u32, before: &[u8]) -> Result<u64, Stop> {
    let mut bytes: Vec<ExprId> = before.iter().map(|b| cx.core.pool.bits(8, (*b).into())).collect();
    inputs::room_for_input(cx, name, u64::from(len) + 1)?;
    bytes.extend(inputs::new_input(cx, name, u64::from(len) + 1));
    bytes.pop();
    let size = bytes.len() as u64 + 1;
    object(cx, what, &bytes, size)
}

/// The name of the input that a variable's value is.
pub(crate) fn input_of(variable: &[u8]) -> String {
    format!("env_{}", String::from_utf8_lossy(variable))
}

fn environment(cx: &mut Cx<'_>, env: &[(Vec<u8>, EnvValue)]) -> Result<Vec<u64>, Stop> {
    let mut envp = Vec::new();
    for (name, value) in env {
        let what = format!("the variable `{}`", String::from_utf8_lossy(name));
        let mut text = name.clone();
        text.push(b'=');
        envp.push(match value {
            EnvValue::Concrete(value) => {
                text.extend(value);
                string(cx, &what, &text)?
            }
            EnvValue::Symbolic(len) => symbolic_string(cx, &what, &input_of(name), *len, &text)?,
            EnvValue::Exact(len) => {
                let len = u64::from(*len) + 1;
                let mut bytes: Vec<ExprId> = text.iter().map(|b| cx.core.pool.bits(8, (*b).into())).collect();
                inputs::room_for_input(cx, &input_of(name), len)?;
                bytes.extend(inputs::new_input(cx, &input_of(name), len));
                if let Some(&end) = bytes.last() {
                    cx.core.zeros.extend(cx.core.pool.support(end).iter().copied());
                }
                object(cx, &what, &bytes, bytes.len() as u64)?
            }
        });
    }
    Ok(envp)
}

/// `__wryneck_call()`: calls the entry function on symbolic arguments.
pub fn call(linux: &Linux, _: &Args<'_>, cx: &mut Cx<'_>) -> Result<Reply, Stop> {
    match &linux.input.entry {
        Entry::Main => Err(PathEnd::Internal("a whole program is not called through the entry".into()).into()),
        Entry::Fuzzer { max_len } => fuzzer(cx, *max_len),
        Entry::Function { name, pointee, parameters } => any_function(cx, name, *pointee, parameters.as_deref()),
    }
}

/// `LLVMFuzzerTestOneInput(data, size)`: the size is a decision, so that the object is exactly that long.
fn fuzzer(cx: &mut Cx<'_>, max_len: u32) -> Result<Reply, Stop> {
    let Some(entry) = function(cx, FUZZER) else {
        return Err(PathEnd::Unsupported(format!("the program has no function `{FUZZER}`")).into());
    };
    let bytes = inputs::coming_input(cx, "size", 8);
    let size = memory::joined(cx, &bytes);
    let limit = cx.core.pool.bits(64, max_len.into());
    let allowed = cx.core.pool.ule(size, limit);
    cx.assume(allowed)?;
    let size = cx.concretise(Value::Sym(size), "size of the fuzzer's input")?;
    inputs::room_for_input(cx, "data", size)?;
    inputs::new_input(cx, "size", 8);
    let data = inputs::new_input(cx, "data", size);
    let data = object(cx, "`data`", &data, size)?;
    Ok(Reply::Tail(entry, vec![Value::Bits(data), Value::Bits(size)]))
}

/// Any function: scalars are symbolic; a pointer leads to an object of symbolic bytes.
fn any_function(cx: &mut Cx<'_>, name: &str, pointee: u64, parameters: Option<&[Parameter]>) -> Result<Reply, Stop> {
    let image = cx.core.image.clone();
    let Some(address) = image.function_address(name) else {
        return Err(PathEnd::Unsupported(format!("the program has no function `{name}`")).into());
    };
    let parameters = parameters.map_or_else(|| parameters_of(&image, name), <[Parameter]>::to_vec);
    let mut args = Vec::new();
    for Parameter { name, kind } in parameters {
        let size = match kind {
            ParameterKind::Pointer => pointee,
            ParameterKind::ByValue(size) => size,
            ParameterKind::Variable => 0,
            ParameterKind::Scalar(width) => {
                let bytes = inputs::new_input(cx, &name, u64::from(width.div_ceil(8)));
                let whole = memory::joined(cx, &bytes);
                for limb in 0..limbs(width) {
                    let width = (width - 64 * limb).min(64);
                    args.push(Value::Sym(cx.core.pool.extract(whole, 64 * limb, width)));
                }
                continue;
            }
        };
        inputs::room_for_input(cx, &name, size)?;
        let bytes = if size == 0 { Vec::new() } else { inputs::new_input(cx, &name, size) };
        args.push(Value::Bits(object(cx, &format!("what `{name}` points to"), &bytes, size)?));
    }
    Ok(Reply::Tail(address, args))
}

/// What a function of bitcode takes.
fn parameters_of(image: &Image, function: &str) -> Vec<Parameter> {
    let Some(Target::Func(id)) = image.program.lookup(function) else { return Vec::new() };
    let (module, f) = image.program.function(id);
    let named = |i: usize, name: &str| if name.is_empty() { format!("argument{i}") } else { name.to_owned() };
    let kind = |param: &Param| match param.kind {
        param_kind::POINTER => ParameterKind::Pointer,
        param_kind::BY_VALUE => ParameterKind::ByValue(param.size.into()),
        param_kind::VARIADIC => ParameterKind::Variable,
        _ => ParameterKind::Scalar(param.width),
    };
    let all = module.params.range(f.params).iter().enumerate();
    all.map(|(i, param)| Parameter { name: named(i, module.str(param.name)), kind: kind(param) }).collect()
}
