//! The operands of an instruction, and its p-code: the templates of its constructors, instantiated.

use super::layout::{NONE, constant, constructor, directive, export, field, operand, operation, symbol, template, varnode};
use super::parse::{Handle, Parse, Pointer};
use super::{At, DecodeError, Specification};
use crate::pcode::{Inputs, IntOp, OpCode, Pcode, Space, Varnode};
use smallvec::smallvec;

/// The temporary that computed pointers are in, after the last one of the specification.
const POINTER_SUM: u64 = 0x100;
/// Bytes of the number of a space.
const SPACE_BYTES: u32 = 8;

/// The p-code of an instruction.
pub(super) fn pcode(parse: &mut Parse<'_>) -> Result<Vec<Pcode>, DecodeError> {
    handles(parse, 0)?;
    let mut build = Build { parse, ops: Vec::with_capacity(16), labels: Vec::new(), label_base: 0, label_count: 0, references: Vec::new() };
    build.constructor(0)?;
    build.resolve_labels()?;
    Ok(build.ops)
}

/// Finds out what the operands of a node's constructor are, and what it exports.
fn handles(parse: &mut Parse<'_>, node: u32) -> Result<(), DecodeError> {
    let s = parse.specification;
    let own = parse.nodes[node as usize];
    for i in 0..s.word(own.record + constructor::OPERANDS) {
        let (record, child) = (s.operand(own.record, i), own.children + i);
        let subject = s.word(record + operand::SYMBOL);
        if subject == NONE {
            let value = parse.value(s.word(record + operand::DEFINED), child)?;
            parse.nodes[child as usize].handle = Handle { offset: value as u64, ..Handle::default() };
        } else if s.word(subject) == symbol::TABLE {
            handles(parse, child)?;
        } else {
            parse.nodes[child as usize].handle = of_symbol(parse, subject, child)?;
        }
    }
    let filled = s.word(own.record + constructor::TEMPLATE);
    let exported = if filled == NONE { NONE } else { s.word(filled + template::EXPORT) };
    if exported != NONE {
        parse.nodes[node as usize].handle = Filling { parse, node }.exported(exported)?;
    }
    Ok(())
}

/// What a symbol that is no table is at a node.
fn of_symbol(parse: &Parse<'_>, subject: At, node: u32) -> Result<Handle, DecodeError> {
    let s = parse.specification;
    let constant = |offset: u64| Handle { space: Specification::CONSTANTS, offset, ..Handle::default() };
    let code = |offset: u64| Handle { space: s.word(super::header::CODE_SPACE), offset, size: 8, pointer: None };
    let register = |at: At| Handle { space: s.word(at + 1), offset: s.wide(at + 2), size: s.word(at + 4), pointer: None };
    Ok(match s.word(subject) {
        symbol::EPSILON => constant(0),
        symbol::VALUE | symbol::NAMES => constant(parse.value(s.word(subject + 1), node)? as u64),
        symbol::VALUES => constant(s.wide(parse.chosen(subject, node)?)),
        symbol::VARNODE => register(subject),
        symbol::VARNODES => register(s.word(parse.chosen(subject, node)?)),
        symbol::START => code(parse.address),
        symbol::NEXT => code(parse.next()),
        _ => return Err(DecodeError::Unknown),
    })
}

/// Constants of templates, where a node's constructor is.
struct Filling<'p, 's> {
    parse: &'p Parse<'s>,
    node: u32,
}

impl Filling<'_, '_> {
    fn specification(&self) -> &Specification {
        self.parse.specification
    }

    /// The handle of one of the node's operands.
    fn handle(&self, i: u32) -> Result<&Handle, DecodeError> {
        let child = self.parse.nodes[self.node as usize].children + i;
        Ok(&self.parse.nodes.get(child as usize).ok_or(DecodeError::Unknown)?.handle)
    }

    /// A number; of operands that are pointed to, that of the temporary.
    fn number(&self, c: At) -> Result<u64, DecodeError> {
        let s = self.specification();
        Ok(match s.word(c) {
            constant::REAL | constant::LABEL => s.wide(c + 1),
            constant::START => self.parse.address,
            constant::NEXT => self.parse.next(),
            constant::CODE_SPACE_SIZE => 8,
            constant::CODE_SPACE | constant::SPACE => u64::from(self.space(c)?),
            constant::HANDLE => {
                let handle = self.handle(s.word(c + 1))?;
                let offset = handle.pointer.map_or(handle.offset, |p| p.temp_offset);
                let plus = s.wide(c + 3);
                match s.word(c + 2) {
                    field::SPACE => u64::from(self.space(c)?),
                    field::OFFSET => offset,
                    field::SIZE => u64::from(handle.size),
                    field::OFFSET_PLUS if handle.space == Specification::CONSTANTS => offset.wrapping_shr(8 * (plus >> 16) as u32),
                    field::OFFSET_PLUS => offset.wrapping_add(plus & 0xffff),
                    _ => return Err(DecodeError::Unknown),
                }
            }
            _ => return Err(DecodeError::Unknown),
        })
    }

