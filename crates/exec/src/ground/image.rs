//! The program as the engine runs it: linked modules with addresses, prepared functions, and the initial memory of every path.

use std::cell::OnceCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_expr::Pool;
use wryneck_ir as ir;
use wryneck_ir::link::{Program, Target, UndefId};

use crate::ground::code::{Callee, Code, Context};
use crate::ground::globals;
use crate::ground::machine_code::MachineCode;
use crate::ground::memory::{FUNC_BASE, GLOBAL_BASE, Memory, Static};

/// A place in the code: operation `op` of function `func` of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodePos {
    pub func: u32,
    pub op: u32,
}

/// Bytes between function addresses.
const FUNC_STRIDE: u64 = 16;
/// Distance between the addresses of variables that nothing defines, behind the functions, where there is room for it: their sizes are not known.
const UNDEFINED_STRIDE: u64 = 1024;

/// Which functions have models; environments do this.
pub trait Models {
    /// The model for a function of this name, if there is one; asked once per name. `defined`: the program has a body for it.
    fn model_of(&self, name: &str, defined: bool) -> Option<u32>;
    /// Whether the model is used even where the program itself, not a library, defines the function.
    fn replaces_program_s(&self, _name: &str) -> bool {
        false
    }
}

/// The numbers over the whole program of a function's first block and first edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct First {
    pub block: u32,
    pub edge: u32,
}

/// A program ready to run.
pub struct Image {
    pub program: Program,
    codes: Vec<OnceCell<Box<Code>>>,
    pub(super) machine: Option<Box<MachineCode>>,
    callees: Vec<Callee>,
    undefined: Vec<Option<u32>>,
    /// What each model stands for: the function it replaces, or the undefined symbol it defines.
    /// What a model stands for, and its name, by number.
    models: FxHashMap<u32, (Callee, Box<str>)>,
    /// By function. Here machine code counts as if it had no block and no edge: its numbers come after all others.
    first: Vec<First>,
    /// Blocks and edges of the program, those of machine code with them.
    pub blocks: u32,
    pub edges: u32,
    pub(super) global_addrs: Vec<u64>,
    /// Thread-local variables, as numbers of globals.
    pub(super) locals: Vec<u32>,
    /// Variables and functions of machine code, by name.
    placed: FxHashMap<Box<str>, u64>,
    placed_functions: FxHashMap<Box<str>, u64>,
    /// Functions of machine code to call before the program and at its end, in order.
    pub machine_code_begins: Vec<u64>,
    pub machine_code_ends: Vec<u64>,
    pub statics: Rc<Vec<Static>>,
    /// Memory as every path finds it.
    pub memory: Memory,
    /// Callees whose calls a monitor sees.
    watched: FxHashSet<Callee>,
}

impl Image {
    /// Has calls of the functions that `watches` names go where a monitor sees them.
    pub fn watch(&mut self, watches: &dyn Fn(&str) -> bool) {
        let bodies = (0..self.callees.len() as u32).filter(|f| watches(self.name(*f))).map(|f| self.callees[f as usize]);
        let undefined = (0..self.undefined.len() as u32).filter(|u| watches(self.undefined_name(*u))).map(|u| undefined_callee(self, u));
        self.watched = bodies.chain(undefined).collect();
    }

    pub fn is_watched(&self, callee: Callee) -> bool {
        self.watched.contains(&callee)
    }

