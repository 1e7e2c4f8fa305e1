//! Services for models of allocators and string functions: heap objects, C strings, fresh input.
//!
//! Each service decides before it changes anything, because a fork runs the whole call again (docs/design/001).

use wryneck_expr::ExprId;

use crate::ground::config::Uninit;
use crate::ground::memory::touch::Reuse;
use crate::ground::memory::{HeapObject, Life, heap};
use crate::ground::path_end::{FaultKind, PathEnd};
use crate::step::core::LedgerKind;
use crate::step::cx::Cx;
use crate::step::plugin::{Stop, Value};
use crate::step::pointer::{Place, What};

/// Bytes after which a string counts as endless.
const MAX_STRING: u64 = 1 << 20;
/// Bytes that a string of lazily made inputs is assumed to have at most, where the engine reads it whole.
const LAZY_STRING: u64 = 24;

impl Cx<'_> {
    /// A new heap object of `size` bytes, zero or uninitialised (as the configuration says); `None` if it is too large. Changes the path.
    pub fn allocate(&mut self, size: u64, align: u64, zero: bool, kind: u32) -> Option<u64> {
        let origin = match self.core.config.leaks || self.core.config.allocation_stacks {
            true => {
                let stack = self.core.call_stack(self.state, usize::MAX);
                self.core.stacks.intern(&stack)
            }
            false => {
                let site = self.core.site(self.state);
                self.core.stacks.intern(&[site])
            }
        };
        self.state.dirty = true;
        let (base, replaced) = self.state.memory.heap.allocate(size, align, origin, kind)?;
        self.core.block_bytes += size;
        let zero = zero || self.core.config.uninit == Uninit::Zero;
        self.state.memory.space.make_live(base, size, zero, &mut self.core.pool);
        if let Some(old) = replaced {
            let own = self.core.environment.allocates(&old);
            self.state.memory.space.note_reuse(Reuse { own, origin: old.origin, base: old.base });
        }
        Some(base)
    }

    /// Frees a live heap object, as [`Cx::to_free`] gave it. Changes the path.
    pub fn release(&mut self, object: &HeapObject) {
        let site = self.core.site(self.state);
        self.state.dirty = true;
        self.state.memory.heap.free(object.base, site);
        self.state.memory.space.make_dead(object.base, object.size, &mut self.core.pool);
    }

    /// The object a pointer given to an allocator stands for; `None` for null. Faults if it is not the start of a live heap
    /// object of that `kind`. May decide.
    pub fn to_free(&mut self, pointer: Value, kind: u32) -> Result<Option<HeapObject>, Stop> {
        if let Value::Sym(e) = pointer {
            let zero = self.core.pool.zero(64);
            let null = self.core.pool.eq(e, zero);
            let before = self.state.path.clone();
            let is_null = match self.core.lazy.is_some() {
                // That freeing null is allowed says nothing about the pointer: no test of the code.
                true => {
                    let some = self.core.pool.not(null);
                    self.choose(&[null, some], &[])? == 0
                }
                false => self.decide(null)?,
            };
            if is_null {
                if !self.holds_on(&before, null) {
                    self.note_assumed(null, "a freed pointer is null");
                }
                return Ok(None);
            }
        }
        let addr = match self.place(pointer, 1, false)? {
            Place::At(addr) => addr,
            Place::In(object, offset) if let Some(offset) = self.core.pool.as_u64(offset) => object.base.wrapping_add(offset),
            Place::In(object, offset) => {
                let zero = self.core.pool.zero(64);
                let at_start = self.core.pool.eq(offset, zero);
                self.require(at_start, |cx, _| {
                    let message = format!("free of a pointer into {}", cx.describe(&object));
                    PathEnd::fault(FaultKind::InvalidFree, message)
                })?;
                object.base
            }
        };
        if addr == 0 {
            return Ok(None);
        }
        if let Some(object) = self.core.lazy.clone().and_then(|lazy| lazy.freed(addr, self)) {
            return match object.life {
                Life::Live => Ok(Some(object)),
                Life::Freed(pos) => {
                    let name = self.object_at(addr).map_or_else(String::new, |o| self.describe(&o));
                    let message = format!("free of {name}, freed before at {}", self.place_name(pos));
                    Err(PathEnd::fault(FaultKind::DoubleFree, message).into())
                }
            };
        }
        let found = if heap::contains(addr) { self.state.memory.heap.find(addr) } else { None };
        match found {
            Some(o) if o.base == addr && o.life == Life::Live && o.kind == kind => Ok(Some(o)),
            _ => Err(self.bad_free(addr).into()),
        }
    }

    fn bad_free(&self, addr: u64) -> PathEnd {
        let Some(object) = self.variable_at(addr).or_else(|| self.object_at(addr)) else {
            return PathEnd::fault(FaultKind::InvalidFree, format!("free of {addr:#x}, which belongs to no object"));
        };
        let name = self.describe(&object);
        let offset = self.offset_from(&object, addr.wrapping_sub(object.base));
        match object.what {
            What::Heap { freed: Some(pos), .. } if offset == 0 => {
                PathEnd::fault(FaultKind::DoubleFree, format!("free of {name}, freed before at {}", self.place_name(pos)))
            }
            _ if offset == 0 => PathEnd::fault(FaultKind::InvalidFree, format!("free of {name}, which this allocator did not make")),
            _ => PathEnd::fault(FaultKind::InvalidFree, format!("free of a pointer to offset {offset} of {name}")),
        }
    }

    /// The bytes of a C string before its first byte that is surely NUL; where memory ends first, those before the end. Faults
    /// if it ends after bytes none of which can be NUL. May decide only where the pointer is symbolic.
    pub fn c_string(&mut self, pointer: Value) -> Result<Vec<ExprId>, Stop> {
        let addr = self.block_address(pointer, 1, false)?;
        let mut bytes = Vec::new();
        for i in 0..MAX_STRING {
            if i == LAZY_STRING && self.ends_within(&bytes)? {
                return Ok(bytes);
            }
            let Some(byte) = self.byte_at(addr.wrapping_add(i)) else {
                if bytes.iter().all(|b| self.core.pool.as_u64(*b).is_some()) {
                    return Err(self.bad_access(addr.wrapping_add(i), 1, false).into());
                }
                return Ok(bytes);
            };
            if self.core.pool.as_u64(byte) == Some(0) {
                return Ok(bytes);
            }
            bytes.push(byte);
        }
        Err(PathEnd::Unsupported(format!("a string of more than {MAX_STRING} bytes")).into())
    }

    /// Where inputs are lazily made, such a string is assumed to end within these bytes, if it can.
    fn ends_within(&mut self, bytes: &[ExprId]) -> Result<bool, Stop> {
        if self.core.lazy.is_none() || bytes.iter().all(|b| self.core.pool.as_u64(*b).is_some()) {
            return Ok(false);
        }
        let pool = &mut self.core.pool;
        let (zero, mut ends) = (pool.bits(8, 0), pool.fls());
        for byte in bytes {
            let end = pool.eq(*byte, zero);
            ends = pool.or(ends, end);
        }
        let can = self.choose_first(&[ends], 0..0)?.is_some();
        if can {
            let why = format!("a string of at most {LAZY_STRING} bytes");
            self.core.ledger.note(LedgerKind::DroppedFlip, why.as_str());
            self.note_assumed(ends, &why);
        }
        Ok(can)
    }

    /// As [`Cx::c_string`], if every byte is concrete.
    pub fn concrete_string(&mut self, pointer: Value) -> Result<Option<Vec<u8>>, Stop> {
        let bytes = self.c_string(pointer)?;
        Ok(bytes.iter().map(|b| self.core.pool.as_u64(*b).map(|b| b as u8)).collect())
    }

    /// The bytes [`Cx::new_input`] would make, so that a model can decide on them before it makes them.
    pub fn coming_input(&mut self, name: &str, len: u64) -> Vec<ExprId> {
        let name = self.unused_input_name(name);
        (0..len as u32)
            .map(|i| {
                let symbol = self.core.pool.symbol(&name, i, 8);
                self.core.input_byte(symbol)
            })
            .collect()
    }

    /// A name no input of the path has: the given one, or with `_1`, `_2` … after it, as KLEE names objects.
    pub(crate) fn unused_input_name(&self, name: &str) -> String {
        let used = |name: &str| self.state.inputs.iter().any(|i| *i.name == *name);
        if !used(name) {
            return name.to_owned();
        }
        let mut number = self.state.inputs.iter().filter(|i| i.name.starts_with(name)).count();
        while used(&format!("{name}_{number}")) {
            number += 1;
        }
        format!("{name}_{number}")
    }

    /// The smallest value of at most 64 bits an expression can have here; the path keeps all others. Asks the solver.
    pub fn least(&mut self, e: ExprId, why: &str) -> Result<u64, Stop> {
        if let Some(bits) = self.core.pool.as_u64(e) {
            return Ok(bits);
        }
        let budget = self.budget();
        self.core.stats.solver_checks += 1;
        let least = self.core.solver.min_value(&mut self.core.pool, &self.state.path, e, &self.state.model, &budget);
        least.map(|(value, _)| value).map_err(|unknown| self.undecided(unknown, why).into())
    }

    /// 8-bit expressions, lowest first, as one value.
    pub fn joined(&mut self, bytes: &[ExprId]) -> ExprId {
        let mut whole = bytes[0];
        for byte in &bytes[1..] {
            whole = self.core.pool.concat(*byte, whole);
        }
        whole
    }
}