    /// A space; of operands that are pointed to, that of the temporary.
    fn space(&self, c: At) -> Result<u32, DecodeError> {
        let s = self.specification();
        match (s.word(c), s.word(c + 2)) {
            (constant::CODE_SPACE, _) => Ok(s.word(super::header::CODE_SPACE)),
            (constant::SPACE, _) => Ok(s.word(c + 1)),
            (constant::HANDLE, field::SPACE) => {
                let handle = self.handle(s.word(c + 1))?;
                Ok(handle.pointer.map_or(handle.space, |p| p.temp_space))
            }
            _ => Err(DecodeError::Unknown),
        }
    }

    /// What a constructor is to the one around it.
    fn exported(&self, at: At) -> Result<Handle, DecodeError> {
        let s = self.specification();
        let (space, offset, pointer) =
            (s.word(at + export::SPACE), s.word(at + export::POINTER_OFFSET), s.word(at + export::POINTER_SPACE));
        let size = self.number(s.word(at + export::SIZE))? as u32;
        if s.word(pointer) == constant::REAL {
            // Not pointed to by us, but perhaps what is exported is.
            let is_handle = s.word(space) == constant::HANDLE;
            let space = if is_handle { self.handle(s.word(space + 1))?.space } else { self.space(space)? };
            if s.word(offset) == constant::HANDLE {
                return Ok(Handle { space, size, ..*self.handle(s.word(offset + 1))? });
            }
            return Ok(Handle { space, size, offset: s.wrapped(space, self.number(offset)?), pointer: None });
        }
        let (space, offset, pointer) = (self.space(space)?, self.number(offset)?, self.space(pointer)?);
        if pointer == Specification::CONSTANTS {
            return Ok(Handle { space, size, offset: s.wrapped(space, offset), pointer: None });
        }
        let pointer = Pointer {
            space: pointer,
            size: self.number(s.word(at + export::POINTER_SIZE))? as u32,
            temp_space: self.space(s.word(at + export::TEMP_SPACE))?,
            temp_offset: self.number(s.word(at + export::TEMP_OFFSET))?,
        };
        Ok(Handle { space, size, offset, pointer: Some(pointer) })
    }

    /// Bytes somewhere, by the number of the space.
    fn bytes(&self, space: u32, offset: u64, size: u32) -> Varnode {
        let kind = self.specification().space(space).kind;
        let offset = match kind {
            Space::Const => offset & mask(size),
            Space::Unique => offset,
            Space::Memory | Space::Register => self.specification().wrapped(space, offset),
        };
        Varnode { space: kind, offset, size }
    }

    fn varnode(&self, v: At) -> Result<Varnode, DecodeError> {
        let part = |n: u32| self.specification().word(v + n);
        let size = self.number(part(varnode::SIZE))? as u32;
        Ok(self.bytes(self.space(part(varnode::SPACE))?, self.number(part(varnode::OFFSET))?, size))
    }

    /// If a varnode is pointed to: the number of the space it is in, the pointer, and the distance from it.
    fn pointer(&self, v: At) -> Result<Option<(Varnode, Varnode, u64)>, DecodeError> {
        let s = self.specification();
        let offset = s.word(v + varnode::OFFSET);
        if s.word(offset) != constant::HANDLE {
            return Ok(None);
        }
        let handle = self.handle(s.word(offset + 1))?;
        let Some(pointer) = handle.pointer else { return Ok(None) };
        let space = Varnode { space: Space::Const, offset: handle.space.into(), size: SPACE_BYTES };
        let plus = if s.word(offset + 2) == field::OFFSET_PLUS { s.wide(offset + 3) & 0xffff } else { 0 };
        Ok(Some((space, self.bytes(pointer.space, handle.offset, pointer.size), plus)))
    }
}

/// P-code being built.
struct Build<'p, 's> {
    parse: &'p Parse<'s>,
    ops: Vec<Pcode>,
    /// The operations that labels are before.
    labels: Vec<Option<usize>>,
    /// The number of the open template's first label, and of the next template's.
    label_base: u64,
    label_count: u64,
    /// Operations whose first input is a label.
    references: Vec<usize>,
}

