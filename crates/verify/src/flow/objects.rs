//! The abstract objects of the static analysis, numbered: the program's input, its mappings, each variable, each function, each
//! function's dynamic stack allocations, each stack variable, and, added during the analysis, what each call allocates.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wryneck_exec::code::Callee;
use wryneck_exec::{CodePos, Image, places};
use wryneck_ir::link::{FuncId, Target, UndefId};

use super::ObjectId;

pub struct Objects {
    image: Rc<Image>,
    functions: u32,
    dynamic: u32,
    /// By function: the number of its first stack variable.
    allocas: Vec<u32>,
    heap: u32,
    /// What calls allocate, by the object they come from: a wrapper's object differs by caller.
    made: FxHashMap<(Option<ObjectId>, CodePos), ObjectId>,
    /// By number above `heap`: the objects that are this one seen from a caller.
    clones: Vec<Vec<ObjectId>>,
    /// By number above `heap`: calls between the allocation and the caller it is seen from.
    depth: Vec<u32>,
}

/// What the program is given: arguments, variables of the environment.
pub const OUTSIDE: ObjectId = ObjectId(0);
/// What the program maps.
pub const MAPPED: ObjectId = ObjectId(1);
/// The arrays of the program's arguments and environment variables. Answers name it [`OUTSIDE`].
pub const ARGUMENTS: ObjectId = ObjectId(2);
/// The text of arguments and environment variables, which holds no address. Answers name it [`OUTSIDE`].
pub const TEXT: ObjectId = ObjectId(3);
/// All constants that hold no address: nothing is written there, and answers leave it out.
pub const CONSTANT: ObjectId = ObjectId(4);
const FIRST_STATIC: u32 = 5;

/// Of what is allocated, so many bytes are told apart.
const MOST_OF_HEAP: u64 = 1 << 12;
/// A wrapper's object differs by this many callers of callers.
const MOST_CALLERS: u32 = 3;

impl Objects {
    pub fn new(image: Rc<Image>) -> Objects {
        let count = image.program.functions().len() as u32;
        let functions = FIRST_STATIC + image.statics.len() as u32;
        let dynamic = functions + count + image.program.undefined().len() as u32;
        let mut next = dynamic + count;
        let mut allocas = Vec::with_capacity(count as usize + 1);
        for f in 0..count {
            allocas.push(next);
            next += image.function(f).1.allocas.count;
        }
        allocas.push(next);
        Objects { image, functions, dynamic, allocas, heap: next, made: FxHashMap::default(), clones: Vec::new(), depth: Vec::new() }
    }

    /// The variable at an address, and where it begins.
    pub fn global(&self, address: u64) -> Option<(ObjectId, u64)> {
        let at = self.image.statics.partition_point(|s| s.base <= address).checked_sub(1)?;
        let s = &self.image.statics[at];
        (address - s.base < s.size.max(1)).then_some((ObjectId(FIRST_STATIC + at as u32), s.base))
    }

    /// What a symbol of a unit stands for, with the offset; [`CONSTANT`] where nothing could be written or called and no address is held.
    /// `None`: nothing.
    pub fn target(&self, target: Target) -> Option<(ObjectId, u64)> {
        match target {
            Target::Func(f) => Some((ObjectId(self.functions + f.0), 0)),
            Target::Undefined(u) => Some((ObjectId(self.functions + self.image.program.functions().len() as u32 + u.0), 0)),
            Target::Data(g, offset) => {
                let (module, global) = self.image.program.global(g);
                if global.flags & wryneck_ir::global_flags::READ_ONLY != 0 && module.relocs.range(global.relocs).is_empty() {
                    return Some((CONSTANT, 0));
                }
                let (object, _) = self.global(self.image.target_address(Target::Data(g, 0)))?;
                Some((object, offset))
            }
            Target::Null => None,
        }
    }

    /// What is called where the pointer is this object.
    pub fn callee(&self, object: ObjectId) -> Option<Callee> {
        let number = object.0.checked_sub(self.functions).filter(|_| object.0 < self.dynamic)?;
        let defined = self.image.program.functions().len() as u32;
        let target = if number < defined { Target::Func(FuncId(number)) } else { Target::Undefined(UndefId(number - defined)) };
        self.image.callee_at(self.image.target_address(target))
    }

    pub fn is_function(&self, object: ObjectId) -> bool {
        (self.functions..self.dynamic).contains(&object.0)
    }

    /// Whether it is a variable that nobody writes.
    pub fn is_constant(&self, object: ObjectId) -> bool {
        let variable = object.0.checked_sub(FIRST_STATIC).filter(|_| object.0 < self.functions);
        variable.is_some_and(|n| !self.image.statics[n as usize].writable)
    }

    pub fn alloca(&self, func: u32, alloca: u32) -> ObjectId {
        ObjectId(self.allocas[func as usize] + alloca)
    }