    /// Gives everything an address and fills the globals.
    pub fn new(program: Program, environment: &(impl Models + ?Sized), pool: &mut Pool) -> Image {
        let functions = program.functions();
        let mut first = Vec::with_capacity(functions.len());
        let mut next = First::default();
        let mut machine = None;
        for (n, f) in (0u32..).zip(functions) {
            let function = &program.units[f.unit as usize].module.functions[f.index as usize];
            first.push(next);
            if machine.is_none() && function.flags & ir::function_flags::GROWS != 0 {
                machine = Some(n);
            } else {
                next.block += function.blocks.count;
                next.edge += function.edges.count;
            }
        }
        let mut models = FxHashMap::default();
        let mut callees = Vec::with_capacity(functions.len());
        for f in 0..functions.len() as u32 {
            // What the program defines is the program's, whatever its name, unless it is asked for; models stand in for libraries.
            let library = program.units[functions[f as usize].unit as usize].library;
            let name = function_name(&program, f);
            let model = if library || environment.replaces_program_s(name) { environment.model_of(name, true) } else { None };
            callees.push(model.map_or(Callee::Body(f), Callee::Model));
            models.extend(model.map(|m| (m, (Callee::Body(f), name.into()))));
        }
        let mut undefined = Vec::with_capacity(program.undefined().len());
        for (u, symbol) in (0u32..).zip(program.undefined()) {
            let name = String::from_utf8_lossy(&symbol.name);
            let model = environment.model_of(&name, false);
            models.extend(model.map(|m| (m, (Callee::Undefined(u), (*name).into()))));
            undefined.push(model);
        }
        let mut image = Image {
            codes: functions.iter().map(|_| OnceCell::new()).collect(),
            machine: None,
            callees,
            undefined,
            models,
            first,
            blocks: next.block,
            edges: next.edge,
            global_addrs: Vec::new(),
            locals: Vec::new(),
            placed: FxHashMap::default(),
            placed_functions: FxHashMap::default(),
            machine_code_begins: Vec::new(),
            machine_code_ends: Vec::new(),
            statics: Rc::default(),
            memory: Memory::default(),
            watched: FxHashSet::default(),
            program,
        };
        globals::place(&mut image);
        globals::fill(&mut image, pool);
        if let Some(func) = machine {
            image.machine = Some(Box::new(MachineCode::new(&image, func, next)));
            let function = *image.function(func).1;
            image.blocks += function.blocks.count;
            image.edges += function.edges.count;
        }
        image
    }

    pub fn target_address(&self, target: Target) -> u64 {
        match target {
            Target::Func(f) => func_address(f.0),
            Target::Data(g, offset) => self.global_addrs[g.0 as usize].wrapping_add(offset),
            Target::Undefined(u) if self.is_undefined_data(u.0) => {
                let (first, apart) = self.undefined_data();
                first + u64::from(u.0) * apart
            }
            Target::Undefined(u) => func_address(self.codes.len() as u32 + u.0),
            Target::Null => 0,
        }
    }

    /// The first address behind the functions', which lie this far apart.
    pub fn functions_end(&self) -> (u64, u64) {
        (func_address((self.codes.len() + self.undefined.len()) as u32), FUNC_STRIDE)
    }

    /// Where the variables lie that nothing defines, and how far apart.
    fn undefined_data(&self) -> (u64, u64) {
        let first = self.functions_end().0.next_multiple_of(UNDEFINED_STRIDE);
        let fits = first + self.undefined.len() as u64 * UNDEFINED_STRIDE <= GLOBAL_BASE;
        (first, if fits { UNDEFINED_STRIDE } else { FUNC_STRIDE })
    }

    fn is_undefined_data(&self, u: u32) -> bool {
        self.program.undefined().get(u as usize).is_some_and(|symbol| !symbol.function)
    }

    /// The number of the undefined variable that an address lies at or, as far as can be told, in.
    pub fn undefined_data_at(&self, address: u64) -> Option<u32> {
        let (first, apart) = self.undefined_data();
        u32::try_from(address.checked_sub(first)? / apart).ok().filter(|u| self.is_undefined_data(*u))
    }

    /// The callee a code address stands for.
    pub fn callee_at(&self, address: u64) -> Option<Callee> {
        if let Some(u) = self.undefined_data_at(address) {
            return (address == self.target_address(Target::Undefined(UndefId(u)))).then(|| undefined_callee(self, u));
        }
        let offset = address.checked_sub(FUNC_BASE)?;
        let number = u32::try_from(offset / FUNC_STRIDE).ok()?;
        if !offset.is_multiple_of(FUNC_STRIDE) {
            return None;
        }
        let functions = self.codes.len() as u32;
        match number.checked_sub(functions) {
            None => Some(self.callees[number as usize]),
            Some(u) => (u < self.undefined.len() as u32).then(|| undefined_callee(self, u)),
        }
    }