impl Build<'_, '_> {
    /// Fills in the template of a node's constructor.
    fn constructor(&mut self, node: u32) -> Result<(), DecodeError> {
        let s = self.parse.specification;
        let own = self.parse.nodes[node as usize];
        let filled = s.word(own.record + constructor::TEMPLATE);
        if filled == NONE {
            return Err(DecodeError::NoPcode);
        }
        if s.word(filled + template::DELAY) != 0 {
            return Err(DecodeError::Unknown);
        }
        let before = std::mem::replace(&mut self.label_base, self.label_count);
        self.label_count += u64::from(s.word(filled + template::LABELS));
        for i in 0..s.word(filled + template::COUNT) {
            let op = s.word(filled + template::OPS + i);
            // Directives have a number in place of their first input.
            let number = || s.wide(s.word(s.word(op + operation::INPUTS) + varnode::OFFSET) + 1);
            match s.word(op + operation::CODE) {
                directive::BUILD => {
                    let i = number() as u32;
                    let subject = s.word(s.operand(own.record, i) + operand::SYMBOL);
                    if subject != NONE && s.word(subject) == symbol::TABLE {
                        self.constructor(own.children + i)?;
                    }
                }
                directive::LABEL => {
                    let label = (self.label_base + number()) as usize;
                    if self.labels.len() <= label {
                        self.labels.resize(label + 1, None);
                    }
                    self.labels[label] = Some(self.ops.len());
                }
                directive::DELAY_SLOT | directive::CROSS_BUILD => return Err(DecodeError::Unknown),
                code => self.operation(node, op, code)?,
            }
        }
        self.label_base = before;
        Ok(())
    }

    /// Emits an operation; what it reads and writes by pointers is loaded before it and stored after it.
    fn operation(&mut self, node: u32, op: At, code: u32) -> Result<(), DecodeError> {
        let s = self.parse.specification;
        let filling = Filling { parse: self.parse, node };
        let op_code = OpCode::numbered(code).ok_or(DecodeError::Unknown)?;
        let count = s.word(op + operation::COUNT);
        let mut inputs = Inputs::with_capacity(count as usize);
        for i in 0..count {
            let v = s.word(op + operation::INPUTS + i);
            let input = filling.varnode(v)?;
            if let Some((space, pointer, plus)) = filling.pointer(v)? {
                let pointer = self.sum(pointer, plus);
                self.ops.push(Pcode { op: OpCode::Load, output: Some(input), inputs: smallvec![space, pointer] });
            }
            inputs.push(input);
        }
        if count > 0 && s.word(s.word(s.word(op + operation::INPUTS) + varnode::OFFSET)) == constant::LABEL {
            inputs[0].offset += self.label_base;
            self.references.push(self.ops.len());
        }
        let to = s.word(op + operation::OUTPUT);
        if to == NONE {
            self.ops.push(Pcode { op: op_code, output: None, inputs });
            return Ok(());
        }
        let output = filling.varnode(to)?;
        self.ops.push(Pcode { op: op_code, output: Some(output), inputs });
        if let Some((space, pointer, plus)) = filling.pointer(to)? {
            let pointer = self.sum(pointer, plus);
            self.ops.push(Pcode { op: OpCode::Store, output: None, inputs: smallvec![space, pointer, output] });
        }
        Ok(())
    }

    /// The pointer so many bytes on.
    fn sum(&mut self, pointer: Varnode, plus: u64) -> Varnode {
        if plus == 0 {
            return pointer;
        }
        let free = u64::from(self.parse.specification.word(super::header::FREE_TEMPORARIES));
        let sum = Varnode { space: Space::Unique, offset: free + POINTER_SUM, size: pointer.size };
        let by = Varnode { space: Space::Const, offset: plus, size: pointer.size };
        self.ops.push(Pcode { op: OpCode::Int(IntOp::Add), output: Some(sum), inputs: smallvec![pointer, by] });
        sum
    }

    /// Puts distances between operations in place of labels.
    fn resolve_labels(&mut self) -> Result<(), DecodeError> {
        for &n in &self.references {
            let label = &mut self.ops[n].inputs[0];
            let to = self.labels.get(label.offset as usize).copied().flatten().ok_or(DecodeError::Unknown)?;
            label.offset = (to as u64).wrapping_sub(n as u64) & mask(label.size);
        }
        Ok(())
    }
}

/// The bits that so many bytes have.
fn mask(bytes: u32) -> u64 {
    match bytes {
        0 => 0,
        1..8 => (1 << (8 * bytes)) - 1,
        _ => u64::MAX,
    }
}
