//! Variables that nothing in the program writes. They keep their first values, so a pointer to a function that nobody sets stays null.

use wryneck_ir::Op;
use wryneck_ir::link::{GlobalId, Target};

use super::ObjectId;
use super::effects::Facts;
use super::local::{CallTarget, Local};
use super::writer::{Writer, arguments, first_limbs};
use super::writes::{Effects, Writes};

impl Facts {
    /// Whether a pointer is null because it is loaded from a variable that holds null from the start. A call by it is a fault, as an access is.
    pub(super) fn is_never_set(&self, func: u32, local: &Local, pointer: u32) -> bool {
        self.loads_first_value(func, local, pointer, self.written())
    }

    /// What the operations of all functions that may run write. Cost: a pass over the program, once.
    fn written(&self) -> &Writes {
        self.written.get_or_init(|| {
            let (mut all, mut leading_nowhere) = (Effects::default(), Vec::new());
            for func in 0..self.image.program.functions().len() as u32 {
                let Some(local) = self.points_to.local(func) else { continue };
                for (op, inst) in (0..).zip(&local.values.insts).filter(|(op, _)| !self.is_broken(func, local, *op)) {
                    let mut at = Writer { facts: self, func, local, context: 0, new: false, all: &mut all };
                    match inst.operator() {
                        Some(Op::Call | Op::CallIndirect) => leading_nowhere.extend(self.written_by_call(&mut at, op)),
                        Some(_) | None => self.add_plain(func, inst, &mut at),
                    }
                }
            }
            let mut writes = all.changes.writes;
            // What cannot be followed may write anything.
            writes.everything |= leading_nowhere.iter().any(|(func, pointer)| {
                self.points_to.local(*func).is_none_or(|local| !self.loads_first_value(*func, local, *pointer, &writes))
            });
            writes
        })
    }

    /// Adds what a call writes that enters no body. The function and the pointer, if that leads to no function.
    fn written_by_call(&self, at: &mut Writer<'_>, op: u32) -> Option<(u32, u32)> {
        let (func, local) = (at.func, at.local);
        let site = &local.calls[local.calls.binary_search_by_key(&op, |site| site.op).ok()?];
        let (inst, list) = (&local.values.insts[op as usize], local.values.list(op));
        let module = self.image.function(func).0;
        let callees = self.callees(func, site);
        for callee in &callees {
            let number = site.number;
            match (self.summary(*callee, number), callee) {
                (Some(summary), _) => at.summary(summary, &arguments(module, inst, list), &first_limbs(module, inst, list)),
                (None, wryneck_exec::code::Callee::Body(_)) => {}
                (None, _) => at.unknown(&arguments(module, inst, list)),
            }
        }
        match site.target {
            CallTarget::Indirect(pointer) if callees.is_empty() => Some((func, pointer)),
            CallTarget::Indirect(_) | CallTarget::Direct(_) => None,
        }
    }

    /// Whether the pointer is loaded from eight bytes of a variable of the program that are null at first, and not among these writes.
    fn loads_first_value(&self, func: u32, local: &Local, pointer: u32, writes: &Writes) -> bool {
        let load = self.definition(func, local, pointer).map(|op| &local.values.insts[op as usize]);
        let Some(load) = load.filter(|inst| inst.operator() == Some(Op::Load) && inst.width == 64) else { return false };
        let Some((object, offset)) = local.fixed.get(&load.a).copied() else { return false };
        let bytes = offset..offset.saturating_add(8);
        self.is_null_at_first(object, offset) && !bytes.into_iter().any(|byte| writes.touches(object, byte))
    }

    /// Whether these eight bytes of an object are those of a variable of the program, and null when it begins.
    fn is_null_at_first(&self, object: ObjectId, offset: u64) -> bool {
        let program = &self.image.program;
        let of_object = |g: u32| {
            let data = Target::Data(GlobalId(g), 0);
            self.points_to.objects.global(self.image.target_address(data)).is_some_and(|(other, _)| other == object)
        };
        let own = (0..).zip(program.globals()).filter(|(_, global)| global.live && !program.units[global.place.unit as usize].library);
        let Some((number, _)) = own.into_iter().find(|(number, _)| of_object(*number)) else { return false };
        let (module, record) = program.global(GlobalId(number));
        let overlaps = |at: u64| at < offset.saturating_add(8) && offset < at.saturating_add(8);
        let first = module.bytes.range(record.init);
        let bytes = usize::try_from(offset).map_or(&[][..], |from| first.get(from..).unwrap_or_default());
        offset.saturating_add(8) <= record.size
            && !module.relocs.range(record.relocs).iter().any(|reloc| overlaps(reloc.offset))
            && bytes.iter().take(8).all(|byte| *byte == 0)
    }
}