    /// Bytes of an object that are told apart.
    pub fn size(&self, object: ObjectId) -> u64 {
        let n = object.0;
        match () {
            () if n < FIRST_STATIC => 0,
            () if n < self.functions => self.image.statics[(n - FIRST_STATIC) as usize].size,
            () if n < self.dynamic => 1,
            () if n < self.allocas[0] => 0,
            () if n < self.heap => {
                let func = self.allocas.partition_point(|first| *first <= n) as u32 - 1;
                let (module, function) = self.image.function(func);
                module.allocas.range(function.allocas)[(n - self.allocas[func as usize]) as usize].size
            }
            () => MOST_OF_HEAP,
        }
    }

    pub fn dynamic(&self, func: u32) -> ObjectId {
        ObjectId(self.dynamic + func)
    }

    /// The stack variables of a function, and what it allocates there as it goes.
    pub fn of_frame(&self, func: u32) -> impl Iterator<Item = ObjectId> + use<> {
        (self.allocas[func as usize]..self.allocas[func as usize + 1]).chain([self.dynamic + func]).map(ObjectId)
    }

    /// What the call at a place allocates itself.
    pub fn allocated(&mut self, at: CodePos) -> ObjectId {
        self.make((None, at), 0)
    }

    /// What `inner` is for the caller at a place; itself, where too many callers would be told apart.
    pub fn seen_from(&mut self, inner: ObjectId, at: CodePos) -> ObjectId {
        let Some(depth) = inner.0.checked_sub(self.heap).map(|n| self.depth[n as usize]) else { return inner };
        if depth >= MOST_CALLERS {
            return inner;
        }
        self.make((Some(inner), at), depth + 1)
    }

    /// By number above `heap`: what the object is of.
    pub fn made(&self) -> Vec<(Option<ObjectId>, (u32, u32))> {
        let mut made = vec![Default::default(); self.clones.len()];
        for ((inner, at), object) in &self.made {
            made[(object.0 - self.heap) as usize] = (*inner, (at.func, at.op));
        }
        made
    }

    /// Makes the next of those again; `None`: there is no such object, or it is not new.
    pub fn remake(&mut self, inner: Option<ObjectId>, at: CodePos) -> Option<()> {
        let depth = match inner {
            Some(inner) => self.depth.get(inner.0.checked_sub(self.heap)? as usize)? + 1,
            None => 0,
        };
        let next = self.count();
        (self.make((inner, at), depth).0 == next).then_some(())
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.heap + self.clones.len() as u32
    }

    fn make(&mut self, key: (Option<ObjectId>, CodePos), depth: u32) -> ObjectId {
        if let Some(object) = self.made.get(&key) {
            return *object;
        }
        let object = ObjectId(self.heap + self.clones.len() as u32);
        self.clones.push(Vec::new());
        self.depth.push(depth);
        if let Some(inner) = key.0 {
            self.clones[(inner.0 - self.heap) as usize].push(object);
        }
        self.made.insert(key, object);
        object
    }

    /// The object and all that are it, seen from callers.
    pub fn with_clones(&self, object: ObjectId, add: &mut impl FnMut(ObjectId)) {
        add(object);
        if let Some(n) = object.0.checked_sub(self.heap) {
            self.clones[n as usize].iter().for_each(|clone| self.with_clones(*clone, add));
        }
    }

    /// What was allocated at a place that was reached by these calls, innermost first.
    pub fn heap_object(&self, stack: &[CodePos]) -> Option<ObjectId> {
        // Calls inside of functions that have a summary are not known; the call of such a function is.
        let (first, mut object) = stack.iter().enumerate().find_map(|(i, at)| self.made.get(&(None, *at)).map(|object| (i, *object)))?;
        for at in &stack[first + 1..] {
            match self.made.get(&(Some(object), *at)) {
                Some(outer) => object = *outer,
                None => break,
            }
        }
        Some(object)
    }

    /// For messages and tests.
    pub fn name(&self, object: ObjectId) -> String {
        let n = object.0;
        match () {
            () if object == OUTSIDE => "what the program is given".into(),
            () if object == MAPPED => "what the program maps".into(),
            () if object == ARGUMENTS || object == TEXT => "the program's arguments".into(),
            () if object == CONSTANT => "a constant".into(),
            () if n < self.functions => self.image.statics[(n - FIRST_STATIC) as usize].name.to_string(),
            () if n < self.dynamic => "a function".into(),
            () if n < self.allocas[0] => format!("the stack of `{}`", self.image.name(n - self.dynamic)),
            () if n < self.heap => {
                let func = self.allocas.partition_point(|first| *first <= n) as u32 - 1;
                let (module, function) = self.image.function(func);
                let alloca = module.allocas.range(function.allocas)[(n - self.allocas[func as usize]) as usize];
                format!("`{}` of `{}`", module.str(alloca.name), self.image.name(func))
            }
            () => match self.made.iter().find(|(_, o)| **o == object) {
                Some(((Some(inner), at), _)) => format!("{} from {}", self.name(*inner), places::name(&self.image, *at)),
                Some(((None, at), _)) => format!("allocated at {}", places::name(&self.image, *at)),
                None => "unknown".into(),
            },
        }
    }
}