    /// The callee of a symbol of a module; `None` if it is data or null.
    pub fn callee_of(&self, module: u32, symbol: u32) -> Option<Callee> {
        match self.program.target(module, symbol) {
            Target::Func(f) => Some(self.callees[f.0 as usize]),
            Target::Undefined(u) => Some(undefined_callee(self, u.0)),
            Target::Data(..) | Target::Null => None,
        }
    }

    /// The name of a function of the program.
    pub fn name(&self, func: u32) -> &str {
        function_name(&self.program, func)
    }

    /// The name that calls of a function have, which may be known by several: its own, if there is one called `name`.
    pub fn canonical<'a>(&'a self, name: &'a str) -> &'a str {
        match self.program.lookup(name) {
            Some(Target::Func(f)) => self.name(f.0),
            Some(Target::Data(..) | Target::Undefined(_) | Target::Null) | None => name,
        }
    }

    /// Says where a visible variable of machine code lies; the first of a name counts.
    pub fn place_variable(&mut self, name: &str, address: u64) {
        if !self.placed.contains_key(name) {
            self.placed.insert(name.into(), address);
        }
    }

    /// Says where a function of machine code begins; the first of a name counts.
    pub fn place_function(&mut self, name: &str, address: u64) {
        if !self.placed_functions.contains_key(name) {
            self.placed_functions.insert(name.into(), address);
        }
    }

    /// The address by which a visible function is called.
    pub fn function_address(&self, name: &str) -> Option<u64> {
        if let Some(address) = self.placed_functions.get(name) {
            return Some(*address);
        }
        match self.program.lookup(name)? {
            target @ Target::Func(_) => Some(self.target_address(target)),
            Target::Data(..) | Target::Undefined(_) | Target::Null => None,
        }
    }

    /// The address of a visible variable.
    pub fn variable(&self, name: &str) -> Option<u64> {
        if let Some(address) = self.placed.get(name) {
            return Some(*address);
        }
        match self.program.lookup(name)? {
            target @ Target::Data(..) => Some(self.target_address(target)),
            Target::Func(_) | Target::Undefined(_) | Target::Null => None,
        }
    }

    /// Name of a code address that is a function's.
    pub fn name_at(&self, address: u64) -> Option<&str> {
        if let Some(u) = self.undefined_data_at(address) {
            return Some(self.undefined_name(u));
        }
        let number = u32::try_from(address.checked_sub(FUNC_BASE)? / FUNC_STRIDE).ok()?;
        match number.checked_sub(self.codes.len() as u32) {
            None => Some(self.name(number)),
            Some(u) => (u < self.undefined.len() as u32).then(|| self.undefined_name(u)),
        }
    }

    pub fn function(&self, func: u32) -> (&ir::Module, &ir::Function) {
        let f = &self.program.functions()[func as usize];
        let module = &self.program.units[f.unit as usize].module;
        (module, &module.functions[f.index as usize])
    }

    /// Whether the function came with a library, not with the program.
    pub fn is_library(&self, func: u32) -> bool {
        self.function(func).1.flags & ir::function_flags::LIBRARY != 0
    }

    /// Name of an undefined symbol; the number no symbol has stands for data that is called.
    pub fn undefined_name(&self, u: u32) -> &str {
        let name = self.program.undefined().get(u as usize).map(|u| std::str::from_utf8(&u.name).unwrap_or("<not UTF-8>"));
        name.unwrap_or("<not a function>")
    }

    /// Name of what is called.
    pub fn callee_name(&self, callee: Callee) -> &str {
        match callee {
            Callee::Body(f) => self.name(f),
            Callee::Model(model) => self.model_name(model),
            Callee::Undefined(u) => self.undefined_name(u),
        }
    }

    /// Name of the function a model stands for.
    pub fn model_name(&self, model: u32) -> &str {
        self.models.get(&model).map_or("<model>", |(_, name)| name)
    }

    /// The body of the function a model stands for, if the program has one.
    pub fn body_of_model(&self, model: u32) -> Option<u32> {
        match self.models.get(&model) {
            Some((Callee::Body(f), _)) => Some(*f),
            Some((Callee::Undefined(_) | Callee::Model(_), _)) | None => None,
        }
    }

    /// The function, prepared: machine code from the beginning, others on first use.
    pub fn code(&self, func: u32) -> &Code {
        let cell = &self.codes[func as usize];
        match (cell.get(), &self.machine) {
            (Some(code), _) => code,
            (None, Some(machine)) if machine.func == func => &machine.code,
            (None, _) => cell.get_or_init(|| Box::new(prepared(self, func, self.first[func as usize]))),
        }
    }

    /// The program's machine code.
    pub fn machine_code(&self) -> Option<&MachineCode> {
        self.machine.as_deref()
    }

    /// Whether the function is machine code.
    pub fn is_machine_code(&self, func: u32) -> bool {
        self.machine.as_ref().is_some_and(|machine| machine.func == func)
    }

    /// The function a block number belongs to, and the block's index in it.
    pub fn block_owner(&self, block: u32) -> (u32, u32) {
        if let Some(machine) = self.machine.as_ref().filter(|machine| block >= machine.first.block) {
            return (machine.func, block - machine.first.block);
        }
        let f = self.first.partition_point(|first| first.block <= block) - 1;
        (f as u32, block - self.first[f].block)
    }

    /// The first operation, of its function, of a block over the program, and the one behind its last.
    pub fn operations(&self, block: u32) -> (u32, u32) {
        let (func, index) = self.block_owner(block);
        let (module, f) = self.function(func);
        let insts = module.blocks.range(f.blocks)[index as usize].insts;
        let first = insts.first - self.code(func).first_inst;
        (first, first + insts.count)
    }

    pub fn first_block_of(&self, func: u32) -> u32 {
        match &self.machine {
            Some(machine) if machine.func == func => machine.first.block,
            Some(_) | None => self.first[func as usize].block,
        }
    }
}

fn function_name(program: &Program, func: u32) -> &str {
    let f = &program.functions()[func as usize];
    let module = &program.units[f.unit as usize].module;
    module.str(module.functions[f.index as usize].name)
}

fn func_address(number: u32) -> u64 {
    FUNC_BASE + u64::from(number) * FUNC_STRIDE
}

fn undefined_callee(image: &Image, u: u32) -> Callee {
    image.undefined[u as usize].map_or(Callee::Undefined(u), Callee::Model)
}

/// Prepares a function whose blocks and edges are numbered from `first` on.
pub(super) fn prepared(image: &Image, func: u32, first: First) -> Code {
    let index = image.program.functions()[func as usize].index as usize;
    preparing(image, func, first, |cx| Code::prepare(cx, index))
}

/// Calls `prepare` with what preparing a function needs, whose blocks and edges are numbered from `first` on.
pub(super) fn preparing<T>(image: &Image, func: u32, first: First, prepare: impl FnOnce(&mut Context<'_>) -> T) -> T {
    let module_index = image.program.functions()[func as usize].unit;
    prepare(&mut Context {
        module: &image.program.units[module_index as usize].module,
        module_index,
        func,
        first,
        address_of: &mut |symbol| image.target_address(image.program.target(module_index, symbol)),
        // A call of data or of null is decided when it is reached: no callee has this number.
        callee_of: &mut |symbol| image.callee_of(module_index, symbol).unwrap_or(Callee::Undefined(u32::MAX)),
        local_of: &mut |symbol| match image.program.target(module_index, symbol) {
            Target::Data(global, offset) => {
                let number = image.locals.iter().position(|local| *local == global.0)?;
                Some((number as u32, offset))
            }
            Target::Func(_) | Target::Undefined(_) | Target::Null => None,
        },
    })
}
